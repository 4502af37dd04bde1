#include "app/command.h"

#include <sys/wait.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace weir::app::test {

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "weir-app-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

Outcome bash(const std::string& script) {
  const Folder folder;
  std::ofstream{folder / "script"} << "cd '" WEIR_SOURCE_DIR "'; W='" WEIR_COMMAND "'\n" << script;
  const std::string line = "bash " + (folder / "script") + " >" + (folder / "out") + " 2>" +
                           (folder / "err") + " </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          content_of(folder / "out"), content_of(folder / "err")};
}

Outcome weir(const std::string& arguments) { return bash("exec \"$W\" " + arguments); }

nlohmann::json json_from(const std::string& arguments) {
  const Outcome run = weir(arguments);
  EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
  EXPECT_EQ(run.err, "");
  return nlohmann::json::parse(run.out);
}

}  // namespace weir::app::test
