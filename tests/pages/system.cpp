#include "pages/system.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace weir::pages {

namespace {

thread_local sigjmp_buf after_fault;

void jump_back(int /*signal*/) { siglongjmp(after_fault, 1); }

}  // namespace

bool faults_on(const std::function<void()>& access) {
  struct sigaction action {
  }, previous{};
  action.sa_handler = jump_back;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, &previous);
  volatile bool faulted = true;
  if (sigsetjmp(after_fault, 1) == 0) {
    access();
    faulted = false;
  }
  sigaction(SIGSEGV, &previous, nullptr);
  return faulted;
}

namespace {

template <typename Do>
void for_each_mapping(Do seen) {
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &from, &to) == 2) seen(from, to);
  }
}

}  // namespace

std::size_t pages_present(Span span) {
  std::vector<unsigned char> present(span.pages);
  if (mincore(span.address, span.bytes(), present.data()) != 0) return SIZE_MAX;
  return static_cast<std::size_t>(
      std::ranges::count_if(present, [](unsigned char page) { return (page & 1) != 0; }));
}

std::size_t mappings_within(Span span) {
  const auto first = reinterpret_cast<std::uintptr_t>(span.address);
  std::size_t count = 0;
  for_each_mapping([&](std::uintptr_t from, std::uintptr_t to) {
    if (to > first && from < first + span.bytes()) ++count;
  });
  return count;
}

bool faults_on_read(const std::byte* address) {
  return faults_on([&] { static_cast<void>(*static_cast<const volatile std::byte*>(address)); });
}

int remap_within_one_mapping(std::byte* from, std::byte* to, std::size_t bytes) {
  return mappings_within({from, bytes / kPage}) > 1 ? EFAULT : system_remap(from, to, bytes);
}

int no_remap(std::byte* /*from*/, std::byte* /*to*/, std::size_t /*bytes*/) { return ENOSYS; }

int flaky_remap(std::byte* from, std::byte* to, std::size_t bytes) {
  static std::atomic<int> calls = 0;
  const bool probing = bytes == kPage;
  return !probing && ++calls % 3 == 0 ? ENOMEM : system_remap(from, to, bytes);
}

}  // namespace weir::pages
