#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "weir/registry.h"

namespace weir::policy {

using namespace literals;

// A graph and its candidates, made by hand, with one policy looking on: told of every change as the
// manager would tell it.
class Scene {
 public:
  explicit Scene(std::string_view name, const PolicyInputs& inputs = {})
      : policy_{find_policy(name).make(inputs)} {}

  struct Made {
    std::vector<StorageId> from = {};
    Bytes size = {1};
    Nanos cost = {1};
    Nanos last_use = {0};
    Phase phase = Phase::Forward;
    std::uint64_t kind = 0;
    bool carried = false;  // only a tier can bring it back, at that cost
  };
  // A resident storage that the program references; the newest candidate.
  StorageId make(const Made& made);
  // The program references it no longer.
  void let_go(StorageId storage);
  void evict(StorageId storage);
  void restore(StorageId storage);
  // A view of it, made by another op: its recipe grows.
  void grow(StorageId storage, Nanos cost);

  // The storage the policy gives up at that time, or kNoStorage.
  StorageId choose(Nanos now = {100});
  // How many candidates it looked at.
  std::uint64_t looks(Nanos now = {100});

  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  void note(StorageId storage, Change change);
  void offer(StorageId storage);
  void withdraw(StorageId storage);

  Graph graph_;
  Nanos position_;
  std::vector<StorageId> slots_;  // with gaps, as the manager has them
  std::size_t candidates_ = 0;
  std::unique_ptr<Policy> policy_;
};

}  // namespace weir::policy
