#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/generate.h"
#include "trace/random_program.h"

namespace weir::trace {
namespace {

using Draft = RandomProgram::Draft;

// Forward ops save tensors for backward, which uses and releases them in reverse; the optimizer
// mutates the parameters with the gradients that backward left.
class Training {
 public:
  Training(std::uint64_t seed, const TrainingOptions& options)
      : options_{options},
        program_{ViewRule::Keep,
                 fmt::format("training_step(seed {})", seed),
                 seed,
                 {options.most_live, options.most_bytes, options.most_cost, true}} {}

  Trace run() {
    for (std::uint32_t i = 0; i < options_.parameters; ++i)
      parameters_.push_back(program_.constant());
    for (std::uint32_t step = 0; step < options_.steps; ++step) run_step();
    program_.keep_held();
    if (program_.chance(1, 2)) program_.release_held(1, 2);
    return std::move(program_).finish();
  }

 private:
  using Tensors = std::vector<TensorId>;

  void run_step() {
    program_.hold(program_.constant());  // the batch
    for (std::uint32_t i = 0; i < options_.ops; ++i) run_forward_op();
    run_backward();
    for (TensorId& parameter : parameters_) update(parameter);
    for (TensorId gradient : gradients_) program_.builder().release(gradient);
    gradients_.clear();
    program_.release_held(3, 4);
    program_.builder().step();
  }

  void run_forward_op() {
    Draft draft = program_.draft(Phase::Forward);
    if (!parameters_.empty() && program_.chance(1, 3)) {
      draft.inputs.push_back(parameters_[program_.below(parameters_.size())]);
      if (!draft.mutated.empty() && program_.chance(1, 4))  // running statistics
        draft.mutated.push_back(static_cast<std::uint32_t>(draft.inputs.size() - 1));
    }
    Tensors outputs = program_.run(draft);
    save_some(draft.inputs, outputs);
    bool at_once = program_.chance(1, 10);
    for (TensorId output : outputs) {
      if (at_once) {
        program_.builder().release(output);
      } else {
        program_.hold(output);
      }
    }
    program_.change_references();
  }

  void save_some(const Tensors& inputs, const Tensors& outputs) {
    Tensors saved;
    for (TensorId tensor : inputs)
      if (program_.chance(1, 2) && program_.retain(tensor)) saved.push_back(tensor);
    for (TensorId tensor : outputs)
      if (program_.chance(1, 2) && program_.retain(tensor)) saved.push_back(tensor);
    saved_.push_back(std::move(saved));
  }

  void run_backward() {
    Draft loss{.name = "ones_like", .phase = Phase::Backward, .outputs = {program_.fresh()}};
    if (program_.holds_any()) loss.inputs.push_back(program_.pick());
    TensorId gradient = program_.run(loss).front();
    while (!saved_.empty()) {
      gradient = run_backward_op(gradient, saved_.back());
      for (TensorId tensor : saved_.back()) program_.builder().release(tensor);
      saved_.pop_back();
    }
    gradients_.push_back(gradient);
  }

  TensorId run_backward_op(TensorId gradient, const Tensors& saved) {
    Draft draft{.name = "backward", .phase = Phase::Backward, .inputs = saved};
    draft.inputs.insert(draft.inputs.begin(), gradient);
    bool in_place = program_.chance(1, 4);
    if (in_place) draft.mutated.push_back(0);
    if (!in_place) draft.outputs.push_back(program_.fresh());
    if (program_.chance(1, 3)) draft.outputs.push_back(program_.fresh_or_view(draft.inputs.size()));
    Tensors outputs = program_.run(draft);
    if (!in_place) program_.builder().release(std::exchange(gradient, outputs.front()));
    std::size_t first = in_place ? 0 : 1;
    for (std::size_t i = first; i < outputs.size(); ++i) gradients_.push_back(outputs[i]);
    return gradient;
  }

  void update(TensorId parameter) {
    TensorId target = parameter;
    bool through_view = program_.chance(1, 4);
    if (through_view)
      target = program_
                   .run({.name = "detach",
                         .phase = Phase::Optimizer,
                         .inputs = {parameter},
                         .outputs = {{.view_of = 0}}})
                   .front();
    Draft sgd{.name = "sgd_", .phase = Phase::Optimizer, .inputs = {target}, .mutated = {0}};
    if (!gradients_.empty()) sgd.inputs.push_back(gradients_[program_.below(gradients_.size())]);
    program_.run(sgd);
    if (through_view) program_.builder().release(target);
  }

  TrainingOptions options_;
  RandomProgram program_;
  Tensors parameters_, gradients_;
  std::vector<Tensors> saved_;  // one list per forward op whose backward has not run; references
};

}  // namespace

Trace training_step(std::uint64_t seed, const TrainingOptions& options) {
  return Training(seed, options).run();
}

Trace random_log_trace(std::uint64_t seed, const LogOptions& options) {
  RandomProgram program{ViewRule::Rerun,
                        fmt::format("random_log_trace(seed {})", seed),
                        seed,
                        {options.most_live, options.most_bytes, options.most_cost, false}};
  for (std::uint32_t i = 0; i < options.constants; ++i) program.hold(program.constant());
  for (std::uint32_t i = 0; i < options.ops; ++i) {
    Draft draft = program.draft(2 * i < options.ops ? Phase::Forward : Phase::Backward);
    draft.recomputable = true;  // DTR knows nothing else
    bool at_once = program.chance(1, 10);
    for (TensorId output : program.run(draft)) {
      program.hold(output);
      if (at_once) program.release_last();
    }
    program.change_references();
  }
  program.release_held(1, 2);
  program.keep_held();
  return std::move(program).finish();
}

}  // namespace weir::trace
