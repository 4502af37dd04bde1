// What any tier must do, whatever it is made of and however it is wrapped.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "tier/counted_tier.h"
#include "tier/faulty_tier.h"
#include "tier/file_tier.h"
#include "tier/memory_tier.h"
#include "tier/queued_tier.h"
#include "tier/testing.h"
#include "tier/throttled_tier.h"

namespace weir::conformance {
namespace {

using namespace literals;
using namespace tier;

constexpr Bytes kCapacity = 2_MiB;
constexpr Link kFast{.write = {100_ns, 100.0}, .read = {100_ns, 100.0}};

// Tiers from the innermost to the outermost.
using Tiers = std::vector<std::unique_ptr<Tier>>;

struct Made {
  std::unique_ptr<TempFolder> folder = std::make_unique<TempFolder>();
  Tiers tiers;
};

template <typename T, typename... Arguments>
void wrap(Made& made, Arguments&&... arguments) {
  made.tiers.push_back(
      std::make_unique<T>(*made.tiers.back(), std::forward<Arguments>(arguments)...));
}

Made memory() {
  Made made;
  made.tiers.push_back(std::make_unique<MemoryTier>(kCapacity));
  return made;
}
Made file(bool direct) {
  Made made;
  made.tiers.push_back(std::make_unique<FileTier>(
      FileTierOptions{.folder = made.folder->path(), .capacity = kCapacity, .direct = direct}));
  return made;
}
Made counted() {
  Made made = memory();
  wrap<CountedTier>(made);
  return made;
}
Made faulty() {
  Made made = memory();
  wrap<FaultyTier>(made, Faults{});
  return made;
}
Made throttled() {
  Made made = memory();
  wrap<ThrottledTier>(made, kFast);
  return made;
}
Made queued() {
  Made made = memory();
  wrap<QueuedTier>(made);
  return made;
}
Made all_around_a_file() {
  Made made = file(true);
  wrap<QueuedTier>(made);
  wrap<FaultyTier>(made, Faults{});
  wrap<ThrottledTier>(made, kFast);
  wrap<CountedTier>(made);
  return made;
}

struct TierEntry {
  const char* name;
  std::function<Made()> make;
};
void PrintTo(const TierEntry& entry, std::ostream* out) { *out << entry.name; }

const TierEntry kTiers[] = {
    {"memory", memory},
    {"file", [] { return file(true); }},
    {"buffered_file", [] { return file(false); }},
    {"counted", counted},
    {"faulty", faulty},
    {"throttled", throttled},
    {"queued", queued},
    {"all_around_a_file", all_around_a_file},
};

// Does at random what programs do, and knows by itself what every slot should hold.
class Program {
 public:
  Program(Tier& tier, std::uint64_t seed) : tier_{tier}, rng_{seed} {}

  void run(int events) {
    for (int event = 0; event < events; ++event) act();
    while (!held_.empty()) let_go(held_.size() - 1);
  }

 private:
  struct Held {
    Slot slot;
    std::vector<std::byte> bytes;
  };

  void act() {
    if (held_.empty() || rng_.chance(2, 5)) return add();
    const std::size_t which = rng_.below(held_.size());
    if (rng_.chance(1, 3)) return let_go(which);
    if (rng_.chance(1, 3)) return fill(held_[which]);
    verify(held_[which]);
  }
  void add() {
    const std::optional<Slot> slot = tier_.reserve(size());
    EXPECT_LE(tier_.used(), tier_.capacity());
    if (!slot) return;
    held_.push_back({*slot, {}});
    fill(held_.back());
  }
  void fill(Held& held) {
    held.bytes = content(rng_.next(), held.slot.size);
    put(tier_, held.slot, held.bytes, shift());
  }
  void verify(const Held& held) { EXPECT_EQ(get(tier_, held.slot, shift()), held.bytes); }
  void let_go(std::size_t which) {
    verify(held_[which]);
    tier_.free(held_[which].slot);
    std::swap(held_[which], held_.back());
    held_.pop_back();
  }
  Bytes size() {
    const std::uint64_t most = std::uint64_t{1} << rng_.below(20);
    return {static_cast<std::int64_t>(1 + rng_.below(most))};
  }
  std::size_t shift() { return rng_.chance(1, 2) ? 0 : rng_.below(64); }

  Tier& tier_;
  base::Rng rng_;
  std::vector<Held> held_;
};

class TierConformance : public testing::TestWithParam<TierEntry> {
 protected:
  Tier& tier() { return *made_.tiers.back(); }

