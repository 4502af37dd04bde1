#include "pages/vm.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <string>

#include "base/check.h"

namespace weir::pages {

namespace {

constexpr std::size_t kLeastReservation = std::size_t{64} << 20;
constexpr std::size_t kUsualMostMappings = 65530;

constexpr std::size_t kSpansAtOnce = 64;

long total_bytes(std::span<const Span> spans) {
  std::size_t sum = 0;
  for (const Span span : spans) sum += span.bytes();
  return static_cast<long>(sum);
}

// Nanoseconds that it takes to write to the first byte of each of so many places.
double time_writes(std::byte* first, std::size_t places, std::size_t apart) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < places; ++i) first[i * apart] = std::byte{1};
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

void* anonymous(void* at, std::size_t bytes, int protection, int flags) {
  return mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

int protection(Access access) {
  return access == Access::None ? PROT_NONE : PROT_READ | PROT_WRITE;
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

std::size_t mappings_allowed() {
  std::ifstream file{"/proc/sys/vm/max_map_count"};
  std::size_t count = 0;
  return file >> count ? count : kUsualMostMappings;
}

void Vm::has(Span all, bool huge_pages) {
  all_ = all;
  mapped_.emplace(all);
  huge_ = huge_pages;
  if (huge_) preferred_.resize(granule(all_.end() - 1) + 1);
}

bool Vm::open(Span span) {
  most_mappings_ += 2;
  forget_preference(span);
  mapped_->map(span, Access::ReadWrite);
  return map(span, Access::ReadWrite);
}

bool Vm::close(Span span) {
  most_mappings_ += 2;
  forget_preference(span);
  mapped_->map(span, Access::None);
  return map(span, Access::None);
}

std::size_t Vm::granule(const std::byte* address) const {
  return static_cast<std::size_t>(address - all_.address) / (kGranule * kPage);
}

Span Vm::whole_granules(Span span) const {
  const std::size_t page = static_cast<std::size_t>(span.address - all_.address) / kPage;
  const std::size_t from = (kGranule - page % kGranule) % kGranule;
  if (from + kGranule > span.pages) return {span.address, 0};
  return span.part(from, from + (span.pages - from) / kGranule * kGranule);
}

void Vm::expect_writes(Span span, Come pages) {
  const Span huge = huge_ && pages == Come::Huge ? whole_granules(span) : Span{span.address, 0};
  if (huge.pages > 0) {
    most_mappings_ += 2;
    mapped_->prefer_huge(huge);
    for (std::size_t i = granule(huge.address); i < granule(huge.end()); ++i) preferred_[i] = true;
  }
  writes_come(span, huge);
}

bool Vm::may_be_huge(Span span) const {
  if (!huge_) return false;
  for (std::size_t i = granule(span.address); i <= granule(span.end() - 1); ++i)
    if (preferred_[i]) return true;
  return false;
}

// Of what is not a whole granule the rest may be as it was.
void Vm::forget_preference(Span span) {
  if (!huge_) return;
  const std::size_t first = granule(span.address + (kGranule - 1) * kPage);
  for (std::size_t i = first; i < granule(span.end()); ++i) preferred_[i] = false;
}

bool Vm::protect(Span span, Access access) {
  most_mappings_ += 2;
  mapped_->protect(span, access);
  return change_access(span, access);
}

Moved Vm::move(Span from, Span to) {
  if (may_be_huge(from))
    for (std::size_t i = granule(to.address); i <= granule(to.end() - 1); ++i) preferred_[i] = true;
  const Moved moved = move_pages(from, to, pieces(from, to));
  mapped_->move(from, to);
  most_mappings_ += 3 * std::max<std::size_t>(1, moved.calls);  // the target's ends, a cut source
  return moved;
}

std::size_t Vm::pieces(Span from, Span to) const {
  const auto borders = [&](Span span) { return granule(span.end() - 1) - granule(span.address); };
  return mapped_->within(from) + std::max(borders(from), borders(to));
}

std::size_t Vm::count_mappings() {
  if (const std::size_t count = mappings(); count > 0) most_mappings_ = count;
  return most_mappings_;
}

SystemVm::SystemVm(Bytes size, Remap remap) : remap_{remap} {
  WEIR_CHECK(sysconf(_SC_PAGESIZE) == static_cast<long>(kPage), sysconf(_SC_PAGESIZE));
  constexpr std::size_t kAlignment = kGranule * kPage;
  std::size_t bytes = fair_share(static_cast<std::size_t>(size.n));
  void* got = MAP_FAILED;
  for (; bytes >= kLeastReservation; bytes /= 2) {
    reserved_bytes_ = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    got = anonymous(nullptr, reserved_bytes_, PROT_NONE, 0);
    if (got != MAP_FAILED) break;
  }
  WEIR_CHECK(got != MAP_FAILED, size, errno);
  reserved_ = static_cast<std::byte*>(got);
  const std::size_t off = reinterpret_cast<std::uintptr_t>(reserved_) % kAlignment;
  const Span all{reserved_ + (off == 0 ? 0 : kAlignment - off),
                 (reserved_bytes_ - kAlignment) / kPage};
  moves_ = moves_work(all);
  has(all, huge_pages_come(all));
  self_ = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
}

SystemVm::~SystemVm() {
  if (self_ >= 0) ::close(self_);
  munmap(reserved_, reserved_bytes_);
}

// Kernels before 5.7 and some sandboxes lack MREMAP_DONTUNMAP.
bool SystemVm::moves_work(Span all) {
  const Span from = all.part(0, 1), to = all.part(1, 2);
  if (!map(from, Access::ReadWrite)) return false;
  *from.address = std::byte{1};
  const bool moved = remap_(from.address, to.address, kPage) == 0 && *to.address == std::byte{1} &&
                     *from.address == std::byte{0};
  return map(all.part(0, 2), Access::None) && moved;
}

// The administrator may have switched them off, for all or for this process.
bool SystemVm::huge_pages_come(Span all) {
  const Span granule = all.part(0, kGranule);
  std::array<unsigned char, kGranule> there{};
  if (!map(granule, Access::ReadWrite)) return false;
  if (madvise(granule.address, granule.bytes(), MADV_HUGEPAGE) == 0) {
    huge_touch_ns_ = time_writes(granule.address, 1, 0) / kGranule;
    if (mincore(granule.address, granule.bytes(), there.data()) != 0) there.fill(0);
  }
  const bool whole = std::ranges::all_of(there, [](unsigned char page) { return (page & 1) != 0; });
  return map(granule, Access::None) && whole;
}

bool SystemVm::map(Span span, Access access) {
  return anonymous(span.address, span.bytes(), protection(access), MAP_FIXED) != MAP_FAILED;
}

void SystemVm::writes_come(Span /*span*/, Span huge) {
  if (huge.pages > 0)
    madvise(huge.address, huge.bytes(), MADV_HUGEPAGE);  // if refused, small ones come
}

// Another process, forked from ours, has no use for the descriptor and is refused.
bool SystemVm::discard(std::span<const Span> spans) {
  std::array<iovec, kSpansAtOnce> parts;
  for (; !spans.empty(); spans = spans.subspan(std::min(kSpansAtOnce, spans.size()))) {
    const auto now = spans.first(std::min(kSpansAtOnce, spans.size()));
    std::ranges::transform(now, parts.begin(), [](Span s) { return iovec{s.address, s.bytes()}; });
    if (now.size() > 1 && syscall(SYS_process_madvise, self_, parts.data(), now.size(),
                                  MADV_DONTNEED, 0) == total_bytes(now))
      continue;
    for (const Span span : now)
      if (madvise(span.address, span.bytes(), MADV_DONTNEED) != 0) return false;
  }
  return true;
}

bool SystemVm::change_access(Span span, Access access) {
  return mprotect(span.address, span.bytes(), protection(access)) == 0;
}

Moved SystemVm::move_pages(Span from, Span to, std::size_t pieces) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t calls = remap_pieces(from, to);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return {calls, pieces, took.count()};
}

// Halving finds the seams between mappings without knowing them: a single page has none.
std::size_t SystemVm::remap_pieces(Span from, Span to) {
  const int error = remap_(from.address, to.address, from.bytes());
  if (error == 0) return 1;
  if (error != EFAULT || from.pages == 1) return 0;
  const std::size_t half = from.pages / 2;
  const std::size_t first = remap_pieces(from.part(0, half), to.part(0, half));
  if (first == 0) return 0;
  const std::size_t second = remap_pieces(from.part(half, from.pages), to.part(half, from.pages));
  return second == 0 ? 0 : first + second;
}

double SystemVm::first_touch() {
  constexpr std::size_t kPages = 16;
  const Span tried = all().part(0, kPages);
  if (!open(tried)) return 0;
  const double took = time_writes(tried.address, kPages, kPage);
  return close(tried) ? took / kPages : 0;
}

std::size_t SystemVm::mappings() const {
  std::ifstream file{"/proc/self/maps"};
  std::size_t count = 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(all().address);
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t start = 0, end = 0;
    const char* dash = std::from_chars(line.data(), line.data() + line.size(), start, 16).ptr;
    std::from_chars(dash + 1, line.data() + line.size(), end, 16);
    if (end > begin && start < begin + all().bytes()) ++count;
  }
  return count;  // 0: the file cannot be read
}

}  // namespace weir::pages
