#pragma once

#include <string>

#include "libtorch/runtime.h"

namespace weir::libtorch {

// The options as JSON, as the control op and the preloaded library are given them. Throws BadInput.
RunOptions read_options(const std::string& text);

// Throws BadInput if they could not work.
void check_options(const RunOptions& options);

// The budget begins, with all that watches over it, and the calling thread is interposed on.
void begin(const RunOptions& options);

}  // namespace weir::libtorch
