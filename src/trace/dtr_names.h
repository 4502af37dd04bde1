#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/number_map.h"
#include "weir/types.h"

namespace weir::trace {

// The name "x<number>" as a number; anything else (also "x007") is a name only as text.
inline constexpr std::uint64_t kMostNumber = UINT32_MAX - 1;

// The names of a DTR log and the tensors they stand for. A name has a slot from its first mention,
// is bound to a tensor by its definition, and stays bound after its release.
class DtrNames {
 public:
  enum class Slot : std::uint32_t {};

  explicit DtrNames(std::size_t log_bytes) : numbered_{log_bytes / 4 + 64} {}

  Slot slot(std::uint64_t number) {  // number <= kMostNumber
    std::uint32_t known = numbered_.find(number);
    return known != NumberMap::kNone ? Slot{known} : add_numbered(number);
  }
  Slot slot(std::string_view name);

  [[nodiscard]] bool is_bound(Slot slot) const { return bindings_[index(slot)].bound; }
  [[nodiscard]] TensorId tensor(Slot slot) const { return bindings_[index(slot)].tensor; }
  void bind(Slot slot, TensorId tensor) {
    Binding& binding = bindings_[index(slot)];
    if (!binding.bound) in_order_.push_back(slot);
    binding.bound = true;
    binding.tensor = tensor;
  }

  // Every bound name, by its first binding: the order of a Python dict.
  [[nodiscard]] std::span<const Slot> bound_in_order() const { return in_order_; }
  [[nodiscard]] std::string text(Slot slot) const;

 private:
  static constexpr std::uint32_t kNotNumbered = UINT32_MAX;
  struct Binding {
    TensorId tensor{};
    std::uint32_t number = kNotNumbered;
    bool bound = false;
  };

  Slot add(std::uint32_t number);
  Slot add_numbered(std::uint64_t number);

  NumberMap numbered_;
  std::unordered_map<std::string, Slot> worded_;
  std::vector<Binding> bindings_;  // one per slot
  std::vector<Slot> in_order_;
};

}  // namespace weir::trace
