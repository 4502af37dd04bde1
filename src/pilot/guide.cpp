#include "pilot/guide.h"

#include <algorithm>

#include "pilot/archive.h"
#include "plan/fast.h"
#include "weir/errors.h"

namespace weir::pilot {

namespace {

// The program wants the cores too, so a small step is not searched for long.
plan::FastOptions effort_for(const plan::Problem& problem) {
  constexpr std::int64_t kLeast = 1'000'000, kPerPair = 200;
  const auto ops = static_cast<std::int64_t>(problem.ops.size());
  return {.work = std::clamp(kPerPair * ops * ops, kLeast, plan::FastOptions{}.work)};
}

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

std::optional<Guide> Guide::make(const StepLog& step, const Room& room) {
  std::optional<Guide> best;
  for (const bool idle : {false, true}) {
    if (idle && !room.tier) continue;
    for (const bool results : {false, true}) {
      std::optional<Guide> guide = make(step, room, {.results = results, .idle = idle});
      if (!guide) continue;
      if (!best || guide->added_ < best->added_) best = std::move(guide);
      break;
    }
  }
  return best;
}

std::optional<Guide> Guide::make(const StepLog& step, const Room& room,
                                 const StepLog::Without& without) {
  const StepLog::Numbered numbered = step.trace(without);
  const plan::Problem problem = plan::problem_of(numbered.trace, plan::LetGo::StaysIfRemakable);
  const Bytes least = plan::floor_of(problem).budget;
  if (least > room.budget) return std::nullopt;
  const Bytes budget = std::max(least, room.budget - room.margin);
  const std::optional<plan::Stays> stays = plan::plan_fast(problem, budget, effort_for(problem));
  if (!stays) return std::nullopt;
  Guide guide{step, numbered.numbers, *stays};
  if (!without.idle) return guide;
  guide.idle_ = step.idle();
  for (const StepLog::Idle& idle : guide.idle_) guide.added_ += idle.cost;
  return guide;
}

Guide::Guide(const StepLog& step, std::span<const std::uint32_t> numbers, const plan::Stays& stays)
    : digests_{step.digests()}, added_{stays.cost() - stays.problem().base_cost} {
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

bool Guide::Rows::sound() const {
  const std::uint32_t last = ends_.empty() ? 0 : ends_.back();
  return std::ranges::is_sorted(ends_) && last == items_.size();
}

Guide Guide::load(ArchiveReader& archive) {
  Guide guide;
  archive(guide);
  if (!guide.stays_.sound() || !guide.leaves_.sound() || !guide.reads_.sound())
    throw BadInput("a plan has rows that overlap");
  for (std::size_t number = 0; number < guide.stays_.size(); ++number)
    if (guide.stays_[number].size() % 2 != 0) throw BadInput("a plan has a stay without an end");
  return guide;
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
