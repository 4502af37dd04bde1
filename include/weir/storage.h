#pragma once

#include <cstdint>

#include "weir/types.h"

namespace weir {

enum class Residency : std::uint8_t {
  Pending,    // declared; its first op has not finished
  Resident,   // its bytes are on the device
  Evicted,    // no bytes anywhere; recompute brings it back
  Offloaded,  // its bytes are in a tier only; a fetch brings it back
  Dead,       // nothing can need it any more
};

// Where the manager looks for something to reclaim.
enum class Place : std::uint8_t {
  None,       // cannot be reclaimed now: not resident, pinned, stuck, or only half restored
  Candidate,  // a policy may choose it
  Spent,      // goes before any candidate: nothing is known that will want it
};

[[nodiscard]] bool may_become(Residency from, Residency to);

// The unit of memory: bytes that live and go together; several tensors may share it.
struct Storage {
  Bytes size;
  Nanos cost;                    // of bringing it back alone: its recipe's, or the tier's
  TensorId root{};               // the tensor whose op creates the bytes
  Nanos last_use;                // when an op was last queued that reads it
  std::uint32_t pins = 0;        // kept resident while above zero
  std::uint32_t references = 0;  // of the program, over all its tensors
  std::uint32_t version = 0;     // how often it was changed in place
  std::uint32_t evictions = 0;   // tensors made before the last one are undefined (ViewRule::Rerun)
  std::uint32_t progress = 0;    // recipe entries that have run since it became resident
  std::uint32_t awaited = 0;     // ops about to run, for the first time or again, that read it
  std::uint32_t changing = 0;    // ops on their way that will change it in place
  std::uint32_t slot = UINT32_MAX;  // among the storages of its place
  std::uint64_t placed = 0;         // when it came to its place: a number that only grows
  Place place = Place::None;
  bool backed = false;  // a tier has a copy of its bytes; it is resident and complete, or offloaded
  bool saving = false;  // a copy is on its way to a tier; it is resident and complete
  bool arriving = false;  // its bytes are on their way back; it is offloaded, and charged for
  bool kept = false;      // nobody refers to it, but the policy has a use for it
  bool homeless = false;  // no tier had room for it when it was to be offloaded

  [[nodiscard]] Residency where() const { return where_; }
  [[nodiscard]] bool resident() const { return where_ == Residency::Resident; }
  [[nodiscard]] bool has_recipe() const { return recipe_length_ != 0; }
  // All of its recipe has run: its bytes are those the program knows.
  [[nodiscard]] bool complete() const { return progress >= recipe_length_; }

  void move_to(Residency next);

 private:
  friend class Graph;

  Residency where_ = Residency::Pending;
  std::uint8_t recipe_room_ = 0;  // log2 of the entries there is room for; 0: one, in place
  OpId recipe_{};                 // the only entry, or the place where the entries begin
  std::uint32_t recipe_length_ = 0;
  std::uint32_t first_dep_ = UINT32_MAX, first_dependent_ = UINT32_MAX;
  std::uint32_t first_tensor_ = UINT32_MAX;
};

}  // namespace weir
