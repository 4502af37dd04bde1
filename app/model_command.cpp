#include "model_command.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "machine_file.h"
#include "model.h"
#include "model_ops.h"
#include "model_output.h"
#include "output.h"
#include "plot.h"
#include "trace/reader.h"
#include "trace/sink.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

struct Arguments {
  std::filesystem::path trace;
  std::optional<std::string> machine, cache, bandwidth, flops, time;
  std::string csv;
  std::optional<std::uint32_t> step;
  bool json = false, plot = false, no_tiles = false;
  ModelOptions options = {};
};

constexpr const char* kCaches = "1MiB:4GiB";
constexpr const char* kBandwidth = "900GB/s";
constexpr const char* kFlops = "19T";

ModelOptions options_in(const Arguments& arguments) {
  if (arguments.json && arguments.csv == "-")
    throw BadInput("--json and --csv - both want standard output; give --csv a file");
  if (arguments.plot && (arguments.json || arguments.csv == "-"))
    throw BadInput("--plot would mix with what is printed for programs; leave it out");
  ModelOptions options = arguments.options;
  if (options.cpu_kernels && (arguments.no_tiles || !options.sub_batch.empty()))
    throw BadInput("--cpu-kernels is about whole batches with tiles; leave the other option out");
  const bool given = arguments.machine.has_value();
  if (given) options.machine = read_machine(*arguments.machine);
  if (arguments.flops || !given)
    options.machine.flops_per_nano = flops_in("--flops", arguments.flops.value_or(kFlops));
  if (arguments.bandwidth || !given)
    options.bandwidths = bandwidths_in(arguments.bandwidth.value_or(kBandwidth));
  else
    options.bandwidths = {options.machine.bytes_per_nano};
  if (arguments.cache || options.machine.caches.empty())
    options.capacities = capacities_in(arguments.cache.value_or(kCaches));
  if (options.per_op && (options.capacities.size() > 1 || options.bandwidths.size() > 1))
    throw BadInput("--per-op is for one cache and one bandwidth; give e.g. --cache 64MiB");
  if (arguments.time) options.time = nanos_in("--time", *arguments.time);
  options.step = arguments.step;
  options.tiles = !arguments.no_tiles;
  return options;
}

void run(const Arguments& arguments) {
  const ModelOptions options = options_in(arguments);
  const Trace trace = trace::read_trace(arguments.trace);
  std::optional<trace::FileSink> csv;  // a bad name is refused before the work, not after it
  if (!arguments.csv.empty() && arguments.csv != "-") csv.emplace(arguments.csv);
  const Model model = model_of(trace, options);
  if (csv) {
    csv->write(csv_of(model));
    csv->finish();
  }
  if (arguments.json) return print_json(json_of(model, options));
  if (arguments.csv == "-") return fmt::print("{}", csv_of(model));
  print_table(model, options);
  if (options.per_op) print_ops(model, options);
  if (arguments.plot) plot_model(json_of(model, options));
}

void add_what_ifs(CLI::App* command, Arguments& arguments) {
  ModelOptions& options = arguments.options;
  command->add_option("--sub-batch", options.sub_batch,
                      "Run so many samples at a time, or the best number for the smallest cache");
  command->add_flag("--alternate", options.alternate, "Every other sweep runs backwards");
  command->add_flag("--fuse", options.fuse, "Elementwise ops run inside of the op before them");
  command->add_flag("--optimum", options.optimum,
                    "Also the best that software could do with the cache (slower)");
  command->add_flag("--no-tiles", arguments.no_tiles,
                    "Products and convolutions read their operands once, whatever the cache");
  command->add_flag("--cpu-kernels", options.cpu_kernels,
                    "Copies and blocks as PyTorch's kernels for CPUs have them, not the best ones");
}

}  // namespace

void add_model_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "model", "What cache capacity and bandwidth cost a training step: traffic and time");
  command->add_option("TRACE", arguments->trace, "Weir trace, DTR log or Checkmate graph")
      ->required();
  command->add_option("--cache", arguments->cache,
                      "Capacities between commas; 1MiB:4GiB doubles (the default)");
  command->add_option("--bandwidth", arguments->bandwidth,
                      "Of memory, as --cache; 900GB/s if no machine says otherwise");
  command->add_option("--flops", arguments->flops,
                      "Operations a second; 19T if no machine says otherwise");
  command->add_option("--machine", arguments->machine, "A machine file: docs/cost_model.md");
  command->add_option("--step", arguments->step, "Which step, from 1; the last whole one");
  command->add_option("--time", arguments->time, "Also the bandwidth that reaches this time");
  command
      ->add_option("--look-ahead", arguments->options.look_ahead,
                   "Ops whose operands may be on their way")
      ->capture_default_str();
  command->add_flag("--per-op", arguments->options.per_op,
                    "Also every op: FLOPs, bytes, time, stall and what bounds it; one --cache");
  add_what_ifs(command, *arguments);
  command->add_option("--csv", arguments->csv, "Also write every point to this file; - is stdout");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->add_flag("--plot", arguments->plot, "Also draw traffic by capacity on the terminal");
  command->footer(
      "Traffic is that of an LRU cache of lines; beside it LRU by whole tensors, and what is\n"
      "saved by how far the reuse spans. * is a point that no smaller or slower one matches.\n"
      "Example: weir model step.trace --cache 1MiB:4GiB --bandwidth 900GB/s --flops 19T");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace weir::app
