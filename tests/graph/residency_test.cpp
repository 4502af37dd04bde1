#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "weir/graph.h"

namespace weir {
namespace {

constexpr Residency kAll[] = {Residency::Pending, Residency::Resident, Residency::Evicted,
                              Residency::Dead};

// The table of docs/state_machine.md.
const std::set<std::pair<Residency, Residency>> kLegal{
    {Residency::Pending, Residency::Resident},  // its first op has run
    {Residency::Pending, Residency::Dead},      // its first op was given up
    {Residency::Resident, Residency::Evicted},  // evict
    {Residency::Evicted, Residency::Resident},  // recompute
    {Residency::Resident, Residency::Dead},     // nothing can need it any more
    {Residency::Evicted, Residency::Dead},
};

// Brings a new storage to a residency by legal moves.
Storage at(Residency where) {
  Storage s;
  if (where == Residency::Pending) return s;
  s.move_to(where == Residency::Dead ? Residency::Dead : Residency::Resident);
  if (where == Residency::Evicted) s.move_to(Residency::Evicted);
  return s;
}

TEST(Residency, AllowsExactlyTheMovesOfTheTable) {
  for (Residency from : kAll)
    for (Residency to : kAll)
      EXPECT_EQ(may_become(from, to), kLegal.contains({from, to}))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
}

TEST(Residency, ChangesByEveryLegalMove) {
  for (const auto& [from, to] : kLegal) {
    Storage s = at(from);
    s.move_to(to);
    EXPECT_EQ(s.where(), to);
    EXPECT_EQ(s.resident(), to == Residency::Resident);
  }
}

TEST(ResidencyDeathTest, EndsTheProcessOnEveryOtherMove) {
  for (Residency from : kAll) {
    for (Residency to : kAll) {
      if (kLegal.contains({from, to})) continue;
      Storage s = at(from);
      EXPECT_DEATH(s.move_to(to), "internal check failed");
    }
  }
}

}  // namespace
}  // namespace weir
