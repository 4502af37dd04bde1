#include "pages/turnover.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "pages/arena.h"

namespace weir::pages {

namespace {

constexpr Bytes kSmall{std::int64_t{256} << 10}, kLarge{std::int64_t{8} << 20};
constexpr std::int64_t kMib = std::int64_t{1} << 20;

// Moved pages cost more where another processor must forget where they were.
class Company {
 public:
  Company() : thread_{[this](const std::stop_token& stop) { compute(stop); }} {}

 private:
  void compute(const std::stop_token& stop) {
    while (!stop.stop_requested()) turns_.fetch_add(1, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> turns_{0};
  std::jthread thread_;
};

template <typename Action>
Nanos time(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  return {took.count()};
}

void touch(const Block& block) { std::memset(block.address, 1, block.span().bytes()); }

// A block is evicted, another gets its pages; that one dies, and the first is made again.
class Cycle {
 public:
  Cycle(Bytes size, Address address)
      : size_{size}, address_{address}, arena_{size}, block_{&arena_.allocate(size)} {
    touch(*block_);
  }

  Nanos time_one() {
    Block* other = nullptr;
    Nanos took = time([&] {
      evict();
      other = &arena_.allocate(size_);
      touch(*other);
    });
    took -= time([&] { touch(*other); });
    took += time([&] {
      arena_.free(*other);
      restore();
      touch(*block_);
    });
    took -= time([&] { touch(*block_); });
    return std::max(took, Nanos{0});
  }

 private:
  void evict() {
    if (address_ == Address::Stays) return arena_.evict(*block_);
    arena_.free(*std::exchange(block_, arena_.reserve(size_)));
  }

  void restore() {
    Block& made = arena_.allocate(size_);
    if (address_ == Address::Stays) return arena_.adopt(*block_, made);
    arena_.free(*std::exchange(block_, &made));
  }

  Bytes size_;
  Address address_;
  Arena arena_;
  Block* block_;
};

Nanos median_for(Bytes size, Address address) {
  Cycle cycle{size, address};
  std::array<Nanos, 9> times;
  for (Nanos& one : times) one = cycle.time_one();
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

}  // namespace

Turnover measure_turnover(Address address) {
  const Company company;
  const Nanos small = median_for(kSmall, address), large = median_for(kLarge, address);
  const Nanos per_mib{std::max<std::int64_t>(0, (large - small).n * kMib / (kLarge - kSmall).n)};
  return {.each = {std::max<std::int64_t>(0, small.n - per_mib.n * kSmall.n / kMib)},
          .per_mib = per_mib};
}

}  // namespace weir::pages
