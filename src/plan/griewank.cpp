#include "plan/griewank.h"

#include <algorithm>

namespace weir::plan {
namespace {

// How many positions can be reversed with so many checkpoints, each run at most `repeats` times
// more: the binomial (checkpoints + repeats over repeats), as far as `most`.
std::size_t reach(std::size_t checkpoints, std::size_t repeats, std::size_t most) {
  std::size_t sum = 1;
  for (std::size_t i = 1; i <= repeats; ++i) {
    sum = sum * (checkpoints + i) / i;
    if (sum >= most) return most;
  }
  return sum;
}

class Treeverse {
 public:
  Treeverse(const Problem& problem, const Candidates& candidates, const Segments& segments)
      : problem_{problem}, candidates_{candidates}, segments_{segments}, retention_{problem} {
    keep_segments(retention_, problem, segments);
  }

  Retention run(std::size_t checkpoints) && {
    work_.push_back({0, candidates_.size(), checkpoints});
    while (!work_.empty()) {
      const Part part = work_.back();
      work_.pop_back();
      split(part);
    }
    return std::move(retention_);
  }

 private:
  // Positions from begin to end, the first of which is stored or the beginning of all.
  struct Part {
    std::size_t begin, end, checkpoints;
  };

  void split(const Part& part) {
    const std::size_t length = part.end - part.begin;
    if (length < 2 || part.checkpoints == 0) return;
    std::size_t repeats = 1;
    while (reach(part.checkpoints, repeats, length) < length) ++repeats;
    const std::size_t left = reach(part.checkpoints, repeats - 1, length);
    const std::size_t middle = part.begin + std::clamp<std::size_t>(left, 1, length - 1);
    store(middle, part.end);
    work_.push_back({part.begin, middle, part.checkpoints});
    work_.push_back({middle, part.end, part.checkpoints - 1});
  }

  // While the positions behind it are reversed: from when the last of them is.
  void store(std::size_t position, std::size_t end) {
    for (ValueId output : problem_.ops[candidates_[position]].outputs) {
      const Stage last =
          std::max(last_read(problem_, output), segments_.remade(position + 1).value_or(0));
      if (end == candidates_.size()) {
        keep_until(retention_, problem_, output, last);
        continue;
      }
      std::size_t behind = end;  // position p begins segment p + 1
      while (behind > position + 1 && !segments_.remade(behind)) --behind;
      const Stage remade = segments_.remade(behind).value_or(problem_.end());
      for (Stage stage = remade + 1; stage <= last; ++stage) retention_.keep(stage, output);
    }
  }

  const Problem& problem_;
  const Candidates& candidates_;
  const Segments& segments_;
  Retention retention_;
  std::vector<Part> work_;
};

}  // namespace

void try_griewank(const Problem& problem, const Candidates& candidates, const Try& consider) {
  const Segments segments{problem, candidates};
  for (std::size_t checkpoints = 1; checkpoints < candidates.size(); ++checkpoints) {
    consider(Treeverse{problem, candidates, segments}.run(checkpoints));
    if (checkpoints > 20) checkpoints += checkpoints / 10;  // more change little
  }
}

}  // namespace weir::plan
