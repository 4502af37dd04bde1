#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "weir/types.h"

namespace weir {

class Ledger;

// This many bytes are taken from the ledger while it lives.
class [[nodiscard]] Charge {
 public:
  Charge() = default;
  Charge(Charge&& other) noexcept
      : ledger_{std::exchange(other.ledger_, nullptr)}, size_{std::exchange(other.size_, {})} {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Charge();

  [[nodiscard]] Bytes size() const { return size_; }

 private:
  friend class Ledger;
  Charge(Ledger& ledger, Bytes size) : ledger_{&ledger}, size_{size} {}

  Ledger* ledger_ = nullptr;
  Bytes size_;
};

// The one place where bytes are counted against the budget. Safe from any thread.
class Ledger {
 public:
  explicit Ledger(Bytes budget) : budget_{budget.n} {}

  // Nothing if the bytes do not fit into the budget.
  [[nodiscard]] std::optional<Charge> try_charge(Bytes size);

  // What is charged already stays, also if it is more.
  void set_budget(Bytes budget) { budget_.store(budget.n, std::memory_order_relaxed); }

  [[nodiscard]] Bytes budget() const { return {budget_.load(std::memory_order_relaxed)}; }
  [[nodiscard]] Bytes used() const { return {used_.load(std::memory_order_relaxed)}; }
  [[nodiscard]] Bytes peak() const { return {peak_.load(std::memory_order_relaxed)}; }

 private:
  friend class Charge;

  std::atomic<std::int64_t> budget_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
};

inline Charge::~Charge() {
  if (ledger_ != nullptr) ledger_->used_.fetch_sub(size_.n, std::memory_order_relaxed);
}

}  // namespace weir
