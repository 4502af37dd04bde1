#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "pilot/forward_log.h"
#include "pilot/mirror.h"
#include "pilot/saved.h"
#include "plan/fast.h"
#include "policy/wrapper.h"
#include "sim/replay.h"
#include "steps.h"
#include "trace/builder.h"
#include "trace/generate.h"
#include "trace/info.h"
#include "weir/registry.h"

namespace weir::pilot {
namespace {

// What backward was expected to read when it began, and what it read, as storages that forward
// made.
struct Expected {
  std::set<std::uint32_t> saved, read;
  std::optional<plan::Problem> problem;
};

class Watcher final : public policy::Wrapper {
 public:
  explicit Watcher(Expected& found) : Wrapper{find_policy("lru").make({}), 0}, found_{found} {}

  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> mutated) override {
    Wrapper::begin(graph, op, mutated);
    if (op.phase == Phase::Forward) return log_.begin(graph, op, mutated);
    if (op.phase != Phase::Backward) return;
    if (!found_.problem) look(graph);
    for (TensorId input : graph.inputs(op)) {
      const std::uint32_t number = log_.number_of(graph[input].storage);
      if (number != ForwardLog::kNone && log_.known()[number].maker != ForwardLog::kNone)
        found_.read.insert(number);
    }
  }
  void declare(const Graph& graph, const OpRecord& op) override {
    Wrapper::declare(graph, op);
    if (op.phase == Phase::Forward) return log_.declare(graph, op);
    for (std::uint32_t i = 0; i < op.outputs; ++i)
      log_.forget(graph[TensorId{index(op.first_output) + i}].storage);
  }
  void end(const OpRecord& op, Bytes scratch) override { log_.end(op, scratch); }

 private:
  void look(const Graph& graph) {
    const Mirror mirror{graph, log_, {}};
    for (std::uint32_t op = 0; op < log_.ops().size(); ++op)
      for (std::uint32_t number : mirror.saved().by(op)) found_.saved.insert(number);
    found_.problem = mirror.problem();
  }

  Expected& found_;
  ForwardLog log_;
};

Expected* watched = nullptr;

Expected watch(const Trace& trace) {
  Expected found;
  watched = &found;
  const PolicyEntry entry{"watcher",
                          [](const PolicyInputs&) -> std::unique_ptr<Policy> {
                            return std::make_unique<Watcher>(*watched);
                          },
                          ""};
  EXPECT_EQ(sim::replay(trace, entry, {.budget = {std::int64_t{1} << 40}}).status, sim::Status::Ok);
  return found;
}

// Forward of ops that each save what they read, or what they made, or neither; then backward.
class Program {
 public:
  TensorId forward(std::string_view kind, std::vector<TensorId> inputs) {
    const trace::Output output{.size = {10}};
    return builder_.op({.name = kind,
                        .phase = Phase::Forward,
                        .cost = {5},
                        .inputs = inputs,
                        .outputs = {&output, 1}});
  }
  void backward(std::vector<TensorId> inputs) {
    const trace::Output output{.size = {10}};
    builder_.release(builder_.op({.name = "backward",
                                  .phase = Phase::Backward,
                                  .cost = {5},
                                  .inputs = inputs,
                                  .outputs = {&output, 1}}));
  }
  void let_go(TensorId tensor) { builder_.release(tensor); }
  Trace finish() && { return std::move(builder_).finish(); }

 private:
  trace::TraceBuilder builder_{ViewRule::Keep, "a program"};
};

TEST(Saved, IsWhatIsStillReferredTo) {
  Program program;
  const TensorId a = program.forward("load", {});
  const TensorId b = program.forward("square", {a});
  const TensorId c = program.forward("add_one", {b});
  const TensorId d = program.forward("square", {c});
  program.let_go(b);  // adding saves nothing, so nobody has it any more
  program.backward({d});
  program.backward({c});
  program.backward({a});
  const Expected found = watch(std::move(program).finish());
  EXPECT_EQ(found.saved, found.read);
}

TEST(Saved, IsNotReadByAKindOfOpThatLetsGoOfWhatItReads) {
  Program program;
  const TensorId a = program.forward("load", {});
  const TensorId b = program.forward("scale", {a});
  const TensorId c = program.forward("add", {b, a});  // keeps nothing: b goes
  program.let_go(b);
  program.let_go(c);
  program.backward({a});
  const Expected found = watch(std::move(program).finish());
  const plan::Problem& problem = *found.problem;
  std::vector<std::uint32_t> readers;
  for (std::uint32_t op = problem.start.first; op < problem.end(); ++op)
    if (!problem.ops[op].inputs.empty()) readers.push_back(op);
  // Only the backward of `scale`, which is the second of three.
  EXPECT_EQ(readers, (std::vector{problem.start.first + 1}));
}

TEST(Mirror, ExpectsWhatAStepThenReads) {
  const std::vector<Step> steps(1);
  const Expected found = watch(training(steps));
  EXPECT_TRUE(std::ranges::includes(found.saved, found.read));
  EXPECT_GE(found.read.size(), steps[0].layers);
}

TEST(Mirror, NeedsAsManyBytesAsTheStepDoes) {
  const std::vector<Step> steps(1);
  const Trace trace = training(steps);
  const plan::Problem problem = *watch(trace).problem;
  const plan::Stays all{problem};
  Bytes peak;
  for (plan::Stage stage = problem.start.first; stage <= problem.end(); ++stage)
    peak = std::max(peak, all.peak(stage));
  const auto real = static_cast<double>(trace::liveness_peak(trace).n);
  EXPECT_NEAR(static_cast<double>(peak.n) / real, 1.0, 0.35);
}

sim::ReplayResult run(const Trace& trace, std::string_view policy, double share) {
  const auto peak = static_cast<double>(trace::liveness_peak(trace).n);
  return sim::replay(trace, find_policy(policy),
                     {.budget = {static_cast<std::int64_t>(share * peak)}, .limit = 50.0});
}

TEST(Foresight, CostsLessWithPlansThanWithout) {
  std::int64_t with = 0, without = 0;
  for (std::uint32_t layers = 8; layers <= 24; layers += 4) {
    const std::vector<Step> steps(2, Step{.layers = layers});
    const Trace trace = training(steps);
    for (double share = 0.5; share < 0.95; share += 0.1) {
      const sim::ReplayResult planned = run(trace, "foresight", share);
      const sim::ReplayResult online = run(trace, "foresight_online", share);
      if (online.status != sim::Status::Ok) continue;
      ASSERT_EQ(planned.status, sim::Status::Ok);
      with += planned.recompute.n;
      without += online.recompute.n;
    }
  }
  EXPECT_LT(with, without);
}

TEST(Foresight, IsTheOnlinePolicyWhereEverythingFits) {
  const std::vector<Step> steps(2);
  EXPECT_EQ(run(training(steps), "foresight", 1.01).recompute, Nanos{});
}

// Ids that are used again must not be taken for what they were.
TEST(Foresight, SurvivesManySteps) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Trace trace = trace::training_step(seed, {.steps = 5, .ops = 40});
    EXPECT_EQ(run(trace, "foresight", 0.9).status, run(trace, "foresight_online", 0.9).status)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::pilot
