#include "twin/naive_graph.h"

#include <algorithm>

namespace weir::twin {

NaiveGraph::NaiveGraph(const Trace& chosen, const NaiveTier& chosen_tier)
    : trace{chosen}, tier{chosen_tier}, makers_(chosen.tensors.size(), UINT32_MAX) {
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op)
    for (TensorId output : outputs_of(op)) makers_[index(output)] = op;
}

std::vector<TensorId> NaiveGraph::outputs_of(std::uint32_t op) const {
  std::vector<TensorId> outputs;
  for (std::uint32_t i = 0; i < trace.ops[op].outputs; ++i)
    outputs.push_back(TensorId{trace.ops[op].first_output + i});
  return outputs;
}

bool NaiveGraph::away(StorageId id) const {
  return (*this)[id].where == Where::Pending || (*this)[id].where == Where::Evicted;
}

Nanos NaiveGraph::cost(StorageId id) const {
  if ((*this)[id].recipe.empty()) return tier.there ? tier.transfer((*this)[id].size) : Nanos{};
  Nanos sum;
  for (std::uint32_t op : (*this)[id].recipe) sum += trace.ops[op].cost;
  return sum;
}

std::vector<StorageId> NaiveGraph::deps(StorageId id) const {
  std::vector<StorageId> found;
  for (const Edge& edge : edges_)
    if (edge.dependent == id) found.insert(found.begin(), edge.dep);
  return found;
}

std::vector<StorageId> NaiveGraph::dependents(StorageId id) const {
  std::vector<StorageId> found;
  for (const Edge& edge : edges_)
    if (edge.dep == id) found.insert(found.begin(), edge.dependent);
  return found;
}

void NaiveGraph::extend(StorageId id, std::uint32_t op) {
  std::vector<std::uint32_t>& recipe = (*this)[id].recipe;
  if (std::ranges::find(recipe, op) != recipe.end()) return;
  recipe.push_back(op);
  for (TensorId input : inputs_of(op)) {
    const Edge edge{.dep = storage_of(input), .dependent = id};
    if (edge.dep != id && std::ranges::find(edges_, edge) == edges_.end()) edges_.push_back(edge);
  }
}

void NaiveGraph::forget(StorageId id) {
  (*this)[id].recipe.clear();
  std::erase_if(edges_, [&](const Edge& edge) { return edge.dependent == id; });
}

}  // namespace weir::twin
