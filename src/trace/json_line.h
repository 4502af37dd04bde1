#pragma once

#include <cstdint>
#include <string_view>

#include <simdjson.h>

namespace weir::trace {

// Parses single lines of JSON with simdjson's DOM: unlike its lazy sister it validates all of a
// line and picks the machine's instruction set at run time. What is reached through the object
// lives until the next parse.
class JsonLine {
 public:
  // The line must hold one object and nothing else.
  simdjson::dom::object parse(std::string_view line) {
    return parser_.parse(line.data(), line.size()).get_object();
  }

 private:
  simdjson::dom::parser parser_;
};

// A JSON number or, as DTR's logger writes them, a number in a string.
std::int64_t number_in(simdjson::dom::element value);

// One line for people about an error of simdjson.
std::string_view explain(simdjson::error_code error);

}  // namespace weir::trace
