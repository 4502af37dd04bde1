#include "libtorch/report.h"

#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/units.h"

namespace weir::libtorch {

namespace {

std::int64_t process_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

template <typename... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

std::string seconds(Nanos time) { return text("%.2f s", static_cast<double>(time.n) * 1e-9); }

// The whole time over the time outside of recomputing and transfers.
std::string slowdown(const Stats& s) {
  const Nanos useful = s.elapsed - s.recompute - s.offload - s.fetch;
  if (useful <= Nanos{}) return "not known";
  return text("%.3f estimated", static_cast<double>(s.elapsed.n) / static_cast<double>(useful.n));
}

}  // namespace

std::string json_of(const Stats& s) {
  return nlohmann::json{{"budget_bytes", s.budget.n},
                        {"logical_peak_bytes", s.logical_peak.n},
                        {"logical_bytes", s.logical.n},
                        {"peak_bytes", s.peak.n},
                        {"committed_bytes", s.committed.n},
                        {"foreign_bytes", s.foreign.n},
                        {"process_peak_bytes", process_peak()},
                        {"evictions", s.counters.evictions},
                        {"recomputes", s.counters.recomputes},
                        {"offloads", s.counters.offloads},
                        {"fetches", s.counters.fetches},
                        {"offloaded_bytes", s.offloaded.n},
                        {"fetched_bytes", s.fetched.n},
                        {"own_ns", s.own.n},
                        {"room_ns", s.room.n},
                        {"recompute_ns", s.recompute.n},
                        {"offload_ns", s.offload.n},
                        {"fetch_ns", s.fetch.n},
                        {"steps", s.steps},
                        {"ops", s.ops},
                        {"records", s.records},
                        {"storages", s.storages},
                        {"faults", s.faults},
                        {"escapes", s.escapes},
                        {"moved", s.moved},
                        {"page_moves", s.pages.moves},
                        {"pages_taken", s.pages.commits},
                        {"pages_returned", s.pages.discards},
                        {"elapsed_ns", s.elapsed.n}}
      .dump();
}

std::string table_of(const std::string& title, const Stats& s) {
  using base::format_bytes;
  const std::pair<const char*, std::string> rows[] = {
      {"steps", std::to_string(s.steps) + " in " + seconds(s.elapsed)},
      {"budget", s.budget > Bytes{} ? format_bytes(s.budget) : "none"},
      {"logical peak", format_bytes(s.logical_peak)},
      {"peak", format_bytes(s.peak)},
      {"evictions", std::to_string(s.counters.evictions)},
      {"recomputing", seconds(s.recompute) + ", " + std::to_string(s.counters.recomputes) + " ops"},
      {"to the tier", format_bytes(s.offloaded) + " in " + seconds(s.offload)},
      {"from the tier", format_bytes(s.fetched) + " in " + seconds(s.fetch)},
      {"slowdown", slowdown(s)},
  };
  std::string table = title + "\n";
  for (const auto& [name, value] : rows) table += text("  %-14s ", name) + value + "\n";
  return table;
}

}  // namespace weir::libtorch
