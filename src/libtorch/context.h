#pragma once

#include <cstdint>
#include <optional>

namespace weir::libtorch {

// The settings that decide, beside its arguments, which bits a kernel makes. Packed, so that taking
// and comparing it costs next to nothing.
class Context {
 public:
  // The calling thread's, now. Nothing if an op could not be run again under the same conditions.
  static std::optional<Context> current();

  bool operator==(const Context&) const = default;

 private:
  friend class ContextGuard;
  std::uint64_t bits_ = 0;
};

// Puts the calling thread under a context while it lives.
class ContextGuard {
 public:
  explicit ContextGuard(Context wanted);
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  static void apply(Context from, Context to);

  Context wanted_, before_;
};

}  // namespace weir::libtorch
