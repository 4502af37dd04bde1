#include "cost/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cost/cpu_kernels.h"
#include "cost/element.h"

namespace weir::cost {
namespace {

// The best tile of a matrix [rows, columns] that stays, with one row and one column of the others
// beside it: rows * columns + rows + columns <= words.
struct Tile {
  double rows, columns;
};

Tile best_tile(double rows, double columns, double words) {
  const double side = std::max(1.0, std::sqrt(words + 1) - 1);
  Tile tile{std::min(rows, side), std::min(columns, side)};
  if (tile.rows < side) tile.columns = std::min(columns, (words - tile.rows) / (tile.rows + 1));
  if (tile.columns < side) tile.rows = std::min(rows, (words - tile.columns) / (tile.columns + 1));
  return {std::max(1.0, tile.rows), std::max(1.0, tile.columns)};
}

// A tile of [rows, columns] stays; the matrices that pass are as long as `depth`, and each comes
// as often as there are tiles across.
double passing(double rows, double columns, double depth, double words) {
  const Tile tile = best_tile(rows, columns, words);
  return rows * columns * depth * (1 / tile.rows + 1 / tile.columns);
}

// The output passes too: with every slice of k but the first it is read before it is written.
double factor_stays(double m, double n, double k, double words) {
  const Tile tile = best_tile(m, k, words);
  const double slices = std::max(1.0, k / tile.columns);
  return m * k + n * k * std::max(1.0, m / tile.rows) + m * n * (2 * slices - 1);
}

// A word of the input serves as many products as the window has: it passes less often, so tiles are
// wider than they are high.
double windowed_words(double m, double n, double k, double window, double words) {
  double rows = std::clamp(std::sqrt(words / window), 1.0, m);
  const double columns = std::clamp(words / rows, 1.0, n);
  rows = std::clamp(words / columns, 1.0, m);
  return n * k / window * (m / rows) + m * k * (n / columns) + m * n;
}

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Part by part, as much of the larger one of the two matrices stays as there is room for, while the
// other one passes; or that one stays, and both are read once.
double fused_words(double m, double n, double k, double words) {
  const double all = m * k + k * n + m * n, most = std::max({m * k, k * n, m * n});
  const double least = std::min({m * k, k * n, m * n}), other = all - most - least;
  return other + least * (least <= words ? 1 : std::max(1.0, other / words));
}

}  // namespace

double tiled_words(const Gemm& gemm, double words) {
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  if (gemm.fused) return static_cast<double>(gemm.batch) * fused_words(m, n, k, words);
  const auto batch = static_cast<double>(gemm.batch);
  if (gemm.window > 1) return batch * windowed_words(m, n, k, gemm.window, words);
  return batch * std::min({passing(m, n, k, words) + m * n, factor_stays(m, n, k, words),
                           factor_stays(n, m, k, words)});
}

double least_words(const Gemm& gemm, double words) {
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  const double window = std::max(1.0, gemm.window);
  // The window's matrix is that of the input or, where windows are added up, of the output.
  const double once = m * k + k * n + m * n - (1 - 1 / window) * std::max(k * n, m * n);
  const double bound = 2 * m * n * k / std::sqrt(words * window) - 2 * words;
  return static_cast<double>(gemm.batch) * std::max(once, bound);
}

Tiles::Tiles(const Trace& trace, const Step& step) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<double> touched(step.ops.size(), 0);
  std::vector<std::uint32_t> last(step.items.size(), kNone);  // op that touched the item
  for (const Sweep& sweep : step.sweeps)
    for (const Access& access : step.accesses_of(sweep))
      if (std::exchange(last[access.item], sweep.op) != sweep.op)
        touched[sweep.op] += static_cast<double>(step.items[access.item].bytes.n);
  for (std::uint32_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    if (op.gemms.empty()) continue;
    const std::int64_t element = element_bytes(trace.names[op.dtype]);
    ops_.push_back({i, element > 0 ? static_cast<double>(element) : 4, touched[i], &op});
  }
}

double Tiles::extra(const Multiplies& op, double capacity) {
  const std::vector<Gemm>& gemms = op.does->gemms;
  constexpr std::size_t kForward = 2;  // products of attention
  if (op.does->on_cpu && gemms.front().fused && gemms.size() == kForward)
    return attention_bytes(gemms.front(), op.element, capacity);
  double bytes = 0;
  double once = 0;  // what products that are fused share is read for all of them
  for (const Gemm& gemm : gemms) {
    bytes += op.element * tiled_words(gemm, capacity / op.element);
    if (gemm.fused) once += op.element * tiled_words(gemm, kNoLimit);
  }
  const double copies = op.does->on_cpu ? copy_bytes(op.does->cpu, op.touched, capacity) : 0;
  return copies + std::max(0.0, bytes - std::max(once, op.touched));
}

double Tiles::extra(std::uint32_t op, double capacity) const {
  const auto found = std::ranges::lower_bound(ops_, op, {}, &Multiplies::op);
  return found == ops_.end() || found->op != op ? 0 : extra(*found, capacity);
}

double Tiles::extra(double capacity) const {
  double bytes = 0;
  for (const Multiplies& op : ops_) bytes += extra(op, capacity);
  return bytes;
}

}  // namespace weir::cost
