#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "calibrate_command.h"
#include "model_command.h"
#include "plan_command.h"
#include "record_command.h"
#include "replay_command.h"
#include "run_command.h"
#include "smallest_command.h"
#include "sweep_command.h"
#include "trace/message.h"
#include "trace_command.h"
#include "weir/errors.h"

namespace {

constexpr int kOk = 0, kFailed = 1, kBadInput = 2;

constexpr const char* kExamples = R"(Examples:
  weir run --budget 2GiB -- python train.py
  weir record -o run.jsonl.zst -- python train.py
  weir replay traces/demo.jsonl.zst --budget 0.5x --policy h_dtr_eq
  weir sweep traces/demo.jsonl.zst --budgets 0.1:1.0:0.1 --policies all --plot
  weir smallest traces/demo.jsonl.zst --policies h_dtr_eq,lru
  weir plan traces/demo.jsonl.zst --budget 0.5x
  weir model traces/demo.jsonl.zst --cache 64KiB:16MiB --bandwidth 900GB/s --flops 19T
  weir calibrate -o machine.json --python .venv/bin/python
  weir trace info traces/demo.jsonl.zst
Exit codes: 0 ok; 1 the answer is no (out of budget, infeasible), or the machine failed; 2 bad input.)";

int complain(int code, std::string_view what) {
  const std::string line = fmt::format("weir: {}\n", weir::trace::printable(what));
  std::fputs(line.c_str(), stderr);
  return code;
}

// A file opened later must not become standard output because that was closed: everything printed
// would end up in it. Reading end only, so that printing fails, and is reported, as it should.
void occupy_closed_streams() {
  for (const int stream : {0, 1, 2})
    if (fcntl(stream, F_GETFD) == -1) (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int check_output(int code) {
  errno = 0;
  const bool flushed = std::cout.flush().good() && std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return kFailed;  // whoever read it has seen enough
  return complain(kFailed, fmt::format("cannot write to standard output ({}); what was printed is "
                                       "not complete",
                                       errno != 0 ? std::strerror(errno) : "it failed earlier"));
}

// "weir trace info --help": as far as the command line was understood.
std::string help_of(const CLI::App& app) {
  std::string help = "weir";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    help += ' ' + at->get_name();
  }
  return help + " --help";
}

bool is_subcommand(const CLI::App& app, std::string_view name) {
  return !app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; }).empty();
}

int parse(CLI::App& app, int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-' && !is_subcommand(app, argv[1]))
    return complain(kBadInput, fmt::format("{} is no subcommand; see weir --help",
                                           weir::trace::quoted(argv[1])));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return complain(kBadInput, fmt::format("{}; see {}", error.what(), help_of(app)));
  }
  return kOk;
}

// The words behind the first --, which are the program of `weir run`; CLI11 shall not see them.
weir::app::Words cut_program(int& argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name != "run" && name != "record") return {};
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* word) { return std::string_view{word} == "--"; });
  if (dashes == end) return {};
  argc = static_cast<int>(dashes - argv);
  return {dashes + 1, end};
}

int run(int argc, char** argv) {
  CLI::App app{"Weir holds training at the memory line you draw.", "weir"};
  int exit_code = kOk;
  app.set_version_flag("--version", "weir " WEIR_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  const weir::app::Words program = cut_program(argc, argv);
  weir::app::add_run_command(app, program);
  weir::app::add_record_command(app, program);
  weir::app::add_replay_command(app, exit_code);
  weir::app::add_sweep_command(app);
  weir::app::add_smallest_command(app);
  weir::app::add_plan_command(app, exit_code);
  weir::app::add_model_command(app);
  weir::app::add_calibrate_command(app);
  weir::app::add_trace_command(app);
  const int parsed = parse(app, argc, argv);
  return parsed == kOk ? exit_code : parsed;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  occupy_closed_streams();
  try {
    return check_output(run(argc, argv));
  } catch (const weir::BadInput& error) {
    return complain(kBadInput, error.what());
  } catch (const std::bad_alloc&) {
    return complain(kFailed, "out of memory; give it a smaller trace or more memory");
  } catch (const std::system_error& error) {
    return error.code().value() == EPIPE ? kFailed : complain(kFailed, error.what());
  } catch (const std::exception& error) {
    return complain(kFailed, error.what());
  }
}
