// A raw read of evicted memory faults. The handler only posts the address to a thread of our own
// and waits: restoring inside the handler would run on a small stack, perhaps on an OpenMP worker
// and so with other bits.
#include "libtorch/faults.h"

#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "libtorch/fork.h"
#include "libtorch/key.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

struct Request {
  enum State : std::uint32_t { Free, Asked, Done, Failed };
  std::atomic<std::uint32_t> state{Free};
  std::atomic<void*> address{nullptr};
};

constexpr int kRequests = 64;
Request requests[kRequests];
sem_t asked;
SetHandler set_handler = &::sigaction;
std::atomic<const struct sigaction*> next_handler{nullptr};  // who is asked about faults not ours
std::atomic<pid_t> owner{0};
std::atomic<int> restore_thread{0};

void wait_while(std::atomic<std::uint32_t>& state, std::uint32_t value) {
  while (state.load() == value)
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state), FUTEX_WAIT, value, nullptr,
            nullptr, 0);
}

// True: the address can be accessed now.
bool ask_for(void* address) {
  for (Request& request : requests) {
    std::uint32_t free = Request::Free;
    if (!request.state.compare_exchange_strong(free, Request::Asked)) continue;
    request.address = address;
    sem_post(&asked);
    wait_while(request.state, Request::Asked);
    return request.state.exchange(Request::Free) == Request::Done;
  }
  return false;
}

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction* next = next_handler.load();
  if ((next->sa_flags & SA_SIGINFO) != 0 && next->sa_sigaction != nullptr)
    return next->sa_sigaction(signal, info, context);
  if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) return next->sa_handler(signal);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  set_handler(signal, &standard, nullptr);  // the instruction faults again and ends the process
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (!Runtime::get().may_fault_at(info->si_addr)) return chain(signal, info, context);
  if (getpid() != owner.load()) {
    if (read_from_parents_tier(info->si_addr)) {
      errno = error;
      return;
    }
    say(kOnlyInParent);
    say("\n");
    return chain(signal, info, context);
  }
  if (static_cast<int>(syscall(SYS_gettid)) == restore_thread.load() || !ask_for(info->si_addr)) {
    say("weir: an evicted tensor was accessed and could not be brought back\n");
    return chain(signal, info, context);
  }
  errno = error;
}

[[noreturn]] void serve() {
  interpose(false);
  restore_thread = static_cast<int>(syscall(SYS_gettid));
  for (;;) {
    while (sem_wait(&asked) != 0) {
    }
    for (Request& request : requests) {
      if (request.state != Request::Asked || request.address == nullptr) continue;
      void* address = request.address.exchange(nullptr);
      std::uint32_t result = Request::Failed;
      try {
        if (Runtime::get().bring_back(address)) result = Request::Done;
      } catch (const std::exception& error) {
        say(error.what());
        say("\n");
      }
      request.state = result;
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&request.state), FUTEX_WAKE, INT32_MAX,
              nullptr, nullptr, 0);
    }
  }
}

}  // namespace

void use_to_set_handlers(SetHandler function) { set_handler = function; }

// Handlers that were replaced stay in memory: a fault may be on its way to them.
void chain_behind(const struct sigaction* wanted, struct sigaction* before) {
  static auto& all = *new std::deque<struct sigaction>;
  static std::mutex mutex;
  const std::lock_guard lock{mutex};
  const struct sigaction* now = next_handler.load();
  if (before != nullptr && now != nullptr) *before = *now;
  if (wanted == nullptr) return;
  next_handler = &all.emplace_back(*wanted);
}

void stay_in_front() {
  struct sigaction ours = {}, now = {};
  set_handler(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault) return;
  chain_behind(&now, nullptr);
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  set_handler(SIGSEGV, &ours, nullptr);
}

void catch_faults() {
  static const bool once = [] {
    owner = getpid();
    sem_init(&asked, 0, 0);
    std::thread{serve}.detach();
    stay_in_front();
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace weir::libtorch
