#include "trace/json_line.h"

#include <charconv>

#include <fmt/format.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {

std::int64_t number_in(simdjson::dom::element value) {
  if (!value.is_string()) return value.get_int64();
  std::string_view text = value.get_string();
  std::int64_t number = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size())
    throw BadInput(fmt::format("{} is not a whole number of 64 bits", quoted(text)));
  return number;
}

std::string_view explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::INCORRECT_TYPE:
      return "a value has the wrong type";
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return "a number is not a whole number of 64 bits";
    case simdjson::UTF8_ERROR:
      return "the text is not UTF-8; the file is damaged";
    case simdjson::UNCLOSED_STRING:
      return "the line is cut off; get the file again";
    default:
      return "this is not one JSON object; the file is damaged or cut off";
  }
}

}  // namespace weir::trace
