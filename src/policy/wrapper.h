#pragma once

#include <memory>
#include <utility>

#include "weir/policy.h"

namespace weir::policy {

// Passes everything on to the policy within. Those who wrap one override what they care about.
class Wrapper : public Policy {
 public:
  explicit Wrapper(std::unique_ptr<Policy> inner, Changes own_interests = 0)
      : Policy{static_cast<Changes>(own_interests | interests_of(*inner))},
        inner_{std::move(inner)} {}

  std::optional<Choice> choose(const View& view, Bytes need) override {
    const std::optional<Choice> choice = inner_->choose(view, need);
    scored_ = inner_->scored();
    return choice;
  }
  void look_ahead(const View& view, Ahead& ahead) override { inner_->look_ahead(view, ahead); }
  std::optional<Choice> spare(const View& view) override { return inner_->spare(view); }
  [[nodiscard]] Bytes reserve() const override { return inner_->reserve(); }
  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> mutated) override {
    inner_->begin(graph, op, mutated);
  }
  void declare(const Graph& graph, const OpRecord& op) override { inner_->declare(graph, op); }
  void end(const OpRecord& op, Bytes scratch) override { inner_->end(op, scratch); }
  void add_constant(const Graph& graph, StorageId storage) override {
    inner_->add_constant(graph, storage);
  }
  void release(const Graph& graph, StorageId storage) override { inner_->release(graph, storage); }
  void end_step(const View& view) override { inner_->end_step(view); }
  [[nodiscard]] bool keeps(StorageId storage) const override { return inner_->keeps(storage); }
  void note(const Graph& graph, StorageId storage, Change change) override {
    if (inner_->wants(change)) inner_->note(graph, storage, change);
  }
  [[nodiscard]] bool counts_lineage() const override { return inner_->counts_lineage(); }
  [[nodiscard]] bool catches_up() const override { return inner_->catches_up(); }

 private:
  static Changes interests_of(const Policy& policy) {
    Changes all = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      if (const auto change = static_cast<Change>(1u << bit); policy.wants(change))
        all = all | change;
    return all;
  }

  std::unique_ptr<Policy> inner_;
};

}  // namespace weir::policy
