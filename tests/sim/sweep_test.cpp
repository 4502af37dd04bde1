#include "sim/sweep.h"

#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/generate.h"
#include "weir/errors.h"

namespace weir::sim {
namespace {

std::vector<Trace> two_traces() {
  std::vector<Trace> traces;
  traces.push_back(trace::linear_chain(40));
  traces.push_back(trace::layered_dag(8, 4, 2));
  return traces;
}

SweepOptions some_options() {
  return {.budgets = base::parse_budget_list("0.3:1.0:0.1"),
          .policies = {&find_policy("h_dtr_eq"), &find_policy("random"), &find_policy("belady")},
          .deallocations = {Deallocation::EagerEvict, Deallocation::Banish},
          .restores = {RestoreOrder::DepthFirst, RestoreOrder::Lean},
          .trials = 3};
}

// A cell that ended like this, for the functions that only look at cells.
Cell cell_of(const char* budget, Bytes bytes, Status status, std::uint64_t seed = 0) {
  Cell cell{.of = {.policy = &policies().front()},
            .budget = base::parse_budget(budget),
            .seed = seed,
            .result = {}};
  cell.result.status = status;
  cell.result.budget = bytes;
  cell.result.clock = {120};
  cell.result.base = {100};
  return cell;
}

TEST(Sweep, GoesThroughEverythingInOrder) {
  const std::vector<Trace> traces = two_traces();
  const std::vector<Cell> cells = sweep(traces, some_options());
  ASSERT_EQ(cells.size(), 2u * 2 * 2 * (8 + 3 * 8 + 8));
  EXPECT_EQ(cells[0].of.policy->name, "h_dtr_eq");
  EXPECT_EQ(base::format_budget(cells[1].budget), "0.4x");
  EXPECT_EQ(cells[8].of.policy->name, "random");
  EXPECT_EQ(cells[9].seed, 1u);
  EXPECT_EQ(cells[10].seed, 2u);
  EXPECT_EQ(base::format_budget(cells[11].budget), "0.4x");
  EXPECT_EQ(cells[40].of.restore, RestoreOrder::Lean);
  EXPECT_EQ(cells[80].of.deallocation, Deallocation::Banish);
  EXPECT_EQ(cells[160].of.trace, 1u);
}

TEST(Sweep, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<Trace> traces = two_traces();
  SweepOptions options = some_options();
  const std::vector<Cell> alone = sweep(traces, options);
  for (unsigned jobs : {2u, 7u}) {
    options.jobs = jobs;
    const std::vector<Cell> together = sweep(traces, options);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[i].of, alone[i].of);
      EXPECT_EQ(together[i].result.status, alone[i].result.status) << i;
      EXPECT_EQ(together[i].result.clock, alone[i].result.clock) << i;
      EXPECT_EQ(together[i].result.counters.scored, alone[i].result.counters.scored) << i;
    }
  }
}

TEST(Sweep, IsWhatSingleReplaysGive) {
  const std::vector<Trace> traces = two_traces();
  for (const Cell& cell : sweep(traces, some_options())) {
    const ReplayResult alone = replay(traces[cell.of.trace], *cell.of.policy,
                                      {.budget = cell.result.budget,
                                       .deallocation = cell.of.deallocation,
                                       .restore = cell.of.restore,
                                       .seed = cell.seed});
    EXPECT_EQ(alone.clock, cell.result.clock);
  }
}

TEST(Sweep, RefusesAShareOfNothing) {
  const std::vector<Trace> traces{std::move(trace::TraceBuilder{ViewRule::Keep, "empty"}).finish()};
  EXPECT_THROW((void)sweep(traces, some_options()), BadInput);
}

TEST(Trials, AreShownAsInTables) {
  const Cell ok = cell_of("0.5x", {50}, Status::Ok),
             out = cell_of("0.5x", {50}, Status::OutOfBudget),
             thrash = cell_of("0.5x", {50}, Status::Thrash);
  const auto shown = [](std::vector<Cell> cells) { return Trials{cells}.shown(); };
  EXPECT_EQ(shown({ok}), "1.2000");
  EXPECT_EQ(shown({out}), "O");
  EXPECT_EQ(shown({thrash}), "T");
  EXPECT_EQ(shown({ok, ok}), "1.2000");
  EXPECT_EQ(shown({ok, out, thrash}), "mix1/3");
  EXPECT_EQ(shown({thrash, out}), "O");
}

TEST(Holes, AreBudgetsThatFailAboveOneThatWorks) {
  const Cell cells[] = {cell_of("0.1x", {10}, Status::OutOfBudget),
                        cell_of("0.2x", {20}, Status::Ok), cell_of("0.3x", {30}, Status::Thrash),
                        cell_of("0.4x", {40}, Status::Ok),
                        cell_of("0.5x", {50}, Status::OutOfBudget)};
  const std::vector<Holes> found = holes(cells);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(base::format_budget(found[0].works), "0.2x");
  ASSERT_EQ(found[0].budgets.size(), 2u);
  EXPECT_EQ(base::format_budget(found[0].budgets[0]), "0.3x");
  EXPECT_EQ(base::format_budget(found[0].budgets[1]), "0.5x");
}

TEST(Holes, AreFoundWhateverTheOrderOfTheBudgets) {
  const Cell cells[] = {cell_of("0.3x", {30}, Status::Thrash), cell_of("20", {20}, Status::Ok)};
  ASSERT_EQ(holes(cells).size(), 1u);
  EXPECT_EQ(base::format_budget(holes(cells)[0].works), "20");
}

TEST(Holes, AreNotThereIfMoreIsNeverWorse) {
  const Cell cells[] = {cell_of("0.1x", {10}, Status::OutOfBudget),
                        cell_of("0.2x", {20}, Status::Thrash), cell_of("0.3x", {30}, Status::Ok)};
  EXPECT_TRUE(holes(cells).empty());
  EXPECT_TRUE(holes({}).empty());
}

TEST(Holes, TakeOneSeedForNoProof) {
  const Cell cells[] = {cell_of("0.1x", {10}, Status::Ok, 0), cell_of("0.1x", {10}, Status::Ok, 1),
                        cell_of("0.2x", {20}, Status::Ok, 0),
                        cell_of("0.2x", {20}, Status::Thrash, 1)};
  EXPECT_TRUE(holes(cells).empty());
}

TEST(Holes, StayWithTheirCase) {
  Cell works = cell_of("0.1x", {10}, Status::Ok), fails = cell_of("0.2x", {20}, Status::Thrash);
  fails.of.policy = &policies().back();
  const Cell cells[] = {works, fails};
  EXPECT_TRUE(holes(cells).empty());
}

}  // namespace
}  // namespace weir::sim
