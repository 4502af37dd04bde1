#include "pages/vm.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/check.h"

namespace weir::pages {

namespace {

constexpr std::size_t kLeastReservation = std::size_t{64} << 20;
constexpr std::size_t kUsualMostMappings = 65530;

void* map(void* at, std::size_t bytes, int protection, int flags) {
  return mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

int protection(Access access) {
  switch (access) {
    case Access::None:
      return PROT_NONE;
    case Access::Read:
      return PROT_READ;
    case Access::ReadWrite:
      break;
  }
  return PROT_READ | PROT_WRITE;
}

// Under a limit of address space the rest of the program needs most of it.
std::size_t fair_share(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return bytes;
  return std::min(bytes, std::max(kLeastReservation, std::size_t{limit.rlim_cur} / 4));
}

}  // namespace

int system_remap(std::byte* from, std::byte* to, std::size_t bytes) {
  const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  return mremap(from, bytes, bytes, flags, to) == MAP_FAILED ? errno : 0;
}

std::size_t most_mappings() {
  std::ifstream file{"/proc/sys/vm/max_map_count"};
  std::size_t count = 0;
  return file >> count ? count : kUsualMostMappings;
}

Vm::Vm(Bytes size, Remap remap, bool huge_pages) : remap_{remap}, huge_pages_{huge_pages} {
  WEIR_CHECK(sysconf(_SC_PAGESIZE) == static_cast<long>(kPage), sysconf(_SC_PAGESIZE));
  constexpr std::size_t kAlignment = kGranule * kPage;
  std::size_t bytes = fair_share(static_cast<std::size_t>(size.n));
  void* got = MAP_FAILED;
  for (; bytes >= kLeastReservation; bytes /= 2) {
    reserved_bytes_ = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    got = map(nullptr, reserved_bytes_, PROT_NONE, 0);
    if (got != MAP_FAILED) break;
  }
  WEIR_CHECK(got != MAP_FAILED, size, errno);
  reserved_ = static_cast<std::byte*>(got);
  const std::size_t off = reinterpret_cast<std::uintptr_t>(reserved_) % kAlignment;
  all_.address = reserved_ + (off == 0 ? 0 : kAlignment - off);
  all_.pages = (reserved_bytes_ - kAlignment) / kPage;
  moves_ = moves_work();
}

Vm::~Vm() { munmap(reserved_, reserved_bytes_); }

// Kernels before 5.7 and some sandboxes lack MREMAP_DONTUNMAP. The tried granule stays unused.
bool Vm::moves_work() {
  const Span tried = carve(1);
  const Span from = tried.part(0, 1), to = tried.part(1, 2);
  if (!open(from)) return false;
  *from.address = std::byte{1};
  const bool moved = remap_(from.address, to.address, kPage) == 0 && *to.address == std::byte{1} &&
                     *from.address == std::byte{0};
  return close(tried.part(0, 2)) && moved;
}

Span Vm::carve(std::size_t granules) {
  const std::size_t pages = granules * kGranule;
  if (all_.pages - carved_ < pages) return {};
  carved_ += pages;
  return all_.part(carved_ - pages, carved_);
}

bool Vm::open(Span span) {
  if (map(span.address, span.bytes(), PROT_READ | PROT_WRITE, MAP_FIXED) == MAP_FAILED)
    return false;
  // Only advice: where it is refused, small pages do.
  if (huge_pages_ && span.pages >= kGranule) madvise(span.address, span.bytes(), MADV_HUGEPAGE);
  return true;
}

bool Vm::close(Span span) {
  return map(span.address, span.bytes(), PROT_NONE, MAP_FIXED) != MAP_FAILED;
}

bool Vm::discard(Span span) { return madvise(span.address, span.bytes(), MADV_DONTNEED) == 0; }

bool Vm::protect(Span span, Access access) {
  return mprotect(span.address, span.bytes(), protection(access)) == 0;
}

// Halving finds the seams between mappings without knowing them: a single page has none.
std::size_t Vm::move(Span from, Span to) {
  const int error = remap_(from.address, to.address, from.bytes());
  if (error == 0) return 1;
  if (error != EFAULT || from.pages == 1) return 0;
  const std::size_t half = from.pages / 2;
  const std::size_t first = move(from.part(0, half), to.part(0, half));
  if (first == 0) return 0;
  const std::size_t second = move(from.part(half, from.pages), to.part(half, from.pages));
  return second == 0 ? 0 : first + second;
}

}  // namespace weir::pages
