#include "cost/what_if.h"

#include <algorithm>
#include <map>
#include <span>

namespace weir::cost {

Step alternating(Step step) {
  for (std::size_t i = 1; i < step.sweeps.size(); i += 2) step.sweeps[i].backwards = true;
  return step;
}

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

class Fusion {
 public:
  explicit Fusion(const Step& step) : step_{step}, last_(step.items.size(), 0) {
    for (std::uint32_t i = 0; i < step.sweeps.size(); ++i)
      for (const Access& access : step.accesses_of(step.sweeps[i])) last_[access.item] = i;
  }

  Step run() && {
    made_.items = step_.items;
    for (std::uint32_t i = 0; i < step_.sweeps.size(); ++i) {
      const bool whole_op =
          (i == 0 || step_.sweeps[i - 1].op != step_.sweeps[i].op) &&
          (i + 1 == step_.sweeps.size() || step_.sweeps[i + 1].op != step_.sweeps[i].op);
      const std::uint32_t into = whole_op ? maker_of(step_.sweeps[i]) : kNone;
      if (into != kNone)
        join(into, i);
      else
        append(step_.sweeps[i]);
    }
    return std::move(made_);
  }

 private:
  // The sweep of the last op in the making that makes what an elementwise one reads.
  [[nodiscard]] std::uint32_t maker_of(const Sweep& sweep) const {
    const StepOp& op = step_.ops[sweep.op];
    if (made_.sweeps.empty() || op.kernel != Kernel::Elementwise ||
        made_.ops.back().phase != op.phase)
      return kNone;
    for (std::size_t i = made_.sweeps.size(); i-- > 0 && made_.sweeps[i].op == last_op();)
      if (makes(made_.sweeps[i], sweep)) return static_cast<std::uint32_t>(i);
    return kNone;
  }

  [[nodiscard]] std::uint32_t last_op() const {
    return static_cast<std::uint32_t>(made_.ops.size() - 1);
  }

  [[nodiscard]] bool makes(const Sweep& maker, const Sweep& sweep) const {
    return std::ranges::any_of(step_.accesses_of(sweep), [&](const Access& access) {
      return access.read && std::ranges::any_of(made_.accesses_of(maker), [&](const Access& made) {
               return made.item == access.item && made.write;
             });
    });
  }

  void append(const Sweep& sweep) {
    if (sweep.op != op_) made_.ops.push_back(step_.ops[sweep.op]);
    op_ = sweep.op;
    const auto first = static_cast<std::uint32_t>(made_.accesses.size());
    for (const Access& access : step_.accesses_of(sweep)) made_.accesses.push_back(access);
    made_.sweeps.push_back({last_op(), first, sweep.count, sweep.backwards});
  }

  void join(std::uint32_t into, std::uint32_t number) {
    const auto begin = made_.accesses.begin() + made_.sweeps[into].first;
    std::vector<Access> joint(begin, begin + made_.sweeps[into].count);
    for (const Access& access : step_.accesses_of(step_.sweeps[number])) {
      const auto found = std::ranges::find(joint, access.item, &Access::item);
      if (found == joint.end())
        joint.push_back(access);
      else if (access.write)
        found->write = true;
    }
    std::erase_if(joint, [&](const Access& access) {
      return access.write && !access.read && last_[access.item] <= number &&
             !step_.items[access.item].lasts;
    });
    replace(into, joint);
    made_.ops.back().flops += step_.ops[step_.sweeps[number].op].flops;
    op_ = kNone;
  }

  void replace(std::uint32_t number, const std::vector<Access>& accesses) {
    Sweep& sweep = made_.sweeps[number];
    const auto begin = made_.accesses.begin() + sweep.first;
    made_.accesses.insert(made_.accesses.erase(begin, begin + sweep.count), accesses.begin(),
                          accesses.end());
    sweep.count = static_cast<std::uint32_t>(accesses.size());
    for (std::size_t i = number + 1; i < made_.sweeps.size(); ++i)
      made_.sweeps[i].first = made_.sweeps[i - 1].first + made_.sweeps[i - 1].count;
  }

  const Step& step_;
  Step made_;
  std::vector<std::uint32_t> last_;  // the sweep that touches the item last
  std::uint32_t op_ = kNone;         // of the step, that the last one in the making is
};

// The sweeps of forward and backward for each part, then those of the optimizer.
class Parts {
 public:
  Parts(const Step& step, const std::vector<bool>& batched, std::uint32_t parts)
      : step_{step},
        batched_{batched},
        parts_{parts},
        split_(step.ops.size(), false),
        first_(step.items.size()),
        summed_(step.items.size(), false) {
    for (const Sweep& sweep : step.sweeps)
      for (const Access& access : step.accesses_of(sweep))
        if (batched[access.item] && step.ops[sweep.op].phase != Phase::Optimizer)
          split_[sweep.op] = true;
    for (std::size_t i = 0; i < step.items.size(); ++i) {
      first_[i] = static_cast<std::uint32_t>(made_.items.size());
      Item item = step.items[i];
      if (batched[i]) item.bytes.n /= parts;
      made_.items.insert(made_.items.end(), batched[i] ? parts : 1, item);
    }
  }

