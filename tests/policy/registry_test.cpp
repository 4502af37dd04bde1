#include "weir/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "weir/errors.h"

namespace weir {
namespace {

TEST(Registry, HasOnePolicyForEachName) {
  std::set<std::string_view> names;
  for (const PolicyEntry& entry : policies())
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  EXPECT_GE(names.size(), 8u);
}

TEST(Registry, SaysAboutEachPolicyWhatItDoes) {
  for (const PolicyEntry& entry : policies()) {
    EXPECT_FALSE(entry.name.empty());
    EXPECT_FALSE(entry.about.empty()) << entry.name;
    EXPECT_EQ(entry.about.find('\n'), std::string_view::npos) << entry.name;
    EXPECT_NE(entry.make, nullptr) << entry.name;
  }
}

TEST(Registry, FindsEachPolicyByItsName) {
  for (const PolicyEntry& entry : policies()) EXPECT_EQ(&find_policy(entry.name), &entry);
}

TEST(Registry, NamesThePoliciesThereAreWhenAskedForAnother) {
  try {
    (void)find_policy("h_dtrr");
    FAIL() << "there is no such policy";
  } catch (const BadInput& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'h_dtrr'"), std::string::npos) << text;
    for (const PolicyEntry& entry : policies())
      EXPECT_NE(text.find(entry.name), std::string::npos) << entry.name;
  }
}

TEST(Registry, TakesNamesLiterally) {
  EXPECT_THROW((void)find_policy(""), BadInput);
  EXPECT_THROW((void)find_policy("LRU"), BadInput);
  EXPECT_THROW((void)find_policy("lru "), BadInput);
}

}  // namespace
}  // namespace weir
