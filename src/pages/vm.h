#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pages/mappings.h"
#include "pages/span.h"
#include "weir/types.h"

namespace weir::pages {

// Moves the pages of `bytes` bytes with their contents and leaves `from` mapped as it was, without
// pages. Returns 0 or an errno: EFAULT if the range is several mappings (before Linux 6.17).
using Remap = int (*)(std::byte* from, std::byte* to, std::size_t bytes);
int system_remap(std::byte* from, std::byte* to, std::size_t bytes);

struct Moved {
  std::size_t calls = 0;  // 0: the system refused; then some of the pages may have moved
  std::size_t pieces = 0;
  double took_ns = 0;
};

// Pages at the addresses of one large range: the system's (SystemVm), or none at all (paper_vm.h).
// Where a call says bool, false means that the system refused: it does so at its limit of mappings,
// or out of memory.
class Vm {
 public:
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;
  virtual ~Vm() = default;

  [[nodiscard]] Span all() const { return all_; }
  [[nodiscard]] bool moves() const { return moves_; }          // does mremap do what we need?
  [[nodiscard]] bool has_huge_pages() const { return huge_; }  // do they come when preferred?

  // Both drop the pages of the span. Neighbours that were opened (closed) melt into one mapping.
  [[nodiscard]] bool open(Span span);   // read-write; a page appears when it is touched
  [[nodiscard]] bool close(Span span);  // any access faults

  // An open span without pages is about to be written to. With Huge the pages that it gets in whole
  // granules had better be huge; no page outside of it appears with them.
  enum class Come : std::uint8_t { Small, Huge };
  void expect_writes(Span span, Come pages);
  // May huge pages appear where the span is, also for what is only a part of one? They may where
  // they were preferred, and where pages from there moved to, until it is opened or closed.
  [[nodiscard]] bool may_be_huge(Span span) const;
  // Drops the pages; access stays as it is.
  [[nodiscard]] virtual bool discard(std::span<const Span> spans) = 0;
  [[nodiscard]] bool protect(Span span, Access access);
  // In one call if the system can, else piece by piece.
  [[nodiscard]] Moved move(Span from, Span to);
  // What the time of a move goes by: each piece lies in one mapping and in one table of pages, and
  // after each the other processors must forget where it was.
  [[nodiscard]] std::size_t pieces(Span from) const { return pieces(from, from); }

  // Nanoseconds that the first touch of a page takes, and of each that comes as a part of a huge
  // one.
  [[nodiscard]] virtual double first_touch() = 0;
  [[nodiscard]] virtual double first_huge_touch() const = 0;

  // The mappings that the range consists of: no fewer than there are, since every call may make
  // some; counting them takes time with their number.
  [[nodiscard]] std::size_t most_mappings() const { return most_mappings_; }
  std::size_t count_mappings();

 protected:
  Vm() = default;
  void has(Span all, bool huge_pages);

  [[nodiscard]] virtual bool map(Span span, Access access) = 0;
  virtual void writes_come(Span /*span*/, Span /*huge*/) {}
  [[nodiscard]] virtual bool change_access(Span span, Access access) = 0;
  [[nodiscard]] virtual Moved move_pages(Span from, Span to, std::size_t pieces) = 0;
  [[nodiscard]] virtual std::size_t mappings() const = 0;  // counted; 0: not to be had

  bool moves_ = false;

 private:
  [[nodiscard]] Span whole_granules(Span span) const;
  void forget_preference(Span span);
  [[nodiscard]] std::size_t granule(const std::byte* address) const;
  [[nodiscard]] std::size_t pieces(Span from, Span to) const;

  Span all_;
  std::optional<Mappings> mapped_;
  std::size_t most_mappings_ = 1;
  bool huge_ = false;
  std::vector<bool> preferred_;  // by granule: huge pages
};

// The system calls.
class SystemVm final : public Vm {
 public:
  // Takes `size` of address space, or the largest half, quarter, ... that the system allows.
  SystemVm(Bytes size, Remap remap);
  ~SystemVm() override;

  // By one call where the system can (from Linux 6.13 on).
  [[nodiscard]] bool discard(std::span<const Span> spans) override;
  [[nodiscard]] double first_touch() override;
  [[nodiscard]] double first_huge_touch() const override { return huge_touch_ns_; }

 private:
  [[nodiscard]] bool map(Span span, Access access) override;
  void writes_come(Span span, Span huge) override;
  [[nodiscard]] bool change_access(Span span, Access access) override;
  [[nodiscard]] Moved move_pages(Span from, Span to, std::size_t pieces) override;
  [[nodiscard]] std::size_t mappings() const override;

  [[nodiscard]] bool moves_work(Span all);
  [[nodiscard]] bool huge_pages_come(Span all);
  [[nodiscard]] std::size_t remap_pieces(Span from, Span to);

  Remap remap_;
  std::byte* reserved_ = nullptr;  // as the system gave it; all() is what is aligned of it
  std::size_t reserved_bytes_ = 0;
  double huge_touch_ns_ = 0;
  int self_ = -1;  // a descriptor of the process; -1: the system has none
};

// The number of mappings the system allows a process.
std::size_t mappings_allowed();

}  // namespace weir::pages
