#include "plan/rounds.h"

#include <utility>

namespace weir::plan {
namespace {

// Where an op, or the end, is among the rounds.
std::uint32_t moved(std::uint32_t op, std::uint32_t rounds) {
  return op == kNobody ? kNobody : op * rounds + rounds - 1;
}

// The first round before it.
Stage first_round(Stage stage, std::uint32_t rounds) { return stage * rounds; }

void spread(Value& value, std::uint32_t rounds) {
  const bool constant = value.maker == kNobody;
  value.maker = moved(value.maker, rounds);
  value.appears = constant ? first_round(value.appears, rounds) : value.maker;
  value.last_remake = moved(value.last_remake, rounds);
  value.changed_by = moved(value.changed_by, rounds);
  value.last_stay = moved(value.last_stay, rounds);
  // Held while an op runs, hence in its last round; a constant comes before the first.
  value.first_held =
      constant ? first_round(value.first_held, rounds) : moved(value.first_held, rounds);
  value.end_held = value.end_held == 0 ? 0 : moved(value.end_held - 1, rounds) + 1;
  if (value.end_held == 0) value.first_held = 0;
  for (std::uint32_t& user : value.users) user = moved(user, rounds);
}

}  // namespace

Problem with_rounds(const Problem& problem, std::uint32_t rounds) {
  Problem spread_out = problem;
  spread_out.ops.clear();
  spread_out.signatures.clear();
  spread_out.ops.resize(moved(problem.end(), rounds));
  spread_out.signatures.resize(spread_out.ops.size());
  for (std::uint32_t op = 0; op < problem.end(); ++op) {
    spread_out.ops[moved(op, rounds)] = problem.ops[op];
    spread_out.signatures[moved(op, rounds)] = problem.signatures[op];
  }
  for (Value& value : spread_out.values) spread(value, rounds);
  spread_out.start.first = first_round(problem.start.first, rounds);
  return spread_out;
}

Schedule without_rounds(const Problem& problem, std::uint32_t rounds, Schedule schedule) {
  schedule.ops = problem.signatures;
  schedule.first = problem.start.first;
  std::vector<ScheduledMove> moves;
  for (ScheduledMove move : schedule.moves) {
    if (move.move == Move::Compute) {
      if ((move.item + 1) % rounds != 0) continue;
      move.item = (move.item + 1) / rounds - 1;
    }
    moves.push_back(move);
  }
  schedule.moves = std::move(moves);
  return schedule;
}

}  // namespace weir::plan
