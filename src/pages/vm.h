#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weir/types.h"

namespace weir::pages {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kGranule = 512;  // pages: 2 MiB, what one page-table page maps

// A range of whole pages.
struct Span {
  std::byte* address = nullptr;
  std::size_t pages = 0;

  [[nodiscard]] std::size_t bytes() const { return pages * kPage; }
  [[nodiscard]] std::byte* end() const { return address + bytes(); }
  // Its pages from `from` up to `to`.
  [[nodiscard]] Span part(std::size_t from, std::size_t to) const {
    return {address + from * kPage, to - from};
  }
};

enum class Access : std::uint8_t { None, ReadWrite };

// Moves the pages of `bytes` bytes with their contents and leaves `from` mapped as it was, without
// pages. Returns 0 or an errno: EFAULT if the range is several mappings (before Linux 6.17).
using Remap = int (*)(std::byte* from, std::byte* to, std::size_t bytes);
int system_remap(std::byte* from, std::byte* to, std::size_t bytes);

// The system calls, on one large range of addresses that is taken once and kept. Where a call says
// bool, false means that the system refused: it does so at its limit of mappings, or out of memory.
class Vm {
 public:
  // Takes `size` of address space, or the largest half, quarter, ... that the system allows.
  Vm(Bytes size, Remap remap);
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;
  ~Vm();

  [[nodiscard]] Span all() const { return all_; }
  [[nodiscard]] bool moves() const { return moves_; }          // does mremap do what we need?
  [[nodiscard]] bool has_huge_pages() const { return huge_; }  // do they come when preferred?

  // Both drop the pages of the span. Neighbours that were opened (closed) melt into one mapping.
  [[nodiscard]] bool open(Span span);   // read-write; a page appears when it is touched
  [[nodiscard]] bool close(Span span);  // any access faults

  // The pages that an open span gets in whole granules had better be huge. No page outside of it
  // appears with them.
  void prefer_huge(Span span);
  // May huge pages appear where the span is, also for what is only a part of one? They may where
  // they were preferred, and where pages from there moved to, until it is opened or closed.
  [[nodiscard]] bool may_be_huge(Span span) const;
  [[nodiscard]] static bool discard(Span span);  // drops the pages; access stays as it is
  // The same for many spans, by one call where the system can (from Linux 6.13 on).
  [[nodiscard]] bool discard(std::span<const Span> spans) const;
  [[nodiscard]] bool protect(Span span, Access access);
  // In one call if the system can, else piece by piece. Returns the number of calls, 0 if the
  // system refused; then some of the pages may have moved.
  [[nodiscard]] std::size_t move(Span from, Span to);

  // Nanoseconds that the first touch of a page takes.
  double time_first_touch();
  // The same for each page of a huge one, as it was when they were tried.
  [[nodiscard]] double first_huge_touch() const { return huge_touch_ns_; }

  // The mappings that the range consists of: no fewer than there are, since every call may make
  // some; counting them takes time with their number.
  [[nodiscard]] std::size_t most_mappings() const { return most_mappings_; }
  std::size_t count_mappings();

 private:
  [[nodiscard]] bool moves_work();
  [[nodiscard]] bool huge_pages_come();
  void forget_preference(Span span);
  [[nodiscard]] std::size_t granule(const std::byte* address) const;

  Remap remap_;
  std::byte* reserved_ = nullptr;  // as the system gave it; all_ is what is aligned of it
  std::size_t reserved_bytes_ = 0;
  Span all_;
  std::size_t most_mappings_ = 1;
  bool moves_ = false, huge_ = false;
  double huge_touch_ns_ = 0;
  std::vector<bool> preferred_;  // by granule: huge pages
  int self_ = -1;                // a descriptor of the process; -1: the system has none
};

// The number of mappings the system allows a process.
std::size_t mappings_allowed();

}  // namespace weir::pages
