#pragma once

#include <vector>

#include "plan/problem.h"

namespace weir::plan {

// Stages, the last one too.
struct Span {
  Stage first = 0, last = 0;

  bool operator==(const Span&) const = default;
};

// Of spans that are ascending and do not touch.
[[nodiscard]] bool covers(const std::vector<Span>& spans, Stage stage);
[[nodiscard]] std::vector<Span> without(const std::vector<Span>& spans, Span gone);
[[nodiscard]] std::vector<Span> with(const std::vector<Span>& spans, Span added);

}  // namespace weir::plan
