#include "base/check.h"

#include <algorithm>

#include "core/state.h"

namespace weir::core {

void State::check() const {
  Bytes held{};
  std::size_t candidates = 0, spent = 0;
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const StorageId id{i};
    const Storage& s = graph[id];
    const bool charged = s.resident() || s.arriving;
    if (charged) held += s.size;
    WEIR_CHECK(charges_[i].size() == (charged ? s.size : Bytes{}), id, s.where());
    WEIR_CHECK(!s.saving || (s.resident() && s.complete() && !s.backed), id, s.where());
    WEIR_CHECK(!s.arriving || s.where() == Residency::Offloaded, id, s.where());
    WEIR_CHECK(s.resident() || s.pins == 0, id, s.where());
    WEIR_CHECK(s.where() != Residency::Evicted || s.has_recipe(), id);
    WEIR_CHECK(s.where() != Residency::Offloaded || s.backed, id);
    WEIR_CHECK(!s.backed || s.where() == Residency::Offloaded || (s.resident() && s.complete()),
               id);
    WEIR_CHECK(!s.homeless || std::ranges::count(homeless_, id) == 1, id);
    WEIR_CHECK(s.place == place_of(s), id, s.place);
    if (awake_ && s.place == Place::Candidate) WEIR_CHECK(pool_.slots()[s.slot] == id, id, s.slot);
    if (awake_ && s.place == Place::Spent) WEIR_CHECK(spent_.slots()[s.slot] == id, id, s.slot);
    candidates += s.place == Place::Candidate;
    spent += s.place == Place::Spent;
    Nanos cost{};
    for (OpId op : graph.recipe(id)) {
      cost += graph[op].cost;
      const std::span<const TensorId> inputs = graph.inputs(graph[op]);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const StorageId source = graph[inputs[k]].storage;
        WEIR_CHECK(source != kNoStorage, id, op);
        WEIR_CHECK(source == id || graph[source].where() != Residency::Dead, id, source);
        WEIR_CHECK(source == id || graph.versions(graph[op])[k] == graph[source].version, id, op);
      }
    }
    WEIR_CHECK(cost == s.cost || !s.has_recipe(), id, cost, s.cost);
  }
  WEIR_CHECK(held <= ledger.used(), held, ledger.used());
  if (!awake_) return;
  WEIR_CHECK(candidates == pool_.size(), candidates, pool_.size());
  WEIR_CHECK(spent == spent_.size(), spent, spent_.size());
}

}  // namespace weir::core
