#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::trace {

// Text from a file, made fit for one line of a message: cut, and nothing in it that is not
// printable ASCII reaches the terminal.
std::string quoted(std::string_view text);

// Text that may have been chosen by others, with its control characters escaped.
std::string printable(std::string_view text);

// "source:line: what"; a newline in a file's name must not break the line either.
std::string located(std::string_view source, std::size_t line, std::string_view what);
std::string located(std::string_view source, std::string_view what);

}  // namespace weir::trace
