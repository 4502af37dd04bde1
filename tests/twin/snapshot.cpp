#include "twin/snapshot.h"

#include <algorithm>
#include <sstream>

namespace weir::twin {

namespace {

template <typename List>
std::string show(const char* name, const List& list) {
  std::ostringstream out;
  out << name << ':';
  for (const auto item : list) out << ' ' << static_cast<std::uint32_t>(item);
  return out.str();
}

std::string show(std::size_t id, const StorageLine& s) {
  std::ostringstream out;
  out << "storage " << id << ": " << s.where << (s.complete ? "" : " half restored")
      << (s.backed ? " backed" : "") << (s.homeless ? " homeless" : "") << " pins " << s.pins
      << " references " << s.references << " version " << s.version << " awaited " << s.awaited
      << " last use " << s.last_use.n << " cost " << s.cost.n << ' ' << show("recipe", s.recipe)
      << ' ' << show("deps", s.deps);
  return out.str();
}

std::vector<std::string> lines(const Snapshot& s) {
  std::ostringstream counts;
  counts << s.status << ", used " << s.used.n << ", clock " << s.clock.n << ", recompute "
         << s.recompute.n << ", evictions " << s.evictions << ", releases " << s.releases
         << ", recomputes " << s.recomputes << ", offloads " << s.offloads << ", fetches "
         << s.fetches;
  std::vector<std::string> all{
      counts.str(),           show("ops run again", s.rerun), show("freed", s.freed),
      show("died", s.died),   show("in tier", s.in_tier),     show("candidates", s.candidates),
      show("spent", s.spent), show("available", s.available)};
  for (std::size_t id = 0; id < s.storages.size(); ++id) all.push_back(show(id, s.storages[id]));
  return all;
}

}  // namespace

std::string difference(const Snapshot& real, const Snapshot& naive) {
  std::vector<std::string> left = lines(real), right = lines(naive);
  const std::size_t all = std::max(left.size(), right.size());
  left.resize(all, "nothing");
  right.resize(all, "nothing");
  std::string text;
  const auto shortened = [](const std::string& line) { return line.substr(0, 400); };
  for (std::size_t i = 0; i < all; ++i)
    if (left[i] != right[i])
      text += "  real:  " + shortened(left[i]) + "\n  naive: " + shortened(right[i]) + "\n";
  return text;
}

}  // namespace weir::twin
