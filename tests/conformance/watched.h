#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "weir/policy.h"

namespace weir::conformance {

// Looks at every choice of the policy within.
class Watched final : public Policy {
 public:
  static constexpr Changes kAll = UINT8_MAX;

  explicit Watched(std::unique_ptr<Policy> policy) : Policy{kAll}, policy_{std::move(policy)} {}

  static std::unique_ptr<Policy> wrap(std::unique_ptr<Policy> policy) {
    return std::make_unique<Watched>(std::move(policy));
  }

  std::optional<Choice> choose(const View& view, Bytes need) override {
    const std::optional<Choice> choice = policy_->choose(view, need);
    scored_ = policy_->scored();
    EXPECT_EQ(choice.has_value(), view.candidates != 0);
    if (!choice) return choice;
    EXPECT_NE(std::ranges::find(view.slots, choice->victim), view.slots.end());
    const Storage& victim = view.graph[choice->victim];
    EXPECT_TRUE(victim.resident());
    EXPECT_EQ(victim.pins, 0u);
    EXPECT_TRUE(victim.complete());
    return choice;
  }

  void begin(const Graph& graph, const OpRecord& op) override { policy_->begin(graph, op); }

  void note(const Graph& graph, StorageId storage, Change change) override {
    if (policy_->wants(change)) policy_->note(graph, storage, change);
  }

  [[nodiscard]] bool counts_lineage() const override { return policy_->counts_lineage(); }

 private:
  std::unique_ptr<Policy> policy_;
};

}  // namespace weir::conformance
