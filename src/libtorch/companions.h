#pragma once

#include <string>

namespace weir::libtorch {

// The libraries in this process that use PyTorch's C++ interface and are neither PyTorch's nor
// ours: extensions, or the program itself. They may remember addresses of tensors without telling
// anybody.
class Companions {
 public:
  // The name of one, as the system has it; empty: there is none. Looks only if a library was loaded
  // since it last did; once there is one, it stays.
  const std::string& find();

 private:
  unsigned long long loaded_ = 0;  // how often libraries were, when they were last looked at
  std::string found_;
};

}  // namespace weir::libtorch
