// How an op runs, for the first time and again, as the state sees it.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/state.h"

namespace weir::core {

void State::begin(Job& job, const OpCall& call) {
  job.op = graph.add_op(call.tag, call.pure, call.inputs);
  for (std::uint32_t position : call.mutated) {
    const StorageId changed = graph[call.inputs[position]].storage;
    if (std::ranges::find(job.mutated, changed) == job.mutated.end())
      job.mutated.push_back(changed);
  }
  if (!job.mutated.empty()) prepare_mutation(job);
  restore_->start(*this, job);
}

TensorId State::declare(Job& job, std::span<const Output> outputs, Nanos cost) {
  WEIR_CHECK(!job.declared, job.op);
  job.declared = true;
  graph.set_cost(job.op, cost);
  const bool replayable = graph[job.op].pure && job.mutated.empty();
  for (const Output& output : outputs) {
    const bool fresh = output.alias_of == kFresh;
    StorageId storage;
    if (fresh) {
      storage = graph.add_storage(output.size);
      charges_.emplace_back();
      living_.push_back(storage);
    } else {
      storage =
          graph[graph.inputs(graph[job.op])[static_cast<std::size_t>(output.alias_of)]].storage;
    }
    const TensorId tensor = graph.add_output(job.op, storage, fresh);
    graph[tensor].references = 1;
    ++graph[storage].references;
    if (fresh) {
      if (replayable) graph.extend_recipe(storage, job.op);
      note(storage, Change::Declared);
    } else if (options.views == ViewRule::Rerun && graph[storage].has_recipe()) {
      graph.extend_recipe(storage, job.op);
      note(storage, Change::Grown);
    }
  }
  return graph[job.op].first_output;
}

void State::start_access(Job& job, TensorId tensor) {
  job.wanted = tensor;
  restore_->start(*this, job);
}

const OpRecord* State::next(Job& job) {
  const OpRecord* op = restore_->next(*this, job);
  if (op == nullptr) {
    if (restoring_ == &job) restoring_ = nullptr;
    return nullptr;
  }
  WEIR_CHECK(restoring_ == nullptr || restoring_ == &job);
  restoring_ = &job;
  job.handed_out = *op;  // the graph's own may move when another thread begins an op
  return &job.handed_out;
}

void State::adopt(Job& job, const OpRecord& op, std::uint32_t output, TensorId target, bool first) {
  const TensorId id{index(op.first_output) + output};
  Tensor& tensor = graph[id];
  Storage& s = graph[tensor.storage];
  if (tensor.fresh && !s.resident()) {
    const bool stale = s.where() == Residency::Dead || !(first || s.has_recipe());
    if (stale || (!first && graph.recipe(tensor.storage).front() != op.id)) return;
    // Nobody would run the rest of its recipe: it would stay half restored, and then pass for
    // whole.
    const bool more_to_run =
        options.views == ViewRule::Keep && graph.recipe(tensor.storage).size() > 1;
    if (more_to_run && tensor.storage != graph[target].storage) return;
    WEIR_CHECK(output < job.delivered.size() && job.delivered[output].size() == s.size, id);
    charges_[index(tensor.storage)] = std::move(job.delivered[output]);
    s.move_to(Residency::Resident);
    s.progress = options.views == ViewRule::Keep ? 1 : UINT32_MAX;
    note(tensor.storage, Change::Restored);
    place(tensor.storage);
  }
  tensor.defined_at = s.evictions;
}

// The output the op was run for comes last among the candidates, as in DTR.
void State::adopt_all(Job& job, OpId op, TensorId last, bool first) {
  const OpRecord& record = graph[op];
  for (std::uint32_t i = 0; i < record.outputs; ++i)
    if (index(record.first_output) + i != index(last)) adopt(job, record, i, last, first);
  if (record.outputs != 0)
    adopt(job, record, index(last) - index(record.first_output), last, first);
  job.delivered.clear();
}

void State::finish_first_run(Job& job) {
  WEIR_CHECK(job.declared, job.op);
  const OpRecord& op = graph[job.op];
  for (std::uint32_t i = 0; i < op.outputs; ++i)
    graph[graph[TensorId{index(op.first_output) + i}].storage].last_use = now();
  adopt_all(job, job.op, op.first_output, true);
  complete_mutation(job);
  job.let_go(*this, job.stack.back());
  banish_inputs(job.op);
}

void State::finish_replay(Job& job, OpId op, TensorId target) {
  ++counters.recomputes;
  const StorageId changed = graph[target].storage;
  Storage& s = graph[changed];
  const bool in_place = options.views == ViewRule::Keep && s.resident();
  if (in_place) {
    WEIR_CHECK(graph.recipe(changed)[s.progress] == op, changed, op);
    ++s.progress;
    place(changed);
    job.delivered.clear();
  } else {
    adopt_all(job, op, target, false);
  }
}

void State::give_up(Job& job) {
  if (restoring_ == &job) restoring_ = nullptr;
  for (StorageId storage : job.pins)
    if (storage != kNoStorage) unpin(storage);
  if (job.op != kNoOp && job.declared) {
    const OpRecord& op = graph[job.op];
    for (std::uint32_t i = 0; i < op.outputs; ++i) {
      Tensor& output = graph[TensorId{index(op.first_output) + i}];
      graph[output.storage].references -= std::exchange(output.references, 0);
      if (graph[output.storage].where() == Residency::Pending)
        kill(output.storage);
      else
        place(output.storage);
    }
  }
  for (StorageId storage : living_) {
    const Storage& s = graph[storage];  // what is pinned, another job restores
    if (s.resident() && !s.complete() && s.pins == 0) evict(storage);
  }
}

}  // namespace weir::core
