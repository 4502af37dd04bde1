#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::pages {

inline constexpr std::size_t kSlabLine = 64;            // bytes, the alignment of objects
inline constexpr std::size_t kSlabUnit = 64 << 10;      // bytes, the alignment of chunks
inline constexpr std::size_t kSlabClasses = 8 + 8 * 6;  // up to 512 bytes, then 6 octaves
inline constexpr std::size_t kLargestSlabObject = 32 << 10;

// The class of a size: steps of 64 bytes up to 512, then eight steps per octave.
constexpr std::size_t slab_class(std::size_t size) {
  const std::size_t lines =
      size <= 1 ? 0 : (size - 1) / kSlabLine;  // whole lines before the last byte
  if (lines < 8) return lines;
  const std::size_t octave = static_cast<std::size_t>(std::bit_width(lines)) - 4;
  return 8 * octave + (lines >> octave);
}

// Bytes of an object of this class.
constexpr std::size_t slab_object_bytes(std::size_t index) {
  if (index < 8) return (index + 1) * kSlabLine;
  const std::size_t octave = index / 8 - 1;
  return ((index % 8 + 8 + 1) << octave) * kSlabLine;
}

// Large objects have large chunks, or much of a chunk's end would be lost.
constexpr std::size_t slab_chunk_bytes(std::size_t object_bytes) {
  return object_bytes <= 8 << 10 ? kSlabUnit : 4 * kSlabUnit;
}

// What is known about a chunk, kept beside it: the chunk itself has objects only. A record is used
// for chunks of one class all its life, so a late reader finds a record of the same shape.
class SlabChunk {
 public:
  explicit SlabChunk(std::size_t object_class);

  void begin(std::byte* memory);  // all objects free

  [[nodiscard]] std::byte* memory() const { return memory_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t bytes() const { return slab_chunk_bytes(object_bytes_); }
  [[nodiscard]] std::size_t object_class() const { return class_; }
  [[nodiscard]] std::size_t object_bytes() const { return object_bytes_; }
  [[nodiscard]] bool is_full() const { return used_ == count_; }
  [[nodiscard]] bool is_empty() const { return used_ == 0; }

  std::byte* take();             // a free object; there is one
  void put(const void* object);  // must be one that was taken
  [[nodiscard]] std::atomic<void*>& owner(const void* address) const;

  // The list of usable chunks of its class.
  SlabChunk* before = nullptr;
  SlabChunk* after = nullptr;

 private:
  [[nodiscard]] std::size_t place(const void* address) const;

  static constexpr std::size_t kWords = kSlabUnit / kSlabLine / 64;

  const std::size_t class_, object_bytes_, count_;
  const std::uint64_t inverse_;  // of object_bytes_, in units of 2^-40
  std::atomic<std::byte*> memory_ = nullptr;
  std::size_t used_ = 0;
  std::size_t first_word_ = 0;  // no object before this word is free
  std::array<std::uint64_t, kWords> free_{};
  std::unique_ptr<std::atomic<void*>[]> owners_;
};

// From an address to the record of its chunk, in two steps of 16 bits above the chunk's 16.
// Reading takes no lock.
class SlabMap {
 public:
  SlabMap();
  SlabMap(const SlabMap&) = delete;
  SlabMap& operator=(const SlabMap&) = delete;
  ~SlabMap();

  void set(const std::byte* memory, std::size_t bytes, SlabChunk* chunk);
  [[nodiscard]] SlabChunk* find(const void* address) const;

 private:
  using Leaf = std::atomic<SlabChunk*>;

  std::atomic<Leaf*>* leaves_;  // memory appears where it is touched, here and in the leaves
};

}  // namespace weir::pages
