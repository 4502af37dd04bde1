#include "trace_command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "trace/generate.h"
#include "trace/info.h"
#include "trace/message.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "trace_ops.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::filesystem::path in, out;
  bool json = false, zstd = false, repair = false;
  std::size_t names = 10;

  std::string kind;
  std::uint64_t seed = 0;
  std::uint32_t length = 100, depth = 6, layers = 8, width = 8, steps = 2, ops = 8;
};

struct Generator {
  const char* name;
  Trace (*make)(const Arguments&);
  const char* help;
};

constexpr Generator kGenerators[] = {
    {"chain", [](const Arguments& a) { return trace::linear_chain(a.length); },
     "a chain of --length layers and its backward pass, all of cost and size 1"},
    {"tree", [](const Arguments& a) { return trace::binary_tree(a.depth); },
     "a full binary tree of --depth and its backward pass, all of cost and size 1"},
    {"layers", [](const Arguments& a) { return trace::layered_dag(a.layers, a.width, a.seed); },
     "--layers by --width nodes with random links, costs and sizes, and the backward pass"},
    {"training",
     [](const Arguments& a) {
       return trace::training_step(a.seed, {.steps = a.steps, .ops = a.ops});
     },
     "--steps of random training with views and in-place ops, --ops forward in each"},
    {"log", [](const Arguments& a) { return trace::random_log_trace(a.seed, {.ops = a.ops}); },
     "a random program of --ops under DTR's rules"},
};

std::string generator_help() {
  std::string help = "What to make:\n";
  for (const Generator& generator : kGenerators)
    help += fmt::format("  {:<10}{}\n", generator.name, generator.help);
  return help;
}

Json json_of(const trace::Info& info, const Trace& trace, std::size_t names) {
  Json by_time = Json::array();
  for (std::size_t i = 0; i < std::min(names, info.by_time.size()); ++i) {
    const trace::NameTotal& total = info.by_time[i];
    by_time.push_back({{"name", total.name}, {"calls", total.calls}, {"cost_ns", total.cost.n}});
  }
  return {{"file", trace.source},
          {"lines", trace.lines},
          {"views_are", trace.views == ViewRule::Keep ? "keep" : "rerun"},
          {"events", info.events},
          {"ops", info.ops},
          {"tensors", info.tensors},
          {"storages", info.storages},
          {"constants", info.constants},
          {"views", info.views},
          {"mutations", info.mutations},
          {"keeps", info.keeps},
          {"steps", info.steps},
          {"base_cost_ns", info.base_cost.n},
          {"liveness_peak_bytes", info.liveness_peak.n},
          {"constant_bytes", info.constant_bytes.n},
          {"largest_op_bytes", info.largest_op.n},
          {"bottleneck_bytes", info.bottleneck.n},
          {"by_time", std::move(by_time)}};
}

std::string share_of(Nanos part, Nanos all) {
  if (all == Nanos{0}) return "";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part.n) / static_cast<double>(all.n));
}

void print_table(const trace::Info& info, const Trace& trace, std::size_t names) {
  auto row = [](std::string_view what, const std::string& value) {
    fmt::print("{:<16}{}\n", what, value);
  };
  auto sized = [&](std::string_view what, Bytes bytes) {
    row(what, fmt::format("{} ({} B)", base::format_bytes(bytes), bytes.n));
  };
  row("trace", trace::printable(trace.source));
  row("views", trace.views == ViewRule::Keep ? "stay valid when evicted" : "are re-run (DTR)");
  row("events", fmt::format("{} ({} ops, {} keeps, {} steps)", info.events, info.ops, info.keeps,
                            info.steps));
  row("tensors",
      fmt::format("{} ({} constants, {} views)", info.tensors, info.constants, info.views));
  row("storages", fmt::format("{}", info.storages));
  row("in-place ops", fmt::format("{}", info.mutations));
  row("base cost", fmt::format("{} ({} ns)", base::format_nanos(info.base_cost), info.base_cost.n));
  sized("liveness peak", info.liveness_peak);
  sized("constants", info.constant_bytes);
  sized("largest op", info.largest_op);
  sized("bottleneck", info.bottleneck);
  if (info.by_time.empty() || names == 0) return;
  fmt::print("\n{:>9} {:>12} {:>8}  {}\n", "calls", "time", "share", "op");
  for (std::size_t i = 0; i < std::min(names, info.by_time.size()); ++i) {
    const trace::NameTotal& total = info.by_time[i];
    fmt::print("{:>9} {:>12} {:>8}  {}\n", total.calls, base::format_nanos(total.cost),
               share_of(total.cost, info.base_cost), trace::printable(total.name));
  }
}

