#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/errors.h"

namespace weir::base {
namespace {

using namespace weir::literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

BudgetSpec share(double of_peak) { return {PeakShare{of_peak}}; }

std::vector<BudgetSpec> shares(std::initializer_list<double> of_peak) {
  std::vector<BudgetSpec> all;
  for (const double one : of_peak) all.push_back(share(one));
  return all;
}

template <typename Parse>
std::string complaint(Parse parse, std::string_view text) {
  try {
    parse(text);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(ParseBytes, TakesAPlainNumberAsBytes) {
  EXPECT_EQ(parse_bytes("4096"), 4096_B);
  EXPECT_EQ(parse_bytes("17B"), 17_B);
  EXPECT_EQ(parse_bytes("0"), 0_B);
}

TEST(ParseBytes, TellsBinaryFromDecimalUnits) {
  EXPECT_EQ(parse_bytes("3KiB"), 3_KiB);
  EXPECT_EQ(parse_bytes("3MiB"), 3_MiB);
  EXPECT_EQ(parse_bytes("2GiB"), 2_GiB);
  EXPECT_EQ(parse_bytes("1TiB"), 1024_GiB);
  EXPECT_EQ(parse_bytes("3kB"), 3'000_B);
  EXPECT_EQ(parse_bytes("3KB"), 3'000_B);
  EXPECT_EQ(parse_bytes("1500MB"), 1'500'000'000_B);
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000_B);
  EXPECT_EQ(parse_bytes("1TB"), 1'000'000'000'000_B);
}

TEST(ParseBytes, TakesFractionsOfAUnitToTheNearestByte) {
  EXPECT_EQ(parse_bytes("1.5GiB"), 1536_MiB);
  EXPECT_EQ(parse_bytes("2.3MB"), 2'300'000_B);  // 2.3 * 1e6 is not a whole double
  EXPECT_EQ(parse_bytes(".5KiB"), 512_B);
}

TEST(ParseBytes, ReadsWhatFormatBytesWrites) {
  EXPECT_EQ(parse_bytes(format_bytes(1536_MiB)), 1536_MiB);
  EXPECT_EQ(parse_bytes(format_bytes(17_B)), 17_B);
}

TEST(ParseBytes, TakesTheLargestAmountAndNoMore) {
  EXPECT_EQ(parse_bytes("1024TiB"), kMostBytes);
  EXPECT_EQ(parse_bytes("1125899906842624"), kMostBytes);
  EXPECT_THROW(parse_bytes("1125899906842625"), BadInput);
  EXPECT_THROW(parse_bytes("1025TiB"), BadInput);
  EXPECT_THROW(parse_bytes("99999999999999999999999999"), BadInput);
  EXPECT_THROW(parse_bytes(std::string(400, '9')), BadInput);
}

TEST(ParseBytes, RejectsWhatIsNoAmount) {
  for (const char* text : {"",     " ",      "-1",       "+1",  "-2GiB", "GiB",  "2GiBs", "2gib",
                           "2 ",   "2  GiB", " 2",       "1e9", "nan",   "inf",  "0x10",  "1.5",
                           "1.5B", "1,5GiB", "1.2.3GiB", ".",   "2G",    "0.5x", "2GiB\n"}) {
    EXPECT_THROW(parse_bytes(text), BadInput) << '"' << text << '"';
  }
}

TEST(ParseBytes, SaysWhatWasGivenAndWhatIsUnderstood) {
  EXPECT_THAT(complaint(parse_bytes, "12 parsecs"),
              AllOf(HasSubstr("'12 parsecs'"), HasSubstr("1.5GiB")));
}

TEST(ParseBytes, ComplainsOnOneShortLine) {
  const std::string text = complaint(parse_bytes, "1\n2\t" + std::string(5000, 'x'));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_LT(text.size(), 200u);
}

TEST(FormatBytes, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(0_B), "0 B");
  EXPECT_EQ(format_bytes(1000_B), "1000 B");
  EXPECT_EQ(format_bytes(1_KiB), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536_MiB), "1.50 GiB");
  EXPECT_EQ(format_bytes(kMostBytes), "1024.00 TiB");
}

TEST(FormatBytes, NeverShows1024OfAUnitThatHasANext) {
  EXPECT_EQ(format_bytes(1023_B), "1023 B");
  EXPECT_EQ(format_bytes({(1 << 20) - 1}), "1.00 MiB");
  EXPECT_EQ(format_bytes({(1 << 20) - 10}), "1023.99 KiB");
}

TEST(FormatBytes, KeepsTheSignOfADifference) {
  EXPECT_EQ(format_bytes({-5}), "-5 B");
  EXPECT_EQ(format_bytes({-2048}), "-2.00 KiB");
}

TEST(FormatNanos, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(format_nanos(999_ns), "999 ns");
  EXPECT_EQ(format_nanos(1500_ns), "1.50 us");
  EXPECT_EQ(format_nanos(12'300'000_ns), "12.30 ms");
  EXPECT_EQ(format_nanos(90'000'000'000_ns), "90.00 s");
}

TEST(ParseBudget, TellsBytesFromAShareOfThePeak) {
  EXPECT_EQ(parse_budget("2GiB"), BudgetSpec{2_GiB});
  EXPECT_EQ(parse_budget("4096"), BudgetSpec{4096_B});
  EXPECT_EQ(parse_budget("0.5x"), share(0.5));
  EXPECT_EQ(parse_budget("2x"), share(2));
  EXPECT_EQ(parse_budget("1000x"), share(1000));
}

TEST(ParseBudget, RejectsWhatIsNoBudget) {
  for (const char* text : {"", "0", "0B", "0x", "0.0x", "-1x", "-1GiB", "nanx", "infx", "nan",
                           "1000.5x", "x", "0.5", "0.5xx", "0.5 x", "1e-3x", "auto", "0.1:1:0.1"}) {
    EXPECT_THROW(parse_budget(text), BadInput) << '"' << text << '"';
  }
}

TEST(ParseBudget, RemindsOfTheXWhenAShareMayHaveBeenMeant) {
  EXPECT_THAT(complaint(parse_budget, "0.5"), AllOf(HasSubstr("'0.5'"), HasSubstr("(0.5x)")));
}

TEST(BudgetSpec, ResolvesBytesToThemselves) { EXPECT_EQ(parse_budget("2GiB").resolve(5_B), 2_GiB); }

// The numbers come from Python: int(0.3 * 10), int(0.29 * 100), int(0.7 * 1234567890123).
TEST(BudgetSpec, ResolvesAShareAsPythonDoes) {
  EXPECT_EQ(parse_budget("0.5x").resolve(1001_B), 500_B);
  EXPECT_EQ(parse_budget("0.3x").resolve(10_B), 3_B);
  EXPECT_EQ(parse_budget("0.29x").resolve(100_B), 28_B);  // 28.999999999999996
  EXPECT_EQ(parse_budget("0.7x").resolve(1'234'567'890'123_B), 864'197'523'086_B);
  EXPECT_EQ(parse_budget("1x").resolve(kMostBytes), kMostBytes);
  EXPECT_EQ(parse_budget("1000x").resolve(kMostBytes), Bytes{1000 * kMostBytes.n});
}

TEST(BudgetSpec, RefusesAShareThatComesToLessThanAByte) {
  EXPECT_EQ(parse_budget("0.5x").resolve(2_B), 1_B);
  EXPECT_THROW((void)parse_budget("0.5x").resolve(1_B), BadInput);
  EXPECT_THROW((void)parse_budget("0.5x").resolve(0_B), BadInput);
  EXPECT_THROW((void)parse_budget("1000x").resolve({INT64_MAX}), BadInput);
}

TEST(ParseBudgetList, TakesOneBudget) {
  EXPECT_EQ(parse_budget_list("2GiB"), std::vector{BudgetSpec{2_GiB}});
  EXPECT_EQ(parse_budget_list("0.5x"), shares({0.5}));
}

TEST(ParseBudgetList, TakesBudgetsBetweenCommasInTheirOrder) {
  EXPECT_EQ(parse_budget_list("0.5x,2GiB,100"),
            (std::vector{share(0.5), BudgetSpec{2_GiB}, BudgetSpec{100_B}}));
}

TEST(ParseBudgetList, TakesARangeWithBothEnds) {
  EXPECT_EQ(parse_budget_list("0.1:0.5:0.1"), shares({0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(parse_budget_list("0.2:1.0:0.1"),
            shares({0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}));
  EXPECT_EQ(parse_budget_list("0.1x:0.3x:0.1x"), shares({0.1, 0.2, 0.3}));
  EXPECT_EQ(parse_budget_list("0.5:0.5:0.1"), shares({0.5}));
}

TEST(ParseBudgetList, EndsARangeBeforeTheStepThatWouldPassItsEnd) {
  EXPECT_EQ(parse_budget_list("0.1:0.55:0.2"), shares({0.1, 0.3, 0.5}));
}

TEST(ParseBudgetList, HitsTheWrittenDecimalsExactly) {
  const std::vector<BudgetSpec> all = parse_budget_list("0.001:10:0.001");
  ASSERT_EQ(all.size(), 10'000u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string written = format_budget(all[i]);
    ASSERT_EQ(all[i], parse_budget(written));
    ASSERT_LE(written.size(), std::string_view{"9.999x"}.size()) << written;
  }
}

TEST(ParseBudgetList, MixesRangesAndBudgets) {
  EXPECT_EQ(parse_budget_list("0.1:0.2:0.1,1KiB"),
            (std::vector{share(0.1), share(0.2), BudgetSpec{1_KiB}}));
}

TEST(ParseBudgetList, LimitsTheLengthOfTheWholeList) {
  EXPECT_EQ(parse_budget_list("0.001:100:0.001").size(), 100'000u);
  EXPECT_THROW(parse_budget_list("0.001:100.001:0.001"), BadInput);
  EXPECT_THROW(parse_budget_list("0.001:100:0.001,0.1:0.1:1"), BadInput);
  EXPECT_THROW(parse_budget_list("0.1:0.10000001:0.000000000000001"), BadInput);
}

TEST(ParseBudgetList, RejectsWhatIsNoList) {
  for (const char* text : {"", ",", "0.5x,", ",0.5x", "0.1:1.0", "0.1:1.0:0.1:0.1", "::", "0:1:0.1",
                           "0.1:1.0:0", "1.0:0.1:0.1", "0.1:1.0:-0.1", "0.1:nan:0.1", "0.1:inf:0.1",
                           "0.1:2000:1", "1GiB:4GiB:1GiB", "0.1:1.0:0.1x ", "all"}) {
    EXPECT_THROW(parse_budget_list(text), BadInput) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace weir::base
