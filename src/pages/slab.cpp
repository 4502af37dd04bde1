#include "pages/slab.h"

#include "base/check.h"

namespace weir::pages {

namespace {

void link(SlabChunk*& list, SlabChunk& chunk) {
  chunk.before = nullptr;
  chunk.after = list;
  if (list != nullptr) list->before = &chunk;
  list = &chunk;
}

void unlink(SlabChunk*& list, SlabChunk& chunk) {
  (chunk.before == nullptr ? list : chunk.before->after) = chunk.after;
  if (chunk.after != nullptr) chunk.after->before = chunk.before;
}

}  // namespace

Slabs::Slabs(More more, GiveBack give_back, const SlabOptions& options)
    : more_{std::move(more)}, give_back_{std::move(give_back)}, options_{options} {
  WEIR_CHECK(options.largest <= kLargestSlabObject, options.largest);
  for (std::size_t i = 0; i < kSlabClasses; ++i) classes_[i].object_bytes = slab_object_bytes(i);
}

Slabs::~Slabs() { give_back_spares(); }

void* Slabs::allocate(std::size_t size) {
  WEIR_CHECK(serves(size), size, options_.largest);
  Class& of = classes_[slab_class(size)];
  std::unique_lock lock{of.mutex};
  while (of.usable == nullptr) {
    lock.unlock();
    std::byte* memory = more_(slab_chunk_bytes(of.object_bytes));
    lock.lock();
    add_chunk(of, memory);
  }
  SlabChunk& chunk = *of.usable;
  std::byte* object = chunk.take();
  if (of.spare == &chunk) of.spare = nullptr;
  if (chunk.is_full()) unlink(of.usable, chunk);
  return object;
}

void Slabs::free(void* object) {
  SlabChunk* chunk = map_.find(object);
  WEIR_CHECK(chunk != nullptr, object);
  Class& of = classes_[chunk->object_class()];
  std::unique_lock lock{of.mutex};
  const bool was_full = chunk->is_full();
  chunk->put(object);
  if (was_full) link(of.usable, *chunk);
  if (!chunk->is_empty()) return;
  if (of.spare == nullptr) {
    of.spare = chunk;
    return;
  }
  std::byte* memory = chunk->memory();
  remove_chunk(of, *chunk);
  lock.unlock();
  return_memory(memory, slab_chunk_bytes(of.object_bytes));
}

std::atomic<void*>& Slabs::owner(const void* object) const {
  const SlabChunk* chunk = map_.find(object);
  WEIR_CHECK(chunk != nullptr, object);
  return chunk->owner(object);
}

std::size_t Slabs::object_size(const void* object) const {
  const SlabChunk* chunk = map_.find(object);
  WEIR_CHECK(chunk != nullptr, object);
  return chunk->object_bytes();
}

SlabChunk& Slabs::add_chunk(Class& of, std::byte* memory) {
  WEIR_CHECK(reinterpret_cast<std::uintptr_t>(memory) % kSlabUnit == 0, memory);
  if (of.unused == nullptr) {
    of.records.push_back(std::make_unique<SlabChunk>(slab_class(of.object_bytes)));
    of.unused = of.records.back().get();
  }
  SlabChunk& chunk = *of.unused;
  of.unused = chunk.after;
  chunk.begin(memory);
  map_.set(memory, chunk.bytes(), &chunk);
  link(of.usable, chunk);
  bytes_in_chunks_ += static_cast<std::int64_t>(chunk.bytes());
  return chunk;
}

void Slabs::remove_chunk(Class& of, SlabChunk& chunk) {
  map_.set(chunk.memory(), chunk.bytes(), nullptr);
  unlink(of.usable, chunk);
  chunk.after = of.unused;
  of.unused = &chunk;
}

void Slabs::return_memory(std::byte* memory, std::size_t bytes) {
  bytes_in_chunks_ -= static_cast<std::int64_t>(bytes);
  give_back_(memory, bytes);
}

void Slabs::give_back_spares() {
  for (Class& of : classes_) {
    std::unique_lock lock{of.mutex};
    if (of.spare == nullptr) continue;
    std::byte* memory = of.spare->memory();
    remove_chunk(of, *of.spare);
    of.spare = nullptr;
    lock.unlock();
    return_memory(memory, slab_chunk_bytes(of.object_bytes));
  }
}

Bytes Slabs::bytes_in_chunks() const { return {bytes_in_chunks_.load()}; }

void Slabs::lock() {
  for (Class& of : classes_) of.mutex.lock();
}

void Slabs::unlock() {
  for (Class& of : classes_) of.mutex.unlock();
}

}  // namespace weir::pages
