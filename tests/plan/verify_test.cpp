// Each rule of a schedule, broken once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/verify.h"
#include "trace/builder.h"

namespace weir::plan::test {
namespace {

constexpr Move C = Move::Compute, E = Move::Evict, O = Move::Offload, P = Move::Prefetch,
               F = Move::Fetch, G = Move::Forget;

// a (4 B) = op 0; b (2 B) = op 1 of a; c (1 B) = op 2 of a and b.
Trace three_ops() {
  trace::TraceBuilder builder{ViewRule::Keep, "three ops"};
  const auto op = [&](const char* name, std::vector<TensorId> inputs, Bytes size, Nanos cost) {
    const trace::Output out{.size = size};
    return builder.op({.name = name, .cost = cost, .inputs = inputs, .outputs = {&out, 1}});
  };
  const TensorId a = op("make", {}, {4}, {10});
  const TensorId b = op("halve", {a}, {2}, {20});
  const TensorId c = op("join", {a, b}, {1}, {30});
  builder.keep(c);
  return std::move(builder).finish();
}

class Rules : public testing::Test {
 protected:
  [[nodiscard]] Verdict check(std::vector<ScheduledMove> moves, Bytes budget = {7}) const {
    return verify(problem_, {problem_.signatures, budget, 0, std::move(moves)});
  }
  [[nodiscard]] std::string broken(std::vector<ScheduledMove> moves, Bytes budget = {7}) const {
    return check(std::move(moves), budget).violation.value_or("nothing");
  }

  Problem problem_ = problem_of(three_ops());
};

TEST_F(Rules, AGoodScheduleKeepsThemAll) {
  const Verdict verdict = check({{C, 0}, {C, 1}, {E, 0}, {C, 0}, {C, 2}, {E, 0}, {E, 1}});
  EXPECT_EQ(verdict.violation, std::nullopt);
  EXPECT_EQ(verdict.cost, Nanos{70});
  EXPECT_EQ(verdict.peak, Bytes{7});
  EXPECT_EQ(verdict.peak_op, 2u);
}

TEST_F(Rules, NoMomentHasMoreThanTheBudget) {
  const Verdict verdict = check({{C, 0}, {C, 1}, {C, 2}}, {6});
  EXPECT_EQ(verdict.violation, "the bytes at op 2 (join) need 7 B, 1 B more than the budget");
  EXPECT_EQ(verdict.at, 2u);
}

TEST_F(Rules, AnOpFindsWhatItReads) {
  EXPECT_EQ(broken({{C, 0}, {E, 0}, {C, 1}}), "op 1 (halve) reads storage 0, which is not there");
}

TEST_F(Rules, FirstRunsComeInTheOrderOfTheTrace) {
  EXPECT_EQ(broken({{C, 1}}), "op 1 (halve) runs before op 0 (make) has");
  EXPECT_EQ(broken({{C, 0}, {C, 1}}), "op 2 (join) never runs");
  EXPECT_EQ(broken({{C, 7}}), "there is no op 7");
}

TEST_F(Rules, ResultsStay) {
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {E, 2}}),
            "storage 2 must be there at the end of the trace and is not");
}

TEST_F(Rules, OnlyWhatIsThereCanGo) {
  EXPECT_EQ(broken({{E, 0}}), "storage 0 is evicted and not there");
  EXPECT_EQ(broken({{E, 9}}), "there is no storage 9");
}

TEST_F(Rules, CopiesNeedATier) {
  EXPECT_EQ(broken({{C, 0}, {O, 0}}), "something is offloaded and there is no tier");
}

TEST_F(Rules, AScheduleIsForOneTrace) {
  trace::TraceBuilder builder{ViewRule::Keep, "another"};
  const trace::Output four{.size = {4}}, three{.size = {3}};
  const TensorId a = builder.op({.name = "make", .outputs = {&four, 1}});
  (void)builder.op({.name = "halve", .inputs = {&a, 1}, .outputs = {&three, 1}});
  const Problem other = problem_of(std::move(builder).finish());
  const Schedule schedule{other.signatures, {7}, 0, {{C, 0}, {C, 1}}};
  EXPECT_EQ(verify(problem_, schedule).violation,
            "op 1 (halve) reads or makes something else in the schedule");
  Schedule renamed{problem_.signatures, {7}, 0, {}};
  renamed.ops[2].name = "add";
  EXPECT_EQ(verify(problem_, renamed).violation,
            "op 2 is join in the trace and add in the schedule");
  renamed.ops.resize(2);
  EXPECT_EQ(verify(problem_, renamed).violation, "the trace has 3 ops and the schedule is for 2");
}

// Copies take 4 ns for a's 4 bytes in either direction.
class RulesOfCopies : public Rules {
 protected:
  RulesOfCopies() { problem_.tier = TierSpec{{{{0}, 1.0}, {{0}, 1.0}}, {4}}; }
};

TEST_F(RulesOfCopies, TheyRunBesideOps) {
  const Verdict hidden = check({{C, 0}, {O, 0}, {C, 1}, {E, 0}, {F, 0}, {C, 2}, {E, 0}, {E, 1}});
  EXPECT_EQ(hidden.violation, std::nullopt);
  EXPECT_EQ(hidden.waited, Nanos{4});  // for the fetch; the offload ran beside op 1
  EXPECT_EQ(hidden.cost, Nanos{64});
}

