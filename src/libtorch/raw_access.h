#pragma once

#include <c10/core/StorageImpl.h>

#include "libtorch/block.h"

namespace weir::libtorch {

// From now on we hear of the first one who asks a storage for an address he may write to, outside
// of ops: numpy, DLPack, another library.
void watch(c10::StorageImpl& storage, Block& block);
void unwatch(c10::StorageImpl& storage, Block& block);
// Somebody else wants to hear of it: it is not only ours.
bool watched_by_others(const c10::StorageImpl& storage, Block& block);

}  // namespace weir::libtorch
