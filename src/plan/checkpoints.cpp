#include "plan/checkpoints.h"

#include <algorithm>

namespace weir::plan {

bool is_forward(const Problem& problem, std::uint32_t op) {
  return problem.ops[op].phase == Phase::Forward;
}

Stage last_read(const Problem& problem, ValueId id) {
  const Value& value = problem[id];
  const Stage held = value.end_held > 0 ? value.end_held - 1 : 0;
  return std::max(held, value.users.empty() ? value.appears : value.users.back());
}

Candidates linear_candidates(const Problem& problem) {
  Candidates candidates;
  for (std::uint32_t op = 0; op < problem.end(); ++op) {
    const auto has_bytes = [&](ValueId output) { return problem[output].size.n > 0; };
    if (is_forward(problem, op) && std::ranges::any_of(problem.ops[op].outputs, has_bytes))
      candidates.push_back(op);
  }
  return candidates;
}

namespace {

// Tarjan's search for articulation points on the undirected graph of forward ops, without
// recursion: networks are deep.
class ArticulationSearch {
 public:
  explicit ArticulationSearch(const Problem& problem)
      : links_(problem.ops.size()),
        found_(problem.ops.size()),
        depth_(problem.ops.size(), 0),
        low_(problem.ops.size(), 0) {
    for (const Value& value : problem.values)
      for (std::uint32_t user : value.users)
        if (value.maker != kNobody && is_forward(problem, value.maker) && is_forward(problem, user))
          link(value.maker, user);
  }

  std::vector<bool> run() && {
    for (std::uint32_t op = 0; op < links_.size(); ++op)
      if (depth_[op] == 0) search_from(op);
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t op, parent;
    std::size_t next = 0;
  };

  void link(std::uint32_t a, std::uint32_t b) {
    links_[a].push_back(b);
    links_[b].push_back(a);
  }

  void search_from(std::uint32_t root) {
    std::vector<Frame> stack;
    std::size_t children = 0;
    const auto enter = [&](std::uint32_t op, std::uint32_t parent) {
      stack.push_back({op, parent});
      depth_[op] = low_[op] = static_cast<std::uint32_t>(stack.size());
    };
    enter(root, root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < links_[frame.op].size()) {
        const std::uint32_t to = links_[frame.op][frame.next++];
        if (depth_[to] == 0)
          enter(to, frame.op);
        else if (to != frame.parent)
          low_[frame.op] = std::min(low_[frame.op], depth_[to]);
        continue;
      }
      const Frame done = frame;
      stack.pop_back();
      if (done.op == root) break;
      low_[done.parent] = std::min(low_[done.parent], low_[done.op]);
      if (done.parent == root)
        ++children;
      else if (low_[done.op] >= depth_[done.parent])
        found_[done.parent] = true;
    }
    found_[root] = children > 1;
  }

  std::vector<std::vector<std::uint32_t>> links_;
  std::vector<bool> found_;
  std::vector<std::uint32_t> depth_, low_;
};

}  // namespace

Candidates articulation_points(const Problem& problem) {
  const std::vector<bool> found = ArticulationSearch{problem}.run();
  Candidates points = linear_candidates(problem);
  std::erase_if(points, [&](std::uint32_t op) { return !found[op]; });
  return points;
}

std::uint32_t most_runs_of_an_op(const Problem& problem, const Schedule& schedule) {
  std::vector<std::uint32_t> runs(problem.ops.size());
  // What ran before the start counts as its first run.
  std::fill_n(runs.begin(), problem.start.first, 1u);
  for (const ScheduledMove& move : schedule.moves)
    if (move.move == Move::Compute) ++runs[move.item];
  return runs.empty() ? 0 : std::ranges::max(runs);
}

void Best::consider(const Retention& tried) {
  std::optional<Plan> made = plan_of(problem_, tried, budget_);
  if (!made || made->peak > budget_ || (plan && plan->cost <= made->cost)) return;
  if (most_runs_of_an_op(problem_, made->schedule) > most_runs_) return;
  plan = std::move(made);
  retention = tried;
}

Segments::Segments(const Problem& problem, const std::vector<std::uint32_t>& starts)
    : segment_(problem.ops.size()), remade_(starts.size() + 1) {
  for (std::uint32_t op = 0; op < problem.end(); ++op)
    segment_[op] = static_cast<std::size_t>(std::ranges::upper_bound(starts, op) - starts.begin());
  for (std::uint32_t op = 0; op < problem.end(); ++op) {
    if (is_forward(problem, op)) continue;
    for (ValueId input : problem.ops[op].inputs) {
      const std::uint32_t maker = problem[input].maker;
      if (maker == kNobody || !is_forward(problem, maker)) continue;
      std::optional<Stage>& stage = remade_[segment_[maker]];
      if (!stage) stage = op;
    }
  }
}

void keep_until(Retention& retention, const Problem& problem, ValueId value, Stage last) {
  for (Stage stage = problem[value].appears + 1; stage <= last; ++stage)
    retention.keep(stage, value);
}

void keep_segments(Retention& retention, const Problem& problem, const Segments& segments) {
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
    const ValueId id{i};
    const Value& value = problem.values[i];
    const Stage last = last_read(problem, id);
    const bool once = value.maker == kNobody || value.last_remake < last;
    if (once || !is_forward(problem, value.maker)) {
      keep_until(retention, problem, id, once ? problem.end() : last);
      continue;
    }
    Stage forward = value.appears;
    for (std::uint32_t user : value.users)
      if (is_forward(problem, user)) forward = user;
    keep_until(retention, problem, id, forward);
    const Stage remade = segments.remade(segments.of(value.maker)).value_or(problem.end());
    for (Stage stage = remade + 1; stage <= last; ++stage) retention.keep(stage, id);
  }
}

}  // namespace weir::plan
