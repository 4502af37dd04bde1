#include "libtorch/context.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/ScalarType.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weir::libtorch {

namespace {

// One setting: how many bits it takes, how it is read and how it is set.
struct Setting {
  unsigned bits;
  std::uint64_t (*get)();
  void (*set)(std::uint64_t);
};

at::Context& global() { return at::globalContext(); }

template <bool (at::Context::*Get)() const, void (at::Context::*Set)(bool)>
constexpr Setting flag() {
  return {1, [] { return static_cast<std::uint64_t>((global().*Get)()); },
          [](std::uint64_t on) { (global().*Set)(on != 0); }};
}

std::uint64_t flushes_denormals() {
#if defined(__x86_64__)
  return (_mm_getcsr() & 0x8040U) != 0;
#else
  return 0;
#endif
}

constexpr Setting kSettings[] = {
    {16, [] { return static_cast<std::uint64_t>(at::get_num_threads()); },
     [](std::uint64_t threads) { at::set_num_threads(static_cast<int>(threads)); }},
    {1, [] { return static_cast<std::uint64_t>(c10::GradMode::is_enabled()); },
     [](std::uint64_t on) { c10::GradMode::set_enabled(on != 0); }},
    {8, [] { return static_cast<std::uint64_t>(c10::get_default_dtype_as_scalartype()); },
     [](std::uint64_t type) {
       c10::set_default_dtype(c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(type)));
     }},
    {2,
     [] {
       return static_cast<std::uint64_t>(global().deterministicAlgorithms()) |
              static_cast<std::uint64_t>(global().deterministicAlgorithmsWarnOnly()) << 1;
     },
     [](std::uint64_t bits) {
       global().setDeterministicAlgorithms((bits & 1) != 0, (bits & 2) != 0);
     }},
    flag<&at::Context::deterministicFillUninitializedMemory,
         &at::Context::setDeterministicFillUninitializedMemory>(),
    flag<&at::Context::userEnabledMkldnn, &at::Context::setUserEnabledMkldnn>(),
    flag<&at::Context::deterministicMkldnn, &at::Context::setDeterministicMkldnn>(),
    flag<&at::Context::userEnabledFlashSDP, &at::Context::setSDPUseFlash>(),
    flag<&at::Context::userEnabledMathSDP, &at::Context::setSDPUseMath>(),
    flag<&at::Context::userEnabledMemEfficientSDP, &at::Context::setSDPUseMemEfficient>(),
    flag<&at::Context::allowFP16BF16ReductionMathSDP,
         &at::Context::setAllowFP16BF16ReductionMathSDP>(),
    flag<&at::Context::allowFP16ReductionCPU, &at::Context::setAllowFP16ReductionCPU>(),
    {1, flushes_denormals, [](std::uint64_t on) { at::Context::setFlushDenormal(on != 0); }},
};

}  // namespace

std::optional<Context> Context::current() {
  if (at::in_parallel_region()) return std::nullopt;
  Context context;
  unsigned shift = 0;
  for (const Setting& setting : kSettings) {
    context.bits_ |= setting.get() << shift;
    shift += setting.bits;
  }
  return context;
}

void ContextGuard::apply(Context from, Context to) {
  std::uint64_t differ = from.bits_ ^ to.bits_, wanted = to.bits_;
  for (const Setting& setting : kSettings) {
    const std::uint64_t mask = (std::uint64_t{1} << setting.bits) - 1;
    if ((differ & mask) != 0) setting.set(wanted & mask);
    differ >>= setting.bits;
    wanted >>= setting.bits;
  }
}

ContextGuard::ContextGuard(Context wanted)
    : wanted_{wanted}, before_{Context::current().value_or(wanted)} {
  if (before_ != wanted_) apply(before_, wanted_);
}

ContextGuard::~ContextGuard() {
  if (before_ != wanted_) apply(wanted_, before_);
}

}  // namespace weir::libtorch
