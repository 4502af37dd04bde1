#include "plan/traffic.h"

#include <algorithm>

#include "plan/stays.h"

namespace weir::plan {
namespace {

constexpr std::int64_t kWorkOfACopy = 120;

void in_order(std::vector<Traffic::Event>& events) {
  std::ranges::sort(events, {}, [](const Traffic::Event& event) {
    return (std::uint64_t{event.stage} << 32) | event.order;  // no two values have the same order
  });
}

// Are there any, in this stage?
bool is_next(const std::vector<Traffic::Event>& events, std::size_t next, Stage stage) {
  return next < events.size() && events[next].stage == stage;
}

Stage end_of_span(std::span<const Span> spans, Stage first) {
  const auto found = std::ranges::find_if(spans, [&](const Span& s) { return s.last >= first; });
  return found == spans.end() ? first : found->last;
}

bool reads(const ProblemOp& op, ValueId value) {
  return std::ranges::find(op.inputs, value) != op.inputs.end();
}

}  // namespace

void Traffic::recount(const Stays& stays) {
  clear(stays);
  list(stays);
  count_tier(stays.problem());
  run(stays);
  const auto copies = static_cast<std::int64_t>(stays.copied().size());
  work_ += 3 * std::int64_t{problem_->end()} + kWorkOfACopy * copies;
}

void Traffic::clear(const Stays& stays) {
  problem_ = &stays.problem();
  for (auto* events : {&forgets_, &offloads_, &leaves_, &prefetches_, &landings_}) events->clear();
  in_tier_.assign(problem_->end() + 2, 0);
  begins_.assign(problem_->end() + 1, {});
  writer_.clear();
  reader_.clear();
  journeys_.resize(problem_->values.size());
  for (ValueId value : stays.copied()) journeys_[index(value)] = {};
  next_offload_ = next_leave_ = next_prefetch_ = next_landing_ = 0;
  clock_ = waited_ = writer_free_ = reader_free_ = {};
}

void Traffic::list(const Stays& stays) {
  for (StorageId storage : problem_->start.offloaded)
    in_tier_[problem_->start.first] += problem_->storages[index(storage)].n;
  for (ValueId value : stays.copied()) list(stays, value);
  for (auto* events : {&forgets_, &offloads_, &leaves_, &prefetches_, &landings_})
    in_order(*events);
}

// What nobody reads any more comes back only if it has to be there at the end. With the last read a
// copy is of no use any more; a change takes it anyway.
void Traffic::list(const Stays& stays, ValueId id) {
  const Value& value = (*problem_)[id];
  const auto& [away, offload, order] = stays.copy(id);
  const Stage begin = offload == kNobody ? problem_->start.first : offload;
  if (offload != kNobody) offloads_.push_back({offload, order, id});
  Stage end = begin;  // of the copy
  for (const Span& span : away) {
    const Stage back = span.last + 1;
    if (offload != kNobody || span.first > begin) leaves_.push_back({span.first, order, id});
    end = std::max(back, std::min(value.end_held, problem_->end() + 1));
    if (!stays.keeps(back, id)) continue;
    const Stage landing = stays.next_use(back, id);
    const bool is_read = landing <= end_of_span(stays.spans(id), back);
    if (is_read) landings_.push_back({landing, order, id});
    if (is_read) end = landing + 1;
    if (is_read || stays.must_come_back(id)) prefetches_.push_back({back, order, id});
  }
  if (stays.begins_away(id) && stays.ends_of(id).last == id) end = problem_->end() + 1;
  in_tier_[begin] += value.size.n;
  in_tier_[end] -= value.size.n;
  if (end <= problem_->end() && value.changed_by >= end) forgets_.push_back({end, order, id});
}

void Traffic::count_tier(const Problem& problem) {
  std::int64_t used = 0, most = 0;
  for (std::int64_t& stage : in_tier_) {
    used += stage;
    stage = used;
    most = std::max(most, used);
  }
  tier_peak_ = {most};
  fits_ = tier_peak_ <= problem.tier->capacity;
}

void Traffic::wait_until(Nanos time) {
  if (time <= clock_) return;
  waited_ += time - clock_;
  clock_ = time;
}

void Traffic::run(const Stays& stays) {
  for (Stage stage = problem_->start.first; stage <= problem_->end(); ++stage) {
    begin_stage(stage);
    clock_ = end_of_stage(stays, stage);
  }
  for (const Event& event : prefetches_)
    if (stays.keeps(problem_->end(), event.value))
      wait_until(journeys_[index(event.value)].arrives);
}

void Traffic::begin_stage(Stage stage) {
  const Link& link = problem_->tier->link;
  for (; is_next(offloads_, next_offload_, stage); ++next_offload_) {
    const ValueId value = offloads_[next_offload_].value;
    const Nanos begin = std::max(clock_, writer_free_);
    writer_free_ = begin + transfer_time((*problem_)[value].size, link.write);
    journeys_[index(value)].copied = writer_free_;
    writer_.push_back({begin, writer_free_});
  }
  for (; is_next(leaves_, next_leave_, stage); ++next_leave_) {
    const Journey& journey = journeys_[index(leaves_[next_leave_].value)];
    wait_until(std::max(journey.copied, journey.arrives));
  }
  begins_[stage] = clock_;
  for (; is_next(prefetches_, next_prefetch_, stage); ++next_prefetch_) {
    const ValueId value = prefetches_[next_prefetch_].value;
    Journey& journey = journeys_[index(value)];
    const Nanos begin = std::max({clock_, reader_free_, journey.copied});
    reader_free_ = begin + transfer_time((*problem_)[value].size, link.read);
    journey.arrives = reader_free_;
    reader_.push_back({begin, reader_free_});
  }
}

// Op by op only if something that is read has not arrived yet.
Nanos Traffic::end_of_stage(const Stays& stays, Stage stage) {
  const std::size_t first = next_landing_;
  Nanos last_arrival = clock_;
  for (; is_next(landings_, next_landing_, stage); ++next_landing_)
    last_arrival = std::max(last_arrival, journeys_[index(landings_[next_landing_].value)].arrives);
  const Nanos own = stage < problem_->end() ? problem_->ops[stage].cost : Nanos{};
  if (last_arrival == clock_) return clock_ + stays.stage_cost(stage) + own;
  const auto run = [&](std::uint32_t op) {
    for (std::size_t i = first; i < next_landing_; ++i)
      if (reads(problem_->ops[op], landings_[i].value))
        wait_until(journeys_[index(landings_[i].value)].arrives);
    clock_ += problem_->ops[op].cost;
  };
  for (std::uint32_t op : stays.reruns(stage)) run(op);
  if (stage < problem_->end()) run(stage);
  return clock_;
}

Traffic::Slot Traffic::slot_for_write(Bytes size, Stage from) const {
  const Nanos time = transfer_time(size, problem_->tier->link.write);
  Nanos begin = begins_[from];
  auto busy = std::ranges::upper_bound(writer_, begin, {}, &Busy::end);
  for (; busy != writer_.end() && busy->begin < begin + time; ++busy)
    begin = std::max(begin, busy->end);
  const auto stages = std::ranges::subrange(begins_.begin() + problem_->start.first, begins_.end());
  const auto stage_of = [&](auto place) { return static_cast<Stage>(place - begins_.begin()); };
  const Stage last = stage_of(std::ranges::upper_bound(stages, begin)) - 1;
  return {std::max(from, last), stage_of(std::ranges::lower_bound(stages, begin + time))};
}

Stage Traffic::slot_for_read(Bytes size, Stage by) const {
  const Nanos time = transfer_time(size, problem_->tier->link.read);
  Nanos end = begins_[by];
  auto busy = std::ranges::lower_bound(reader_, end, {}, &Busy::begin);
  while (busy != reader_.begin() && (busy - 1)->end + time > end) {
    --busy;
    end = std::min(end, busy->begin);
  }
  const auto stages = std::ranges::subrange(begins_.begin() + problem_->start.first, begins_.end());
  const auto after = std::ranges::upper_bound(stages, end - time);
  if (after == stages.begin()) return problem_->start.first;
  return std::min(by, static_cast<Stage>(after - 1 - begins_.begin()));
}

bool Traffic::has_room(Bytes size, Span stages) const {
  for (Stage stage = stages.first; stage <= stages.last; ++stage)
    if (in_tier_[stage] + size.n > problem_->tier->capacity.n) return false;
  return true;
}

}  // namespace weir::plan
