#include "twin/lock_step.h"

#include <algorithm>
#include <sstream>

#include "base/rng.h"
#include "trace/generate.h"

namespace weir::twin {

namespace {

constexpr std::uint64_t kMostReplays = 3000;
constexpr Bytes kPlenty{std::int64_t{1} << 40};

// Small numbers make many equal scores.
Trace generate(const Case& drawn, base::Rng& rng) {
  const auto most_live = static_cast<std::uint32_t>(4 + rng.below(12));
  const Bytes most_bytes{rng.chance(1, 4) ? 2 : 64};
  const Nanos most_cost{rng.chance(1, 4) ? 2 : 16};
  if (drawn.kind.views == ViewRule::Rerun)
    return trace::random_log_trace(drawn.seed, {.ops = drawn.ops * drawn.steps,
                                                .most_live = most_live,
                                                .most_bytes = most_bytes,
                                                .most_cost = most_cost});
  return trace::training_step(drawn.seed, {.steps = drawn.steps,
                                           .ops = drawn.ops,
                                           .most_live = most_live,
                                           .most_bytes = most_bytes,
                                           .most_cost = most_cost});
}

Bytes peak_of(const Trace& trace, RunOptions options) {
  options.budget = kPlenty;
  RealRun run{trace, options};
  for (std::size_t event = 0; event < trace.events.size(); ++event) run.apply(event);
  return run.manager().ledger().peak();
}

// From what can hardly work to what is enough.
Bytes draw_budget(base::Rng& rng, Bytes peak) {
  const auto all = static_cast<std::uint64_t>(peak.n);
  const std::uint64_t floor = rng.chance(1, 4) ? all / 4 : 2 * all / 3;
  return {static_cast<std::int64_t>(floor + rng.below(all - floor + 1))};
}

void draw_tier(base::Rng& rng, Bytes peak, RunOptions& options) {
  const auto all = static_cast<std::uint64_t>(peak.n);
  options.offload = rng.chance(1, 2);
  options.recompute = !rng.chance(1, options.offload ? 4 : 32);
  options.tier = {static_cast<std::int64_t>(rng.below(rng.chance(1, 2) ? all / 2 + 1 : 2 * all))};
  options.latency = {static_cast<std::int64_t>(rng.below(20))};
  options.per_byte = {static_cast<std::int64_t>(rng.below(2))};
  if (rng.chance(1, 4)) options.smallest = {static_cast<std::int64_t>(1 + rng.below(16))};
}

// One entry for each reference that the program has.
void follow(const Trace& trace, TraceEvent event, std::vector<TensorId>& references) {
  if (event.kind == EventKind::Constant || event.kind == EventKind::Retain)
    references.push_back(TensorId{event.item});
  if (event.kind == EventKind::Release)
    references.erase(std::ranges::find(references, TensorId{event.item}));
  for (std::uint32_t k = 0; event.kind == EventKind::Op && k < trace.ops[event.item].outputs; ++k)
    references.push_back(TensorId{trace.ops[event.item].first_output + k});
}

// Only what the program references may be written to, and under DTR's rules nothing may be.
std::vector<Disturbance> draw_disturbances(base::Rng& rng, const Trace& trace, Bytes peak) {
  std::vector<Disturbance> all;
  if (rng.chance(1, 2)) return all;
  std::vector<TensorId> references;
  const auto draw_bytes = [&](std::int64_t least) {
    return Bytes{least + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(peak.n)))};
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (rng.chance(1, 16))
      all.push_back({.before = i, .kind = Disturbance::Reclaim, .bytes = draw_bytes(0)});
    if (rng.chance(1, 16))
      all.push_back({.before = i, .kind = Disturbance::SetBudget, .bytes = draw_bytes(peak.n / 2)});
    if (trace.views == ViewRule::Keep && !references.empty() && rng.chance(1, 16))
      all.push_back({.before = i,
                     .kind = Disturbance::Write,
                     .tensor = references[rng.below(references.size())]});
    follow(trace, trace.events[i], references);
  }
  for (std::size_t i = 0; i < trace.events.size(); ++i)
    if (rng.chance(1, 16))
      all.push_back({.before = i, .kind = Disturbance::SetReserve, .bytes = {draw_bytes(0).n / 4}});
  std::ranges::stable_sort(all, {}, &Disturbance::before);
  return all;
}

void fill(Case& drawn) {
  base::Rng rng{drawn.seed ^ 0xC0FFEE};
  const std::vector<std::string_view> policies = NaivePolicy::names();
  drawn.trace = generate(drawn, rng);
  drawn.options.policy = policies[rng.below(policies.size())];
  drawn.options.deallocation = static_cast<Deallocation>(rng.below(3));
  drawn.options.restore = drawn.kind.restore;
  drawn.options.longest_recipe =
      rng.chance(1, 2) ? 8 : static_cast<std::uint32_t>(1 + rng.below(3));
  drawn.options.most_replays = kMostReplays;
  drawn.options.reuse_ids = rng.chance(1, 2);
  drawn.options.only_wanted = rng.chance(1, 2);
  drawn.options.reserve_one_in = rng.chance(1, 3) ? static_cast<std::int64_t>(2 + rng.below(8)) : 0;
  drawn.options.disturbances.clear();
  const Bytes peak = peak_of(drawn.trace, drawn.options);
  drawn.options.budget = draw_budget(rng, peak);
  draw_tier(rng, peak, drawn.options);
  drawn.options.disturbances = draw_disturbances(rng, drawn.trace, peak);
}

