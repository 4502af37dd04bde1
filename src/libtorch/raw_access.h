#pragma once

#include <c10/core/StorageImpl.h>

#include "libtorch/block.h"

namespace weir::libtorch {

// While on, we hear of the first one who asks a storage for an address he may write to, outside of
// ops: numpy, DLPack, another library.
void watch(c10::StorageImpl& storage, Block& block, bool on);

}  // namespace weir::libtorch
