// The operators through which Python, and whoever else loads the library, controls it.
#include <ATen/core/Tensor.h>
#include <torch/library.h>
#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "libtorch/key.h"
#include "libtorch/meta.h"
#include "libtorch/report.h"
#include "libtorch/start.h"
#include "weir/errors.h"

namespace weir::libtorch {

namespace {

using nlohmann::json;

template <typename Action>
auto reported(Action&& action) {
  try {
    return action();
  } catch (const BadInput& error) {
    TORCH_CHECK(false, error.what());
  } catch (const TierError& error) {
    TORCH_CHECK(false, error.what());
  }
}

void start(std::string options) {
  reported([&] { begin(read_options(options)); });
}

void stop() { Runtime::get().stop(); }

std::int64_t reclaim(std::int64_t size) {
  return Runtime::get().reclaim(size < 0 ? kMostBytes : Bytes{size}).n;
}

Block* block_of(const at::Tensor& tensor) {
  if (!tensor.has_storage() || tensor.storage().nbytes() <= kTiny) return nullptr;
  return Runtime::get().block_of(*tensor.storage().unsafeGetStorageImpl());
}

void pin(const at::Tensor& tensor, bool on) {
  if (Block* block = block_of(tensor)) Runtime::get().hold(*block, on);
}

void reading(bool on) {
  ThreadState& thread = this_thread();
  thread.reading += on ? 1 : -1;
  if (thread.reading == 0) thread.read_pins.clear();
}

void record(std::string path) {
  reported([&] {
    Runtime::get().recorder().finish();
    if (path.empty()) return;
    if (!Runtime::get().active()) begin({.budget = {kMostBytes.n / 4}, .tier = "none"});
    Runtime::get().recorder().start(path);
  });
}

void record_meta(std::string path) {
  reported([&] {
    Runtime::get().recorder().finish();
    if (!path.empty()) start_meta(path);
  });
}

void note(std::string name, std::string overload, c10::List<std::optional<at::Tensor>> tensors,
          c10::List<std::int64_t> places, c10::List<at::Tensor> results,
          c10::List<std::string> names, c10::List<std::int64_t> lengths,
          c10::List<std::int64_t> values) {
  note_meta({std::move(name), std::move(overload), std::move(tensors), std::move(places),
             std::move(results), std::move(names), std::move(lengths), std::move(values)});
}

std::string version() { return json{{"weir", WEIR_VERSION}, {"torch", TORCH_VERSION}}.dump(); }

}  // namespace

TORCH_LIBRARY(weir, library) {
  library.def("start(str options) -> ()", start);
  library.def("stop() -> ()", stop);
  library.def("enable(bool on) -> bool", interpose);
  library.def("step() -> ()", [] { Runtime::get().step(); });
  library.def("stats() -> str", [] { return json_of(Runtime::get().stats()); });
  library.def("pin(Tensor t, bool on) -> ()", pin);
  library.def("reclaim(int bytes) -> int", reclaim);
  library.def("reading(bool on) -> ()", reading);
  library.def("record(str path) -> ()", record);
  library.def("record_meta(str path) -> ()", record_meta);
  library.def("discard_meta() -> ()", discard_meta);
  library.def("step_meta() -> ()", step_meta);
  library.def("kind(str name, str overload) -> int",
              [](std::string name, std::string overload) { return kind_of_op(name, overload); });
  library.def(
      "note(str name, str overload, Tensor?[] tensors, int[] places, Tensor[] results, "
      "str[] names, int[] lengths, int[] values) -> ()",
      note);
  library.def("version() -> str", version);
}

}  // namespace weir::libtorch
