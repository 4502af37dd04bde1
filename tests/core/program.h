#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "weir/errors.h"
#include "weir/manager.h"
#include "weir/tier.h"

namespace weir::core {

using namespace literals;

// Evicts what a test names, in that order, and then whatever was used longest ago.
class Scripted final : public Policy {
 public:
  explicit Scripted(bool counts = false) : lineage{counts} {}
  std::optional<Choice> choose(const View& view, Bytes need) override;
  [[nodiscard]] bool counts_lineage() const override { return lineage; }

  const bool lineage;
  std::vector<StorageId> first;
  std::size_t asked = 0;
};

// A program under a manager, in verbs of one line. Time passes only while ops run.
class Program : private Executor {
 public:
  explicit Program(const Options& options) : manager{options, policy, *this} {}
  // With a policy that counts lineage: the lean order then saves memory from the start.
  static Program frugal(Bytes budget) { return Program{{.budget = budget}, true}; }

  TensorId constant(Bytes size) { return manager.add_constant(manager.allocate(size)); }
  // An op with one fresh output.
  TensorId op(const std::vector<TensorId>& inputs, Bytes size, Nanos cost = {1});
  TensorId impure_op(const std::vector<TensorId>& inputs, Bytes size);
  std::vector<TensorId> op_with(const std::vector<TensorId>& inputs, std::vector<Output> outputs);
  TensorId view(TensorId of) { return op_with({of}, {{.size = {}, .alias_of = 0}}).front(); }
  // Changes the first input in place.
  void change(const std::vector<TensorId>& inputs, Nanos cost = {1});
  void change_two(TensorId a, TensorId b);
  void read(const std::vector<TensorId>& inputs) { op_with(inputs, {}); }
  Pin keep(TensorId tensor);
  // Somebody changes it whom the manager does not see.
  void write(TensorId tensor);
  void release(TensorId tensor) { manager.release(tensor); }
  // Makes room until exactly this one has gone.
  void evict(TensorId tensor);

  // The same in steps, for tests that look in between.
  Ticket begin(const std::vector<TensorId>& inputs, std::vector<Output> outputs = {});
  void restore(Ticket& ticket);
  void launch(const std::vector<Output>& outputs, Nanos cost, Ticket& ticket);

  [[nodiscard]] const Storage& storage(TensorId tensor) const {
    return manager.graph()[manager.graph()[tensor].storage];
  }
  [[nodiscard]] Residency where(TensorId tensor) const { return storage(tensor).where(); }
  [[nodiscard]] bool resident(TensorId tensor) const { return storage(tensor).resident(); }
  [[nodiscard]] bool evicted(TensorId tensor) const { return where(tensor) == Residency::Evicted; }
  [[nodiscard]] bool offloaded(TensorId tensor) const {
    return where(tensor) == Residency::Offloaded;
  }
  [[nodiscard]] bool dead(TensorId tensor) const { return where(tensor) == Residency::Dead; }
  [[nodiscard]] bool candidate(TensorId tensor) const {
    return storage(tensor).place == Place::Candidate;
  }
  [[nodiscard]] std::size_t recipe_length(TensorId tensor) const {
    return manager.graph().recipe(manager.graph()[tensor].storage).size();
  }
  // The op that made it: what `replayed` names.
  [[nodiscard]] std::uint64_t maker(TensorId tensor) const {
    return manager.graph()[manager.graph()[tensor].op].tag;
  }
  [[nodiscard]] std::uint32_t all_pins() const;

  Scripted policy;
  Manager manager;
  std::vector<std::uint64_t> replayed;  // tags of ops run again, in order
  std::vector<StorageId> given_up;      // storages whose bytes went, in order
  Nanos clock{1};
  // The tier of an offloading program.
  Bytes room{1'000'000};
  Nanos transfer{10};
  bool broken = false;
  std::vector<StorageId> copies;      // what the tier has, in the order in which it came
  std::vector<std::uint64_t> forgot;  // tags of ops that will never run again
  std::vector<StorageId> buried;      // storages whose ids may be used again

 private:
  Program(const Options& options, bool lineage)
      : policy{lineage}, manager{options, policy, *this} {}

  struct Called {
    std::vector<Output> outputs;
    Nanos cost;
  };
  [[nodiscard]] Nanos now() const override { return clock; }
  void evict(StorageId storage) override { given_up.push_back(storage); }
  bool offload(StorageId storage) override;
  void fetch(StorageId storage) override;
  void discard_copy(StorageId storage) override;
  [[nodiscard]] Nanos transfer_cost(Bytes /*size*/) const override { return transfer; }
  void forget(std::uint64_t tag) override { forgot.push_back(tag); }
  void died(StorageId storage) override { buried.push_back(storage); }
  std::vector<TensorId> run(OpCall call, std::vector<Output> outputs, Nanos cost);

  std::vector<Called> called_{{}};  // by tag; 0 is no op's
};

}  // namespace weir::core
