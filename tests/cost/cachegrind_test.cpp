// The model against cachegrind, on a program that sweeps memory as a step does. Skips where there
// is no valgrind.
#include <gtest/gtest.h>

#include <sstream>

#include "cost/nets.h"
#include "cost/reuse.h"
#include "shell/shell.h"

namespace weir::cost::test {
namespace {

using ::weir::test::Folder;
using ::weir::test::shell;

// Bytes that a cache fetches which, as cachegrind's, fetches what is written as well.
double fetched(const Step& step, const Reuse& reuse, double capacity) {
  double sum = 0;
  std::vector<bool> seen(step.items.size(), false);
  for (const Access& access : step.accesses)
    if (!seen[access.item]) {
      seen[access.item] = true;
      sum += static_cast<double>(step.items[access.item].bytes.n);
    }
  for (const Gap& gap : reuse.gaps)
    sum += static_cast<double>(step.items[gap.item].bytes.n) * (1 - gap.hits(capacity));
  return sum;
}

// Read and write misses of the last level.
double misses_in(const std::string& output) {
  std::istringstream in{output};
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t at = line.find("LLd misses:");
    if (at == std::string::npos) continue;
    std::string digits;
    for (const char c : line.substr(at + 11, line.find('(') - at - 11))
      if (c >= '0' && c <= '9') digits += c;
    return std::stod(digits);
  }
  ADD_FAILURE() << output;
  return 0;
}

TEST(Cachegrind, SeesWhatTheModelSays) {
  if (shell("command -v valgrind").code != 0) GTEST_SKIP() << "valgrind is not installed";
  const Step step = resnet50(1, 1).step;
  const Reuse reuse = reuse_of(step, Blocks{step});
  const Folder folder;
  for (const int kibibytes : {256, 1024, 4096, 16384}) {
    const std::string size = std::to_string(kibibytes * 1024);
    const auto run = shell(
        "valgrind --tool=cachegrind --cache-sim=yes --D1=1024,2,64 --I1=32768,8,64 --LL=" + size +
        ",16,64 --cachegrind-out-file=" + (folder / "out") + " " WEIR_SWEEPER);
    ASSERT_EQ(run.code, 0) << run.err;
    const double exact = 64 * misses_in(run.err);
    const double model = fetched(step, reuse, kibibytes * 1024.0);
    std::cout << kibibytes << " KiB: cachegrind " << exact / 1e6 << " MB, model " << model / 1e6
              << " MB, " << 100 * (model / exact - 1) << " %\n";
    EXPECT_NEAR(model, exact, 0.01 * exact) << kibibytes << " KiB";
  }
}

}  // namespace
}  // namespace weir::cost::test
