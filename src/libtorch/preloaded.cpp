// The runtime in a program that was not written for it: what libweir_preload.so calls.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "libtorch/faults.h"
#include "libtorch/key.h"
#include "libtorch/report.h"
#include "libtorch/start.h"
#include "libtorch/step_finder.h"
#include "trace/sink.h"
#include "weir/errors.h"
#include "weir/torch.h"

namespace weir::libtorch {

namespace {

// What is to be told at the end, and to whom.
struct Report {
  std::string json_file, trace_file;
  bool budget = true, quiet = false;
  pid_t process = getpid();
};
const Report* report = nullptr;

void write_whole(const std::string& path, const std::string& text) {
  namespace fs = std::filesystem;
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    std::ofstream{path, std::ios::app} << text;
    return;
  }
  trace::FileSink file{path};
  file.write(text);
  file.finish();
}

void tell() {
  Runtime& runtime = Runtime::get();
  if (StepFinder::get().end()) runtime.step();
  runtime.save_plans();
  try {
    runtime.recorder().finish();
  } catch (const BadInput& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
  }
  Stats stats = runtime.stats();
  if (!report->budget) stats.budget = {};
  if (!report->json_file.empty()) write_whole(report->json_file, json_of(stats) + "\n");
  if (!report->quiet) std::fputs(table_of("weir", stats).c_str(), stderr);
}

// Once, and not in a forked child.
void tell_at_end() {
  static std::atomic<bool> told{false};
  if (getpid() != report->process || told.exchange(true)) return;
  try {
    tell();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
  }
}

std::terminate_handler terminate_before = nullptr;

[[noreturn]] void terminate() {
  tell_at_end();
  terminate_before();
  std::abort();
}

Report read_report(const nlohmann::json& options) {
  Report read;
  read.json_file = options.value("json", "");
  read.trace_file = options.value("record", "");
  read.quiet = options.value("quiet", false);
  read.budget = options.contains("budget") || options.contains("fraction");
  return read;
}

void begin_preloaded(const char* text) {
  report = new Report{read_report(nlohmann::json::parse(text))};
  RunOptions options = read_options(text);
  if (!report->budget) {  // only recording: all fits
    options.budget = {kMostBytes.n / 2};
    options.tier = "none";
  }
  begin(options);
  if (!report->trace_file.empty()) Runtime::get().recorder().start(report->trace_file);
  StepFinder::get().turn_on();
  std::atexit(tell_at_end);
  terminate_before = std::set_terminate(terminate);
}

}  // namespace

}  // namespace weir::libtorch

// Before main(), on its thread. False: the reason was said.
extern "C" WEIR_EXPORT bool weir_preload_begin(const char* options,
                                               weir::libtorch::SetHandler set_handler) {
  try {
    weir::libtorch::use_to_set_handlers(set_handler);
    weir::libtorch::begin_preloaded(options);
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
    return false;
  }
}

extern "C" WEIR_EXPORT void weir_preload_thread() { weir::libtorch::interpose(true); }

extern "C" WEIR_EXPORT void weir_preload_handler(const struct sigaction* wanted,
                                                 struct sigaction* before) {
  weir::libtorch::chain_behind(wanted, before);
}
