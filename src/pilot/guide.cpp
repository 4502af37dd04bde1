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

// Weights, and what the optimizer keeps of them: the next step begins with what this one ends with.
std::vector<StorageId> there_at_both_ends(const plan::Problem& problem, const StepLog& step,
                                          std::span<const std::uint32_t> numbers) {
  const std::vector<StorageId> carried = step.carried();
  std::vector<StorageId> found;
  for (const plan::Value& value : problem.values) {
    const std::uint32_t number = numbers[index(value.storage)];
    if (value.maker != plan::kNobody || value.appears != 0 || number == StepLog::kNone) continue;
    if (carried[number] != kNoStorage && !step.released(number)) found.push_back(value.storage);
  }
  return found;
}

}  // namespace

std::optional<Guide> Guide::make(const StepLog& step, const Room& room) {
  for (const auto results : {StepLog::Results::Stay, StepLog::Results::MayGo})
    if (std::optional<Guide> guide = make(step, room, results)) return guide;
  return std::nullopt;
}

std::optional<Guide> Guide::make(const StepLog& step, const Room& room, StepLog::Results results) {
  const StepLog::Numbered numbered = step.trace(results);
  plan::Problem problem = plan::problem_of(numbered.trace, plan::LetGo::StaysIfRemakable);
  if (room.tier) {
    problem.tier = {room.tier->link, room.tier->capacity};
    problem.repeats = there_at_both_ends(problem, step, numbered.numbers);
  }
  const Bytes least = plan::floor_of(problem).budget;
  if (least > room.budget) return std::nullopt;
  const Bytes budget = std::max(least, room.budget - room.margin - room.reserve);
  const std::optional<plan::Stays> stays = plan::plan_fast(problem, budget, effort_for(problem));
  if (!stays) return std::nullopt;
  Guide guide{step, numbered.numbers, *stays};
  guide.reserve_ = room.reserve;
  return guide;
}

Guide::Guide(const StepLog& step, std::span<const std::uint32_t> numbers, const plan::Stays& stays)
    : digests_{step.digests()},
      added_{stays.cost() - stays.problem().base_cost},
      carried_{step.carried()} {
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
  note_copies(numbers, stays, leaves);
  stays_ = Rows{ends};
  leaves_ = Rows{leaves};
  reads_ = Rows{reads};
}

// What happens when stage t begins, happens after op t-1.
void Guide::note_copies(std::span<const std::uint32_t> numbers, const plan::Stays& stays,
                        std::vector<std::vector<std::uint32_t>>& leaves) {
  const plan::Problem& problem = stays.problem();
  const auto number_of = [&](plan::ValueId value) {
    return numbers[index(problem[value].storage)];
  };
  std::vector<std::vector<std::uint32_t>> away(carried_.size());
  for (plan::ValueId value : stays.copied()) {
    const std::uint32_t number = number_of(value);
    if (number == StepLog::kNone) continue;
    for (const plan::Span& span : stays.copy(value).away) {
      away[number].push_back(span.first);
      away[number].push_back(span.last);
      if (span.first == 0)
        away_at_start_.push_back(number);
      else
        leaves[span.first - 1].push_back(number);
    }
  }
  const auto by_op = [&](std::span<const plan::Traffic::Event> events) {
    std::vector<std::vector<std::uint32_t>> rows(problem.ops.size());
    for (const plan::Traffic::Event& event : events)
      if (event.stage != 0 && number_of(event.value) != StepLog::kNone)
        rows[event.stage - 1].push_back(number_of(event.value));
    return Rows{rows};
  };
  away_ = Rows{away};
  if (stays.copied().empty()) return;
  saved_ = by_op(stays.traffic().offloads());
  brought_ = by_op(stays.traffic().prefetches());
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
  for (const Rows* rows :
       {&guide.stays_, &guide.away_, &guide.leaves_, &guide.saved_, &guide.brought_, &guide.reads_})
    if (!rows->sound()) throw BadInput("a plan has rows that overlap");
  for (const Rows* rows : {&guide.stays_, &guide.away_})
    for (std::size_t number = 0; number < rows->size(); ++number)
      if ((*rows)[number].size() % 2 != 0) throw BadInput("a plan has a stay without an end");
  return guide;
}

bool Guide::Rows::covers(std::size_t row, std::uint32_t stage) const {
  const std::span<const std::uint32_t> ends = (*this)[row];
  for (std::size_t i = 0; i < ends.size() && ends[i] <= stage; i += 2)
    if (stage <= ends[i + 1]) return true;
  return false;
}

bool Guide::stays_after(std::uint32_t op, std::uint32_t number) const {
  return stays_.covers(number, op + 1);
}

bool Guide::away_after(std::uint32_t op, std::uint32_t number) const {
  return away_.covers(number, op + 1);
}

std::uint32_t Guide::next_read(std::uint32_t op, std::uint32_t number) const {
  const std::span<const std::uint32_t> row = reads_[number];
  const auto next = std::ranges::lower_bound(row, op);
  return next == row.end() ? UINT32_MAX : *next;
}

}  // namespace weir::pilot
