#include "trace_ops.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cost/machine.h"
#include "cost/op_work.h"
#include "output.h"
#include "trace/message.h"
#include "trace/reader.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::filesystem::path trace;
  std::int64_t step = -1;
  bool json = false;
};

struct Total {
  std::size_t calls = 0, unknown = 0;
  cost::Kernel kernel = cost::Kernel::Other;
  std::int64_t flops = 0, read = 0, written = 0;
};

struct Row {
  std::string name;
  Phase phase;
  Total total;
};

void add(Total& total, const cost::OpWork& work) {
  ++total.calls;
  if (!work.known) ++total.unknown;
  total.kernel = work.kernel;
  total.flops += work.flops;
  for (const cost::Touch& touch : work.touches)
    (touch.write ? total.written : total.read) += touch.bytes.n * touch.passes;
}

// By name and phase, most bytes first. `step` counts from 1; -1: all of them.
std::vector<Row> rows_of(const Trace& trace, std::int64_t step) {
  std::map<std::pair<std::uint32_t, Phase>, Total> totals;
  std::int64_t now = 1;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == EventKind::Step) ++now;
    if (event.kind != EventKind::Op || (step != -1 && step != now)) continue;
    const TraceOp& op = trace.ops[event.item];
    add(totals[{op.name, op.phase}], cost::work_of(trace, op));
  }
  std::vector<Row> rows;
  for (const auto& [key, total] : totals)
    rows.push_back({trace.names[key.first], key.second, total});
  std::ranges::stable_sort(rows, std::greater{}, [](const Row& row) {
    return std::tuple{row.total.read + row.total.written, row.total.flops};
  });
  return rows;
}

Json json_of(const std::vector<Row>& rows, const Trace& trace) {
  Json ops = Json::array();
  Total all;
  for (const Row& row : rows) {
    const Total& total = row.total;
    ops.push_back({{"name", row.name},
                   {"phase", cost::name(row.phase)},
                   {"kernel", cost::name(total.kernel)},
                   {"calls", total.calls},
                   {"unknown", total.unknown},
                   {"flops", total.flops},
                   {"read_bytes", total.read},
                   {"write_bytes", total.written}});
    all.calls += total.calls, all.unknown += total.unknown, all.flops += total.flops;
    all.read += total.read, all.written += total.written;
  }
  return {{"file", trace.source}, {"calls", all.calls},     {"unknown", all.unknown},
          {"flops", all.flops},   {"read_bytes", all.read}, {"write_bytes", all.written},
          {"ops", std::move(ops)}};
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("{:<60}{:<11}{:<13}{:>8}{:>16}{:>12}{:>12}\n", "op", "phase", "kernel", "calls",
             "flops", "read", "written");
  for (const Row& row : rows)
    fmt::print("{:<60}{:<11}{:<13}{:>8}{:>16}{:>12}{:>12}{}\n", trace::printable(row.name),
               cost::name(row.phase), cost::name(row.total.kernel), row.total.calls,
               row.total.flops, base::format_bytes({row.total.read}),
               base::format_bytes({row.total.written}),
               row.total.unknown > 0 ? "  not known: bytes only" : "");
}

void run(const Arguments& arguments) {
  const Trace trace = trace::read_trace(arguments.trace);
  const std::vector<Row> rows = rows_of(trace, arguments.step);
  if (arguments.json) return print_json(json_of(rows, trace));
  print_table(rows);
}

}  // namespace

void add_trace_ops(CLI::App& trace_command) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      trace_command.add_subcommand("ops", "Show what the ops of a trace compute and touch");
  command->add_option("TRACE", arguments->trace, "Weir trace, DTR log or Checkmate graph")
      ->required();
  command->add_option("--step", arguments->step, "Only this step, counted from 1");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer("Example: weir trace ops run.jsonl.zst --step 2");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace weir::app
