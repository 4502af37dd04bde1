#include "cost/optimum.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "solver/linear_program.h"

namespace weir::cost {
namespace {

constexpr double kInfinite = 1e30;  // HiGHS takes this for no bound
constexpr double kMega = 1e6;       // the program counts in megabytes: numbers near 1

class Program {
 public:
  Program(const Step& step, const Reuse& reuse, double capacity)
      : step_{step}, reuse_{reuse}, capacity_{capacity} {
    for (const FirstRead& first : reuse.first_reads) fixed_ += bytes(first.item);
    for (const Gap& gap : reuse.gaps)
      kept_.push_back(program_.add_column(gap.read ? -mega(gap.item) : 0, 0, 1, false));
    for (const Gap& gap : reuse.gaps)
      if (gap.read) fixed_ += bytes(gap.item);
    for (const Version& version : reuse.versions) add_version(version);
    add_capacity();
  }

  Optimum solve() && {
    const solver::Solution solution = solver::solve(program_, {.seconds = 600, .relax = true});
    WEIR_CHECK(solution.outcome == solver::Outcome::Optimal, program_.columns());
    Optimum best{.bound = fixed_ + solution.cost * kMega, .kept = {}, .seconds = solution.seconds};
    for (const std::int32_t column : kept_)
      best.kept.push_back(std::clamp(solution.values[static_cast<std::size_t>(column)], 0.0, 1.0));
    best.whole = traffic(whole_items(best.kept));
    return best;
  }

 private:
  [[nodiscard]] double bytes(std::uint32_t item) const {
    return static_cast<double>(step_.items[item].bytes.n);
  }
  [[nodiscard]] double mega(std::uint32_t item) const { return bytes(item) / kMega; }

  // What is wanted after the step is written in any case; else what did not stay up to a gap's end
  // was written. What is written anew without being read was not wanted.
  void add_version(const Version& version) {
    if (version.lasts) {
      fixed_ += bytes(version.item);
      return;
    }
    const std::int32_t written = program_.add_column(mega(version.item), 0, 1, false);
    for (const std::uint32_t gap : reuse_.gaps_of(version)) {
      if (!reuse_.gaps[gap].read) continue;
      const solver::Entry row[] = {{written, 1}, {kept_[gap], 1}};
      program_.add_row(1, row, kInfinite);
    }
  }

  // What is held between sweeps k and k+1 is what was held before, and what begins and ends at k.
  void add_capacity() {
    std::vector<std::vector<solver::Entry>> rows(step_.sweeps.size());
    for (std::size_t i = 0; i < reuse_.gaps.size(); ++i) {
      const Gap& gap = reuse_.gaps[i];
      rows[gap.from].push_back({kept_[i], mega(gap.item)});
      rows[gap.to].push_back({kept_[i], -mega(gap.item)});
    }
    std::int32_t before = -1;
    for (std::vector<solver::Entry>& row : rows) {
      const std::int32_t held = program_.add_column(0, 0, capacity_ / kMega, false);
      row.push_back({held, -1});
      if (before >= 0) row.push_back({before, 1});
      program_.add_row(0, row, 0);
      before = held;
    }
  }

  // Greedily, the largest shares first, where there is room for all of an item.
  [[nodiscard]] std::vector<double> whole_items(const std::vector<double>& kept) const {
    std::vector<std::uint32_t> order(kept.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return kept[a] != kept[b] ? kept[a] > kept[b] : length(a) < length(b);
    });
    std::vector<double> held(step_.sweeps.size(), 0), whole(kept.size(), 0);
    for (const std::uint32_t id : order) {
      const Gap& gap = reuse_.gaps[id];
      const auto first = held.begin() + gap.from, end = held.begin() + gap.to;
      if (*std::max_element(first, end) + bytes(gap.item) > capacity_) continue;
      std::for_each(first, end, [&](double& at) { at += bytes(gap.item); });
      whole[id] = 1;
    }
    return whole;
  }

  [[nodiscard]] std::uint32_t length(std::uint32_t gap) const {
    return reuse_.gaps[gap].to - reuse_.gaps[gap].from;
  }

  [[nodiscard]] double traffic(const std::vector<double>& kept) const {
    double sum = fixed_;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (reuse_.gaps[i].read) sum -= bytes(reuse_.gaps[i].item) * kept[i];
    for (const Version& version : reuse_.versions) {
      if (version.lasts) continue;
      double stays = 1;
      for (const std::uint32_t gap : reuse_.gaps_of(version))
        if (reuse_.gaps[gap].read) stays = std::min(stays, kept[gap]);
      sum += bytes(version.item) * (1 - stays);
    }
    return sum;
  }

  const Step& step_;
  const Reuse& reuse_;
  double capacity_;
  double fixed_ = 0;  // bytes that move in any case, and those that staying takes off again
  solver::LinearProgram program_;
  std::vector<std::int32_t> kept_;  // the column of each gap
};

}  // namespace

Optimum optimum_of(const Step& step, const Reuse& reuse, double capacity) {
  return Program{step, reuse, capacity}.solve();
}

}  // namespace weir::cost
