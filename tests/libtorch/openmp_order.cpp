// The OpenMP runtime is not built with the thread sanitizer, which so does not see that a parallel
// region comes after what its caller did before, and before what he does next. It is told here.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

namespace {

using Body = void (*)(void*);
using Parallel = void (*)(Body, void*, unsigned, unsigned);

struct Region {
  Body body;
  void* data;
  char begun = 0, done = 0;  // only their addresses matter
};

void run_share(void* given) {
  Region& region = *static_cast<Region*>(given);
  __tsan_acquire(&region.begun);
  region.body(region.data);
  __tsan_release(&region.done);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void GOMP_parallel(Body body, void* data,
                                                                     unsigned threads,
                                                                     unsigned flags) {
  static const auto parallel = reinterpret_cast<Parallel>(dlsym(RTLD_NEXT, "GOMP_parallel"));
  Region region{body, data};
  __tsan_release(&region.begun);
  parallel(&run_share, &region, threads, flags);
  __tsan_acquire(&region.done);
}
