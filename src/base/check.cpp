#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weir::base {

void check_failed(const char* condition, const char* file, int line, const std::string& values) {
  std::fprintf(stderr, "weir: internal check failed: %s [%s] at %s:%d\n", condition, values.c_str(),
               file, line);
  std::abort();
}

}  // namespace weir::base
