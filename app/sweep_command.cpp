#include "sweep_command.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "output.h"
#include "plot.h"
#include "progress.h"
#include "sweep_output.h"
#include "trace/sink.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

struct Arguments {
  std::vector<std::filesystem::path> traces;
  std::string budgets = "0.1:1.0:0.1", policies = "all";
  std::string restore = "lean", deallocation = "eager";
  std::string limit = "2.0", trials = "10", jobs = "all", csv;
  bool json = false, plot = false;
};

sim::SweepOptions options_in(const Arguments& arguments) {
  if (arguments.json && arguments.csv == "-")
    throw BadInput("--json and --csv - both want standard output; give --csv a file");
  if (arguments.plot && (arguments.json || arguments.csv == "-"))
    throw BadInput("--plot would mix with what is printed for programs; leave it out");
  sim::SweepOptions options;
  options.budgets = budgets_in(arguments.budgets);
  options.policies = policies_in(arguments.policies);
  options.deallocations = deallocations(arguments.deallocation);
  options.restores = restore_orders(arguments.restore);
  options.trials = trials_in(arguments.trials);
  options.limit = limit_in(arguments.limit);
  options.jobs = jobs_in(arguments.jobs);
  return options;
}

void print(const Swept& swept, const Arguments& arguments) {
  if (arguments.json) return print_json(json_of(swept));
  if (arguments.csv == "-") return fmt::print("{}", csv_of(swept));
  print_tables(swept);
  print_holes(swept);
  if (arguments.plot) plot_sweep(json_of(swept));
}

void run(const Arguments& arguments) {
  const sim::SweepOptions options = options_in(arguments);
  const std::vector<Trace> traces = read_all(arguments.traces);
  std::optional<trace::FileSink> csv;  // a bad name is refused before the work, not after it
  if (!arguments.csv.empty() && arguments.csv != "-") csv.emplace(arguments.csv);
  ProgressBar bar{"sweep"};
  const auto progress = [&](std::size_t done, std::size_t all) { bar.show(done, all); };
  const Swept swept{traces, labels_of(traces), options, sim::sweep(traces, options, progress)};
  bar.wipe();
  if (csv) {
    csv->write(csv_of(swept));
    csv->finish();
  }
  print(swept, arguments);
}

}  // namespace

void add_sweep_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("sweep", "Run traces over many budgets and policies: one table each");
  const auto option = [&](const char* option_name, auto& value, const char* help) {
    return command->add_option(option_name, value, help)->capture_default_str();
  };
  command->add_option("TRACE", arguments->traces, "Weir traces, DTR logs or Checkmate graphs")
      ->required();
  option("--budgets", arguments->budgets, "Between commas: 2GiB, 0.5x, first:last:step of shares");
  option("--policies", arguments->policies, "Names between commas, or all; see weir replay --help");
  option("--restore", arguments->restore, "lean, depth_first or both between commas");
  option("--deallocation", arguments->deallocation, "eager, ignore, banish or several");
  option("--trials", arguments->trials, "Runs of a policy that draws, with seeds 0, 1, ...");
  option("--limit", arguments->limit, "Stop a run beyond this slowdown, or none");
  option("--jobs", arguments->jobs, "Runs at the same time, or all: one per processor");
  command->add_option("--csv", arguments->csv, "Also write every run to this file; - is stdout");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->add_flag("--plot", arguments->plot, "Also draw slowdown by budget on the terminal");
  command->footer(
      "A cell is the slowdown, O (out of budget), T (thrash: beyond the limit) or, for a policy\n"
      "that draws, mixK/N (K of N trials finish). A hole is a budget that fails although a\n"
      "smaller one works.\n"
      "Example: weir sweep a.log b.log --budgets 0.1:1.0:0.05 --policies h_dtr_eq,lru --plot");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace weir::app
