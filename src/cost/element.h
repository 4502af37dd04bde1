#pragma once

#include <cstdint>
#include <string_view>

namespace weir::cost {

// The bytes of one element by PyTorch's name of its type; 0 if the name is not known.
[[nodiscard]] std::int64_t element_bytes(std::string_view dtype);

}  // namespace weir::cost
