#include <bit>
#include <random>

#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

namespace {

// Seeds std::mt19937 as CPython's `random.seed(integer)` does, so that DTR's published random runs
// can be repeated draw for draw. (Matsumoto and Nishimura's init_by_array.)
class ArraySeed {
 public:
  using result_type = std::uint32_t;
  explicit ArraySeed(std::uint64_t seed) {
    key_[0] = static_cast<std::uint32_t>(seed);
    key_[1] = static_cast<std::uint32_t>(seed >> 32);
    length_ = key_[1] != 0 ? 2 : 1;
  }

  template <typename Iterator>
  void generate(Iterator first, Iterator last) const {
    const auto n = static_cast<std::uint32_t>(last - first);
    first[0] = 19650218u;
    for (std::uint32_t i = 1; i < n; ++i)
      first[i] = 1812433253u * (first[i - 1] ^ (first[i - 1] >> 30)) + i;
    std::uint32_t i = 1, j = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      first[i] = (first[i] ^ ((first[i - 1] ^ (first[i - 1] >> 30)) * 1664525u)) + key_[j] + j;
      advance(first, n, i);
      j = (j + 1) % length_;
    }
    for (std::uint32_t k = 0; k < n - 1; ++k) {
      first[i] = (first[i] ^ ((first[i - 1] ^ (first[i - 1] >> 30)) * 1566083941u)) - i;
      advance(first, n, i);
    }
    first[0] = 0x80000000u;
  }

 private:
  template <typename Iterator>
  static void advance(Iterator first, std::uint32_t n, std::uint32_t& i) {
    if (++i < n) return;
    first[0] = first[n - 1];
    i = 1;
  }

  std::uint32_t key_[2];
  std::uint32_t length_;
};

class Random final : public Policy {
 public:
  explicit Random(std::uint64_t seed) {
    ArraySeed words{seed};
    engine_.seed(words);
  }

  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    if (view.candidates == 0) return std::nullopt;
    ++scored_;
    std::uint32_t rank = below(static_cast<std::uint32_t>(view.candidates));
    for (StorageId candidate : view.slots)
      if (candidate != kNoStorage && rank-- == 0) return Choice{candidate};
    return std::nullopt;
  }

 private:
  std::uint32_t below(std::uint32_t bound) {
    const auto bits = static_cast<int>(std::bit_width(bound));
    for (;;) {
      const std::uint32_t draw = static_cast<std::uint32_t>(engine_()) >> (32 - bits);
      if (draw < bound) return draw;
    }
  }

  std::mt19937 engine_;
};

}  // namespace

std::unique_ptr<Policy> make_random(const PolicyInputs& inputs) {
  return std::make_unique<Random>(inputs.seed);
}

}  // namespace weir::policy
