#include "weir/plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "pilot/plan_cache.h"
#include "sim/replay.h"
#include "steps.h"
#include "trace/info.h"
#include "trace/testing.h"
#include "weir/errors.h"
#include "weir/registry.h"

namespace weir::pilot {
namespace {

using testing::HasSubstr;
using trace::test::bytes_of;
using trace::test::TemporaryFolder;
using trace::test::write_file;

constexpr std::size_t kHead = 12, kTail = 8;  // bytes of a file before and after its plans

Bytes budget_for(const std::vector<Step>& steps) {
  return {trace::liveness_peak(training(steps)).n * 7 / 10};
}

sim::ReplayResult run(const std::vector<Step>& steps, Plans& plans) {
  return sim::replay(training(steps), find_policy("planned"),
                     {.budget = budget_for(steps), .limit = 50.0, .plans = &plans});
}

Plans plans_of(const std::vector<Step>& steps) {
  Plans plans;
  EXPECT_EQ(run(steps, plans).status, sim::Status::Ok);
  EXPECT_GT(plans.size(), 0u);
  return plans;
}

std::string error_of_loading(const std::filesystem::path& file) {
  try {
    (void)Plans::load(file);
    return "";
  } catch (const BadInput& error) {
    return error.what();
  }
}

void expect_refused(const std::filesystem::path& file, const std::string& bytes,
                    const std::string& why) {
  write_file(file, bytes);
  const std::string error = error_of_loading(file);
  EXPECT_THAT(error, HasSubstr(why));
  EXPECT_THAT(error, HasSubstr(file.native()));
  EXPECT_EQ(std::ranges::count(error, '\n'), 0) << error;
  EXPECT_EQ(bytes_of(file), bytes);
}

// Everything that one who follows it can ask.
void expect_same(const Guide& a, const Guide& b, const StepLog& step) {
  EXPECT_EQ(a.added(), b.added());
  EXPECT_TRUE(std::ranges::equal(a.away_at_start(), b.away_at_start()));
  const std::vector<std::uint64_t> digests = step.digests();
  for (std::uint32_t op = 0; op < digests.size(); ++op) {
    EXPECT_TRUE(a.fits(op, digests[op]) && b.fits(op, digests[op])) << op;
    EXPECT_TRUE(std::ranges::equal(a.leaves_in(op), b.leaves_in(op))) << op;
    EXPECT_TRUE(std::ranges::equal(a.saved_after(op), b.saved_after(op))) << op;
    EXPECT_TRUE(std::ranges::equal(a.brought_after(op), b.brought_after(op))) << op;
    for (std::uint32_t number = 0; number < step.storages(); ++number) {
      EXPECT_EQ(a.stays_after(op, number), b.stays_after(op, number)) << op << ' ' << number;
      EXPECT_EQ(a.away_after(op, number), b.away_after(op, number)) << op << ' ' << number;
      EXPECT_EQ(a.next_read(op, number), b.next_read(op, number)) << op << ' ' << number;
    }
  }
}

TEST(Plans, ComeBackAsTheyWere) {
  const TemporaryFolder folder;
  const std::vector<Step> steps(2, Step{.momentum = true});
  const StepLog step = logs_of(training(steps))[1];
  const Bytes budget{trace::liveness_peak(training(steps)).n * 7 / 10};
  for (const bool copies : {false, true}) {
    std::optional<Reach> tier;
    if (copies)
      tier = Reach{.link = {.write = {{}, 100}, .read = {{}, 100}}, .capacity = {1 << 20}};
    std::optional<Guide> made =
        Guide::make(step, {.budget = budget, .margin = {budget.n / 128}, .tier = tier});
    ASSERT_TRUE(made);
    std::size_t saved = 0;
    for (std::uint32_t op = 0; op < step.ops(); ++op) saved += made->saved_after(op).size();
    EXPECT_EQ(saved != 0, copies);
    const auto guide = std::make_shared<const Guide>(*made);
    Plans plans;
    plans.cache().add({7, {100}, nullptr, {3}, {2}});
    plans.cache().add({step.digest(), budget, guide, {5}, {4}});
    plans.save(folder / "plans");
    Plans loaded = Plans::load(folder / "plans");
    ASSERT_EQ(loaded.size(), 2u);
    const PlanCache::Entry* known = loaded.cache().find(7, {100});
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->guide, nullptr);
    EXPECT_EQ(known->online, Nanos{3});
    EXPECT_EQ(known->margin, Bytes{2});
    known = loaded.cache().find(step.digest(), budget);
    ASSERT_NE(known, nullptr);
    ASSERT_NE(known->guide, nullptr);
    EXPECT_EQ(known->online, Nanos{5});
    EXPECT_EQ(known->margin, Bytes{4});
    expect_same(*known->guide, *guide, step);
  }
}

TEST(Plans, KeepTheOrderOfTheirUse) {
  const TemporaryFolder folder;
  Plans plans;
  for (std::uint64_t step = 0; step < PlanCache::kMost; ++step)
    plans.cache().add({step, {100}, nullptr});
  plans.save(folder / "plans");
  Plans loaded = Plans::load(folder / "plans");
  loaded.cache().add({1000, {100}, nullptr});
  EXPECT_EQ(loaded.cache().find(0, {100}), nullptr);
  EXPECT_NE(loaded.cache().find(1, {100}), nullptr);
}

TEST(Plans, AreFollowedFromTheFirstStepOn) {
  const TemporaryFolder folder;
  const std::vector<Step> four(4), three(3), one(1);
  Plans made = plans_of(four);
  made.save(folder / "plans");
  Plans none, without_last, loaded = Plans::load(folder / "plans");
  const Nanos online = run(one, none).recompute;
  const Nanos followed = run(four, none).recompute - run(three, without_last).recompute;
  ASSERT_LT(followed, online);
  EXPECT_EQ(run(one, loaded).recompute, followed);
  EXPECT_EQ(run(four, loaded).recompute.n, 4 * followed.n);
}

TEST(Plans, AreNoneWithoutAFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(Plans::load(folder / "plans").size(), 0u);
}

TEST(Plans, OfAnotherBudgetAreNotFollowed) {
  Plans none, plans = plans_of(std::vector<Step>(4));
  const std::vector<Step> one(1);
  const auto at = [&](Plans& known) {
    const Bytes less{budget_for(one).n * 9 / 10};
    return sim::replay(training(one), find_policy("planned"),
                       {.budget = less, .limit = 50.0, .plans = &known})
        .recompute;
  };
  EXPECT_EQ(at(plans), at(none));
}

TEST(Plans, AreRefusedIfAnyBitIsWrong) {
  const TemporaryFolder folder;
  const StepLog step = logs_of(training(std::vector<Step>(2, Step{.layers = 4})))[1];
  Plans plans;
  plans.cache().add({step.digest(), {1000}, std::make_shared<Guide>(*Guide::make(step, {{1000}}))});
  plans.save(folder / "plans");
  const std::string good = bytes_of(folder / "plans");
  for (std::size_t size = 0; size < good.size(); ++size)
    expect_refused(folder / "cut", good.substr(0, size),
                   size < kHead + kTail ? "is not" : "damaged");
  for (std::size_t place = 0; place < good.size(); ++place) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ (1 << place % 8));
    const char* why = place < 8 ? "not a file of plans" : place < kHead ? "version" : "damaged";
    expect_refused(folder / "flipped", bad, why);
  }
  expect_refused(folder / "longer", good + '\0', "damaged");
}

