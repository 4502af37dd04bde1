// The key plan for 2.13: no alias covers `Fake`, so a fallback sees every op, also later ones.
#include <torch/library.h>

#include "libtorch/interposer.h"

namespace weir::libtorch {

void stand_before_new_ops() {}

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&interposed>());
}

}  // namespace weir::libtorch
