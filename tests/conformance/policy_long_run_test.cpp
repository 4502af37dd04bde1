// Every policy in a long run with a tier, in which ids are used again: nothing may grow with the
// number of steps. The test replaces the global allocation functions to count the bytes in use.
// g++ 12 sees our operator new inlined, and so a delete of what malloc returned.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/rng.h"
#include "weir/manager.h"
#include "weir/registry.h"

namespace {
std::atomic<std::int64_t> bytes_in_use;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  bytes_in_use += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void operator delete(void* memory) noexcept {
  bytes_in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace weir {

void PrintTo(const PolicyEntry& entry, std::ostream* out) { *out << entry.name; }

}  // namespace weir

namespace weir::conformance {
namespace {

using namespace literals;

#ifdef WEIR_CHECK_FULL
constexpr std::uint32_t kSteps = 400;
#else
constexpr std::uint32_t kSteps = 3000;
#endif

class NeverAgain final : public Predictor {
 public:
  [[nodiscard]] std::uint64_t next_use(StorageId /*storage*/) const override { return kNever; }
};

// A training program: every step has another number of layers and other sizes. Its parameters are
// changed in place; what forward makes is read again by backward, in reverse, and then released.
class Training final : private Executor {
 public:
  Training(const PolicyEntry& entry, Bytes budget, Bytes tier)
      : room_{tier},
        policy_{entry.make({.seed = 1, .future = &future_})},
        manager_{{.budget = budget, .smallest = 2_B, .offload = true, .reuse_ids = true},
                 *policy_,
                 static_cast<Executor&>(*this)} {
    for (int i = 0; i < 4; ++i)
      parameters_.push_back(manager_.add_constant(manager_.allocate(20_B)));
  }

  void step(std::uint64_t seed) {
    base::Rng rng{seed};
    std::vector<TensorId> saved{manager_.add_constant(manager_.allocate(10_B))};
    const std::uint64_t layers = 6 + rng.below(6);
    for (std::uint64_t i = 0; i < layers; ++i)
      saved.push_back(
          run({saved.back(), parameters_[i % 4]}, {static_cast<std::int64_t>(5 + rng.below(20))}));
    TensorId gradient = run({saved.back()}, 8_B);
    while (!saved.empty()) {
      const TensorId next = run({gradient, saved.back(), parameters_[saved.size() % 4]}, 8_B);
      manager_.release(std::exchange(gradient, next));
      manager_.release(saved.back());
      saved.pop_back();
    }
    for (TensorId parameter : parameters_) change(parameter, gradient);
    manager_.release(gradient);
    manager_.end_step();
  }

  [[nodiscard]] const Manager& manager() const { return manager_; }
  [[nodiscard]] std::size_t records() const { return outputs_.size(); }

 private:
  [[nodiscard]] Nanos now() const override { return clock_; }
  void evict(StorageId /*storage*/) override {}
  bool offload(StorageId storage) override {
    const Bytes size = manager_.graph()[storage].size;
    if (size > room_) return false;
    room_ -= size;
    return true;
  }
  void discard_copy(StorageId storage) override { room_ += manager_.graph()[storage].size; }
  [[nodiscard]] Nanos transfer_cost(Bytes size) const override { return {4 + size.n / 4}; }
  void forget(std::uint64_t tag) override { forgotten_.push_back(tag); }

  TensorId run(const std::vector<TensorId>& inputs, Bytes size) {
    return call({.inputs = inputs, .mutated = {}}, size);
  }
  void change(TensorId parameter, TensorId gradient) {
    const TensorId inputs[] = {parameter, gradient};
    const std::uint32_t mutated[] = {0};
    call({.inputs = inputs, .mutated = mutated}, {});
  }

  TensorId call(OpCall call, Bytes size) {
    call.tag = new_tag(size);
    Ticket ticket = manager_.begin(call);
    const Output output{.size = size};
    const TensorId made =
        manager_.declare(ticket, {&output, size > Bytes{} ? std::size_t{1} : 0}, {3});
    while (const OpRecord* missing = manager_.next(ticket)) launch(missing->tag, ticket);
    launch(call.tag, ticket);
    manager_.end(std::move(ticket));
    return made;
  }
  void launch(std::uint64_t tag, Ticket& ticket) {
    if (outputs_[tag] > Bytes{}) ticket.deliver(0, manager_.allocate(outputs_[tag]));
    clock_ += {3};
  }
  std::uint64_t new_tag(Bytes size) {
    std::uint64_t tag = outputs_.size();
    if (forgotten_.empty()) {
      outputs_.emplace_back();
    } else {
      tag = forgotten_.back();
      forgotten_.pop_back();
    }
    outputs_[tag] = size;
    return tag;
  }

  NeverAgain future_;
  Bytes room_;
  Nanos clock_{1};
  std::vector<Bytes> outputs_;            // by tag: what the op makes
  std::vector<std::uint64_t> forgotten_;  // tags that may be used again
  std::vector<TensorId> parameters_;
  std::unique_ptr<Policy> policy_;
  Manager manager_;
};

class PolicyLongRun : public testing::TestWithParam<PolicyEntry> {};

TEST_P(PolicyLongRun, DoesNotGrowWithTheNumberOfSteps) {
  Training training{GetParam(), 160_B, 60_B};
  for (std::uint32_t i = 0; i < kSteps / 2; ++i) training.step(i % 50);
  const std::int64_t before = bytes_in_use;
  const std::size_t storages = training.manager().graph().storages();
  const std::size_t ops = training.manager().graph().ops();
  for (std::uint32_t i = 0; i < kSteps; ++i) training.step(i % 50);
  EXPECT_LE(bytes_in_use, before + before / 8 + 4096);
  EXPECT_LE(training.manager().graph().storages(), storages + 4);
  EXPECT_LE(training.manager().graph().ops(), ops + 4);
  EXPECT_LE(training.records(), ops + 4);
  EXPECT_EQ(training.manager().graph().living_storages(), 4u);
  training.manager().check();
  const Counters counters = training.manager().counters();
  EXPECT_GT(counters.evictions + counters.offloads, kSteps);
}

INSTANTIATE_TEST_SUITE_P(Registry, PolicyLongRun, testing::ValuesIn(policies()),
                         [](const testing::TestParamInfo<PolicyEntry>& entry) {
                           return std::string{entry.param.name};
                         });

}  // namespace
}  // namespace weir::conformance
