#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weir::trace {

// Without white space around it, so also without the '\n' or "\r\n" at the end of a line.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// A last line without a newline counts too.
inline std::size_t lines_in(std::string_view text) {
  auto newlines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return newlines + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

}  // namespace weir::trace
