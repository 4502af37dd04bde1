#include <cstddef>
#include <cstdint>

#include "fuzz/check_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  weir::trace::check_reader({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
