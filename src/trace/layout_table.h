#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/trace.h"

namespace weir::trace {

// Numbers layouts by appearance. 0 is the one of which nothing is known.
class LayoutTable {
 public:
  std::uint32_t find_or_add(const Layout& layout);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(parts_.size()); }
  [[nodiscard]] Layout operator[](std::uint32_t number) const;  // until the next is added

 private:
  struct Part {
    std::uint32_t dtype = 0;
    std::uint32_t rank = 0;
    std::size_t first = 0;  // in numbers_: shape, strides, offset
  };

  [[nodiscard]] bool is(std::uint32_t number, const Layout& layout) const;
  std::uint32_t dtype(std::string_view name);

  std::vector<Part> parts_{{}};
  std::vector<std::int64_t> numbers_{0};
  std::vector<std::string> dtypes_{""};
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash_;
};

}  // namespace weir::trace
