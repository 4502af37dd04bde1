#include "calibrate_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bandwidth.h"
#include "base/units.h"
#include "calibrate.h"
#include "machine_file.h"
#include "output.h"
#include "program.h"
#include "progress.h"
#include "trace/message.h"
#include "trace/reader.h"
#include "trace/sink.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kTrace = "timed.trace";
constexpr const char* kFigures = "figures.json";
constexpr int kNoTorch = 3;  // as _calibrate.py ends if it finds none
constexpr unsigned kMostThreads = 1024;

struct Arguments {
  std::string file = "machine.json", python = "python3", name;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool json = false, quiet = false, no_torch = false;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "weir_calibrate_XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "cannot make a folder for timings");
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  fs::path path;
};

// The exit code of a program that was waited for; 128 and the signal if one ended it.
int run_program(const fs::path& executable, Words words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          posix_spawn(&child, executable.c_str(), nullptr, nullptr, arguments.data(), environ);
      error != 0)
    throw BadInput(fmt::format("{} cannot be started: {}", trace::quoted(executable.native()),
                               std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// By its path, without the package: PyTorch's ops are to run as they do without Weir.
std::string time_torch(const Arguments& arguments, cost::Machine& machine) {
  const fs::path python = find_executable(arguments.python);
  const fs::path script = fs::path{WEIR_SOURCE_DIR} / "python/weir/_calibrate.py";
  const TemporaryFolder folder;
  Words words{python,
              script,
              folder.path / kTrace,
              folder.path / kFigures,
              "--threads",
              std::to_string(arguments.threads)};
  if (!machine.caches.empty()) {
    words.emplace_back("--largest-cache");
    words.push_back(std::to_string(machine.caches.back().capacity.n));
  }
  if (arguments.quiet) words.emplace_back("--quiet");
  const int code = run_program(python, words);
  if (code == kNoTorch)
    throw BadInput(fmt::format("{} has no torch; give --python one that has, or --no-torch",
                               trace::quoted(arguments.python)));
  if (code != 0) throw std::runtime_error(fmt::format("timing PyTorch's ops ended with {}", code));
  add_rates(machine, trace::read_trace(folder.path / kTrace));
  return add_figures(machine, folder.path / kFigures);
}

void print_table(const cost::Machine& machine, const std::vector<std::string>& missing,
                 const std::string& file) {
  for (const cost::CacheLevel& cache : machine.caches)
    fmt::print("cache {:>12} {:>10.1f} GB/s\n", base::format_bytes(cache.capacity),
               cache.bytes_per_nano);
  fmt::print("memory {:>22.1f} GB/s\n", machine.bytes_per_nano);
  for (std::size_t i = 0; i < cost::kKernels; ++i)
    if (const double rate = machine.kernel_flops_per_nano[i]; rate > 0)
      fmt::print("{:<14} {:>14.2f} GFLOP/s\n", cost::name(static_cast<cost::Kernel>(i)), rate);
  if (!missing.empty()) fmt::print("not measured: {}\n", fmt::join(missing, ", "));
  fmt::print("written to {}\n", trace::printable(file));
}

void run(const Arguments& arguments) {
  if (arguments.threads < 1 || arguments.threads > kMostThreads)
    throw BadInput(fmt::format("--threads cannot be {}; give a whole number from 1 to {}",
                               arguments.threads, kMostThreads));
  trace::FileSink file{arguments.file};  // a bad name is refused before the work, not after it
  cost::Machine machine;
  machine.name = arguments.name;
  machine.flops_per_nano = 1;
  Json about = {{"threads", arguments.threads}};
  ProgressBar bar{"calibrating memory"};
  measure_memory(machine, arguments.threads, [&](std::size_t done, std::size_t all) {
    if (!arguments.quiet) bar.show(done, all);
  });
  bar.wipe();
  if (!arguments.no_torch) about["torch"] = time_torch(arguments, machine);
  const std::vector<std::string> missing = not_measured(machine);
  about["not_measured"] = missing;
  Json json = json_of(machine);
  json["about"] = std::move(about);
  file.write(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  file.finish();
  if (arguments.json) return print_json(json);
  if (!arguments.quiet) print_table(machine, missing, arguments.file);
}

}  // namespace

void add_calibrate_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure this machine and write a machine file for weir model");
  command->add_option("-o", arguments->file, "File to write")->capture_default_str();
  command->add_option("--threads", arguments->threads, "As many as the program will use")
      ->capture_default_str();
  command->add_option("--python", arguments->python, "A Python that has torch")
      ->capture_default_str();
  command->add_option("--name", arguments->name, "For people");
  command->add_flag("--no-torch", arguments->no_torch, "Caches and memory only");
  command->add_flag("--json", arguments->json, "What was written, also on stdout");
  command->add_flag("--quiet", arguments->quiet, "No table and no progress");
  command->footer(
      "Takes less than a minute on a machine that does nothing else. Rates are those of PyTorch's\n"
      "own ops, without Weir.\n"
      "Example: weir calibrate -o machine.json --threads 2 --python .venv/bin/python\n"
      "         weir model step.trace --machine machine.json");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace weir::app
