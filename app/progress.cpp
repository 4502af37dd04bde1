#include "progress.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace weir::app {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWidth = 40;

}  // namespace

ProgressBar::ProgressBar(std::string what)
    : what_{std::move(what)}, on_terminal_{isatty(STDERR_FILENO) == 1} {}

void ProgressBar::wipe() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

void ProgressBar::show(std::size_t done, std::size_t all) {
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now - begin_ < 1s || now - drawn_ < 100ms) return;
  drawn_ = now;
  visible_ = true;
  const std::size_t filled = all == 0 ? kWidth : kWidth * done / all;
  const std::string line =
      fmt::format("\r{} [{:<{}}] {}/{}\033[K", what_, std::string(filled, '#'), kWidth, done, all);
  std::fputs(line.c_str(), stderr);
}

}  // namespace weir::app
