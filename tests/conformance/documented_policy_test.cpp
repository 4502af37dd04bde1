// The policy that docs/adding_a_policy.md walks through, compiled from the page.
#include <gtest/gtest.h>

#include "sim/replay.h"
#include "trace/generate.h"

namespace weir::policy {
std::unique_ptr<Policy> make_newest(const PolicyInputs&);
}

namespace weir {
namespace {

TEST(TheDocumentedPolicy, ReplaysATrace) {
  const PolicyEntry newest{"newest", policy::make_newest, "whatever was used last"};
  const auto result = sim::replay(trace::linear_chain(30), newest, {.budget = {20}, .limit = {}});
  EXPECT_EQ(result.status, sim::Status::Ok);
  EXPECT_GT(result.counters.scored, 0u);
}

}  // namespace
}  // namespace weir
