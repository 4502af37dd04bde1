// How an op runs, for the first time and again, as the state sees it.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/state.h"

namespace weir::core {

void State::begin(Job& job, const OpCall& call) {
  job.op =
      graph.add_op(call.tag, call.pure, call.inputs,
                   {.step = step_, .phase = call.phase, .position = position_, .kind = call.kind});
  policy_.begin(graph, graph[job.op], call.mutated);
  for (std::uint32_t position : call.mutated) {
    const StorageId changed = graph[call.inputs[position]].storage;
    if (std::ranges::find(job.mutated, changed) == job.mutated.end())
      job.mutated.push_back(changed);
  }
  if (!job.mutated.empty()) prepare_mutation(job);
  start_restoring(job);
}

// Would the op read the same bytes again? Not if an input has changed since it began, or will.
bool State::reads_the_same(OpId op) const {
  const std::span<const TensorId> inputs = graph.inputs(graph[op]);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Storage& s = graph[graph[inputs[i]].storage];
    if (s.changing != 0 || s.version != graph.versions(graph[op])[i]) return false;
  }
  return true;
}

void State::start_restoring(Job& job) {
  restore_->start(*this, job);
  job.waits = !job.missing.empty();
  restorers_ += job.waits;
}

TensorId State::declare(Job& job, std::span<const Output> outputs, Nanos cost) {
  WEIR_CHECK(!job.declared, job.op);
  job.declared = true;
  graph.set_cost(job.op, cost);
  position_ += cost;
  graph.begin_outputs(job.op, static_cast<std::uint32_t>(outputs.size()));
  job.storages.clear();
  const bool replayable =
      options.recompute && graph[job.op].pure && job.mutated.empty() && reads_the_same(job.op);
  for (const Output& output : outputs) {
    const bool fresh = output.alias_of == kFresh;
    StorageId storage;
    if (fresh) {
      storage = graph.add_storage(output.size);
      charges_.resize(graph.storages());
    } else {
      storage =
          graph[graph.inputs(graph[job.op])[static_cast<std::size_t>(output.alias_of)]].storage;
    }
    const TensorId tensor = graph.add_output(job.op, storage, fresh);
    job.storages.push_back(storage);
    graph[tensor].references = 1;
    ++graph[storage].references;
    if (fresh) {
      if (replayable)
        graph.extend_recipe(storage, job.op);
      else if (options.offload)
        graph[storage].cost = executor_.transfer_cost(output.size);
      note(storage, Change::Declared);
    } else if (options.views == ViewRule::Rerun && graph[storage].has_recipe()) {
      graph.extend_recipe(storage, job.op);
      note(storage, Change::Grown);
    }
  }
  policy_.declare(graph, graph[job.op]);
  return graph[job.op].first_output;
}

void State::start_access(Job& job, TensorId tensor, Access access) {
  job.wanted = tensor;
  graph[graph[tensor].storage].last_use = now();
  if (access == Access::Write) {
    job.mutated.push_back(graph[tensor].storage);
    prepare_mutation(job);
  }
  start_restoring(job);
}

void State::finish_access(Job& job) {
  stop_changing(job);
  for (StorageId storage : job.mutated) {
    lose_old_version(storage);
    lose_recipe(storage);
  }
}

const OpRecord* State::next(Job& job) {
  if (!job.waits) return nullptr;
  WEIR_CHECK(restoring_ == nullptr || restoring_ == &job);
  restoring_ = &job;
  const OpRecord* op = restore_->next(*this, job);
  if (op == nullptr) {
    restoring_ = nullptr;
    job.waits = false;
    --restorers_;
    return nullptr;
  }
  job.handed_out = *op;  // the graph's own may move when another thread begins an op
  job.targets.clear();
  const TensorId target = job.stack.back().target;
  for (std::uint32_t i = 0; i < op->outputs; ++i) {
    const Tensor& output = graph[TensorId{index(op->first_output) + i}];
    const bool wanted = wants_output(*op, output) && !half_restores(output.storage, target);
    job.targets.push_back(wanted ? output.storage : kNoStorage);
  }
  return &job.handed_out;
}

// Would running the op again make bytes that the storage of this output is without?
bool State::wants_output(const OpRecord& op, const Tensor& output) const {
  if (!output.fresh || output.storage == kNoStorage) return false;
  const Storage& s = graph[output.storage];
  return s.where() == Residency::Evicted && graph.recipe(output.storage).front() == op.id;
}

// Nobody would run the rest of its recipe: it would stay half restored, and then pass for whole.
bool State::half_restores(StorageId storage, TensorId target) const {
  return options.views == ViewRule::Keep && graph.recipe(storage).size() > 1 &&
         storage != graph[target].storage;
}

void State::adopt(Job& job, const OpRecord& op, std::uint32_t output, TensorId target, bool first) {
  const TensorId id{index(op.first_output) + output};
  Tensor& tensor = graph[id];
  if (tensor.storage == kNoStorage) return;
  Storage& s = graph[tensor.storage];
  if (tensor.fresh && !s.resident()) {
    if (first ? s.where() == Residency::Dead : !wants_output(op, tensor)) return;
    if (half_restores(tensor.storage, target)) return;
    const bool delivered = output < job.delivered.size() && job.delivered[output];
    if (!first && !delivered) return;  // it was evicted after the replay had been handed out
    WEIR_CHECK(delivered && job.delivered[output]->size() == s.size, id);
    charges_[index(tensor.storage)] = *std::exchange(job.delivered[output], std::nullopt);
    s.move_to(Residency::Resident);
    s.progress = options.views == ViewRule::Keep ? 1 : UINT32_MAX;
    if (!first) executor_.adopted(tensor.storage, output);
    note(tensor.storage, Change::Restored);
    s.placed = ++placings_;
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
  if (!first) reject_rest(job);
  job.delivered.clear();
}

void State::reject_rest(Job& job) {
  for (std::uint32_t i = 0; i < job.delivered.size(); ++i)
    if (job.delivered[i]) executor_.rejected(i);
  job.delivered.clear();
}

void State::finish_first_run(Job& job, Bytes scratch) {
  WEIR_CHECK(job.declared, job.op);
  const OpRecord& op = graph[job.op];
  for (std::uint32_t i = 0; i < op.outputs; ++i)
    graph[graph[TensorId{index(op.first_output) + i}].storage].last_use = now();
  adopt_all(job, job.op, op.first_output, true);
  complete_mutation(job);
  job.let_go(*this, job.stack.back());
  for (StorageId storage : job.storages)
    if (graph[storage].references == 0) suspect(storage);  // let go of while the op ran
  policy_.end(graph[job.op], scratch);
  banish_inputs(job.op);
}

void State::finish_replay(Job& job, OpId op, TensorId target) {
  ++counters.recomputes;
  spent_time_ += graph[op].cost;
  const StorageId changed = graph[target].storage;
  Storage& s = graph[changed];
  const bool in_place = options.views == ViewRule::Keep && s.resident();
  if (in_place) {
    WEIR_CHECK(graph.recipe(changed)[s.progress] == op, changed, op);
    ++s.progress;
    place(changed);
    reject_rest(job);
  } else {
    adopt_all(job, op, target, false);
  }
}

void State::give_up(Job& job) {
  const bool restored = restoring_ == &job;
  if (restored) restoring_ = nullptr;
  stop_changing(job);
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
        let_go(output.storage);
    }
  }
  if (!restored) return;
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const Storage& s = graph[StorageId{i}];  // what is pinned, another job restores
    if (s.resident() && !s.complete() && s.pins == 0) evict(StorageId{i});
  }
}

}  // namespace weir::core
