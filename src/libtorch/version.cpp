// PyTorch has no stable interface for what we do: a library built for one version must not run with
// another.
#include <ATen/Version.h>
#include <torch/version.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace weir::libtorch {

namespace {

// "TORCH_VERSION=2.13.0, " among the build settings; empty: it does not say.
std::string version_of_the_process() {
  const std::string settings = at::show_config(), key = "TORCH_VERSION=";
  const std::size_t at = settings.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return settings.substr(begin, settings.find_first_of(", \n", begin) - begin);
}

// Before all other constructors of the library, which are the first to depend on the version.
[[gnu::constructor(101)]] void check_version() {
  const std::string version = version_of_the_process();
  if (version.substr(0, version.find('+')) == TORCH_VERSION) return;
  std::fprintf(stderr,
               "weir: libweir_torch.so is built for PyTorch %s, but this program uses %s; to "
               "rebuild Weir, install that version in its .venv and run: make build\n",
               TORCH_VERSION, version.empty() ? "an unknown version" : version.c_str());
  _exit(2);
}

}  // namespace

}  // namespace weir::libtorch
