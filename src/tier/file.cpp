#include "tier/file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/check.h"
#include "tier/folder.h"
#include "weir/errors.h"
#include "weir/tier.h"

namespace weir::tier {
namespace {

constexpr std::size_t kPageSize = kPage;
constexpr std::size_t kBounce = std::size_t{1} << 20;

struct alignas(kPageSize) Page {
  std::array<std::byte, kPageSize> bytes;
};

bool aligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % kPageSize == 0;
}

[[noreturn]] void fail_to_open(const std::filesystem::path& folder, int error) {
  const std::string where = "tier folder '" + folder.string() + "': ";
  const std::string why = " (" + error_text(error) + "); ";
  if (error == EACCES || error == EPERM || error == EROFS || error == ENOENT || error == ENOTDIR)
    throw BadInput{where + "no file can be made" + why + "give --tier a folder you may write to"};
  throw TierError{where + "no file can be made" + why + "mend that or give --tier another folder"};
}

// For file systems that know no O_TMPFILE. The name lives for a moment only.
int open_and_unlink(const std::filesystem::path& folder) {
  std::string name = (folder / "weir-tier-XXXXXX").string();
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

int open_nameless(const std::filesystem::path& folder) {
  constexpr mode_t kOwnerOnly = 0600;
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
    fd = open_and_unlink(folder);
  if (fd < 0) fail_to_open(folder, errno);
  return fd;
}

using Move = ssize_t (*)(int, const iovec*, int, off_t);  // preadv or pwritev

// Moves all of the parts, which together are whole pages. Goes on after short moves, at a page
// boundary because direct transfers must; one that is shorter than a page would not get further.
int move_all(int fd, Move move, off_t at, std::span<iovec> parts, int error_if_stopped) {
  while (!parts.empty()) {
    const ssize_t moved = move(fd, parts.data(), static_cast<int>(parts.size()), at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    std::size_t whole = static_cast<std::size_t>(moved) / kPageSize * kPageSize;
    if (whole == 0) return error_if_stopped;
    at += static_cast<off_t>(whole);
    while (!parts.empty() && whole >= parts.front().iov_len) {
      whole -= parts.front().iov_len;
      parts = parts.subspan(1);
    }
    if (whole == 0) continue;
    parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + whole;
    parts.front().iov_len -= whole;
  }
  return 0;
}

// The whole pages of the memory and, if it ends within a page, `tail` for the rest.
struct Parts {
  Parts(void* memory, std::size_t size, Page& tail) : rest{size % kPageSize} {
    if (size >= kPageSize) parts[used++] = {memory, size - rest};
    if (rest > 0) parts[used++] = {tail.bytes.data(), kPageSize};
  }
  [[nodiscard]] std::span<iovec> all() { return std::span(parts).first(used); }

  std::array<iovec, 2> parts{};
  std::size_t used = 0;
  std::size_t rest;
};

off_t end_of_pages(Bytes at, std::size_t size) {
  return static_cast<off_t>((static_cast<std::size_t>(at.n) + size + kPageSize - 1) / kPageSize *
                            kPageSize);
}

}  // namespace

File::File(std::filesystem::path folder, bool want_direct)
    : folder_{std::move(folder)}, fd_{open_nameless(folder_)}, direct_{false} {
  direct_ = want_direct && make_direct();
}

File::~File() { close(fd_); }

// Some file systems refuse the flag, others accept it and refuse the transfer.
bool File::make_direct() {
  const int flags = fcntl(fd_, F_GETFL);
  if (fcntl(fd_, F_SETFL, flags | O_DIRECT) != 0) return false;
  const Page page{};
  const int error = write_pages({}, page.bytes);
  if (error == EINVAL) WEIR_CHECK(fcntl(fd_, F_SETFL, flags) == 0, errno);
  return error != EINVAL;
}

int File::grow(Bytes from, Bytes to) {
  int result = 0;
  do {
    result = fallocate(fd_, 0, from.n, to.n - from.n);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EOPNOTSUPP) result = ftruncate(fd_, to.n);
  return result == 0 ? 0 : errno;
}

int File::write(Bytes at, std::span<const std::byte> from) {
  WEIR_CHECK(at.n % kPage == 0, at);
  if (!direct_) {
    const int error = write_pages(at, from);
    const off_t length = end_of_pages(at, from.size()) - at.n;
    constexpr unsigned kWriteOut = SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (error == 0 && sync_file_range(fd_, at.n, length, kWriteOut) != 0 && errno == EIO)
      return EIO;
    posix_fadvise(fd_, at.n, length, POSIX_FADV_DONTNEED);
    return error;
  }
  if (aligned(from.data())) return write_pages(at, from);
  const Pages bounce = make_pages(kBounce);
  for (std::size_t done = 0; done < from.size(); done += kBounce) {
    const auto piece = from.subspan(done, std::min(kBounce, from.size() - done));
    std::memcpy(bounce.get(), piece.data(), piece.size());
    const int error =
        write_pages(at + Bytes{static_cast<std::int64_t>(done)}, {bounce.get(), piece.size()});
    if (error != 0) return error;
  }
  return 0;
}

int File::read(Bytes at, std::span<std::byte> to) {
  WEIR_CHECK(at.n % kPage == 0, at);
  if (!direct_) {
    const int error = read_pages(at, to);
    posix_fadvise(fd_, at.n, end_of_pages(at, to.size()) - at.n, POSIX_FADV_DONTNEED);
    return error;
  }
  if (aligned(to.data())) return read_pages(at, to);
  const Pages bounce = make_pages(kBounce);
  for (std::size_t done = 0; done < to.size(); done += kBounce) {
    const auto piece = to.subspan(done, std::min(kBounce, to.size() - done));
    const int error =
        read_pages(at + Bytes{static_cast<std::int64_t>(done)}, {bounce.get(), piece.size()});
    if (error != 0) return error;
    std::memcpy(piece.data(), bounce.get(), piece.size());
  }
  return 0;
}

int File::write_pages(Bytes at, std::span<const std::byte> from) {
  Page tail{};
  Parts parts{const_cast<std::byte*>(from.data()), from.size(), tail};
  std::memcpy(tail.bytes.data(), from.data() + from.size() - parts.rest, parts.rest);
  return move_all(fd_, pwritev, at.n, parts.all(), ENOSPC);
}

int File::read_pages(Bytes at, std::span<std::byte> to) {
  Page tail;
  Parts parts{to.data(), to.size(), tail};
  const int error = move_all(fd_, preadv, at.n, parts.all(), EIO);
  if (error == 0) std::memcpy(to.data() + to.size() - parts.rest, tail.bytes.data(), parts.rest);
  return error;
}

}  // namespace weir::tier
