#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace weir::trace {

// Where text goes. It is complete only after `finish`; a sink destroyed before leaves no trace.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::string_view bytes) = 0;
  virtual void finish() = 0;
};

class StringSink : public Sink {
 public:
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override {}
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Writes to a temporary file beside the target, which takes its name in `finish`: whoever looks
// sees the old file or the whole new one. Throws BadInput "file: why".
class FileSink : public Sink {
 public:
  explicit FileSink(const std::filesystem::path& target);
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override;

  void write(std::string_view bytes) override;
  void finish() override;

 private:
  void flush();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path target_, temporary_;
  int file_ = -1;
  std::string buffer_;
};

// Compresses what goes to another sink.
class ZstdSink : public Sink {
 public:
  explicit ZstdSink(Sink& inner);

  void write(std::string_view bytes) override;
  void finish() override;

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  Sink& inner_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::string chunk_;
};

}  // namespace weir::trace
