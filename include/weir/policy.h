#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weir/graph.h"
#include "weir/tier.h"
#include "weir/types.h"

namespace weir {

// A place for offloaded bytes, as far as plans need to know it.
struct Reach {
  Link link;
  Bytes capacity;
};

// What a policy may know when it is asked: the graph, the time, and who may be reclaimed.
struct View {
  const Graph& graph;
  Nanos now;
  // Ascending by when they became candidates. Gaps (kNoStorage) are places given up since.
  std::span<const StorageId> slots;
  std::size_t candidates = 0;  // slots that are not gaps
  Bytes used = {}, budget = {};
  bool offload = false;            // what cannot be recomputed may go to a tier
  std::optional<Reach> tier = {};  // told at the end of a step only
  Nanos spent = {};                // so far: on ops that were run again, and on what was offloaded
};

struct Choice {
  StorageId victim;
  bool by_plan = false;  // it is to be recomputed, and nothing cheaper goes in its place
};

// What had better be copied now, beside the program's ops.
struct Ahead {
  std::vector<StorageId> save;   // to the tier: what is to go soon
  std::vector<StorageId> bring;  // back from it, in this order: what is wanted soon
};

// What happened to a storage. A policy is told only of the kinds it asks for.
enum class Change : std::uint8_t {
  Declared = 1 << 0,   // it exists now, Pending
  Restored = 1 << 1,   // its bytes are there, for the first time or again
  Evicted = 1 << 2,    // its bytes are gone
  Offered = 1 << 3,    // it became a candidate
  Withdrawn = 1 << 4,  // it is no candidate any more
  Grown = 1 << 5,      // its recipe, and so its cost and its edges, got longer
  Lost = 1 << 6,       // its recipe is gone; only a tier can bring it back, if there is one
  Died = 1 << 7,       // nothing can need it any more; told before its recipe is lost
};
using Changes = std::uint8_t;
constexpr Changes operator|(Change a, Change b) {
  return static_cast<Changes>(static_cast<Changes>(a) | static_cast<Changes>(b));
}
constexpr Changes operator|(Changes a, Change b) {
  return static_cast<Changes>(a | static_cast<Changes>(b));
}

// Picks victims online. It never frees, moves or counts bytes.
class Policy {
 public:
  explicit Policy(Changes interests = 0) : interests_{interests} {}
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // The candidate to go next, or nothing if there is none. Asked again until `need` bytes are free.
  virtual std::optional<Choice> choose(const View& view, Bytes need) = 0;

  // An op has run: what is to be copied ahead? What could not be is asked for again.
  virtual void look_ahead(const View& /*view*/, Ahead& /*ahead*/) {}
  // A candidate that can go, at no cost, for something that is brought back ahead.
  virtual std::optional<Choice> spare(const View& /*view*/) { return std::nullopt; }

  // So much of the budget had better stay free, as long as there is a candidate to go for it. Ops
  // that are run again may use it, and so may any if nothing else is left.
  [[nodiscard]] virtual Bytes reserve() const { return {}; }

  // What the program does; of ops that are run again a policy is not told. An op begins (what it
  // changes are positions among its inputs), its outputs and its cost are known, it has run.
  virtual void begin(const Graph& /*graph*/, const OpRecord& /*op*/,
                     std::span<const std::uint32_t> /*mutated*/) {}
  virtual void declare(const Graph& /*graph*/, const OpRecord& /*op*/) {}
  virtual void end(const OpRecord& /*op*/, Bytes /*scratch*/) {}
  // Bytes came from outside; the program refers to a storage no longer; a step is over.
  virtual void add_constant(const Graph& /*graph*/, StorageId /*storage*/) {}
  virtual void release(const Graph& /*graph*/, StorageId /*storage*/) {}
  virtual void end_step(const View& /*view*/) {}

  // The program refers to it no longer, and it can be made again: is it to stay, for what is made
  // from it?
  [[nodiscard]] virtual bool keeps(StorageId /*storage*/) const { return false; }

  virtual void note(const Graph& /*graph*/, StorageId /*storage*/, Change /*change*/) {}

  // Do its scores count what else would have to be restored?
  [[nodiscard]] virtual bool counts_lineage() const { return false; }
  // Is it enough to be told of everything when it is first asked, as if it had just happened? Then
  // nothing is spent on it before.
  [[nodiscard]] virtual bool catches_up() const { return false; }
  [[nodiscard]] bool wants(Change change) const {
    return (interests_ & static_cast<Changes>(change)) != 0;
  }
  // How many candidates were given a score so far.
  [[nodiscard]] std::uint64_t scored() const { return scored_; }

 protected:
  std::uint64_t scored_ = 0;

 private:
  const Changes interests_;
};

}  // namespace weir
