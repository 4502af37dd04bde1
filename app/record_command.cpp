#include "record_command.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "launch.h"
#include "run_command.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string trace, json;
  bool quiet = false, meta = false;
};

Job job_of(const Arguments& arguments) {
  Words words{"record", "-o", arguments.trace};
  if (!arguments.json.empty()) words.push_back("--json=" + arguments.json);
  if (arguments.quiet) words.emplace_back("--quiet");
  if (arguments.meta) words.emplace_back("--meta");
  return {words, [arguments] {
            if (arguments.meta)
              throw BadInput("--meta is for Python programs; give -- python SCRIPT");
            Json json = {{"record", arguments.trace}, {"quiet", arguments.quiet}};
            if (!arguments.json.empty()) json["json"] = arguments.json;
            return json;
          }};
}

}  // namespace

void add_record_command(CLI::App& app, const Words& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("record", "Write a trace of what a training program does")
                          ->prefix_command();
  command->add_option("-o", arguments->trace, "File for the trace")->required();
  command->add_option("--json", arguments->json, "File for the figures, written at the end");
  command->add_flag("--quiet", arguments->quiet, "No table and no status line");
  command->add_flag("--meta", arguments->meta,
                    "No data and no computing: tensors have shapes only, and ops no costs");
  command->footer(
      "The exit code is the program's own. No budget is held.\n"
      "Example: weir record -o run.jsonl.zst -- python train.py --steps 5");
  command->callback([arguments, command, &program] {
    launch(program_of(*command, program), job_of(*arguments));
  });
}

}  // namespace weir::app
