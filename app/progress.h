#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace weir::app {

// A bar on standard error, drawn only on a terminal and only once a second has passed.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { wipe(); }

  void show(std::size_t done, std::size_t all);
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const bool on_terminal_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
  bool visible_ = false;
};

}  // namespace weir::app
