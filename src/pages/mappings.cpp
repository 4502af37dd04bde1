#include "pages/mappings.h"

#include <iterator>
#include <utility>
#include <vector>

namespace weir::pages {

Mappings::Mappings(Span all) : kinds_{{all.address, {}}}, end_{all.end()} {}

Mappings::Kinds::const_iterator Mappings::at(std::byte* address) const {
  return std::prev(kinds_.upper_bound(address));
}

void Mappings::split(std::byte* address) {
  if (address != end_) kinds_.emplace(address, at(address)->second);
}

// What ends and what begins there, if they are alike.
void Mappings::join(std::byte* address) {
  const auto found = kinds_.find(address);
  if (found == kinds_.end() || found == kinds_.begin()) return;
  if (std::prev(found)->second == found->second) kinds_.erase(found);
}

template <typename Change>
void Mappings::change(Span span, Change&& to) {
  split(span.address);
  split(span.end());
  for (auto kind = kinds_.find(span.address); kind != kinds_.end() && kind->first < span.end();) {
    to(kind->second);
    std::byte* begin = (kind++)->first;
    join(begin);
  }
  join(span.end());
}

void Mappings::put(Span span, const Kind& kind) {
  change(span, [&](Kind& old) { old = kind; });
}

void Mappings::map(Span span, Access access) { put(span, {.access = access}); }

void Mappings::protect(Span span, Access access) {
  change(span, [&](Kind& kind) { kind.access = access; });
}

void Mappings::prefer_huge(Span span) {
  change(span, [](Kind& kind) { kind.huge = true; });
}

// What was there stays mapped as it was.
void Mappings::move(Span from, Span to) {
  std::vector<std::pair<Span, Kind>> pieces;
  for (auto kind = at(from.address); kind != kinds_.end() && kind->first < from.end(); ++kind) {
    const auto next = std::next(kind);
    std::byte* begin = std::max(kind->first, from.address);
    std::byte* end = std::min(next == kinds_.end() ? end_ : next->first, from.end());
    Kind moved = kind->second;
    moved.moved += to.address - from.address;
    const auto pages = static_cast<std::size_t>(end - begin) / kPage;
    pieces.push_back({{to.address + (begin - from.address), pages}, moved});
  }
  for (const auto& [span, kind] : pieces) put(span, kind);
}

std::size_t Mappings::within(Span span) const {
  std::size_t count = 0;
  for (auto kind = at(span.address); kind != kinds_.end() && kind->first < span.end(); ++kind)
    ++count;
  return count;
}

}  // namespace weir::pages
