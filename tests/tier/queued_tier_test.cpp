#include "tier/queued_tier.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tier/faulty_tier.h"
#include "tier/memory_tier.h"
#include "tier/testing.h"

namespace weir::tier {
namespace {

using namespace literals;

// Lets nothing be written before it is opened, but by the thread that made it.
class GatedTier final : public Wrapper {
 public:
  using Wrapper::Wrapper;

  Transfer write(Slot slot, std::span<const std::byte> from) override {
    pass(slot);
    return Wrapper::write(slot, from);
  }
  void open() {
    {
      const std::lock_guard lock{mutex_};
      open_ = true;
    }
    changed_.notify_all();
  }
  // Until a copy stands before the gate.
  void await_somebody() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return waiting_; });
  }
  [[nodiscard]] std::vector<Bytes> order() {
    const std::lock_guard lock{mutex_};
    return order_;
  }

 private:
  void pass(Slot slot) {
    std::unique_lock lock{mutex_};
    if (std::this_thread::get_id() != owner_) {
      waiting_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return open_; });
    }
    order_.push_back(slot.at);
  }

  const std::thread::id owner_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, waiting_ = false;
  std::vector<Bytes> order_;  // of the copies, as they were made
};

class QueuedTierTest : public testing::Test {
 protected:
  Slot reserve() { return must_reserve(memory_, 100_B); }

  MemoryTier memory_{1_MiB};
  GatedTier gate_{memory_};
  std::vector<std::byte> bytes_ = content(1, 100_B);
};

TEST_F(QueuedTierTest, ReturnsBeforeTheCopyIsMade) {
  QueuedTier tier{gate_};
  const Slot slot = reserve();
  Transfer transfer = tier.write(slot, bytes_);
  gate_.await_somebody();
  EXPECT_FALSE(transfer.done());
  gate_.open();
  transfer.wait();
  EXPECT_TRUE(transfer.done());
  EXPECT_EQ(get(memory_, slot), bytes_);
}

TEST_F(QueuedTierTest, WhoWaitsForWhatHasNotBegunStandsInNoLine) {
  QueuedTier tier{gate_};
  const Slot first = reserve(), second = reserve(), third = reserve();
  Transfer before = tier.write(first, bytes_), between = tier.write(second, bytes_);
  Transfer urgent = tier.write(third, bytes_);
  gate_.await_somebody();
  urgent.wait();
  EXPECT_EQ(gate_.order(), std::vector{third.at});
  gate_.open();
  before.wait();
  between.wait();
  EXPECT_EQ(gate_.order().size(), 3u);
}

TEST_F(QueuedTierTest, CopiesAtOnceWithoutItsThreads) {
  QueuedTier tier{gate_};
  const Slot first = reserve(), second = reserve();
  Transfer before = tier.write(first, bytes_);
  gate_.await_somebody();
  tier.write_now(second, bytes_);
  EXPECT_EQ(gate_.order(), std::vector{second.at});
  std::vector<std::byte> back(100);
  tier.read_now(second, back);
  EXPECT_EQ(back, bytes_);
  gate_.open();
}

TEST_F(QueuedTierTest, TellsAtOnceOfWhatFailsAtOnce) {
  FaultyTier faulty{memory_, {.write = 1}};
  QueuedTier tier{faulty};
  const Slot slot = reserve();
  EXPECT_THROW(tier.write_now(slot, bytes_), TierError);
  tier.write_now(slot, bytes_);
  tier.drain();
}

TEST_F(QueuedTierTest, ReadsDoNotWaitForWrites) {
  const Slot written = reserve(), read = reserve();
  put(memory_, read, bytes_);
  QueuedTier tier{gate_};
  std::vector<std::byte> back(100);
  Transfer write = tier.write(written, bytes_);
  gate_.await_somebody();
  tier.read(read, back).wait();
  EXPECT_FALSE(write.done());
  EXPECT_EQ(back, bytes_);
  gate_.open();
}

TEST_F(QueuedTierTest, TellsOfAFailureToWhomItConcerns) {
  FaultyTier faulty{memory_, {.write = 1}};
  QueuedTier tier{faulty};
  Transfer bad = tier.write(reserve(), bytes_);
  EXPECT_THROW(bad.wait(), TierError);
  tier.write(reserve(), bytes_).wait();
}

TEST_F(QueuedTierTest, DrainsWhatIsUnderWay) {
  const Slot slot = reserve();
  QueuedTier tier{gate_};
  Transfer transfer = tier.write(slot, bytes_);
  gate_.open();
  tier.drain();
  EXPECT_TRUE(transfer.done());
}

TEST_F(QueuedTierTest, EndsWithNothingLeftUndone) {
  const Slot slot = reserve();
  Transfer transfer;
  {
    QueuedTier tier{memory_};
    transfer = tier.write(slot, bytes_);
    tier.drain();
  }
  EXPECT_EQ(get(memory_, slot), bytes_);
}

}  // namespace
}  // namespace weir::tier
