// How fast a file tier is, by the size of the transfers. Median, lowest and highest tenth.
//
//   build/release/bench/tier_bench [FOLDER]
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "base/units.h"
#include "tier/clock.h"
#include "tier/file_tier.h"
#include "tier/pages.h"
#include "weir/errors.h"

namespace {

using namespace weir;
using namespace weir::literals;

constexpr Bytes kCapacity = 512_MiB;
constexpr Bytes kSizes[] = {64_KiB, 1_MiB, 16_MiB};

void print(const char* what, Bytes size, std::vector<Nanos> times) {
  std::ranges::sort(times);
  const auto rate = [&](Nanos time) {  // bytes per nanosecond are gigabytes per second
    return 1e3 * static_cast<double>(size.n) / static_cast<double>(time.n);
  };
  const std::size_t tenth = times.size() / 10;
  const Nanos median = times[times.size() / 2];
  fmt::print("{:<14}{:<12}{:>12}{:>9.0f}{:>9.0f}{:>9.0f}\n", what, base::format_bytes(size),
             base::format_nanos(median), rate(median), rate(times[times.size() - 1 - tenth]),
             rate(times[tenth]));
}

template <typename Move>
std::vector<Nanos> timed(const std::vector<Slot>& slots, Move&& move) {
  std::vector<Nanos> times;
  for (const Slot& slot : slots) {
    const Nanos start = tier::steady_clock().now();
    move(slot).wait();
    times.push_back(tier::steady_clock().now() - start);
  }
  return times;
}

// Fills the tier with slots of one size; the second write of each finds its place on disk made.
void bench_size(Tier& disk, Bytes size) {
  const auto length = static_cast<std::size_t>(size.n);
  const tier::Pages memory = tier::make_pages(length);
  const std::span bytes{memory.get(), length};
  base::Rng rng{1};
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  std::vector<Slot> slots;
  while (const std::optional<Slot> slot = disk.reserve(size)) slots.push_back(*slot);
  const auto write = [&](const Slot& slot) { return disk.write(slot, bytes); };
  const auto read = [&](const Slot& slot) { return disk.read(slot, bytes); };
  print("first write", size, timed(slots, write));
  print("write again", size, timed(slots, write));
  print("read", size, timed(slots, read));
  for (const Slot& slot : slots) disk.free(slot);
}

void bench_folder(const char* folder) {
  fmt::print("{:<14}{:<12}{:>12}{:>9}{:>9}{:>9}\n", "", "size", "median", "MB/s", "low", "high");
  for (const Bytes size : kSizes) {
    tier::FileTier disk{{.folder = folder, .capacity = kCapacity}};
    if (!disk.direct()) fmt::print("no direct transfers here: through the page cache\n");
    bench_size(disk, size);
    const Link link = disk.link();
    fmt::print("link: write {} + {:.0f} MB/s, read {} + {:.0f} MB/s\n",
               base::format_nanos(link.write.latency), 1e3 * link.write.bytes_per_nano,
               base::format_nanos(link.read.latency), 1e3 * link.read.bytes_per_nano);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool has_folder = argc > 1 && argv[1][0] != '-';  // make bench hands on its own options
  try {
    bench_folder(has_folder ? argv[1] : "");
  } catch (const BadInput& problem) {
    fmt::print(stderr, "tier_bench: {}\n", problem.what());
    return 2;
  } catch (const TierError& problem) {
    fmt::print(stderr, "tier_bench: {}\n", problem.what());
    return 1;
  }
}
