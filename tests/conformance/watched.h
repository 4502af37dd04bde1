#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "policy/wrapper.h"

namespace weir::conformance {

// Looks at every choice of the policy within, and has it told of everything as it happens.
class Watched final : public policy::Wrapper {
 public:
  static constexpr Changes kAll = UINT8_MAX;

  explicit Watched(std::unique_ptr<Policy> policy) : Wrapper{std::move(policy), kAll} {}

  static std::unique_ptr<Policy> wrap(std::unique_ptr<Policy> policy) {
    return std::make_unique<Watched>(std::move(policy));
  }

  std::optional<Choice> choose(const View& view, Bytes need) override {
    const std::optional<Choice> choice = Wrapper::choose(view, need);
    EXPECT_EQ(choice.has_value(), view.candidates != 0);
    if (!choice) return choice;
    EXPECT_NE(std::ranges::find(view.slots, choice->victim), view.slots.end());
    const Storage& victim = view.graph[choice->victim];
    EXPECT_TRUE(victim.resident());
    EXPECT_EQ(victim.pins, 0u);
    EXPECT_TRUE(victim.complete());
    return choice;
  }

  [[nodiscard]] bool catches_up() const override { return false; }
};

}  // namespace weir::conformance
