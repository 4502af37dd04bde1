#include "run_command.h"

#include <memory>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "launch.h"
#include "trace/message.h"
#include "weir/errors.h"
#include "weir/registry.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string budget, peak, trace, policy, smallest, tier, plans, addresses, compile, json, record;
  bool no_recompute = false, checksum = false, quiet = false;
};

constexpr const char* kExamples = R"(Examples:
  weir run --budget 2GiB -- python train.py --epochs 3
  weir run --budget 0.5x --peak 3GiB --tier /scratch:20GiB -- python -m mypackage.train
  weir run --budget 8GiB --json run.json -- torchrun --nproc-per-node 2 train.py
  weir run --budget 0.5x --trace run.jsonl.zst -- python train.py
  weir run --budget 2GiB -- ./train          a C++ program that uses libtorch
The exit code is the program's own. With torchrun, each worker gets its share of the budget.
A trace (weir record) tells what a budget will cost before you train: weir sweep TRACE.)";

void check(const Arguments& arguments) {
  if (arguments.budget != "auto") (void)base::parse_budget(arguments.budget);
  if (!arguments.peak.empty()) (void)base::parse_bytes(arguments.peak);
  if (!arguments.smallest.empty()) (void)base::parse_bytes(arguments.smallest);
  if (!arguments.policy.empty()) (void)find_policy(arguments.policy);
  const std::string& addresses = arguments.addresses;
  if (!addresses.empty() && addresses != "auto" && addresses != "move" && addresses != "keep")
    throw BadInput(
        fmt::format("--addresses cannot be {}; give auto, move or keep", trace::quoted(addresses)));
  if (!arguments.compile.empty() && arguments.compile != "leave" && arguments.compile != "eager")
    throw BadInput(fmt::format("--compile cannot be {}; give leave or eager",
                               trace::quoted(arguments.compile)));
}

Words words_of(const Arguments& arguments) {
  Words words{"run"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", option, value));
  };
  add("--budget", arguments.budget);
  add("--peak", arguments.peak);
  add("--trace", arguments.trace);
  add("--policy", arguments.policy);
  add("--smallest", arguments.smallest);
  add("--tier", arguments.tier);
  add("--plans", arguments.plans);
  add("--addresses", arguments.addresses);
  add("--compile", arguments.compile);
  add("--json", arguments.json);
  add("--record", arguments.record);
  if (arguments.no_recompute) words.emplace_back("--no-recompute");
  if (arguments.checksum) words.emplace_back("--checksum");
  if (arguments.quiet) words.emplace_back("--quiet");
  return words;
}

Json json_of(const Arguments& arguments) {
  if (arguments.budget == "auto")
    throw BadInput("--budget auto is understood for Python programs only; give bytes or a share");
  Json json = {{"budget", 0},
               {"fraction", 0.0},
               {"recompute", !arguments.no_recompute},
               {"tier", arguments.tier},
               {"checksum", arguments.checksum},
               {"quiet", arguments.quiet}};
  const base::BudgetSpec budget = base::parse_budget(arguments.budget);
  if (const Bytes* bytes = std::get_if<Bytes>(&budget.amount))
    json["budget"] = bytes->n;
  else
    json["fraction"] = std::get<base::PeakShare>(budget.amount).of_peak;
  if (!arguments.trace.empty()) json["trace"] = arguments.trace;
  if (!arguments.plans.empty()) json["plans"] = arguments.plans;
  if (!arguments.addresses.empty()) json["addresses"] = arguments.addresses;
  if (!arguments.peak.empty()) json["peak"] = base::parse_bytes(arguments.peak).n;
  if (!arguments.smallest.empty()) json["smallest"] = base::parse_bytes(arguments.smallest).n;
  if (!arguments.policy.empty()) json["policy"] = arguments.policy;
  if (!arguments.json.empty()) json["json"] = arguments.json;
  if (!arguments.record.empty()) json["record"] = arguments.record;
  return json;
}

}  // namespace

Words program_of(const CLI::App& command, const Words& behind_dashes) {
  Words before = command.remaining();
  if (!before.empty() && before.front().starts_with('-'))
    throw BadInput(fmt::format("{} is no option of weir {}; see weir {} --help",
                               trace::quoted(before.front()), command.get_name(),
                               command.get_name()));
  if (behind_dashes.empty()) return before;
  if (before.empty()) return behind_dashes;
  before.emplace_back("--");  // the program has begun before them, so they are its own
  before.insert(before.end(), behind_dashes.begin(), behind_dashes.end());
  return before;
}

void add_run_command(CLI::App& app, const Words& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("run", "Run a training program inside a budget")->prefix_command();
  const auto option = [&](const char* name, std::string& value, const char* help) {
    return command->add_option(name, value, help);
  };
  option("--budget", arguments->budget, "2GiB, 1500MB, 0.5x of the program's peak, or auto")
      ->required();
  option("--peak", arguments->peak, "What it needs without a budget, if that is known");
  option("--trace", arguments->trace,
         "A trace of the same program: tells its peak, and what it needs");
  option("--policy", arguments->policy, "Who chooses what goes (planned); see weir replay --help");
  option("--smallest", arguments->smallest, "Tensors below this size stay");
  option("--tier", arguments->tier, "FOLDER[:SIZE] for offloading, or none");
  option("--plans", arguments->plans,
         "File of plans: read if it is there, written at the end for the next run");
  option("--addresses", arguments->addresses,
         "May tensors come back at other addresses: move, keep, or auto (unless a library is there "
         "that may remember them)");
  option("--compile", arguments->compile, "leave, or eager: run torch.compile's code uncompiled");
  option("--json", arguments->json, "File for the figures, written at the end");
  option("--record", arguments->record, "File for a trace");
  command->add_flag("--no-recompute", arguments->no_recompute, "Offload only");
  command->add_flag("--checksum", arguments->checksum, "Compare what is recomputed");
  command->add_flag("--quiet", arguments->quiet, "No table and no status line");
  command->footer(kExamples);
  command->callback([arguments, command, &program] {
    const Words words = program_of(*command, program);
    check(*arguments);
    launch(words, {words_of(*arguments), [=] { return json_of(*arguments); }});
  });
}

}  // namespace weir::app
