#include "tier/faulty_tier.h"

#include <string>

#include "tier/failed.h"

namespace weir::tier {
namespace {

TierError planned(const char* call, std::uint64_t n) {
  return TierError{"faulty tier: " + std::string{call} + " number " + std::to_string(n) +
                   " fails as planned; ask for fewer faults"};
}

}  // namespace

std::optional<Slot> FaultyTier::reserve(Bytes size) {
  if (++reserves_ == faults_.reserve) throw planned("reserve", faults_.reserve);
  return Wrapper::reserve(size);
}

Transfer FaultyTier::write(Slot slot, std::span<const std::byte> from) {
  if (++writes_ == faults_.write) return failed(planned("write", faults_.write));
  return Wrapper::write(slot, from);
}

Transfer FaultyTier::read(Slot slot, std::span<std::byte> to) {
  if (++reads_ == faults_.read) return failed(planned("read", faults_.read));
  return Wrapper::read(slot, to);
}

}  // namespace weir::tier
