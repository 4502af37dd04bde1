#include "pilot/saved.h"

#include <algorithm>

namespace weir::pilot {

namespace {
// Of an op with several results each is a matter of its own.
std::uint64_t key_of(const ForwardLog::Op& op, std::uint32_t number) {
  return op.kind * 0x9E3779B97F4A7C15u + (number - op.first_made);
}
}  // namespace

Saved::Saved(const Graph& graph, const ForwardLog& log)
    : graph_{graph},
      log_{log},
      explained_(log.known().size()),
      by_op_(log.ops().size()),
      by_number_(log.known().size()) {
  count_reads();
  count_results();
  for (std::uint32_t i = 0; i < log.ops().size(); ++i) {
    const ForwardLog::Op& op = log.ops()[i];
    for (const ForwardLog::Read& read : log.reads(op))
      if (saves(op, read)) add(i, read.number);
    for (std::uint32_t n = op.first_made; n < op.first_made + op.made; ++n) {
      if (references(n) == 0) continue;
      const Count count = results_[key_of(op, n)];
      if (explained_[n] == 0 || count.yes > count.no) add(i, n);
    }
  }
}

void Saved::add(std::uint32_t op, std::uint32_t number) {
  if (std::ranges::find(by_op_[op], number) != by_op_[op].end()) return;
  by_op_[op].push_back(number);
  by_number_[number].push_back(op);
}

// Made by forward and not dead.
bool Saved::alive(std::uint32_t number) const {
  const ForwardLog::Known& known = log_.known()[number];
  return known.maker != ForwardLog::kNone && log_.lives(number) &&
         graph_[known.storage].where() != Residency::Dead;
}

std::uint32_t Saved::references(std::uint32_t number) const {
  return alive(number) ? graph_[log_.known()[number].storage].references : 0;
}

bool Saved::saves(const ForwardLog::Op& op, const ForwardLog::Read& read) const {
  if (!alive(read.number) || graph_[read.tensor].references == 0) return false;
  const Count& count = reads_.at(op.kind);
  return count.no < count.yes;
}

void Saved::count_reads() {
  for (const ForwardLog::Op& op : log_.ops())
    for (const ForwardLog::Read& read : log_.reads(op)) {
      if (log_.known()[read.number].maker == ForwardLog::kNone) continue;
      const bool referred = alive(read.number) && graph_[read.tensor].references != 0;
      ++(referred ? reads_[op.kind].yes : reads_[op.kind].no);
    }
}

void Saved::count_results() {
  for (const ForwardLog::Op& op : log_.ops())
    for (const ForwardLog::Read& read : log_.reads(op))
      if (saves(op, read)) ++explained_[read.number];
  for (const ForwardLog::Op& op : log_.ops())
    for (std::uint32_t n = op.first_made; n < op.first_made + op.made; ++n) {
      if (references(n) == 0) continue;
      Count& count = results_[key_of(op, n)];
      ++(references(n) > explained_[n] ? count.yes : count.no);
    }
}

std::uint32_t Saved::reached(std::span<const std::uint32_t> numbers, std::uint32_t from) const {
  std::uint32_t any = kNone;
  for (std::uint32_t number : numbers) {
    const std::vector<std::uint32_t>& ops = by_number_[number];
    for (auto next = std::ranges::upper_bound(ops, from); next != ops.begin();) {
      const std::uint32_t op = *--next;
      if (any == kNone || op > any) any = op;
      const auto wanted = [&](std::uint32_t other) {
        return std::ranges::find(by_op_[op], other) != by_op_[op].end();
      };
      if (std::ranges::all_of(numbers, wanted)) return op;
    }
  }
  return any;
}

}  // namespace weir::pilot