void print_json(const Json& object) {
  std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void run_info(const Arguments& arguments) {
  Trace trace = trace::read_trace(arguments.in);
  trace::Info info = trace::info_of(trace);
  if (arguments.json) return print_json(json_of(info, trace, arguments.names));
  print_table(info, trace, arguments.names);
}

void run_validate(const Arguments& arguments) {
  std::size_t events = trace::read_trace(arguments.in).events.size();
  if (arguments.json)
    return print_json({{"file", arguments.in.native()}, {"ok", true}, {"events", events}});
  fmt::print("{}: ok, {} events\n", trace::printable(arguments.in.native()), events);
}

void write_and_report(const Trace& trace, const Arguments& arguments, const std::string& missing) {
  bool zstd = arguments.zstd || arguments.out.extension() == ".zst";
  trace::write_trace(trace, arguments.out,
                     zstd ? trace::Compression::Zstd : trace::Compression::None);
  std::size_t events = trace.events.size();
  if (arguments.json)
    return print_json({{"file", arguments.out.native()}, {"events", events}, {"missing", missing}});
  if (!missing.empty()) fmt::print("left out what follows this: {}\n", missing);
  fmt::print("{}: {} events\n", trace::printable(arguments.out.native()), events);
}

void run_convert(const Arguments& arguments) {
  if (!arguments.repair) return write_and_report(trace::read_trace(arguments.in), arguments, "");
  trace::Readable readable = trace::read_what_is_readable(arguments.in);
  write_and_report(readable.trace, arguments, readable.error);
}

void run_generate(const Arguments& arguments) {
  const Generator* generator = std::ranges::find_if(
      kGenerators, [&](const Generator& g) { return arguments.kind == g.name; });
  if (generator == std::end(kGenerators))
    throw BadInput(
        fmt::format("'{}' cannot be generated; see `weir trace generate --help`", arguments.kind));
  write_and_report(generator->make(arguments), arguments, "");
}

using Shared = std::shared_ptr<Arguments>;

CLI::App* add_action(CLI::App& parent, const Shared& arguments, const char* name, const char* help,
                     void (*run)(const Arguments&), const std::string& footer) {
  CLI::App* action = parent.add_subcommand(name, help);
  action->footer(footer);
  action->add_flag("--json", arguments->json, "One JSON object on stdout");
  action->callback([arguments, run] { run(*arguments); });
  return action;
}

void add_info_and_validate(CLI::App& parent) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* info = add_action(parent, arguments, "info", "Show what is in a trace", run_info,
                              "Example: weir trace info step.trace");
  info->add_option("TRACE", arguments->in, "Weir trace, DTR log or Checkmate graph")->required();
  info->add_option("--names", arguments->names, "How many op names to show")->capture_default_str();

  CLI::App* validate = add_action(parent, arguments, "validate", "Read a whole trace and check it",
                                  run_validate, "Example: weir trace validate step.trace");
  validate->add_option("TRACE", arguments->in, "Weir trace, DTR log or Checkmate graph")
      ->required();
}

void add_convert(CLI::App& parent) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* convert =
      add_action(parent, arguments, "convert", "Write a trace in Weir's own format", run_convert,
                 "Example: weir trace convert resnet32.log resnet32.trace.zst");
  convert->add_option("IN", arguments->in, "Weir trace, DTR log or Checkmate graph")->required();
  convert->add_option("OUT", arguments->out, "The file to write; replaced when complete")
      ->required();
  convert->add_flag("--zstd", arguments->zstd, "Compress (also if OUT ends in .zst)");
  convert->add_flag("--repair", arguments->repair,
                    "Of a Weir trace that is cut off or damaged, write the readable part");
}

void add_generate(CLI::App& parent) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* generate = add_action(
      parent, arguments, "generate", "Make up a trace", run_generate,
      generator_help() + "Example: weir trace generate training --seed 7 --steps 3 -o made.trace");
  auto number = [&](const char* name, auto& value, const char* help) {
    generate->add_option(name, value, help)->capture_default_str();
  };
  generate->add_option("KIND", arguments->kind, "What to make; see below")->required();
  generate->add_option("-o,--output", arguments->out, "The file to write")->required();
  generate->add_flag("--zstd", arguments->zstd, "Compress (also if the file ends in .zst)");
  number("--seed", arguments->seed, "Same seed, same trace");
  number("--length", arguments->length, "Layers of a chain");
  number("--depth", arguments->depth, "Depth of a tree");
  number("--layers", arguments->layers, "Layers of nodes");
  number("--width", arguments->width, "Nodes in a layer");
  number("--steps", arguments->steps, "Training steps");
  number("--ops", arguments->ops, "Ops of a log, or forward ops of a training step");
}

}  // namespace

void add_trace_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("trace", "Look at, check, convert and make traces");
  command->require_subcommand(1);
  command->footer("Example: weir trace info step.trace");
  add_info_and_validate(*command);
  add_trace_ops(*command);
  add_convert(*command);
  add_generate(*command);
}

}  // namespace weir::app
