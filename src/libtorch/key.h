#pragma once

#include <c10/core/DispatchKeySet.h>

namespace weir::libtorch {

// Where we stand among the dispatch keys: below autograd, above the kernels. Two plans, chosen when
// building: `Fake` has no kernels of its own in 2.13, so one fallback sees every op;
// `CustomRNGKeyId` is free in later versions too, but composite kernels shadow a fallback there, so
// each of their ops is registered by itself.
#ifdef WEIR_KEY_CUSTOM_RNG
inline constexpr c10::DispatchKey kKey = c10::DispatchKey::CustomRNGKeyId;
#else
inline constexpr c10::DispatchKey kKey = c10::DispatchKey::Fake;
#endif

// Does an op that makes a tensor from nothing come to us? If not, the first one to fill it does.
inline constexpr bool kSeesFactories = kKey == c10::DispatchKey::Fake;

// The keys that are left for the kernels below us.
inline c10::DispatchKeySet below(c10::DispatchKeySet keys) {
  return keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey);
}

// Interposition on the calling thread; returns what it was.
bool interpose(bool on);

}  // namespace weir::libtorch
