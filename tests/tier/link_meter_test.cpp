#include "tier/link_meter.h"

#include <gtest/gtest.h>

namespace weir::tier {
namespace {

using namespace literals;

TEST(LinkMeter, TakesTheFirstTransfersAsTheyAre) {
  LinkMeter meter;
  meter.note_write(4_KiB, 50'000_ns);
  meter.note_write(4_MiB, {50'000 + (4 << 20) / 2});
  EXPECT_EQ(meter.link().write.latency, 50'000_ns);
  EXPECT_DOUBLE_EQ(meter.link().write.bytes_per_nano, 2.0);
}

TEST(LinkMeter, KeepsTheTwoDirectionsApart) {
  LinkMeter meter;
  meter.note_write(1_MiB, {1 << 20});
  meter.note_read(1_MiB, {1 << 19});
  EXPECT_DOUBLE_EQ(meter.link().write.bytes_per_nano, 1.0);
  EXPECT_DOUBLE_EQ(meter.link().read.bytes_per_nano, 2.0);
}

TEST(LinkMeter, FollowsALinkThatChanges) {
  LinkMeter meter;
  const Lane before{.latency = 10'000_ns, .bytes_per_nano = 4.0};
  const Lane after{.latency = 90'000_ns, .bytes_per_nano = 0.5};
  const auto feed = [&](const Lane& lane) {
    for (int i = 0; i < 100; ++i)
      for (const Bytes size : {4_KiB, 64_KiB, 1_MiB, 16_MiB})
        meter.note_read(size, transfer_time(size, lane));
  };
  for (const Lane& lane : {before, after}) {
    feed(lane);
    EXPECT_NEAR(meter.link().read.bytes_per_nano, lane.bytes_per_nano, 0.01);
    EXPECT_NEAR(static_cast<double>(meter.link().read.latency.n),
                static_cast<double>(lane.latency.n), 500);
  }
}

TEST(LinkMeter, GivesAUsableLinkWhateverTheClockSays) {
  LinkMeter meter;
  for (const Bytes size : {1_B, 64_KiB, 1_MiB}) {
    meter.note_write(size, 0_ns);
    EXPECT_GE(transfer_time(1_GiB, meter.link().write), 0_ns);
    EXPECT_GE(transfer_time(1_GiB, meter.link().read), 0_ns);
  }
}

}  // namespace
}  // namespace weir::tier
