// The key plan for versions that use `Fake` themselves. Kernels that are registered for all
// backends at once also cover `CustomRNGKeyId` and hide a fallback, so we stand before each of
// their ops by itself.
#include <torch/library.h>

#include <mutex>
#include <unordered_set>
#include <vector>

#include "libtorch/interposer.h"
#include "libtorch/key.h"

namespace weir::libtorch {

namespace {

using c10::DispatchKey;

std::atomic<bool> new_ops{true};

// Called with the dispatcher's lock held, before the kernels of the op are known: it only notes.
class Listener final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle& /*op*/) override { new_ops = true; }
  void onOperatorDeregistered(const c10::OperatorHandle& /*op*/) override {}
};

bool hides_the_fallback(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional);
}

class Registrations {
 public:
  Registrations()
      : listening_{
            c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>())} {}

  void add_missing() {
    const std::lock_guard lock{mutex_};
    if (!new_ops.exchange(false)) return;
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
      const auto op = dispatcher.findSchema(name);
      if (!op || !hides_the_fallback(*op) || !known_.insert(name).second) continue;
      ours_.push_back(dispatcher.registerImpl(
          name, kKey, c10::KernelFunction::makeFromBoxedFunction<&interposed>(), std::nullopt,
          nullptr, "weir"));
    }
  }

 private:
  std::mutex mutex_;
  c10::RegistrationHandleRAII listening_;
  std::unordered_set<c10::OperatorName> known_;
  std::vector<c10::RegistrationHandleRAII> ours_;
};

// Never destroyed: the dispatcher may go first.
Registrations& registrations() {
  static auto* all = new Registrations;
  return *all;
}

}  // namespace

void stand_before_new_ops() {
  if (new_ops.load(std::memory_order_relaxed)) registrations().add_missing();
}

TORCH_LIBRARY_IMPL(_, CustomRNGKeyId, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&interposed>());
  registrations().add_missing();
}

}  // namespace weir::libtorch