  Step run() && {
    for (std::uint32_t part = 0; part < parts_; ++part)
      for (const Sweep& sweep : step_.sweeps)
        if (runs(sweep.op, part)) add(sweep, part, split_[sweep.op]);
    return std::move(made_);
  }

 private:
  // What has nothing of the batch runs once: in forward with the first part, else with the last.
  [[nodiscard]] bool runs(std::uint32_t op, std::uint32_t part) const {
    if (split_[op]) return true;
    return step_.ops[op].phase == Phase::Forward ? part == 0 : part + 1 == parts_;
  }

  void add(const Sweep& sweep, std::uint32_t part, bool is_split) {
    if (made_.sweeps.empty() || op_ != sweep.op || part_ != part) {
      made_.ops.push_back(step_.ops[sweep.op]);
      if (is_split) divide(made_.ops.back());
    }
    op_ = sweep.op;
    part_ = part;
    const auto first = static_cast<std::uint32_t>(made_.accesses.size());
    for (Access access : step_.accesses_of(sweep)) {
      const std::uint32_t item = access.item;
      if (is_split && access.write && !batched_[item]) {
        access.read = access.read || summed_[item];
        summed_[item] = true;
      }
      if (batched_[item] && !is_split) {
        for (std::uint32_t i = 0; i < parts_; ++i)
          made_.accesses.push_back({first_[item] + i, access.read, access.write});
        continue;
      }
      access.item = first_[item] + (batched_[item] ? part : 0);
      made_.accesses.push_back(access);
    }
    const auto count = static_cast<std::uint32_t>(made_.accesses.size()) - first;
    made_.sweeps.push_back(
        {static_cast<std::uint32_t>(made_.ops.size() - 1), first, count, sweep.backwards});
  }

  // The longest side of a product is the one that has the batch, if the batch is not counted apart.
  void divide(StepOp& op) const {
    op.flops /= parts_;
    op.fresh.n /= parts_;
    for (Gemm& gemm : op.gemms) {
      std::int64_t& longer = gemm.m > gemm.n ? gemm.m : gemm.n;
      std::int64_t& longest = gemm.k > longer ? gemm.k : longer;
      std::int64_t& side = gemm.batch % parts_ == 0 ? gemm.batch : longest;
      side = std::max<std::int64_t>(1, side / parts_);
    }
  }

  const Step& step_;
  const std::vector<bool>& batched_;
  std::uint32_t parts_;
  std::vector<bool> split_;           // ops that run for each part
  std::vector<std::uint32_t> first_;  // of each item, its first part
  std::vector<bool> summed_;          // a gradient that has been written
  Step made_;
  std::uint32_t op_ = 0, part_ = 0;  // the last ones
};

}  // namespace

Batch batch_of(const Trace& trace, const Step& step) {
  std::vector<bool> optimized(trace.storages.size(), false), written = optimized;
  for (const Sweep& sweep : step.sweeps)
    for (const Access& access : step.accesses_of(sweep)) {
      const std::uint32_t storage = index(step.items[access.item].storage);
      if (step.ops[sweep.op].phase == Phase::Optimizer) optimized[storage] = true;
      if (access.write) written[storage] = true;
    }
  // The first dimensions of the tensors of each storage.
  std::vector<std::vector<std::int64_t>> firsts(trace.storages.size());
  for (const TraceTensor& tensor : trace.tensors)
    if (tensor.rank > 0) firsts[index(tensor.storage)].push_back(trace.geometry[tensor.geometry]);
  std::map<std::int64_t, std::int64_t> bytes;
  for (const Item& item : step.items)
    if (const auto& all = firsts[index(item.storage)];
        !all.empty() && !item.lasts && !optimized[index(item.storage)])
      bytes[all.front()] += item.bytes.n;
  Batch batch{.size = 0, .batched = std::vector<bool>(step.items.size(), false)};
  std::int64_t most = 0;
  for (const auto& [first, amount] : bytes)
    if (first > 1 && amount > most) {
      most = amount;
      batch.size = first;
    }
  if (batch.size == 0) return batch;
  for (std::size_t i = 0; i < step.items.size(); ++i) {
    const Item& item = step.items[i];
    const std::uint32_t storage = index(item.storage);
    if (optimized[storage] || (item.lasts && written[storage])) continue;
    batch.batched[i] = std::ranges::any_of(firsts[storage], [&](std::int64_t first) {
      return first == batch.size || (!item.lasts && first > 0 && first % batch.size == 0);
    });
  }
  return batch;
}

Step fused(const Step& step) { return Fusion{step}.run(); }

Step in_parts(const Step& step, const std::vector<bool>& batched, std::uint32_t parts) {
  return Parts{step, batched, parts}.run();
}

}  // namespace weir::cost