TEST_F(RulesOfCopies, EvictingWaitsForTheCopy) {
  const Verdict verdict = check({{C, 0}, {O, 0}, {E, 0}, {P, 0}, {C, 1}, {C, 2}});
  EXPECT_EQ(verdict.violation, std::nullopt);
  EXPECT_EQ(verdict.waited, Nanos{8});
}

TEST_F(RulesOfCopies, TheTierHasACapacityAndOnlyWhatWasGivenToIt) {
  EXPECT_EQ(broken({{C, 0}, {O, 0}, {C, 1}, {O, 1}}), "the tier has no room for storage 1");
  EXPECT_EQ(broken({{C, 0}, {E, 0}, {F, 0}}), "storage 0 is fetched and the tier has no copy");
  EXPECT_EQ(broken({{O, 0}}), "storage 0 is offloaded and not there");
}

TEST_F(RulesOfCopies, AForgottenCopyMakesRoom) {
  EXPECT_EQ(broken({{C, 0}, {O, 0}, {C, 1}, {G, 0}, {O, 1}, {C, 2}}), "nothing");
  EXPECT_EQ(broken({{C, 0}, {G, 0}}), "the copy of storage 0 is forgotten and there is none");
}

TEST_F(RulesOfCopies, AResultMayBeInTheTier) {
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {O, 2}, {E, 2}}), "nothing");
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {O, 2}, {E, 2}, {G, 2}}),
            "storage 2 must be there at the end of the trace and is not");
}

// Two constants of 4 bytes and an op that reads the first.
class RulesOfConstants : public testing::Test {
 protected:
  RulesOfConstants() {
    trace::TraceBuilder builder{ViewRule::Keep, "constants"};
    const TensorId x = builder.constant({4});
    (void)builder.constant({4});
    const trace::Output out{.size = {1}};
    (void)builder.op({.name = "read", .cost = {1}, .inputs = {&x, 1}, .outputs = {&out, 1}});
    problem_ = problem_of(std::move(builder).finish());
    problem_.tier = TierSpec{{{{0}, 1.0}, {{0}, 1.0}}, {8}};
  }
  [[nodiscard]] std::string broken(std::vector<ScheduledMove> moves) const {
    return verify(problem_, {problem_.signatures, {5}, 0, std::move(moves)})
        .violation.value_or("nothing");
  }

  Problem problem_;
};

TEST_F(RulesOfConstants, TheyMayGoToTheTierAsTheyCome) {
  EXPECT_EQ(broken({{O, 0}, {E, 0}, {O, 1}, {E, 1}, {F, 0}, {C, 0}}), "nothing");
  EXPECT_EQ(broken({{O, 1}, {E, 1}, {C, 0}}),
            "the bytes at op 0 (read) need 8 B, 3 B more than the budget");
  EXPECT_EQ(broken({{E, 0}}), "storage 0 is evicted before op 0 (read) and must stay");
}

TEST_F(RulesOfConstants, TheirOnlyCopyStays) {
  EXPECT_EQ(broken({{O, 0}, {E, 0}, {G, 0}}),
            "the copy of storage 0 is forgotten before op 0 (read) and must stay");
}

// x is made, changed in place, and read in both versions.
class RulesOfChanges : public testing::Test {
 protected:
  RulesOfChanges() {
    trace::TraceBuilder builder{ViewRule::Keep, "changes"};
    const trace::Output out{.size = {4}}, view{.view_of = 0};
    const std::uint32_t first = 0;
    const TensorId x = builder.op({.name = "make", .cost = {1}, .outputs = {&out, 1}});
    const TensorId y =
        builder.op({.name = "read", .cost = {1}, .inputs = {&x, 1}, .outputs = {&out, 1}});
    (void)builder.op({.name = "add_",
                      .cost = {1},
                      .inputs = {&x, 1},
                      .mutated = {&first, 1},
                      .outputs = {&view, 1}});
    const TensorId z =
        builder.op({.name = "read", .cost = {1}, .inputs = {&x, 1}, .outputs = {&out, 1}});
    builder.keep(y);
    builder.keep(z);
    problem_ = problem_of(std::move(builder).finish());
  }
  [[nodiscard]] std::string broken(std::vector<ScheduledMove> moves) const {
    return verify(problem_, {problem_.signatures, {100}, 0, std::move(moves)})
        .violation.value_or("nothing");
  }

  Problem problem_;
};

TEST_F(RulesOfChanges, AStorageComesBackByAllOfItsRecipe) {
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {E, 0}, {C, 0}, {C, 2}, {C, 3}}), "nothing");
}

TEST_F(RulesOfChanges, AnOpReadsTheVersionItRead) {
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {E, 0}, {C, 0}, {C, 3}}),
            "op 3 (read) reads storage 0, which is not there in that version");
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {C, 1}}),
            "op 1 (read) reads storage 0, which is not there in that version");
}

TEST_F(RulesOfChanges, WhatWasMadeFromTheOldVersionStays) {
  EXPECT_EQ(broken({{C, 0}, {C, 1}, {C, 2}, {C, 3}, {E, 1}}),
            "storage 1 is evicted before the end of the trace and must stay");
}

}  // namespace
}  // namespace weir::plan::test
