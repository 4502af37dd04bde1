#include "pages/page_costs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "pages/vm.h"

namespace weir::pages {

namespace {

constexpr std::size_t kTouched = 4 * kGranule, kMoved = kGranule;  // pages
constexpr std::int64_t kMibTouched = kTouched * kPage >> 20;
constexpr Bytes kAddresses{std::int64_t{1} << 30};

// Moved pages cost more where another processor must forget where they were.
class Company {
 public:
  Company() : thread_{[this](const std::stop_token& stop) { compute(stop); }} {}

 private:
  void compute(const std::stop_token& stop) {
    while (!stop.stop_requested()) turns_.fetch_add(1, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> turns_{0};
  std::jthread thread_;
};

// As in training, whose tensors are more than caches hold.
class Others {
 public:
  void go_through_caches() {
    ++round_;
    std::ranges::fill(bytes_, static_cast<char>(round_));
  }

 private:
  std::vector<char> bytes_ = std::vector<char>(std::size_t{96} << 20);
  int round_ = 0;
};

void write(Span span) { std::memset(span.address, 1, span.bytes()); }

template <typename Action>
Nanos time(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  return {took.count()};
}

// `sample` says what one try took; none: the system refused.
template <std::size_t kTries, typename Sample>
Nanos median(const Sample& sample) {
  std::array<Nanos, kTries> times;
  for (Nanos& one : times) one = std::max(sample(), Nanos{0});
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

// What writing takes longer the first time than the second, for each MiB.
Nanos first_touch(Vm& vm, Others& others, Vm::Come pages) {
  const Span span = vm.all().part(0, kTouched);
  const Nanos all = median<9>([&]() -> Nanos {
    if (!vm.open(span)) return {};
    vm.expect_writes(span, pages);
    others.go_through_caches();
    const Nanos first = time([&] { write(span); });
    others.go_through_caches();
    const Nanos second = time([&] { write(span); });
    return vm.close(span) ? first - second : Nanos{};
  });
  return {all.n / kMibTouched};
}

// Few pages and many, by turns: what they have in common.
Nanos move(Vm& vm, Others& others) {
  std::size_t pages = kMoved;
  return median<25>([&]() -> Nanos {
    pages = pages <= 8 ? kMoved : pages / 4;
    const Span from = vm.all().part(0, pages), to = vm.all().part(kTouched, kTouched + pages);
    if (!vm.open(from)) return {};
    write(from);
    others.go_through_caches();
    const auto [calls, pieces, took_ns] = vm.move(from, to);
    const double each_ns = took_ns / static_cast<double>(1 + pieces);
    return vm.close(from) && vm.close(to) ? Nanos{static_cast<std::int64_t>(each_ns)} : Nanos{};
  });
}

}  // namespace

PageCosts measure_page_costs() {
  SystemVm vm{kAddresses, system_remap};
  PageCosts costs;
  Others others;
  costs.touch = first_touch(vm, others, Vm::Come::Small);
  if (vm.has_huge_pages()) costs.huge_touch = first_touch(vm, others, Vm::Come::Huge);
  const Company company;
  if (vm.moves()) costs.move = move(vm, others);
  return costs;
}

}  // namespace weir::pages
