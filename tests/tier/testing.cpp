#include "tier/testing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/rng.h"

namespace weir::tier {

TempFolder::TempFolder() {
  std::string name = "/var/tmp/weir-tier-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder in /var/tmp"};
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::byte> content(std::uint64_t seed, Bytes size) {
  base::Rng rng{seed};
  std::vector<std::byte> bytes(static_cast<std::size_t>(size.n));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = rng.next();
    std::memcpy(&bytes[at], &word, std::min(sizeof word, bytes.size() - at));
  }
  return bytes;
}

Memory::Memory(const std::vector<std::byte>& bytes, std::size_t shift)
    : Memory{Bytes{static_cast<std::int64_t>(bytes.size())}, shift} {
  std::ranges::copy(bytes, bytes_.begin());
}

Slot must_reserve(Tier& tier, Bytes size) {
  const std::optional<Slot> slot = tier.reserve(size);
  if (!slot) throw std::runtime_error{"no room for " + std::to_string(size.n) + " bytes"};
  return *slot;
}

void put(Tier& tier, Slot slot, const std::vector<std::byte>& bytes, std::size_t shift) {
  const Memory memory{bytes, shift};
  tier.write(slot, memory.bytes()).wait();
}

std::vector<std::byte> get(Tier& tier, Slot slot, std::size_t shift) {
  const Memory memory{slot.size, shift};
  tier.read(slot, memory.bytes()).wait();
  return memory.copy();
}

}  // namespace weir::tier
