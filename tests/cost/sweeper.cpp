// Touches memory as a training step of ResNet-50 does, with one sample and one byte for each
// element: to be run under a cache simulator.
#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "cost/nets.h"

namespace {

using namespace weir::cost;

constexpr std::int64_t kLine = 64;

struct Touched {
  volatile char* begin;
  std::int64_t lines;
  bool read, write;
};

int total = 0;  // of what is read: valgrind leaves out a load that nobody uses

void touch(const Touched& item, std::int64_t line) {
  volatile char* at = item.begin + line * kLine;
  if (item.read && item.write)
    *at = static_cast<char>(*at | 1);
  else if (item.write)
    *at = 1;
  else
    total += *at;
}

// All items side by side, each at a speed in proportion to its size.
void sweep(const std::vector<Touched>& items) {
  std::int64_t most = 0;
  for (const Touched& item : items) most = std::max(most, item.lines);
  for (std::int64_t i = 0; i < most; ++i)
    for (const Touched& item : items)
      for (std::int64_t line = i * item.lines / most; line < (i + 1) * item.lines / most; ++line)
        touch(item, line);
}

std::int64_t lines_of(const Item& item) { return (item.bytes.n + kLine - 1) / kLine; }

}  // namespace

int main() {
  const Step step = test::resnet50(1, 1).step;
  std::int64_t all = 0;
  for (const Item& item : step.items) all += lines_of(item) * kLine;
  void* memory = mmap(nullptr, static_cast<std::size_t>(all), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  std::vector<char*> begins;
  char* next = static_cast<char*>(memory);
  for (const Item& item : step.items) {
    begins.push_back(next);
    next += lines_of(item) * kLine;
  }
  std::vector<Touched> items;
  for (const Sweep& one : step.sweeps) {
    items.clear();
    for (const Access& access : step.accesses_of(one))
      items.push_back(
          {begins[access.item], lines_of(step.items[access.item]), access.read, access.write});
    sweep(items);
  }
  return total < 0 ? 2 : 0;  // nothing that is read is below zero
}