NaiveOptions naive(const RunOptions& options) {
  return {.budget = options.budget,
          .deallocation = static_cast<NaiveDeallocation>(options.deallocation),
          .order = static_cast<NaiveOrder>(options.restore),
          .longest_recipe = options.longest_recipe,
          .policy = options.policy,
          .most_replays = options.most_replays,
          .smallest = options.smallest,
          .recompute = options.recompute,
          .only_wanted = options.only_wanted,
          .reserve_one_in = options.reserve_one_in,
          .tier = {.there = options.offload,
                   .capacity = options.tier,
                   .latency = options.latency,
                   .per_byte = options.per_byte}};
}

std::span<const Disturbance> before(const std::vector<Disturbance>& all, std::size_t event) {
  const auto found = std::ranges::equal_range(all, event, {}, &Disturbance::before);
  return {found.begin(), found.end()};
}

void describe_more(const RunOptions& options, std::size_t event, std::ostream& out) {
  static const char* const kDisturbances[] = {"write", "reclaim", "set budget", "set reserve"};
  out << ", smallest " << options.smallest.n << (options.recompute ? "" : ", no recompute")
      << (options.reuse_ids ? ", ids used again" : "")
      << (options.only_wanted ? ", only what is wanted delivered" : "");
  if (options.offload)
    out << ", tier of " << options.tier.n << " with latency " << options.latency.n << " and "
        << options.per_byte.n << " per byte";
  for (const Disturbance& d : before(options.disturbances, event))
    out << "; " << kDisturbances[d.kind] << ' ' << index(d.tensor) << ' ' << d.bytes.n;
}

std::string describe(const Case& drawn, std::size_t event) {
  static const char* const kEvents[] = {"constant", "op", "retain", "release", "keep", "step"};
  const TraceEvent at = drawn.trace.events[event];
  std::ostringstream out;
  out << "seed " << drawn.seed << " (" << drawn.ops << " ops x " << drawn.steps << "), policy "
      << drawn.options.policy << ", budget " << drawn.options.budget.n << ", deallocation "
      << static_cast<int>(drawn.options.deallocation) << ", restore order "
      << static_cast<int>(drawn.options.restore) << ", longest recipe "
      << drawn.options.longest_recipe;
  describe_more(drawn.options, event, out);
  out << "; event " << event << " of " << drawn.trace.events.size() << ": "
      << kEvents[static_cast<std::size_t>(at.kind)] << ' ' << at.item << '\n';
  return out.str();
}

void add(Coverage& all, const Coverage& run) {
  all.evictions += run.evictions != 0;
  all.recomputes += run.recomputes != 0;
  all.out_of_budget += run.out_of_budget;
  all.broken_off += run.broken_off;
  all.rescues += run.rescues != 0;
  all.doomed += run.doomed != 0;
  all.gave_way += run.gave_way != 0;
  all.for_reserve += run.for_reserve != 0;
  all.taken_back += run.taken_back != 0;
  all.spent += run.spent != 0;
  all.banished += run.banished != 0;
  all.collected += run.collected != 0;
  all.in_place += run.in_place != 0;
  all.half_dropped += run.half_dropped != 0;
  all.offloads += run.offloads != 0;
  all.fetches += run.fetches != 0;
  all.for_free += run.for_free != 0;
  all.homeless += run.homeless != 0;
  all.died_at_once += run.died_at_once != 0;
  all.retired += run.retired != 0;
  all.aged += run.aged != 0;
  all.writes += run.writes != 0;
}

}  // namespace

Case draw(std::uint64_t seed, Kind kind) {
  base::Rng rng{seed ^ 0xDECADE};
  Case drawn{.seed = seed, .kind = kind};
  drawn.ops = static_cast<std::uint32_t>(4 + rng.below(rng.chance(1, 16) ? 40 : 10));
  drawn.steps = static_cast<std::uint32_t>(1 + rng.below(3));
  fill(drawn);
  return drawn;
}

std::string lock_step(const Case& drawn, Coverage& coverage) {
  RealRun real{drawn.trace, drawn.options};
  NaiveManager twin{drawn.trace, naive(drawn.options)};
  for (std::size_t event = 0; event < drawn.trace.events.size() && !real.stopped(); ++event) {
    real.apply(event);
    twin.apply(before(drawn.options.disturbances, event), drawn.trace.events[event]);
    real.manager().check();
    const Snapshot ours = real.snapshot(), theirs = twin.snapshot();
    if (ours != theirs) return describe(drawn, event) + difference(ours, theirs);
    if (!real.spoiled().empty())
      return describe(drawn, event) + "  op " + std::to_string(real.spoiled().front()) +
             " read other bytes than it should\n";
  }
  add(coverage, twin.coverage());
  return {};
}

std::string compare(std::uint64_t seed, Kind kind, Coverage& coverage) {
  Case drawn = draw(seed, kind);
  std::string found = lock_step(drawn, coverage);
  if (found.empty()) return {};
  Coverage ignored;
  const std::uint32_t most_ops = drawn.ops, most_steps = drawn.steps;
  for (drawn.steps = 1; drawn.steps <= most_steps; ++drawn.steps) {
    for (drawn.ops = 1; drawn.ops <= most_ops; ++drawn.ops) {
      fill(drawn);
      const std::string shorter = lock_step(drawn, ignored);
      if (!shorter.empty()) return found.append("shrunk to:\n").append(shorter);
    }
  }
  return found;
}

}  // namespace weir::twin
