// A project of somebody else's that finds Weir with CMake.
#include <gmock/gmock.h>

#include <fstream>

#include "shell/shell.h"

namespace weir::libtorch::test {

using weir::test::Folder;
using weir::test::Outcome;
using weir::test::shell;
namespace {

using testing::HasSubstr;

const std::string kCmake = WEIR_CMAKE;

class Package : public testing::Test {
 protected:
  Outcome configure(const std::string& weir, const std::string& torch) {
    return shell(
        kCmake + " -S " WEIR_CONSUMER " -B " + (folder_ / "build") +
        " -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=" WEIR_CONSUMER_FLAGS " -DWeir_DIR=" + weir +
        " -DTorch_DIR=" + torch);
  }
  void expect_it_works(const std::string& weir) {
    const Outcome configured = configure(weir, WEIR_TORCH_DIR "/share/cmake/Torch");
    ASSERT_EQ(configured.code, 0) << configured.out << configured.err;
    const Outcome built = shell(kCmake + " --build " + (folder_ / "build"));
    ASSERT_EQ(built.code, 0) << built.out << built.err;
    const Outcome run = shell(folder_ / "build/consumer");
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, "held\n");
  }

  Folder folder_;
};

TEST_F(Package, IsFoundInTheBuildTree) { expect_it_works(WEIR_BUILD); }

TEST_F(Package, IsFoundWhereItWasInstalled) {
  const Outcome installed =
      shell(kCmake + " --install " WEIR_BUILD " --prefix " + (folder_ / "prefix"));
  ASSERT_EQ(installed.code, 0) << installed.err;
  expect_it_works(folder_ / "prefix/lib/cmake/Weir");
}

TEST_F(Package, RefusesAnotherPyTorch) {
  std::filesystem::create_directory(folder_ / "torch");
  std::ofstream{folder_ / "torch/TorchConfig.cmake"};
  std::ofstream{folder_ / "torch/TorchConfigVersion.cmake"}
      << "set(PACKAGE_VERSION 2.12.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n";
  const Outcome run = configure(WEIR_BUILD, folder_ / "torch");
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("Weir is built for PyTorch 2.13.0"));
  EXPECT_THAT(run.err, HasSubstr("in its .venv and run: make"));
}

}  // namespace
}  // namespace weir::libtorch::test
