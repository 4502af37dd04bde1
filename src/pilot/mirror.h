#pragma once

#include <cstdint>
#include <vector>

#include "pilot/forward_log.h"
#include "pilot/saved.h"
#include "plan/problem.h"

namespace weir::pilot {

// The rest of a step as a problem for the planner: for each op of forward, in reverse, one of
// backward that reads what was saved for it, and makes gradients as large as what the op read.
// Before them are the ops that can make again what forward made.
class Mirror {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // As things are now. Forward goes on first and takes so many bytes.
  Mirror(const Graph& graph, const ForwardLog& log, Bytes ahead);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  [[nodiscard]] const plan::Problem& problem() const { return problem_; }
  [[nodiscard]] const Saved& saved() const { return saved_; }
  // Of what can be made again now; kNone for all else.
  [[nodiscard]] std::uint32_t value_of(std::uint32_t number) const {
    return number < values_.size() ? values_[number] : kNone;
  }
  // Of the values, now. The budget has to do for the rest as well.
  [[nodiscard]] Bytes resident() const { return resident_; }
  // In which the backward of an op of forward runs.
  [[nodiscard]] plan::Stage stage_of(std::uint32_t op) const { return stages_[op]; }

 private:
  [[nodiscard]] std::vector<std::uint32_t> remakable(const Graph& graph) const;
  void add_makers(const Graph& graph);
  void add_value(const Graph& graph, std::uint32_t number);
  void add_backward();
  void add_backward_of(std::uint32_t op);
  void add_gradients(const ForwardLog::Op& op, std::uint32_t at);
  void add_end(const Graph& graph);
  void read(std::uint32_t op, std::uint32_t value);
  void finish();

  const ForwardLog& log_;
  Saved saved_;
  plan::Problem problem_;
  Bytes resident_;
  std::vector<std::uint32_t> values_;     // by number
  std::vector<std::uint32_t> gradients_;  // by number: values
  std::vector<bool> wanted_;              // by number: something of backward saved it
  std::vector<plan::Stage> stages_;       // by op of forward
};

}  // namespace weir::pilot
