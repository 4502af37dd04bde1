#include "plan/reductions.h"

#include <algorithm>

namespace weir::plan {

std::vector<Stage> last_uses(const Problem& problem) {
  std::vector<Stage> last(problem.values.size());
  std::vector<Stage> runs(problem.ops.size());  // by op: the last stage in which it is worth it
  const auto set_last = [&](ValueId id) {
    const Value& value = problem[id];
    Stage& stage = last[index(id)];
    stage = value.end_held > 0 ? value.end_held - 1 : 0;
    for (std::uint32_t user : value.users) stage = std::max(stage, runs[user]);
  };
  for (std::uint32_t op = problem.end(); op-- > 0;) {
    runs[op] = op;
    for (ValueId output : problem.ops[op].outputs) {
      set_last(output);
      const Stage remake = std::min(last[index(output)], problem[output].last_remake);
      runs[op] = std::max(runs[op], remake);
    }
  }
  for (std::uint32_t i = 0; i < problem.values.size(); ++i)
    if (problem.values[i].maker == kNobody) set_last(ValueId{i});
  return last;
}

namespace {

class Room {
 public:
  Room(const Problem& problem, const std::vector<Stage>& last_use)
      : problem_{problem}, last_use_{last_use}, there_(problem.values.size()) {
    const Stage first = problem.start.first;
    for (ValueId value : problem.start.resident) there_[index(value)] = true;
    for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
      const Value& value = problem.values[i];
      if (value.appears < first && value.held_in(first)) there_[i] = true;
    }
  }

  // The bytes while the stage's own op runs if nothing goes that can be of use.
  Bytes after(Stage stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if (value.appears == stage) there_[i] = true;
      if (last_use_[i] < stage && value.appears < stage) there_[i] = false;
      if (value.end() < stage) there_[i] = false;
    }
    Bytes sum = stage < problem_.end() ? problem_.ops[stage].scratch : Bytes{};
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (there_[i]) sum += problem_.values[i].size;
    return sum;
  }

  // Something that is gone might best be made again now, for later.
  [[nodiscard]] bool lacks_nothing(Stage stage) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      const bool of_use = last_use_[i] >= stage && value.end() >= stage;
      if (value.appears < stage && of_use && !there_[i]) return false;
    }
    return true;
  }

 private:
  const Problem& problem_;
  const std::vector<Stage>& last_use_;
  std::vector<bool> there_;
};

}  // namespace

Stage roomy_until(const Problem& problem, const std::vector<Stage>& last_use, Bytes budget) {
  Room room{problem, last_use};
  Stage roomy = problem.start.first == 0 ? 0 : problem.start.first - 1;
  for (Stage stage = problem.start.first; stage <= problem.end(); ++stage) {
    if (room.after(stage) > budget || !room.lacks_nothing(stage)) break;
    roomy = stage;
  }
  return roomy;
}

}  // namespace weir::plan