 private:
  Made made_ = GetParam().make();
};

TEST_P(TierConformance, GivesBackWhatItWasGiven) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Program{tier(), seed}.run(60);
    ASSERT_EQ(tier().used(), 0_B);
  }
}

TEST_P(TierConformance, HasRoomForItsCapacityAndNoMore) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Slot> slots;
    while (const std::optional<Slot> slot = tier().reserve(64_KiB)) slots.push_back(*slot);
    EXPECT_EQ(slots.size(), 32u);
    EXPECT_EQ(tier().used(), tier().capacity());
    EXPECT_EQ(tier().reserve(1_B), std::nullopt);
    for (const Slot& slot : slots) tier().free(slot);
    EXPECT_EQ(tier().used(), 0_B);
  }
  EXPECT_EQ(tier().reserve(kCapacity + 1_B), std::nullopt);
  EXPECT_TRUE(tier().reserve(kCapacity));
}

TEST_P(TierConformance, KeepsTheOtherSlotsWhenOneIsFreedAndTakenAgain) {
  const Slot a = must_reserve(tier(), 1_MiB), b = must_reserve(tier(), 1_MiB);
  put(tier(), a, content(1, 1_MiB));
  put(tier(), b, content(2, 1_MiB));
  tier().free(a);
  const Slot c = must_reserve(tier(), 10_B), d = must_reserve(tier(), 512_KiB);
  put(tier(), d, content(3, 512_KiB));
  put(tier(), c, content(4, 10_B));
  EXPECT_EQ(get(tier(), b), content(2, 1_MiB));
  EXPECT_EQ(get(tier(), c), content(4, 10_B));
  EXPECT_EQ(get(tier(), d), content(3, 512_KiB));
}

TEST_P(TierConformance, IsAsItWasAfterAFailure) {
  FaultyTier broken{tier(), {.reserve = 3, .write = 3, .read = 1}};
  const Slot a = must_reserve(broken, 5000_B), b = must_reserve(broken, 5000_B);
  put(broken, a, content(1, 5000_B));
  put(broken, b, content(2, 5000_B));
  const Bytes used = broken.used();
  EXPECT_THROW((void)broken.reserve(1_B), TierError);
  EXPECT_THROW(put(broken, a, content(3, 5000_B)), TierError);
  EXPECT_THROW((void)get(broken, b), TierError);
  EXPECT_EQ(broken.used(), used);
  EXPECT_EQ(get(broken, b), content(2, 5000_B));
  put(broken, a, content(3, 5000_B));
  EXPECT_EQ(get(broken, a), content(3, 5000_B));
}

TEST_P(TierConformance, KeepsTransfersApartThatAreUnderWayTogether) {
  std::vector<Slot> slots;
  std::vector<std::vector<std::byte>> sent, back;
  std::vector<Transfer> transfers;
  for (std::uint64_t i = 0; i < 8; ++i) {
    slots.push_back(must_reserve(tier(), 10'000_B));
    sent.push_back(content(i, 10'000_B));
    back.emplace_back(10'000);
  }
  for (std::size_t i = 0; i < 8; ++i) transfers.push_back(tier().write(slots[i], sent[i]));
  transfers.clear();  // waits
  for (std::size_t i = 0; i < 8; ++i) transfers.push_back(tier().read(slots[i], back[i]));
  for (Transfer& transfer : transfers) transfer.wait();
  EXPECT_EQ(sent, back);
}

TEST_P(TierConformance, ServesTwoThreadsAtOnce) {
  std::thread other([&] { Program{tier(), 1}.run(300); });
  Program{tier(), 2}.run(300);
  other.join();
  EXPECT_EQ(tier().used(), 0_B);
}

TEST_P(TierConformance, KnowsALinkThatTimesCanBePredictedFrom) {
  Program{tier(), 1}.run(20);
  const Link link = tier().link();
  for (const Lane& lane : {link.write, link.read}) {
    EXPECT_GE(lane.latency, 0_ns);
    EXPECT_GT(lane.bytes_per_nano, 0);
    EXPECT_GE(transfer_time(2_GiB, lane), transfer_time(1_GiB, lane));
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, TierConformance, testing::ValuesIn(kTiers),
                         [](const auto& entry) { return std::string{entry.param.name}; });

}  // namespace
}  // namespace weir::conformance
