// Put before PyTorch's own, it makes a program believe that it runs with another version.
#include <string>

namespace at {

std::string show_config();
std::string show_config() { return "Build settings: TORCH_VERSION=2.12.1, USE_CUDA=0, "; }

}  // namespace at
