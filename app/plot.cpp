#include "plot.h"

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

bool draw(const std::string& command, const std::string& input) {
  std::fflush(stdout);  // the plotter writes to the same place, below what is there
  std::FILE* pipe = popen(command.c_str(), "w");
  if (pipe == nullptr) return false;
  const bool written = std::fwrite(input.data(), 1, input.size(), pipe) == input.size();
  return pclose(pipe) == 0 && written;
}

void draw_with(const char* name, const Json& data) {
  const std::filesystem::path root{WEIR_SOURCE_DIR};
  const auto python = root / ".venv/bin/python", script = root / "scripts" / name;
  const std::string command = shell_quoted(python) + ' ' + shell_quoted(script);
  std::error_code ignored;
  if (std::filesystem::exists(python, ignored) && std::filesystem::exists(script, ignored) &&
      draw(command, data.dump(-1, ' ', false, Json::error_handler_t::replace)))
    return;
  const std::string line =
      fmt::format("weir: no curve: it is drawn by the Python tools; run {} once to get them\n",
                  (root / "scripts/setup.sh").native());
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void plot_sweep(const Json& sweep) { draw_with("plot_sweep.py", sweep); }

void plot_model(const Json& model) { draw_with("plot_model.py", model); }

}  // namespace weir::app