TEST(Plans, AreRefusedIfTheyAreSomethingElse) {
  const TemporaryFolder folder;
  expect_refused(folder / "empty", "", "not a file of plans");
  expect_refused(folder / "text", std::string(100, 'a'), "not a file of plans");
  EXPECT_THAT(error_of_loading(folder.path()), HasSubstr("is not a file"));
}

// The checksum is right and the rest is not: refused, or a plan that is followed in vain.
TEST(Plans, AreHarmlessIfSomebodyMeantHarm) {
  const TemporaryFolder folder;
  const std::vector<Step> steps(3, Step{.layers = 12});
  plans_of(steps).save(folder / "plans");
  const std::string good = bytes_of(folder / "plans");
  std::size_t refused = 0, used = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    base::Rng rng{seed};
    std::string bad = good.substr(0, good.size() - kTail);
    for (std::uint64_t i = 0; i <= rng.below(3); ++i)
      bad[kHead + rng.below(bad.size() - kHead)] =
          static_cast<char>(rng.chance(1, 2) ? rng.below(256) : rng.below(3));
    std::uint64_t sum = 0xCBF29CE484222325u;
    for (const char byte : bad) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
    for (std::size_t i = 0; i < kTail; ++i, sum >>= 8) bad += static_cast<char>(sum);
    write_file(folder / "bad", bad);
    try {
      Plans plans = Plans::load(folder / "bad");
      const sim::ReplayResult result = run(steps, plans);
      EXPECT_EQ(result.status, sim::Status::Ok) << seed;
      EXPECT_LE(result.peak, budget_for(steps)) << seed;
      ++used;
    } catch (const BadInput&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50u);
  EXPECT_GT(used, 50u);
}

TEST(Plans, StayAsTheyWereIfTheDiskIsFull) {
  const TemporaryFolder folder;
  Plans few;
  few.cache().add({1, {100}, nullptr});
  few.save(folder / "plans");
  const Plans many = plans_of(std::vector<Step>(3));
  {
    const trace::test::FullDisk disk{200};
    EXPECT_THROW(many.save(folder / "plans"), BadInput);
  }
  EXPECT_EQ(Plans::load(folder / "plans").size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder.path()}, {}), 1);
}

}  // namespace
}  // namespace weir::pilot
