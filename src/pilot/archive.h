#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "weir/errors.h"
#include "weir/types.h"

namespace weir::pilot {

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

// What is saved has a static `fields(archive, self)` that names its members in a call of the
// archive, once for writing and for reading.
template <typename T, typename Archive>
concept HasFields = requires(T& object, Archive& archive) {
  T::fields(archive, object);
};

// Numbers as bytes, the lowest first, on every machine.
class ArchiveWriter {
 public:
  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  template <Number T>
  void put(T number) {
    auto rest = static_cast<std::uint64_t>(number);
    for (std::size_t i = 0; i < sizeof(T); ++i, rest >>= 8) bytes_ += static_cast<char>(rest);
  }
  void put(Bytes bytes) { put(bytes.n); }
  void put(Nanos nanos) { put(nanos.n); }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(std::uint64_t{list.size()});
    for (const T& item : list) put(item);
  }
  template <HasFields<ArchiveWriter> T>
  void put(const T& object) {
    T::fields(*this, object);
  }

  std::string bytes_;
};

// The same backwards. Throws BadInput where bytes lack or a list is longer than they could be.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_{bytes} {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  template <Number T>
  void get(T& number) {
    if (rest_.size() < sizeof(T)) throw BadInput("it ends too early");
    std::uint64_t read = 0;
    for (std::size_t i = sizeof(T); i-- > 0;)
      read = (read << 8) | static_cast<unsigned char>(rest_[i]);
    number = static_cast<T>(read);
    rest_.remove_prefix(sizeof(T));
  }
  void get(Bytes& bytes) { get(bytes.n); }
  void get(Nanos& nanos) { get(nanos.n); }
  template <typename T>
  void get(std::vector<T>& list) {
    std::uint64_t size = 0;
    get(size);
    if (size > rest_.size()) throw BadInput("it ends too early");
    list.resize(size);
    for (T& item : list) get(item);
  }
  template <HasFields<ArchiveReader> T>
  void get(T& object) {
    T::fields(*this, object);
  }

  std::string_view rest_;
};

}  // namespace weir::pilot
