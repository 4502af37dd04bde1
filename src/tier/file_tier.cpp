#include "tier/file_tier.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/units.h"
#include "tier/clock.h"
#include "tier/failed.h"
#include "tier/folder.h"
#include "weir/errors.h"

namespace weir::tier {
namespace {

using namespace literals;

constexpr Bytes kGrowth = 16_MiB;                   // fewer, longer pieces on the disk
constexpr Bytes kProbes[] = {4_KiB, 4_KiB, 4_MiB};  // short ones teach the latency

Bytes whole_pages(Bytes size) { return {(size.n + kPage - 1) / kPage * kPage}; }

std::filesystem::path usable_folder(const FileTierOptions& options) {
  std::filesystem::path folder = options.folder.empty() ? default_folder() : options.folder;
  check_folder(folder);
  return folder;
}

Bytes usable_capacity(const FileTierOptions& options, const std::filesystem::path& folder) {
  const Bytes wanted = options.capacity.value_or(Bytes{free_space(folder).n / 10 * 9});
  const Bytes capacity{wanted.n / kPage * kPage};
  if (capacity.n > 0) return capacity;
  throw BadInput{"tier in '" + folder.string() + "': a capacity of " + base::format_bytes(wanted) +
                 " holds nothing; give at least 4KiB"};
}

}  // namespace

FileTier::FileTier(const FileTierOptions& options)
    : owner_{getpid()},
      file_{usable_folder(options), options.direct},
      space_{usable_capacity(options, file_.folder())} {
  probe();
}

std::optional<Slot> FileTier::reserve(Bytes size) {
  WEIR_CHECK(!in_child() && size.n > 0, size);
  const Bytes pages = whole_pages(size);
  const std::lock_guard lock{mutex_};
  const std::optional<Bytes> at = space_.take(pages);
  if (!at) return std::nullopt;
  try {
    grow_for(*at + pages);
  } catch (const TierError&) {
    space_.give(*at, pages);
    throw;
  }
  return Slot{*at, size};
}

void FileTier::free(Slot slot) {
  if (in_child()) return;
  const std::lock_guard lock{mutex_};
  space_.give(slot.at, whole_pages(slot.size));
}

Transfer FileTier::write(Slot slot, std::span<const std::byte> from) {
  WEIR_CHECK(!in_child());
  check_reserved(slot, from.size());
  const Nanos start = steady_clock().now();
  if (const int failure = file_.write(slot.at, from))
    return failed(error("writing " + base::format_bytes(slot.size), failure));
  meter_.note_write(slot.size, steady_clock().now() - start);
  return {};
}

// A child takes no lock: another thread of the parent may have held it at the fork.
Transfer FileTier::read(Slot slot, std::span<std::byte> to) {
  const bool child = in_child();
  if (!child) check_reserved(slot, to.size());
  const Nanos start = steady_clock().now();
  if (const int failure = file_.read(slot.at, to))
    return failed(error("reading " + base::format_bytes(slot.size), failure));
  if (!child) meter_.note_read(slot.size, steady_clock().now() - start);
  return {};
}

Bytes FileTier::capacity() const { return space_.capacity(); }

Bytes FileTier::used() const {
  const std::lock_guard lock{mutex_};
  return space_.used();
}

void FileTier::probe() {
  for (const Bytes wanted : kProbes) {
    const Bytes size = std::min(wanted, capacity());
    const Pages memory = make_pages(static_cast<std::size_t>(size.n));
    const std::span pages{memory.get(), static_cast<std::size_t>(size.n)};
    std::ranges::fill(pages, std::byte{0x5a});
    const std::optional<Slot> slot = reserve(size);
    write(*slot, pages).wait();
    read(*slot, pages).wait();
    free(*slot);
  }
}

// A disk without room for a whole step may still have room for this one slot.
void FileTier::grow_for(Bytes end) {
  if (end <= file_end_) return;
  const Bytes step = std::min(space_.capacity(), std::max(end, file_end_ + kGrowth));
  for (const Bytes to : {step, end}) {
    const int failure = file_.grow(file_end_, to);
    if (failure == 0) {
      file_end_ = to;
      return;
    }
    if (to == end) throw error("growing its file to " + base::format_bytes(end), failure);
  }
}

void FileTier::check_reserved(Slot slot, std::size_t memory) const {
  WEIR_CHECK(memory == static_cast<std::size_t>(slot.size.n), memory, slot.size);
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(space_.taken(slot.at, whole_pages(slot.size)), slot.at, slot.size);
}

bool FileTier::in_child() const { return getpid() != owner_; }

TierError FileTier::error(const std::string& what, int error) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return TierError{"tier in '" + folder().string() + "': " + what + " failed (" +
                   error_text(error) + "); " +
                   (full ? "free some space there, or give --tier another folder or less capacity"
                         : "check that disk, or give --tier another folder")};
}

}  // namespace weir::tier
