#include "trace/sink.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include "base/check.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

// A link stays a link: what it points to is replaced.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real;
}

}  // namespace

FileSink::FileSink(const std::filesystem::path& target) : target_{behind_links(target)} {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(target_, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw BadInput(located(target_.native(), "is not a regular file; give another name"));
  temporary_ = target_;
  temporary_ += fmt::format(".{}.tmp", ::getpid());
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) fail(errno);
}

FileSink::~FileSink() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void FileSink::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffer) flush();
}

void FileSink::flush() {
  for (std::string_view rest = buffer_; !rest.empty();) {
    ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void FileSink::finish() {
  flush();
  if (::fsync(file_) != 0) fail(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  ::close(std::exchange(file_, -1));
}

void FileSink::fail(int error) const {
  throw BadInput(located(target_.native(),
                         fmt::format("cannot be written ({}); give a place with room and rights",
                                     std::strerror(error))));
}

void ZstdSink::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ZstdSink::ZstdSink(Sink& inner)
    : inner_{inner}, context_{ZSTD_createCCtx()}, chunk_(ZSTD_CStreamOutSize(), '\0') {
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

void ZstdSink::write(std::string_view bytes) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{chunk_.data(), chunk_.size(), 0};
    std::size_t result = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_continue);
    WEIR_CHECK(ZSTD_isError(result) == 0, ZSTD_getErrorName(result));
    inner_.write({chunk_.data(), out.pos});
  }
}

void ZstdSink::finish() {
  std::size_t left = 1;
  while (left > 0) {
    ZSTD_inBuffer in{nullptr, 0, 0};
    ZSTD_outBuffer out{chunk_.data(), chunk_.size(), 0};
    left = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_end);
    WEIR_CHECK(ZSTD_isError(left) == 0, ZSTD_getErrorName(left));
    inner_.write({chunk_.data(), out.pos});
  }
  inner_.finish();
}

}  // namespace weir::trace
