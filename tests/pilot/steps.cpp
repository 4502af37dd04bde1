#include "steps.h"

#include <gtest/gtest.h>

#include "policy/wrapper.h"
#include "sim/replay.h"
#include "trace/builder.h"
#include "weir/registry.h"

namespace weir::pilot {

namespace {

constexpr std::uint32_t kMostLayers = 24;

class Program {
 public:
  Program() {
    for (std::uint32_t i = 0; i < kMostLayers; ++i) weights_.push_back(builder_.constant({8}));
    for (std::uint32_t i = 0; i < kMostLayers; ++i) momentum_.push_back(builder_.constant({8}));
  }

  void run(const Step& step) {
    costs_ = 0;
    std::vector<TensorId> made{forward("data", {}, step.size)};
    for (std::uint32_t i = 0; i < step.layers; ++i) {
      std::vector<TensorId> inputs{made.back(), weights_[i]};
      if (i % 3 == 2) inputs.push_back(made[i - 1]);
      made.push_back(forward("layer", inputs, step.size));
      if (i == step.extra) builder_.release(forward("extra", {&made.back(), 1}, {4}));
    }
    std::vector<TensorId> gradients(step.layers);
    TensorId gradient = backward("loss", {&made.back(), 1}, step.size);
    for (std::uint32_t i = step.layers; i-- > 0;) {
      const TensorId inputs[] = {gradient, made[i], made[i + 1], weights_[i]};
      gradients[i] = backward("weight_gradient", inputs, {8});
      const TensorId next = backward("gradient", inputs, step.size);
      builder_.release(made[i + 1]);
      builder_.release(gradient);
      gradient = next;
    }
    builder_.release(gradient);
    builder_.release(made[0]);
    for (std::uint32_t i = 0; i < step.layers; ++i) {
      const TensorId inputs[] = {weights_[i], gradients[i],
                                 step.momentum ? momentum_[i] : weights_[i]};
      const std::uint32_t changed[] = {0};
      builder_.op({.name = "update",
                   .phase = Phase::Optimizer,
                   .cost = {1},
                   .inputs = inputs,
                   .mutated = changed});
      builder_.release(gradients[i]);
    }
    builder_.step();
  }

  Trace finish() && { return std::move(builder_).finish(); }

 private:
  TensorId forward(std::string_view name, std::span<const TensorId> inputs, Bytes size) {
    const trace::Output output{.size = size};
    return builder_.op({.name = name,
                        .phase = Phase::Forward,
                        .cost = {10 + 7 * (costs_++ % 5)},
                        .recomputable = name != "data",
                        .inputs = inputs,
                        .outputs = {&output, 1}});
  }
  TensorId backward(std::string_view name, std::span<const TensorId> inputs, Bytes size) {
    const trace::Output output{.size = size};
    return builder_.op({.name = name,
                        .phase = Phase::Backward,
                        .cost = {15},
                        .inputs = inputs,
                        .outputs = {&output, 1}});
  }

  trace::TraceBuilder builder_{ViewRule::Keep, "steps"};
  std::vector<TensorId> weights_, momentum_;
  std::int64_t costs_ = 0;
};

// Logs every step that a policy is told of.
class Logging final : public policy::Wrapper {
 public:
  static inline std::vector<StepLog> logs;

  using Wrapper::Wrapper;
  static std::unique_ptr<Policy> make(const PolicyInputs& /*inputs*/) {
    return logged(find_policy("lru").make({}));
  }

  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> mutated) override {
    Wrapper::begin(graph, op, mutated);
    log_.begin(graph, op, mutated);
  }
  void declare(const Graph& graph, const OpRecord& op) override {
    Wrapper::declare(graph, op);
    log_.declare(graph, op);
  }
  void end(const OpRecord& op, Bytes scratch) override {
    Wrapper::end(op, scratch);
    log_.end(op, scratch);
  }
  void add_constant(const Graph& graph, StorageId storage) override {
    Wrapper::add_constant(graph, storage);
    log_.add_constant(storage);
  }
  void release(const Graph& graph, StorageId storage) override {
    Wrapper::release(graph, storage);
    log_.release(graph, storage);
  }
  void end_step(const View& view) override {
    Wrapper::end_step(view);
    logs.push_back(log_);
    log_.restart(view);
  }

 private:
  StepLog log_;
};

}  // namespace

std::unique_ptr<Policy> logged(std::unique_ptr<Policy> policy) {
  Logging::logs.clear();
  return std::make_unique<Logging>(std::move(policy));
}

const std::vector<StepLog>& logged_last() { return Logging::logs; }

std::vector<StepLog> logs_of(const Trace& trace) {
  const PolicyEntry entry{.name = "logging", .make = Logging::make, .about = ""};
  const sim::ReplayResult result = sim::replay(trace, entry, {.budget = kMostBytes});
  EXPECT_EQ(result.status, sim::Status::Ok);
  return Logging::logs;
}

Trace training(std::span<const Step> steps) {
  Program program;
  for (const Step& step : steps) program.run(step);
  return std::move(program).finish();
}

}  // namespace weir::pilot
