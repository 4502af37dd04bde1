#include "cost/op_work.h"

#include <algorithm>
#include <utility>

#include "cost/element.h"
#include "cost/ops.h"

namespace weir::cost {
namespace {

// Gathers touches: the same bytes of a storage count once, other parts of it are added.
class Touches {
 public:
  Touches(const Trace& trace, OpWork& work) : trace_{trace}, work_{work} {}

  void add(StorageId storage, const Layout& layout, bool write, std::uint32_t passes = 1,
           Bytes most = kMostBytes) {
    const Bytes whole = trace_.storages[index(storage)].size;
    Bytes bytes = std::min(layout.dtype.empty() ? whole : bytes_of(layout), most);
    if (whole > Bytes{0}) bytes = std::min(bytes, whole);
    auto same = std::ranges::find_if(work_.touches, [&](const Touch& other) {
      return other.storage == storage && other.write == write;
    });
    const bool known = is_known(static_cast<std::size_t>(same - work_.touches.begin()), layout);
    if (same == work_.touches.end())
      return work_.touches.push_back({storage, bytes, write, passes});
    same->passes = std::max(same->passes, passes);
    if (known) return;
    same->bytes += bytes;
    if (whole > Bytes{0}) same->bytes = std::min(same->bytes, whole);
  }

 private:
  // Seen before with this start and size: the same view again.
  bool is_known(std::size_t place, const Layout& layout) {
    for (const Seen& seen : seen_)
      if (seen.place == place && seen.offset == layout.offset && seen.bytes == bytes_of(layout))
        return true;
    seen_.push_back({place, layout.offset, bytes_of(layout)});
    return false;
  }

  struct Seen {
    std::size_t place;
    std::int64_t offset;
    Bytes bytes;
  };

  const Trace& trace_;
  OpWork& work_;
  std::vector<Seen> seen_;
};

// What is not known of an op is taken from here.
constexpr Entry kUnknown{"", Kernel::Other};

class Counter {
 public:
  Counter(const Trace& trace, const TraceOp& op)
      : trace_{trace},
        op_{op},
        name_{trace.names[op.name]},
        known_{find_op(name_)},
        entry_{known_ != nullptr ? *known_ : kUnknown},
        tensors_{trace, op},
        touches_{trace, work_} {}

  OpWork count() {
    work_.kernel = entry_.kernel;
    work_.known = compute();
    if (!work_.known) work_.flops = 0, work_.gemms.clear();
    if (only_views()) return std::move(work_);
    if (op_.arguments > 0) {
      for (std::size_t i = 0; i < op_.arguments; ++i) read(i);
    } else {
      for (TensorId input : trace_.inputs_of(op_)) touches_.add(storage_of(input), {}, false);
    }
    write();
    if (entry_.arrange != nullptr && work_.known) entry_.arrange(tensors_, work_);
    return std::move(work_);
  }

 private:
  bool compute() {
    const bool told = op_.arguments > 0 || op_.inputs == 0;
    if (known_ == nullptr || !told) return false;
    if (entry_.count != nullptr) return entry_.count(tensors_, work_);
    work_.flops = times(tensors_.most_elements(), entry_.per_element);
    return true;
  }

  [[nodiscard]] bool only_views() const {
    return op_.mutated == 0 && op_.outputs > 0 &&
           std::ranges::none_of(trace_.outputs_of(op_),
                                [](const TraceTensor& out) { return out.alias_of == kFresh; });
  }

  [[nodiscard]] StorageId storage_of(TensorId tensor) const {
    return trace_.tensors[index(tensor)].storage;
  }

  static bool has_bit(std::uint32_t bits, std::size_t i) { return i < 32 && (bits >> i & 1) != 0; }

  void read(std::size_t i) {
    const std::int32_t place = tensors_.told(i).place;
    if (place < 0 || has_bit(entry_.unread, i)) return;
    const bool is_result = tensors_.mutates(place) && !name_.ends_with('_');  // out=
    if (is_result) return;
    const Layout layout = tensors_.argument(i);
    const bool large = tensors_.elements(i) == tensors_.most_elements();
    touches_.add(storage_of(trace_.inputs_of(op_)[static_cast<std::size_t>(place)]), layout, false,
                 large ? entry_.passes : 1, has_bit(entry_.gathered, i) ? others(i) : kMostBytes);
  }

  // As many elements as the largest of the other tensors has.
  [[nodiscard]] Bytes others(std::size_t i) const {
    std::int64_t most = 0;
    for (std::size_t k = 0; k < op_.arguments; ++k)
      if (k != i) most = std::max(most, tensors_.elements(k));
    for (std::size_t k = 0; k < op_.outputs; ++k)
      if (const Layout layout = tensors_.output(k); !layout.dtype.empty())
        most = std::max(most, elements_of(layout.shape));
    return {times(most, element_bytes(tensors_.argument(i).dtype))};
  }

  void write() {
    for (std::uint32_t place : trace_.mutated_by(op_))
      touches_.add(storage_of(trace_.inputs_of(op_)[place]), layout_at(place), true);
    if (!entry_.writes) return;
    for (const TraceTensor& out : trace_.outputs_of(op_))
      if (out.alias_of == kFresh) touches_.add(out.storage, trace_.layout_of(out), true);
  }

  [[nodiscard]] Layout layout_at(std::uint32_t place) const {
    for (std::size_t i = 0; i < op_.arguments; ++i)
      if (tensors_.told(i).place == static_cast<std::int32_t>(place)) return tensors_.argument(i);
    return {};
  }

  const Trace& trace_;
  const TraceOp& op_;
  const std::string_view name_;
  const Entry* known_;
  const Entry& entry_;
  OpTensors tensors_;
  OpWork work_;
  Touches touches_;
};

}  // namespace

OpWork work_of(const Trace& trace, const TraceOp& op) { return Counter{trace, op}.count(); }

}  // namespace weir::cost
