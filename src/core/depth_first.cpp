#include "core/depth_first.h"

#include <algorithm>

#include "core/state.h"

namespace weir::core {

void Job::hold(State& state, StorageId storage) {
  state.pin(storage);
  pins.push_back(storage);
}

void Job::let_go(State& state, const Frame& frame) {
  for (TensorId input : state.graph.inputs(state.graph[frame.op])) {
    const auto begin = pins.begin() + frame.first_pin;
    const auto held = std::find(begin, pins.end(), state.graph[input].storage);
    if (held != pins.end()) state.unpin(std::exchange(*held, kNoStorage));
  }
  pins.resize(frame.first_pin);
}

void DepthFirst::start(State& state, Job& job) {
  if (job.rescue.empty()) {
    state.finish_rescue(job);  // there may be ghosts all the same
    return push_own(state, job);
  }
  job.missing = job.rescue;
  job.stack.push_back({.kind = Frame::Rescue});
}

const OpRecord* DepthFirst::next(State& state, Job& job) {
  if (job.launched) finish_replay(state, job);
  for (;;) {
    Frame& top = job.stack.back();
    if (top.cursor < job.missing.size()) {
      see_to(state, job, job.missing[top.cursor]);
    } else if (top.gave_way) {
      take_back(state, job);
    } else if (top.kind == Frame::Rescue) {
      finish_rescue(state, job);
    } else if (top.kind == Frame::Own) {
      return nullptr;
    } else {
      job.launched = true;
      return &state.graph[top.op];
    }
  }
}

// A missing input comes next: run what makes it, or, once it is there, hold it.
void DepthFirst::see_to(State& state, Job& job, TensorId missing) {
  Frame& top = job.stack.back();
  const StorageId storage = state.graph[missing].storage;
  if (state.graph[storage].where() == Residency::Offloaded) state.fetch(storage);
  if (!state.ready(missing, top.op)) {
    const OpId maker = state.op_to_restore(missing);
    state.hold(maker);
    return push(state, job, {.kind = Frame::Replay, .op = maker, .target = missing});
  }
  ++top.cursor;
  if (top.kind == Frame::Rescue)
    state.lose_recipe(storage);
  else
    job.hold(state, storage);
}

void DepthFirst::push_own(State& state, Job& job) {
  if (job.op != kNoOp) return push(state, job, {.kind = Frame::Own, .op = job.op});
  job.stack.push_back({.kind = Frame::Own});
  if (state.available(job.wanted))
    job.hold(state, state.graph[job.wanted].storage);
  else
    job.missing.push_back(job.wanted);
}

void DepthFirst::push(State& state, Job& job, Frame frame) {
  frame.first_missing = frame.cursor = static_cast<std::uint32_t>(job.missing.size());
  frame.first_pin = static_cast<std::uint32_t>(job.pins.size());
  job.stack.push_back(frame);
  before_waiting(state, job, frame.op);
  const Nanos now = state.now();
  for (TensorId input : state.graph.inputs(state.graph[frame.op]))
    state.graph[state.graph[input].storage].last_use = now;
  hold_inputs(state, job, frame.op);
}

void DepthFirst::hold_inputs(State& state, Job& job, OpId op) {
  const std::size_t first = job.missing.size();
  for (TensorId input : state.graph.inputs(state.graph[op])) {
    if (state.ready(input, op))
      job.hold(state, state.graph[input].storage);
    else
      job.missing.push_back(input);
  }
  order_missing(state, std::span(job.missing).subspan(first));
}

// The op held something that is gone: everything it reads must be there, and stay, from now on.
void DepthFirst::take_back(State& state, Job& job) {
  Frame& top = job.stack.back();
  top.gave_way = false;
  top.firm = true;
  for (std::size_t i = top.first_pin; i < job.pins.size(); ++i)
    if (job.pins[i] != kNoStorage) state.unpin(job.pins[i]);
  job.pins.resize(top.first_pin);
  hold_inputs(state, job, top.op);
}

void DepthFirst::finish_rescue(State& state, Job& job) {
  job.stack.pop_back();
  job.missing.clear();
  state.finish_rescue(job);
  push_own(state, job);
}

void DepthFirst::finish_replay(State& state, Job& job) {
  job.launched = false;
  const Frame done = job.stack.back();
  job.stack.pop_back();
  job.missing.resize(done.first_missing);
  state.finish_replay(job, done.op, done.target);
  after_replay(state, done.op);
  job.let_go(state, done);
  state.banish_inputs(done.op);
  state.drop(done.op);
}

}  // namespace weir::core
