#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "trace/builder.h"

namespace weir::trace {

using JsonObject = simdjson::dom::object;

inline constexpr std::string_view kHeaderKey = "weir_trace";
inline constexpr std::int64_t kFormatVersion = 1;

// The fields of one line of Weir's format, with their types and defaults. BadInput says which is
// wrong.
std::int64_t whole_number(JsonObject object, std::string_view key);
std::int64_t whole_number_or(JsonObject object, std::string_view key, std::int64_t otherwise);
std::string_view text(JsonObject object, std::string_view key);
bool truth(JsonObject object, std::string_view key, bool otherwise);
Phase phase(JsonObject op);
std::uint32_t position(simdjson::dom::element value);  // among the inputs of an op

// What is not there is an empty list.
template <typename Function>
void for_each(JsonObject object, std::string_view key, Function function) {
  simdjson::dom::element list;
  if (object[key].get(list) != simdjson::SUCCESS) return;
  for (simdjson::dom::element value : list.get_array()) function(value);
}

// Gathers the layouts of the outputs of one op. What a layout points to lives until `clear`.
class LayoutReader {
 public:
  void clear();
  void read(JsonObject output);
  [[nodiscard]] Layout layout(std::size_t output) const;  // once all are read

 private:
  struct Part {
    std::string_view dtype;
    std::size_t first, rank;  // in numbers_: shape, then strides
    std::int64_t offset;
  };

  void add_strides(JsonObject output, std::size_t first, std::size_t rank);

  std::vector<Part> parts_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace weir::trace
