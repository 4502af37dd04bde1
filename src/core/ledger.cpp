#include "weir/ledger.h"

namespace weir {

std::optional<Charge> Ledger::try_charge(Bytes size) {
  std::int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (size > budget() - Bytes{used}) return std::nullopt;
  } while (!used_.compare_exchange_weak(used, used + size.n, std::memory_order_relaxed));
  const std::int64_t now = used + size.n;
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return Charge{*this, size};
}

}  // namespace weir
