#include "tier/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/errors.h"

namespace weir::tier {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::Not;

std::string complaint(std::string_view text) {
  try {
    (void)parse_tier(text);
  } catch (const BadInput& problem) {
    return problem.what();
  }
  return "";
}

TEST(TierSpec, IsAPathAndACapacity) {
  const TierSpec spec = parse_tier("/scratch/a b:20GiB");
  EXPECT_EQ(spec.file->folder, "/scratch/a b");
  EXPECT_EQ(spec.file->capacity, 20_GiB);
}

TEST(TierSpec, LeavesOutTheCapacityOrTheFolder) {
  EXPECT_EQ(parse_tier("/scratch").file->folder, "/scratch");
  EXPECT_EQ(parse_tier("/scratch").file->capacity, std::nullopt);
  EXPECT_TRUE(parse_tier(":1MiB").file->folder.empty());
  EXPECT_EQ(parse_tier(":1MiB").file->capacity, 1_MiB);
}

TEST(TierSpec, MayBeNone) { EXPECT_FALSE(parse_tier("none").file); }

TEST(TierSpec, AllowsColonsInPaths) {
  EXPECT_EQ(parse_tier("/a:b/c").file->folder, "/a:b/c");
  EXPECT_EQ(parse_tier("/a:b/").file->folder, "/a:b/");
  EXPECT_EQ(parse_tier("/a:b:8KiB").file->folder, "/a:b");
}

TEST(TierSpec, SaysInOneLineWhatIsWrong) {
  EXPECT_THAT(complaint(""), HasSubstr("PATH:20GiB"));
  EXPECT_THAT(complaint("/a:20GB/s:x"), HasSubstr("'x' is not an amount"));
  EXPECT_THAT(complaint("/a:"), HasSubstr("not an amount"));
  EXPECT_THAT(complaint("/a:20Gb"), HasSubstr("no unit that is known"));
  EXPECT_THAT(complaint("/a:-1"), HasSubstr("not an amount"));
  EXPECT_THAT(complaint("/a:0"), HasSubstr("at least 4KiB"));
  EXPECT_THAT(complaint("/a:4095"), HasSubstr("at least 4KiB"));
  EXPECT_THAT(complaint("/a:\n\n"), Not(HasSubstr("\n")));
  EXPECT_NE(complaint({"a\0b", 3}), "");
}

}  // namespace
}  // namespace weir::tier
