#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pages/slab_chunk.h"
#include "weir/types.h"

namespace weir::pages {

struct SlabOptions {
  std::size_t largest = 32 << 10;  // bytes; larger sizes are not served
};

// Small objects, aligned to 64 bytes, cut from chunks of 64 or 256 KiB. Above 512 bytes an object
// is at most an eighth larger than what was asked for. Each object has a slot for a pointer of the
// user's. Any thread may call.
//
// The callbacks are called with no lock held, so they may use the slabs themselves.
class Slabs {
 public:
  // `more` gives a chunk of this many bytes, aligned to 64 KiB, or throws; `give_back` takes one
  // that has no object left. One spare chunk is kept per size.
  using More = std::function<std::byte*(std::size_t)>;
  using GiveBack = std::function<void(std::byte*, std::size_t)>;
  Slabs(More more, GiveBack give_back, const SlabOptions& options = {});
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;
  ~Slabs();  // chunks that still have objects are not given back

  [[nodiscard]] bool serves(std::size_t size) const { return size <= options_.largest; }
  void* allocate(std::size_t size);  // what `more` throws goes through
  void free(void* object);

  // Is the address in a chunk? Takes no lock, may be called in a signal handler.
  [[nodiscard]] bool contains(const void* address) const { return map_.find(address) != nullptr; }
  // The user's slot of the object that has this address; null in a new object.
  [[nodiscard]] std::atomic<void*>& owner(const void* object) const;
  [[nodiscard]] std::size_t object_size(const void* object) const;

  void give_back_spares();
  [[nodiscard]] Bytes bytes_in_chunks() const;

  // For pthread_atfork: nobody is inside between these two.
  void lock();
  void unlock();

 private:
  struct Class {
    mutable std::mutex mutex;
    std::size_t object_bytes = 0;
    SlabChunk* usable = nullptr;  // chunks with a free object, the first is served from
    SlabChunk* spare = nullptr;   // without an object; also among the usable ones
    std::vector<std::unique_ptr<SlabChunk>> records;  // never destroyed before the slabs
    SlabChunk* unused = nullptr;                      // records without a chunk
  };

  SlabChunk& add_chunk(Class& of, std::byte* memory);
  void remove_chunk(Class& of, SlabChunk& chunk);
  void return_memory(std::byte* memory, std::size_t bytes);

  More more_;
  GiveBack give_back_;
  SlabOptions options_;
  SlabMap map_;
  std::array<Class, kSlabClasses> classes_;
  std::atomic<std::int64_t> bytes_in_chunks_ = 0;
};

}  // namespace weir::pages
