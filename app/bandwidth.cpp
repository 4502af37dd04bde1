#include "bandwidth.h"

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/units.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kLeastMemory{std::int64_t{128} << 20}, kMostMemory{std::int64_t{1} << 30};
constexpr Bytes kUnknownCache{std::int64_t{1} << 20};
constexpr double kLongEnough = 10e6;  // nanoseconds of one timing
constexpr int kTimings = 5;

std::string line_of(const fs::path& path) {
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  return line;
}

// "0-3,8": how many there are.
unsigned count_in(const std::string& list) {
  unsigned count = 0;
  for (std::size_t at = 0; at < list.size();) {
    std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string part = list.substr(at, comma - at);
    const std::size_t dash = part.find('-');
    const unsigned first = static_cast<unsigned>(std::stoul(part));
    const unsigned last = dash == std::string::npos
                              ? first
                              : static_cast<unsigned>(std::stoul(part.substr(dash + 1)));
    count += last - first + 1;
    at = comma + 1;
  }
  return std::max(count, 1u);
}

double thread_nanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void sweep(std::vector<double>& numbers) {
  for (double& number : numbers) number = number * 0.5 + 1.0;
  asm volatile("" : : "r"(numbers.data()) : "memory");  // each sweep is wanted
}

double time_sweeps(std::vector<double>& numbers, std::size_t sweeps) {
  const double begin = thread_nanos();
  for (std::size_t i = 0; i < sweeps; ++i) sweep(numbers);
  return thread_nanos() - begin;
}

// Of one thread: the median of some timings, in bytes for each nanosecond.
double own_bandwidth(std::size_t count) {
  std::vector<double> numbers(std::max<std::size_t>(count, 8), 1.0);
  std::size_t sweeps = 1;
  while (time_sweeps(numbers, sweeps) < kLongEnough) sweeps *= 2;
  std::vector<double> timings(kTimings);
  for (double& timing : timings) timing = time_sweeps(numbers, sweeps);
  std::ranges::nth_element(timings, timings.begin() + kTimings / 2);
  const auto bytes = static_cast<double>(2 * sizeof(double) * numbers.size() * sweeps);
  return bytes / std::max(timings[kTimings / 2], 1.0);
}

}  // namespace

std::vector<Bytes> cache_capacities(unsigned threads) {
  const fs::path folder = "/sys/devices/system/cpu/cpu0/cache";
  std::map<int, Bytes> levels;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string type = line_of(entry.path() / "type"), size = line_of(entry.path() / "size");
    if ((type != "Data" && type != "Unified") || !size.ends_with('K')) continue;
    try {
      const unsigned sharing = count_in(line_of(entry.path() / "shared_cpu_list"));
      const std::int64_t caches = (threads + sharing - 1) / sharing;
      levels[std::stoi(line_of(entry.path() / "level"))] = {std::stoll(size) * 1024 * caches};
    } catch (const std::logic_error&) {  // not as it should be: as if it were not there
    }
  }
  std::vector<Bytes> capacities;
  for (const auto& [level, capacity] : levels)
    if (capacity > Bytes{0} && (capacities.empty() || capacity > capacities.back()))
      capacities.push_back(capacity);
  return capacities;
}

double swept_bandwidth(Bytes size, unsigned threads) {
  const std::size_t count = static_cast<std::size_t>(size.n) / sizeof(double) / threads;
  std::vector<double> rates(threads);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([&rates, i, count] { rates[i] = own_bandwidth(count); });
  rates[0] = own_bandwidth(count);
  for (std::thread& other : others) other.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

void measure_memory(cost::Machine& machine, unsigned threads,
                    const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<Bytes> capacities = cache_capacities(threads);
  const std::size_t all = capacities.size() + 1;
  const Bytes largest = capacities.empty() ? kUnknownCache : capacities.back();
  progress(0, all);
  machine.bytes_per_nano =
      swept_bandwidth(std::clamp(Bytes{4 * largest.n}, kLeastMemory, kMostMemory), threads);
  machine.caches.clear();
  for (const Bytes capacity : capacities) {
    progress(machine.caches.size() + 1, all);
    machine.caches.push_back({capacity, swept_bandwidth({capacity.n / 2}, threads)});
  }
  double behind = machine.bytes_per_nano;
  for (auto cache = machine.caches.rbegin(); cache != machine.caches.rend(); ++cache)
    behind = cache->bytes_per_nano = std::max(cache->bytes_per_nano, behind);
}

}  // namespace weir::app
