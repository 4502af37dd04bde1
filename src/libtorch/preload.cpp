// libweir_preload.so, for LD_PRELOAD: brings the runtime into a program that was not written for
// it. It depends on nothing but libc, because it may find itself in a program without PyTorch.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace {

using SetHandler = int (*)(int, const struct sigaction*, struct sigaction*);
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// What the runtime offers; null before it has begun.
std::atomic<void (*)()> follow_thread{nullptr};
std::atomic<void (*)(const struct sigaction*, struct sigaction*)> chain_handler{nullptr};

template <typename Function>
Function behind_us(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

SetHandler system_sigaction() {
  static const auto function = behind_us<SetHandler>("sigaction");
  return function;
}

std::string own_path() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_path), &info);
  return info.dli_fname;
}

// What this program starts runs as it would without us.
void hide_from_children() {
  unsetenv("WEIR_OPTIONS");
  const char* value = std::getenv("LD_PRELOAD");
  if (value == nullptr) return;
  const std::string_view all = value, own = "libweir_preload.so";
  std::string kept;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find_first_of(": ", begin), all.size());
    const std::string_view one = all.substr(begin, end - begin);
    if (!one.empty() && !one.ends_with(own)) kept.append(kept.empty() ? "" : ":").append(one);
    begin = end + 1;
  }
  if (kept.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", kept.c_str(), 1);
}

[[noreturn]] void refuse(const std::string& reason) {
  std::fprintf(stderr, "weir: %s\n", reason.c_str());
  _exit(2);
}

// The program's PyTorch is loaded already, so the runtime finds that one by its name.
void* load_runtime() {
  if (dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD) == nullptr)
    refuse(std::string{program_invocation_name} +
           " does not use libtorch, so there is nothing to hold; run it without weir");
  std::string path = own_path();
  path.replace(path.rfind('/') + 1, std::string::npos, "libweir_torch.so");
  void* runtime = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (runtime == nullptr)
    refuse(std::string{"the runtime cannot be loaded: "} + dlerror() +
           "; if it is built for another PyTorch, install this one in Weir's .venv and run: make "
           "build");
  return runtime;
}

template <typename Function>
void look_up(std::atomic<Function>& place, void* runtime, const char* name) {
  place = reinterpret_cast<Function>(dlsym(runtime, name));
}

[[gnu::constructor]] void begin() {
  const char* given = std::getenv("WEIR_OPTIONS");
  if (given == nullptr) return;
  const std::string options = given;
  hide_from_children();
  void* runtime = load_runtime();
  const auto start =
      reinterpret_cast<bool (*)(const char*, SetHandler)>(dlsym(runtime, "weir_preload_begin"));
  if (start == nullptr || !start(options.c_str(), system_sigaction())) _exit(2);
  look_up(chain_handler, runtime, "weir_preload_handler");
  look_up(follow_thread, runtime, "weir_preload_thread");
}

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* followed(void* given) {
  const std::unique_ptr<Start> start{static_cast<Start*>(given)};
  follow_thread.load()();
  return start->function(start->argument);
}

// Workers of OpenMP run parts of an op, not ops.
bool is_openmp(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view path = info.dli_fname;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libgomp") || name.starts_with("libomp") || name.starts_with("libiomp");
}

}  // namespace

#define WEIR_EXPORT extern "C" __attribute__((visibility("default")))

WEIR_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                               void* (*function)(void*), void* argument) {
  static const auto create = behind_us<CreateThread>("pthread_create");
  if (follow_thread.load() == nullptr || is_openmp(__builtin_return_address(0)))
    return create(thread, attributes, function, argument);
  auto start = std::make_unique<Start>(Start{function, argument});
  const int error = create(thread, attributes, &followed, start.get());
  if (error == 0) static_cast<void>(start.release());
  return error;
}

WEIR_EXPORT int sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
  const auto chain = chain_handler.load();
  if (number != SIGSEGV || chain == nullptr) return system_sigaction()(number, wanted, before);
  chain(wanted, before);
  return 0;
}

WEIR_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  static const auto system = behind_us<sighandler_t (*)(int, sighandler_t)>("signal");
  if (number != SIGSEGV || chain_handler.load() == nullptr) return system(number, handler);
  struct sigaction wanted = {}, before = {};
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_RESTART;
  sigaction(number, &wanted, &before);
  return before.sa_handler;
}
