#include "cost/naive_cache.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <unordered_map>
#include <vector>

namespace weir::cost::test {
namespace {

struct LineTouch {
  double when;  // share of the sweep
  std::uint32_t item;
  std::int64_t line;
  bool read, write;
};

// All items side by side, each at a speed in proportion to its size.
std::vector<LineTouch> touches_of(const Step& step, const Sweep& sweep, std::int64_t line_bytes) {
  std::vector<LineTouch> touches;
  for (const Access& access : step.accesses_of(sweep)) {
    const std::int64_t size = step.items[access.item].bytes.n;
    const std::int64_t lines = (size + line_bytes - 1) / line_bytes;
    for (std::int64_t i = 0; i < lines; ++i) {
      const double when = (static_cast<double>(i) + 0.5) / static_cast<double>(lines);
      touches.push_back(
          {sweep.backwards ? 1 - when : when, access.item, i, access.read, access.write});
    }
  }
  std::ranges::stable_sort(touches, {}, &LineTouch::when);
  return touches;
}

class NaiveCache {
 public:
  NaiveCache(std::int64_t capacity, std::int64_t line) : lines_{capacity / line}, line_{line} {}

  void touch(const LineTouch& touch, bool drop) {
    const auto key =
        static_cast<std::uint64_t>(touch.item) << 40 | static_cast<std::uint64_t>(touch.line);
    const auto found = where_.find(key);
    Line line{key, false};
    if (found != where_.end()) {
      line = *found->second;
      order_.erase(found->second);
      where_.erase(found);
    } else if (touch.read) {
      moved.read += line_;
    }
    line.dirty = (line.dirty || touch.write) && !drop;
    order_.push_front(line);
    where_[key] = order_.begin();
    if (static_cast<std::int64_t>(order_.size()) > lines_) evict();
  }

  void flush() {
    while (!order_.empty()) evict();
  }

  Moved moved;

 private:
  struct Line {
    std::uint64_t key;
    bool dirty;
  };

  void evict() {
    if (order_.back().dirty) moved.write += line_;
    where_.erase(order_.back().key);
    order_.pop_back();
  }

  std::int64_t lines_, line_;
  std::list<Line> order_;  // the one touched last is the first
  std::unordered_map<std::uint64_t, std::list<Line>::iterator> where_;
};

}  // namespace

Moved naive_cache(const Step& step, std::int64_t capacity, std::int64_t line) {
  std::vector<std::size_t> last_use(step.items.size(), 0);
  for (std::size_t i = 0; i < step.sweeps.size(); ++i)
    for (const Access& access : step.accesses_of(step.sweeps[i])) last_use[access.item] = i;
  NaiveCache cache{capacity, line};
  for (std::size_t i = 0; i < step.sweeps.size(); ++i)
    for (const LineTouch& touch : touches_of(step, step.sweeps[i], line))
      cache.touch(touch, last_use[touch.item] == i && !step.items[touch.item].lasts);
  cache.flush();
  return cache.moved;
}

}  // namespace weir::cost::test
