#include "cost/element.h"

#include <algorithm>
#include <iterator>

namespace weir::cost {
namespace {

struct Element {
  std::string_view dtype;
  std::int64_t bytes;
};

constexpr Element kElements[] = {
    {"float32", 4},       {"float16", 2},         {"bfloat16", 2},    {"float64", 8},
    {"int64", 8},         {"int32", 4},           {"int16", 2},       {"int8", 1},
    {"uint8", 1},         {"uint16", 2},          {"uint32", 4},      {"uint64", 8},
    {"bool", 1},          {"complex32", 4},       {"complex64", 8},   {"complex128", 16},
    {"float8_e4m3fn", 1}, {"float8_e4m3fnuz", 1}, {"float8_e5m2", 1}, {"float8_e5m2fnuz", 1},
};

}  // namespace

std::int64_t element_bytes(std::string_view dtype) {
  const auto found = std::ranges::find(kElements, dtype, &Element::dtype);
  return found == std::end(kElements) ? 0 : found->bytes;
}

}  // namespace weir::cost
