#include "pilot/guide.h"

#include <algorithm>

#include "plan/fast.h"

namespace weir::pilot {

namespace {

// By number: the stages at whose beginning the storage is there in any of its versions.
std::vector<std::vector<plan::Span>> spans_of(const plan::Stays& stays,
                                              std::span<const std::uint32_t> numbers,
                                              std::size_t count) {
  std::vector<std::vector<plan::Span>> spans(count);
  const plan::Problem& problem = stays.problem();
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
    const std::uint32_t number = numbers[index(problem.values[i].storage)];
    if (number == StepLog::kNone) continue;
    for (const plan::Span& span : stays.spans(plan::ValueId{i})) spans[number].push_back(span);
  }
  for (std::vector<plan::Span>& row : spans) {
    std::ranges::sort(row, {}, &plan::Span::first);
    std::vector<plan::Span> joined;
    for (const plan::Span& span : row) {
      if (!joined.empty() && span.first <= joined.back().last + 1)
        joined.back().last = std::max(joined.back().last, span.last);
      else
        joined.push_back(span);
    }
    row = std::move(joined);
  }
  return spans;
}

}  // namespace

std::optional<Guide> Guide::make(const StepLog& step, Bytes budget) {
  for (const bool keep_results : {true, false}) {
    const StepLog::Numbered numbered = step.trace(keep_results);
    const plan::Problem problem = plan::problem_of(numbered.trace, plan::LetGo::StaysIfRemakable);
    if (plan::floor_of(problem).budget > budget) continue;
    if (const std::optional<plan::Stays> stays = plan::plan_fast(problem, budget))
      return Guide{step, numbered.numbers, *stays};
  }
  return std::nullopt;
}

Guide::Guide(const StepLog& step, std::span<const std::uint32_t> numbers, const plan::Stays& stays)
    : digests_{step.digests()},
      added_{stays.cost() - stays.problem().base_cost},
      base_{stays.problem().base_cost} {
  const plan::Problem& problem = stays.problem();
  std::vector<std::vector<std::uint32_t>> ends(step.storages()), reads(step.storages());
  std::vector<std::vector<std::uint32_t>> leaves(problem.ops.size());
  for (std::uint32_t op = 0; op < problem.ops.size(); ++op) {
    for (plan::ValueId input : problem.ops[op].inputs) {
      const std::uint32_t number = numbers[index(problem[input].storage)];
      if (number != StepLog::kNone) reads[number].push_back(op);
    }
  }
  const std::vector<std::vector<plan::Span>> spans = spans_of(stays, numbers, step.storages());
  for (std::uint32_t number = 0; number < spans.size(); ++number) {
    for (const plan::Span& span : spans[number]) {
      ends[number].push_back(span.first);
      ends[number].push_back(span.last);
      if (span.last < leaves.size()) leaves[span.last].push_back(number);
    }
  }
  stays_ = Rows{ends};
  leaves_ = Rows{leaves};
  reads_ = Rows{reads};
}

Guide::Rows::Rows(const std::vector<std::vector<std::uint32_t>>& rows) {
  for (const std::vector<std::uint32_t>& row : rows) {
    items_.insert(items_.end(), row.begin(), row.end());
    ends_.push_back(static_cast<std::uint32_t>(items_.size()));
  }
}

std::span<const std::uint32_t> Guide::Rows::operator[](std::size_t row) const {
  if (row >= ends_.size()) return {};
  const std::uint32_t first = row == 0 ? 0 : ends_[row - 1];
  return std::span{items_}.subspan(first, ends_[row] - first);
}

bool Guide::stays_after(std::uint32_t op, std::uint32_t number) const {
  const std::span<const std::uint32_t> row = stays_[number];
  for (std::size_t i = 0; i < row.size() && row[i] <= op + 1; i += 2)
    if (op + 1 <= row[i + 1]) return true;
  return false;
}

std::uint32_t Guide::next_read(std::uint32_t op, std::uint32_t number) const {
  const std::span<const std::uint32_t> row = reads_[number];
  const auto next = std::ranges::lower_bound(row, op);
  return next == row.end() ? UINT32_MAX : *next;
}

}  // namespace weir::pilot
