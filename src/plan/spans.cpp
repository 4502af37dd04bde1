#include "plan/spans.h"

#include <algorithm>

namespace weir::plan {

bool covers(const std::vector<Span>& spans, Stage stage) {
  return std::ranges::any_of(
      spans, [&](const Span& span) { return span.first <= stage && stage <= span.last; });
}

std::vector<Span> without(const std::vector<Span>& spans, Span gone) {
  std::vector<Span> left;
  for (const Span& span : spans) {
    if (span.first < gone.first) left.push_back({span.first, std::min(span.last, gone.first - 1)});
    if (span.last > gone.last) left.push_back({std::max(span.first, gone.last + 1), span.last});
  }
  return left;
}

std::vector<Span> with(const std::vector<Span>& spans, Span added) {
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (span.last + 1 < added.first || added.last + 1 < span.first)
      all.push_back(span);
    else
      added = {std::min(span.first, added.first), std::max(span.last, added.last)};
  }
  all.insert(std::ranges::lower_bound(all, added.first, {}, &Span::first), added);
  return all;
}

}  // namespace weir::plan
