#pragma once

#include <compare>
#include <cstdint>

namespace weir {

// Ids are dense: the n-th storage, tensor or op record of a graph has id n.
enum class StorageId : std::uint32_t {};
enum class TensorId : std::uint32_t {};
enum class OpId : std::uint32_t {};

inline constexpr StorageId kNoStorage{UINT32_MAX};
inline constexpr OpId kNoOp{UINT32_MAX};

// What a program is doing when it runs an op.
enum class Phase : std::uint8_t { Forward, Backward, Optimizer };

template <typename Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

struct Bytes {
  std::int64_t n = 0;

  auto operator<=>(const Bytes&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  constexpr Bytes& operator+=(Bytes b) { return n += b.n, *this; }
  constexpr Bytes& operator-=(Bytes b) { return n -= b.n, *this; }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.n + b.n}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.n - b.n}; }
};

struct Nanos {
  std::int64_t n = 0;

  auto operator<=>(const Nanos&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  constexpr Nanos& operator+=(Nanos t) { return n += t.n, *this; }
  constexpr Nanos& operator-=(Nanos t) { return n -= t.n, *this; }
  friend constexpr Nanos operator+(Nanos a, Nanos b) { return {a.n + b.n}; }
  friend constexpr Nanos operator-(Nanos a, Nanos b) { return {a.n - b.n}; }
};

// No quantity read from the outside may exceed these; sums over a whole trace then cannot overflow.
inline constexpr Bytes kMostBytes{std::int64_t{1} << 50};
inline constexpr Nanos kMostNanos{std::int64_t{1} << 50};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n << 10)};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n << 20)};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n << 30)};
}
constexpr Nanos operator""_ns(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
}  // namespace literals

}  // namespace weir
