#pragma once

#include <sstream>
#include <string>

#include "weir/types.h"

namespace weir::base {

// Ends the process: a check failed, so the state can no longer be trusted with the user's numbers.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& values);

inline std::string show_all() { return {}; }

template <typename T>
void show(std::ostream& out, const T& value) {
  if constexpr (requires { out << value; }) {
    out << value;
  } else if constexpr (requires { out << value.n; }) {
    out << value.n;
  } else {
    out << static_cast<std::int64_t>(value);
  }
}

template <typename... Values>
std::string show_all(const Values&... values) {
  std::ostringstream out;
  ((out << ' ', show(out, values)), ...);
  return out.str();
}

}  // namespace weir::base

// Our own mistakes, in every build type. The values after the condition are printed.
#define WEIR_CHECK(condition, ...)                                     \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::weir::base::check_failed(#condition, __FILE__, __LINE__,       \
                                 ::weir::base::show_all(__VA_ARGS__)); \
  } while (false)
