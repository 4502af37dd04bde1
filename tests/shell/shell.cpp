#include "shell/shell.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace weir::test {

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "weir-test-XXXXXX";
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

Outcome shell(const std::string& script) {
  const Folder folder;
  std::ofstream{folder / "script"} << script;
  const std::string line = "bash " + (folder / "script") + " >" + (folder / "out") + " 2>" +
                           (folder / "err") + " </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          content_of(folder / "out"), content_of(folder / "err")};
}

}  // namespace weir::test
