#include "plan/fast.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "plan/answer.h"
#include "plan/relaxation.h"
#include "plan/search.h"

namespace weir::plan {
namespace {

constexpr Taste kTastes[] = {{0, 0, 0.5},  {0, 0, 0},   {1, 0, 0.5},  {1, 1, 0},
                             {0, 1, 0.25}, {0.5, 1, 0}, {1, 0, 0.25}, {0, 30, 0}};
constexpr double kLinkPrices[] = {0.1, 0.3, 0, 1};  // of the time that copies take
constexpr std::int64_t kMoreForTheFirst = 3;        // times the work, until a schedule fits
constexpr Taste kTastesOfRelaxed[] = {{0, 0, 0.5}, {0.5, 1, 0}, {1, 0, 0.25}};
constexpr int kRelaxations = 3;
constexpr std::int64_t kForRelaxed = 16;  // as much again as one in so many parts of the work
constexpr std::int64_t kLeastForRelaxed = 60'000;  // of work, for each op
constexpr std::uint32_t kMostShaken = 2, kMostShakenWithRelaxed = 4;
constexpr int kMostInVain = 1000;

class Portfolio {
 public:
  Portfolio(const Problem& problem, Bytes budget, std::int64_t work, Going going)
      : problem_{problem}, budget_{budget}, work_{work}, going_{going} {}

  // One that fits, to begin with.
  void add(const Stays& stays) {
    found_.push_back({std::make_unique<Search>(stays, budget_, 0, going_), kTastes[0]});
  }

  std::optional<Stays> best() && {
    fit();
    if (found_.empty()) return std::nullopt;
    relax();
    improve();
    shake();
    return std::move(least().search->stays());
  }

 private:
  struct Found {
    std::unique_ptr<Search> search;
    Taste taste;

    [[nodiscard]] Nanos cost() const { return search->stays().cost(); }
  };

  void fit() {
    const Stays all{problem_};
    const std::int64_t half = work_ / 2;
    std::int64_t more = kMoreForTheFirst * work_;
    std::size_t tried = 0;
    for (Taste taste : kTastes) {
      taste.link = kLinkPrices[tried++ % std::size(kLinkPrices)];
      if (found_.empty() ? work_ + more <= 0 : work_ < half) return;
      auto search =
          std::make_unique<Search>(all, budget_, found_.empty() ? work_ + more : work_, going_);
      const bool fits = search->fit(taste);
      work_ = search->work_left() - (found_.empty() ? more : 0);
      if (fits) found_.push_back({std::move(search), taste});
    }
  }

  // What a relaxation has away goes first. The next one has the costs that are right around what
  // came of the one before.
  void relax() {
    const auto least_work = kLeastForRelaxed * static_cast<std::int64_t>(problem_.ops.size());
    if (going_ == Going::OrCopied || work_ < least_work) return;
    const std::int64_t share = work_ / (kForRelaxed * kRelaxations * std::ssize(kTastesOfRelaxed));
    most_shaken_ = kMostShakenWithRelaxed;
    Relaxation relaxation{problem_, budget_};
    for (int i = 0; i < kRelaxations; ++i) {
      const Nanos most = least().cost() - cost_without_budget(problem_);
      if (most == Nanos{} || !begin_with(relaxation.solve(most), share)) return;
      relaxation.price(found_.back().search->stays());
    }
  }

  // The best that becomes of it, by several tastes; false if nothing fits.
  bool begin_with(const Stays& stays, std::int64_t work) {
    Found best{nullptr, {}};
    for (const Taste& taste : kTastesOfRelaxed) {
      auto search = std::make_unique<Search>(stays, budget_, work, going_);
      if (!search->fit(taste)) continue;
      search->improve(taste);
      if (!best.search || search->stays().cost() < best.cost()) best = {std::move(search), taste};
    }
    if (!best.search) return false;
    found_.push_back(std::move(best));
    return true;
  }

  // A quarter of the work, half of which is for the one that begins best, and so on.
  void improve() {
    std::ranges::sort(found_, {}, &Found::cost);
    std::int64_t left = work_ / 4;
    work_ -= left;
    for (const Found& each : found_) {
      each.search->allow(left / 2);
      each.search->improve(each.taste);
      left -= left / 2 - each.search->work_left();
    }
    work_ += left;
  }

  // The best ones, then the better half of them, down to the best; equal work for each number.
  void shake() {
    const std::int64_t part = work_ / std::bit_width(most_shaken_);
    for (std::size_t most = most_shaken_; most > 1; most /= 2) {
      std::ranges::sort(found_, {}, &Found::cost);
      const std::size_t count = std::min(most, found_.size());
      const std::int64_t share = part / static_cast<std::int64_t>(count);
      for (std::size_t i = 0; i < count; ++i) {
        shake(found_[i], share);
        work_ -= share - found_[i].search->work_left();
      }
    }
    shake(least(), work_);
  }

  void shake(const Found& found, std::int64_t work) {
    found.search->allow(work);
    for (int in_vain = 0; in_vain < kMostInVain && found.search->work_left() > 0; ++in_vain) {
      if (found.cost() == cost_without_budget(problem_)) return;
      Taste taste = found_[rng_.below(found_.size())].taste;
      taste.noise = 0.25 * static_cast<double>(rng_.below(5));
      if (going_ == Going::OrCopied) taste.link = kLinkPrices[rng_.below(std::size(kLinkPrices))];
      if (found.search->shake(taste)) in_vain = 0;
    }
  }

  [[nodiscard]] const Found& least() const {
    return *std::ranges::min_element(found_, {}, &Found::cost);
  }

  const Problem& problem_;
  Bytes budget_;
  std::int64_t work_;
  Going going_;
  std::vector<Found> found_;
  std::uint32_t most_shaken_ = kMostShaken;
  base::Rng rng_{7};
};

bool can_copy(const Problem& problem) {
  if (!problem.tier || problem.tier->capacity <= Bytes{}) return false;
  const auto& [write, read] = problem.tier->link;
  return write.bytes_per_nano > 0 && read.bytes_per_nano > 0;
}

// All that is held stays on the device.
Bytes floor_without_tier(const Problem& problem) {
  Problem without = problem;
  without.tier.reset();
  return floor_of(without).budget;
}

}  // namespace

std::optional<Stays> plan_fast(const Problem& problem, Bytes budget, const FastOptions& options) {
  std::optional<Stays> plain;
  const bool copies = can_copy(problem);
  if (!copies || floor_without_tier(problem) <= budget)
    plain = Portfolio{problem, budget, options.work, Going::MadeAgain}.best();
  if (!copies || (plain && plain->cost() == cost_without_budget(problem))) return plain;
  Portfolio portfolio{problem, budget, plain ? options.work / 2 : options.work, Going::OrCopied};
  if (plain) portfolio.add(*plain);
  return std::move(portfolio).best();
}

const Plan* Frontier::plan(Bytes budget) {
  if (std::optional<Stays> stays = plan_fast(*problem_, budget, options_))
    plans_.push_back(stays->plan(budget));
  const Plan* best = nullptr;
  for (Plan& plan : plans_)
    if (plan.peak <= budget && (!best || plan.cost < best->cost)) best = &plan;
  return best;
}

}  // namespace weir::plan
