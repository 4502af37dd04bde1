#include "plan_common.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "weir/errors.h"

namespace weir::app {

void check_numbers(const PlanArguments& arguments) {
  if (!(arguments.seconds > 0 && arguments.seconds <= 1e7))
    throw BadInput("--time-limit takes seconds above 0, such as 60");
  if (arguments.rounds < 1 || arguments.rounds > 8)
    throw BadInput("--rounds takes a number from 1 to 8");
  if (arguments.intervals < 1 || arguments.intervals > 100)
    throw BadInput("--intervals takes a number from 1 to 100");
  if (arguments.threads < 0 || arguments.threads > 1024)
    throw BadInput("--threads takes a number from 0 (all) to 1024");
}

plan::MethodOptions options_of(const PlanArguments& arguments, ProgressBar& bar) {
  const auto begin = std::chrono::steady_clock::now();
  const auto all = static_cast<std::size_t>(arguments.seconds + 1);
  return {.seconds = arguments.seconds,
          .threads = arguments.threads,
          .rounds = arguments.rounds,
          .intervals = arguments.intervals,
          .progress = [&bar, begin, all](Nanos, Nanos) {
            const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin;
            bar.show(std::min(all, static_cast<std::size_t>(past.count())), all);
          }};
}

const char* name(plan::Outcome outcome) {
  switch (outcome) {
    case plan::Outcome::Optimal:
      return "optimal";
    case plan::Outcome::Feasible:
      return "feasible";
    case plan::Outcome::Infeasible:
      return "infeasible";
    case plan::Outcome::Unknown:
      return "none";
  }
  return "";
}

double share(std::int64_t part, std::int64_t of) {
  return static_cast<double>(part) / std::max(1.0, static_cast<double>(of));
}

void row(const std::string& key, const std::string& value) {
  fmt::print("{:<16} {}\n", key, value);
}

}  // namespace weir::app
