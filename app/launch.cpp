#include "launch.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kPreload = "libweir_preload.so";

[[noreturn]] void become(const fs::path& executable, Words words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // ignored here, and an exec would keep that
  execv(executable.c_str(), arguments.data());
  const int error = errno;
  std::signal(SIGPIPE, SIG_IGN);
  throw BadInput(fmt::format("{} cannot be started: {}", trace::quoted(executable.native()),
                             std::strerror(error)));
}

// By the path of the package's own file: no variable of the environment is needed to find it, so
// none has to be hidden from what the program starts.
[[noreturn]] void launch_python(const PythonCall& call, const Job& job) {
  const fs::path package = fs::path{WEIR_SOURCE_DIR} / "python/weir/__main__.py";
  if (std::error_code ignored; !fs::exists(package, ignored))
    throw BadInput(fmt::format("{} is missing; build weir again where it is", package.native()));
  if (call.program.empty())
    throw BadInput("Python is given no program; give -- python SCRIPT, -m MODULE or -c CODE");
  Words words{call.interpreter};
  words.insert(words.end(), call.options.begin(), call.options.end());
  words.push_back(package);
  words.insert(words.end(), job.words.begin(), job.words.end());
  words.emplace_back("--");
  words.insert(words.end(), call.program.begin(), call.program.end());
  become(call.interpreter, std::move(words));
}

fs::path find_preload() {
  Words folders;
  if (const char* library = std::getenv("WEIR_LIBRARY"))
    folders.push_back(fs::path(library).parent_path());
  folders.push_back(fs::path{WEIR_SOURCE_DIR} / "build/lib");
  std::error_code ignored;
  for (const std::string& folder : folders)
    if (fs::path path = fs::path(folder) / kPreload; fs::exists(path, ignored)) return path;
  throw BadInput(fmt::format("{} is not built; run make build in {}", kPreload, WEIR_SOURCE_DIR));
}

// "out.json" must be writable before hours of training, not after.
void check_writable(const Json& job, const char* key) {
  if (!job.contains(key)) return;
  const std::string path = job[key];
  std::error_code ignored;
  const bool there = fs::exists(path, ignored);
  std::FILE* file = fs::is_directory(path, ignored) ? nullptr : std::fopen(path.c_str(), "a");
  if (file == nullptr)
    throw BadInput(fmt::format("{} cannot be written; give another file", trace::quoted(path)));
  std::fclose(file);
  if (!there) fs::remove(path, ignored);
}

[[noreturn]] void launch_binary(const fs::path& executable, const Words& words, const Job& job) {
  const Json told = job.json();
  check_writable(told, "json");
  check_writable(told, "record");
  const char* const before = std::getenv("LD_PRELOAD");
  std::string preload = fs::absolute(find_preload());
  if (before != nullptr && *before != '\0') preload += fmt::format(":{}", before);
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv("WEIR_OPTIONS", told.dump(-1, ' ', false, Json::error_handler_t::replace).c_str(), 1);
  become(executable, words);
}

}  // namespace

void launch(const Words& program, const Job& job) {
  if (program.empty())
    throw BadInput("the program to run is missing; give it after --, as in -- python train.py");
  const fs::path executable = find_executable(program.front());
  if (const auto call = python_call(executable, program)) launch_python(*call, job);
  launch_binary(executable, program, job);
}

}  // namespace weir::app
