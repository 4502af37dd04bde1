#include "plan/rows.h"

#include <algorithm>

namespace weir::plan {

std::vector<Entry> Rows::merged(const std::vector<Term>& terms, double& most) {
  std::vector<Entry> row, result;
  for (const auto& [factor, cell] : terms) {
    if (cell == kOne) most -= factor;
    if (cell >= 0) row.push_back({cell, factor});
  }
  std::ranges::sort(row, {}, &Entry::column);
  for (const Entry& entry : row) {
    if (!result.empty() && result.back().column == entry.column)
      result.back().factor += entry.factor;
    else
      result.push_back(entry);
  }
  std::erase_if(result, [](const Entry& entry) { return entry.factor == 0; });
  return result;
}

void Rows::add(const std::vector<Term>& terms, double most) {
  const std::vector<Entry> row = merged(terms, most);
  if (!row.empty() || most < 0) program_.add_row(-kNoLimit, row, most);
}

Cell Rows::larger(Cell a, Cell b) {
  if (a == kOne || b == kOne) return kOne;
  if (a == kZero || a == b) return b;
  if (b == kZero) return a;
  const Cell most = add_amount();
  add({{1, a}, {-1, most}}, 0);
  add({{1, b}, {-1, most}}, 0);
  return most;
}

}  // namespace weir::plan
