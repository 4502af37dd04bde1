#include "libtorch/programs.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace weir::libtorch::test {

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "weir_test_XXXXXX";
  path_ = mkdtemp(name.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

Outcome shell(const std::string& line) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  const std::string whole = "( " + line + " ) >'" + out + "' 2>'" + err + "'";
  const int status = std::system(whole.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, content_of(out), content_of(err)};
}

}  // namespace weir::libtorch::test
