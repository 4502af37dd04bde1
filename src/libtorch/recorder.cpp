#include "libtorch/recorder.h"

#include <utility>

#include "pages/page_costs.h"
#include "trace/sink.h"
#include "trace/writer.h"
#include "weir/errors.h"

namespace weir::libtorch {

struct Recorder::File {
  File(const std::filesystem::path& path, const trace::TraceWriter::Header& header)
      : file{path}, compressed{file}, writer{compressed, header} {}

  trace::FileSink file;
  trace::ZstdSink compressed;
  trace::TraceWriter writer;
  std::vector<TensorId> inputs;
  std::vector<trace::Output> outputs;
  std::vector<TraceArgument> arguments;
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

void Recorder::start(const std::filesystem::path& path) {
  const std::lock_guard lock{mutex_};
  file_ = std::make_unique<File>(path,
                                 trace::TraceWriter::Header{.pages = pages::measure_page_costs()});
  failure_.clear();
  on_ = true;
}

void Recorder::start_without_costs(const std::filesystem::path& path) {
  const std::lock_guard lock{mutex_};
  file_ = std::make_unique<File>(
      path, trace::TraceWriter::Header{.producer = "weir, on meta tensors: no op was timed"});
  failure_.clear();
  on_ = true;
}

void Recorder::discard() {
  const std::lock_guard lock{mutex_};
  on_ = false;
  file_.reset();
}

void Recorder::finish() {
  const std::lock_guard lock{mutex_};
  if (on_.exchange(false)) {
    const std::unique_ptr<File> file = std::move(file_);
    file->writer.end();
  }
  if (!failure_.empty()) throw BadInput{std::exchange(failure_, {})};
}

template <typename Action>
void Recorder::write(Action&& action) {
  try {
    action();
  } catch (const BadInput& error) {
    failure_ = error.what();
    on_ = false;
    file_.reset();
  }
}

void Recorder::abandon() {
  const std::lock_guard lock{mutex_};
  on_ = false;
  static_cast<void>(file_.release());
}

// A block that the trace has not heard of came from outside.
void Recorder::number(Block& block) {
  if (block.numbered) return;
  block.number = index(file_->writer.constant(block.size));
  block.numbered = true;
}

void Recorder::op(const Op& op) {
  const std::lock_guard lock{mutex_};
  if (!on_) return;
  write([&] { put(op); });
}

void Recorder::put(const Op& op) {
  file_->inputs.clear();
  file_->outputs.clear();
  for (Block* input : op.inputs) {
    number(*input);
    file_->inputs.push_back(TensorId{input->number});
  }
  for (const Block* output : op.outputs) file_->outputs.push_back({.size = output->size});
  for (std::size_t i = 0; i < op.output_layouts.size(); ++i)
    file_->outputs[i].layout = op.output_layouts[i];
  file_->arguments.clear();
  for (const Argument& argument : op.arguments)
    file_->arguments.push_back({file_->writer.layout(argument.layout), argument.place});
  const TensorId first = file_->writer.op({.name = op.name,
                                           .phase = op.phase,
                                           .cost = op.cost,
                                           .recomputable = op.recomputable,
                                           .inputs = file_->inputs,
                                           .mutated = op.mutated,
                                           .outputs = file_->outputs,
                                           .scratch = op.scratch,
                                           .arguments = file_->arguments,
                                           .settings = op.settings});
  for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
    op.outputs[i]->number = index(first) + i;
    op.outputs[i]->numbered = true;
  }
}

void Recorder::release(Block& block) {
  const std::lock_guard lock{mutex_};
  if (!on_ || !block.numbered) return;
  write([&] { file_->writer.release(TensorId{block.number}); });
  block.numbered = false;
}

void Recorder::step() {
  const std::lock_guard lock{mutex_};
  if (on_) write([&] { file_->writer.step(); });
}

}  // namespace weir::libtorch
