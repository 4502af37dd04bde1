// The fast planner beside the online policies (lean restore) and the proven bounds: slowdown at
// budgets of 0.2 to 0.9 of the peak, and CPU seconds per plan.
//
//   build/release/bench/plan_bench [--without-policies] [TRACE]...
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "plan/fast.h"
#include "plan/verify.h"
#include "sim/replay.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace {

using namespace weir;

constexpr std::string_view kPolicies[] = {"h_dtr", "h_dtr_eq", "h_dtr_local", "msps",
                                          "lru",   "size",     "foresight"};
constexpr int kTenths[] = {9, 8, 7, 6, 5, 4, 3, 2};

constexpr const char* kBundled[] = {
    "checkmate-graphs/vgg16-256.json",     "checkmate-graphs/unet-32.json",
    "checkmate-graphs/mobilenet-512.json", "dtr-logs/resnet32-56.log",
    "dtr-logs/transformer-10.log",         "dtr-logs/treelstm-6.log",
    "dtr-logs/tv_densenet121-84.log",      "dtr-logs/unet-6.log"};

// Slowdowns that no schedule is below (docs/planner.md); all but the last are reached.
struct Bound {
  std::string_view file;
  int tenths;
  double slowdown;
};
constexpr Bound kBounds[] = {
    {"vgg16-256.json", 9, 1.0197},     {"unet-32.json", 9, 1.0113},
    {"unet-32.json", 8, 1.0198},       {"unet-32.json", 7, 1.0297},
    {"unet-32.json", 6, 1.0445},       {"unet-32.json", 5, 1.0697},
    {"unet-32.json", 4, 1.1311},       {"mobilenet-512.json", 5, 1.0163},
    {"mobilenet-512.json", 2, 1.0752},
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Online {
  double slowdown = 0;  // 0: none finished
  std::string_view policy;
};

Online best_policy(const Trace& trace, Bytes budget) {
  Online best;
  for (const std::string_view policy : kPolicies) {
    const sim::ReplayResult result = sim::replay(trace, find_policy(policy), {.budget = budget});
    if (result.status != sim::Status::Ok) continue;
    if (best.slowdown == 0 || result.slowdown() < best.slowdown) best = {result.slowdown(), policy};
  }
  return best;
}

void print_bound(const std::filesystem::path& path, int tenths) {
  const auto found = std::ranges::find_if(kBounds, [&](const Bound& bound) {
    return bound.file == path.filename().string() && bound.tenths == tenths;
  });
  if (found == std::end(kBounds))
    fmt::print("{:>9}", "");
  else
    fmt::print("{:>9.4f}", found->slowdown);
}

void bench_budget(const std::filesystem::path& path, const Trace& trace,
                  const plan::Problem& problem, int tenths, bool policies) {
  const Bytes budget{problem.peak.n * tenths / 10};
  if (budget < plan::floor_of(problem).budget) return;
  const double begin = cpu_seconds();
  const std::optional<plan::Stays> stays = plan::plan_fast(problem, budget);
  const double taken = cpu_seconds() - begin;
  fmt::print("{:<24}{:>6}{:>5.1f}", path.filename().string(), problem.ops.size(), 0.1 * tenths);
  if (stays) {
    const plan::Plan found = stays->plan(budget);
    const plan::Verdict verdict = plan::verify(problem, found.schedule);
    fmt::print("{:>9.4f}{}", found.slowdown(problem),
               verdict.violation ? " WRONG: " + *verdict.violation : "");
  } else {
    fmt::print("{:>9}", "-");
  }
  print_bound(path, tenths);
  const Online online = policies ? best_policy(trace, budget) : Online{};
  if (online.slowdown > 0)
    fmt::print("{:>9.4f} {:<12}", online.slowdown, online.policy);
  else
    fmt::print("{:>9} {:<12}", "-", "");
  fmt::print("{:>8.3f}\n", taken);
  std::fflush(stdout);
}

void bench_trace(const std::filesystem::path& path, bool policies) {
  if (!std::filesystem::exists(path)) {
    fmt::print("{} is not there\n", path.string());
    return;
  }
  const Trace trace = trace::read_trace(path);
  const plan::Problem problem = plan::problem_of(trace);
  for (int tenths : kTenths) bench_budget(path, trace, problem, tenths, policies);
}

}  // namespace

int main(int argc, char** argv) {
  bool policies = true;
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view{argv[i]} == "--without-policies")
      policies = false;
    else
      paths.emplace_back(argv[i]);
  }
  if (paths.empty())
    for (const char* file : kBundled)
      paths.push_back(std::filesystem::path{WEIR_SOURCE_DIR "/../shared/data"} / file);
  fmt::print("{:<24}{:>6}{:>5}{:>9}{:>9}{:>9} {:<12}{:>8}\n", "trace", "ops", "of", "fast", "bound",
             "online", "by", "seconds");
  for (const std::filesystem::path& path : paths) bench_trace(path, policies);
}
