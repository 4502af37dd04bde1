// Log lines per second: reading a log of DTR's, and replaying it at half its peak, beside what
// DTR's own simulator (simrd, CPython 3.11) printed for the same logs.
//
//   build/release/bench/replay_bench [FOLDER WITH THE LOGS]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "sim/replay.h"
#include "trace/info.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace {

using namespace weir;

// Thousand lines a second; the upper end where a range was printed, 0 where nothing was.
struct Simrd {
  const char* log;
  double parse, h_dtr_eq, h_dtr;
};
constexpr Simrd kSimrd[] = {
    {"resnet32-56.log", 170, 73, 11}, {"transformer-10.log", 170, 79, 4.9},
    {"treelstm-6.log", 170, 14, 0},   {"tv_densenet121-84.log", 170, 65, 1.8},
    {"unet-6.log", 170, 63, 24},
};
constexpr int kRuns = 41;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Rate {
  double median, low, high;  // lines a second
};

template <typename Work>
Rate measure(std::size_t lines, Work&& work) {
  std::vector<double> rates;
  for (int run = -3; run < kRuns; ++run) {  // three to warm up
    const double start = cpu_seconds();
    work();
    const double taken = cpu_seconds() - start;
    if (run >= 0) rates.push_back(static_cast<double>(lines) / taken);
  }
  std::ranges::sort(rates);
  return {rates[kRuns / 2], rates[kRuns / 10], rates[kRuns - 1 - kRuns / 10]};
}

void print(const char* log, const char* what, const Rate& rate, double simrd) {
  fmt::print("{:<24}{:<18}{:>8.2f}{:>8.2f}{:>8.2f}", log, what, rate.median / 1e6, rate.low / 1e6,
             rate.high / 1e6);
  if (simrd > 0)
    fmt::print("{:>11.1f}{:>8.0f}x\n", simrd, rate.median / (simrd * 1e3));
  else
    fmt::print("{:>11}\n", "-");
}

void bench_log(const std::filesystem::path& path, const Simrd& simrd) {
  std::ifstream file{path, std::ios::binary};
  const std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
  const Trace trace = trace::read_trace(bytes, simrd.log);
  print(simrd.log, "parse",
        measure(trace.lines, [&] { (void)trace::read_trace(bytes, simrd.log); }), simrd.parse);
  sim::ReplayOptions options{.budget = {trace::liveness_peak(trace).n / 2},
                             .restore = RestoreOrder::DepthFirst};
  const auto replay = [&](const char* policy) {
    return measure(trace.lines, [&] { (void)sim::replay(trace, find_policy(policy), options); });
  };
  print(simrd.log, "h_dtr_eq", replay("h_dtr_eq"), simrd.h_dtr_eq);
  print(simrd.log, "h_dtr", replay("h_dtr"), simrd.h_dtr);
  options.restore = RestoreOrder::Lean;
  print(simrd.log, "h_dtr_eq, lean", replay("h_dtr_eq"), 0);
  print(simrd.log, "indexed, lean", replay("h_dtr_eq_indexed"), 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder =
      argc > 1 ? std::filesystem::path{argv[1]} : WEIR_SOURCE_DIR "/../shared/data/dtr-logs";
  fmt::print("million lines a second of CPU time, median and 10th and 90th percentile of {} runs\n",
             kRuns);
  fmt::print("{:<24}{:<18}{:>8}{:>8}{:>8}{:>11}{:>9}\n", "log", "", "median", "p10", "p90",
             "simrd k/s", "ratio");
  for (const Simrd& simrd : kSimrd) {
    if (std::filesystem::exists(folder / simrd.log))
      bench_log(folder / simrd.log, simrd);
    else
      fmt::print("{:<24}not found in {}\n", simrd.log, folder.string());
  }
}
