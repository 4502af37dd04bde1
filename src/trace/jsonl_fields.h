#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <simdjson.h>

#include "trace/builder.h"
#include "trace/layout_table.h"

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

// The layouts of a file: told where they first occur, with a number by which later ones name them.
class LayoutReader {
 public:
  std::uint32_t read(JsonObject object);                    // what it tells or names; 0: nothing
  [[nodiscard]] Layout layout(std::uint32_t number) const;  // until the next is read

 private:
  std::uint32_t named(JsonObject object);
  void add_strides(JsonObject object, std::size_t rank);

  LayoutTable layouts_;
  std::unordered_map<std::int64_t, std::uint32_t> by_name_;
  std::vector<std::int64_t> numbers_;  // of the one being read: shape, then strides
};

}  // namespace weir::trace
