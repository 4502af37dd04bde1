#include "pages/slab_chunk.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace weir::pages {

namespace {

constexpr std::size_t kSlots = 1 << 16;
constexpr std::uint64_t kOne = std::uint64_t{1} << 40;

static_assert(slab_class(kLargestSlabObject) == kSlabClasses - 1);
static_assert(slab_object_bytes(kSlabClasses - 1) == kLargestSlabObject);

template <typename T>
std::atomic<T*>* map_slots() {
  void* got = mmap(nullptr, kSlots * sizeof(std::atomic<T*>), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WEIR_CHECK(got != MAP_FAILED, errno);
  return static_cast<std::atomic<T*>*>(got);  // zeros are null pointers
}

}  // namespace

SlabChunk::SlabChunk(std::size_t object_class)
    : class_{object_class},
      object_bytes_{slab_object_bytes(object_class)},
      count_{slab_chunk_bytes(object_bytes_) / object_bytes_},
      inverse_{(kOne + object_bytes_ - 1) / object_bytes_},
      owners_{std::make_unique<std::atomic<void*>[]>(count_)} {}

void SlabChunk::begin(std::byte* memory) {
  memory_.store(memory, std::memory_order_relaxed);
  used_ = first_word_ = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::size_t here = std::min<std::size_t>(64, count_ - std::min(count_, i * 64));
    free_[i] = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
  }
}

std::byte* SlabChunk::take() {
  while (free_[first_word_] == 0) ++first_word_;
  std::uint64_t& word = free_[first_word_];
  const std::size_t place = first_word_ * 64 + static_cast<std::size_t>(std::countr_zero(word));
  word &= word - 1;
  ++used_;
  return memory() + place * object_bytes_;
}

void SlabChunk::put(const void* object) {
  const std::size_t at = place(object);
  const std::uint64_t bit = std::uint64_t{1} << (at % 64);
  WEIR_CHECK(memory() + at * object_bytes_ == object, object);  // not the start of an object
  WEIR_CHECK((free_[at / 64] & bit) == 0, object);              // freed twice
  free_[at / 64] |= bit;
  first_word_ = std::min(first_word_, at / 64);
  --used_;
  owners_[at].store(nullptr, std::memory_order_relaxed);
}

// Offset divided by size. The offset is below 2^18 and the inverse too large by less than 2^-40,
// so the quotient is too large by less than 2^-22: less than 1 / size, which is what could matter.
std::size_t SlabChunk::place(const void* address) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - memory());
  const std::size_t place = (offset * inverse_) >> 40;
  WEIR_CHECK(place < count_, address);
  return place;
}

std::atomic<void*>& SlabChunk::owner(const void* address) const { return owners_[place(address)]; }

SlabMap::SlabMap() : leaves_{map_slots<Leaf>()} {}

SlabMap::~SlabMap() {
  for (std::size_t i = 0; i < kSlots; ++i)
    if (Leaf* leaf = leaves_[i].load()) munmap(leaf, kSlots * sizeof(Leaf));
  munmap(leaves_, kSlots * sizeof(*leaves_));
}

void SlabMap::set(const std::byte* memory, std::size_t bytes, SlabChunk* chunk) {
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(memory) / kSlabUnit;
  for (std::uint64_t unit = first; unit < first + bytes / kSlabUnit; ++unit) {
    std::atomic<Leaf*>& leaf = leaves_[unit / kSlots];
    if (leaf.load(std::memory_order_acquire) == nullptr) {
      Leaf *made = map_slots<SlabChunk>(), *none = nullptr;
      if (!leaf.compare_exchange_strong(none, made)) munmap(made, kSlots * sizeof(Leaf));
    }
    leaf.load(std::memory_order_acquire)[unit % kSlots].store(chunk, std::memory_order_release);
  }
}

SlabChunk* SlabMap::find(const void* address) const {
  const std::uint64_t unit = reinterpret_cast<std::uintptr_t>(address) / kSlabUnit;
  if (unit >= kSlots * kSlots) return nullptr;
  const Leaf* leaf = leaves_[unit / kSlots].load(std::memory_order_acquire);
  return leaf == nullptr ? nullptr : leaf[unit % kSlots].load(std::memory_order_acquire);
}

}  // namespace weir::pages
