#include "sim/sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "trace/info.h"

namespace weir::sim {

namespace {

void append_case(const Case& of, Bytes peak, const SweepOptions& options,
                 std::vector<Cell>& cells) {
  const std::uint32_t trials = of.policy->draws ? options.trials : 1;
  for (const base::BudgetSpec& budget : options.budgets) {
    Cell cell{.of = of, .budget = budget, .result = {}};
    cell.result.budget = budget.resolve(peak);
    for (std::uint32_t trial = 0; trial < trials; ++trial) {
      cell.seed = options.first_seed + trial;
      cells.push_back(cell);
    }
  }
}

std::vector<Cell> cells_to_run(std::span<const Trace> traces, const SweepOptions& options) {
  std::vector<Bytes> peaks;
  for (const Trace& trace : traces) peaks.push_back(trace::liveness_peak(trace));
  std::vector<Cell> cells;
  for (const Case& of : cases_of(traces.size(), options))
    append_case(of, peaks[of.trace], options, cells);
  return cells;
}

// Of one case.
Holes holes_in(std::span<const Trials> row) {
  std::vector<Trials> ascending(row.begin(), row.end());
  std::ranges::stable_sort(ascending, {},
                           [](const Trials& t) { return t.cells.front().result.budget; });
  Holes found{.of = row.front().cells.front().of, .budgets = {}, .works = {}};
  bool works = false;
  for (const Trials& trials : ascending) {
    const base::BudgetSpec& budget = trials.cells.front().budget;
    if (works && trials.finished() == 0) found.budgets.push_back(budget);
    if (works || trials.finished() < trials.cells.size()) continue;
    works = true;
    found.works = budget;
  }
  return found;
}

}  // namespace

std::vector<Case> cases_of(std::size_t traces, const SweepOptions& options) {
  std::vector<Case> cases;
  for (std::size_t trace = 0; trace < traces; ++trace)
    for (Deallocation deallocation : options.deallocations)
      for (RestoreOrder restore : options.restores)
        for (const PolicyEntry* policy : options.policies)
          cases.push_back({trace, policy, deallocation, restore});
  return cases;
}

std::vector<Cell> sweep(std::span<const Trace> traces, const SweepOptions& options,
                        const Progress& progress) {
  std::vector<Cell> cells = cells_to_run(traces, options);
  const auto run = [&](std::size_t at) {
    Cell& cell = cells[at];
    cell.result = replay(traces[cell.of.trace], *cell.of.policy,
                         {.budget = cell.result.budget,
                          .deallocation = cell.of.deallocation,
                          .restore = cell.of.restore,
                          .seed = cell.seed,
                          .limit = options.limit});
  };
  run_parallel(cells.size(), options.jobs, run, progress);
  return cells;
}

std::size_t Trials::finished() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cells, [](const Cell& cell) { return cell.result.status == Status::Ok; }));
}

double Trials::mean_slowdown() const {
  double sum = 0;
  for (const Cell& cell : cells)
    if (cell.result.status == Status::Ok) sum += cell.result.slowdown();
  return sum / static_cast<double>(finished());
}

std::string Trials::shown() const {
  if (finished() == cells.size()) return fmt::format("{:.4f}", mean_slowdown());
  if (finished() > 0) return fmt::format("mix{}/{}", finished(), cells.size());
  const bool out_of_budget = std::ranges::any_of(
      cells, [](const Cell& cell) { return cell.result.status == Status::OutOfBudget; });
  return out_of_budget ? "O" : "T";
}

std::vector<Trials> trials_of(std::span<const Cell> cells) {
  std::vector<Trials> all;
  while (!cells.empty()) {
    const auto same = [&](const Cell& cell) {
      return cell.of == cells.front().of && cell.budget == cells.front().budget;
    };
    const auto end = std::ranges::find_if_not(cells, same);
    const auto size = static_cast<std::size_t>(end - cells.begin());
    all.push_back({cells.first(size)});
    cells = cells.subspan(size);
  }
  return all;
}

std::vector<Holes> holes(std::span<const Cell> cells) {
  const std::vector<Trials> all = trials_of(cells);
  std::vector<Holes> found;
  for (std::span<const Trials> rest{all}; !rest.empty();) {
    const Case of = rest.front().cells.front().of;
    const auto end = std::ranges::find_if_not(
        rest, [&](const Trials& trials) { return trials.cells.front().of == of; });
    const auto size = static_cast<std::size_t>(end - rest.begin());
    Holes here = holes_in(rest.first(size));
    if (!here.budgets.empty()) found.push_back(std::move(here));
    rest = rest.subspan(size);
  }
  return found;
}

}  // namespace weir::sim
