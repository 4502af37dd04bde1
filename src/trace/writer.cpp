#include "trace/writer.h"

#include <simdjson.h>

#include "trace/jsonl_fields.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::Forward:
      return "forward";
    case Phase::Backward:
      return "backward";
    case Phase::Optimizer:
      return "optimizer";
  }
  return "";
}

void write_op(const Trace& trace, const TraceOp& op, TraceWriter& writer) {
  std::vector<Output> outputs;
  for (const TraceTensor& tensor : trace.outputs_of(op))
    outputs.push_back({.size = trace.storages[index(tensor.storage)].size,
                       .view_of = tensor.alias_of,
                       .layout = trace.layout_of(tensor)});
  std::vector<TraceArgument> arguments;
  for (const TraceArgument& argument : trace.arguments_of(op))
    arguments.push_back(
        {writer.layout(trace.layout_of(trace.layouts[argument.layout])), argument.place});
  std::vector<Setting> settings;
  for (const TraceSetting& setting : trace.settings_of(op))
    settings.push_back({trace.names[setting.name], trace.values_of(setting)});
  writer.op({.name = trace.names[op.name],
             .phase = op.phase,
             .cost = op.cost,
             .recomputable = op.recomputable,
             .inputs = trace.inputs_of(op),
             .mutated = trace.mutated_by(op),
             .outputs = outputs,
             .scratch = op.scratch,
             .arguments = arguments,
             .settings = settings});
}

void write_constant(const Trace& trace, const TraceTensor& tensor, TraceWriter& writer) {
  writer.constant(trace.storages[index(tensor.storage)].size, trace.layout_of(tensor));
}

}  // namespace

TraceWriter::TraceWriter(Sink& sink, const Header& header) : sink_{sink} {
  put("{{\"{}\":{},\"views\":\"{}\"", kHeaderKey, kFormatVersion,
      header.views == ViewRule::Keep ? "keep" : "rerun");
  if (header.start != Nanos{0}) put(",\"start\":{}", header.start.n);
  if (header.pages != PageCosts{})
    put(",\"touch_ns_per_mib\":{},\"huge_touch_ns_per_mib\":{},\"move_ns\":{}",
        header.pages.touch.n, header.pages.huge_touch.n, header.pages.move.n);
  put(",\"producer\":");
  put_text(header.producer);
  end_line();
}

TensorId TraceWriter::constant(Bytes size, const Layout& layout) {
  std::uint32_t tensor = add_tensor(storages_);
  put("{{\"constant\":{},\"storage\":{},\"bytes\":{}", tensor, storages_++, size.n);
  put_layout(this->layout(layout));
  end_event();
  return TensorId{tensor};
}

std::uint32_t TraceWriter::layout(const Layout& layout) { return layouts_.find_or_add(layout); }

TensorId TraceWriter::op(const OpCall& call) {
  auto first = static_cast<std::uint32_t>(storage_of_.size());
  put("{{\"op\":");
  put_text(call.name);
  put(",\"phase\":\"{}\",\"ns\":{}", name_of(call.phase), call.cost.n);
  put_list(",\"in\":[", call.inputs, [](TensorId tensor) { return index(tensor); });
  if (!call.mutated.empty())
    put_list(",\"mutates\":[", call.mutated, [](std::uint32_t place) { return place; });
  put(",\"out\":[");
  for (const Output& output : call.outputs) put_output(output, call.inputs);
  put("]");
  if (call.scratch > Bytes{0}) put(",\"scratch\":{}", call.scratch.n);
  if (!call.recomputable) put(",\"recomputable\":false");
  if (!call.arguments.empty()) {
    put(",\"args\":[");
    for (const TraceArgument& argument : call.arguments) put_argument(argument);
    put("]");
  }
  put_settings(call.settings);
  end_event();
  return TensorId{first};
}

void TraceWriter::put_output(const Output& output, std::span<const TensorId> inputs) {
  bool is_view = output.view_of != kFresh;
  std::uint32_t storage = storages_;
  if (is_view) storage = storage_of_[index(inputs[static_cast<std::size_t>(output.view_of)])];
  if (line_[line_.size() - 1] != '[') put(",");
  put("{{\"tensor\":{},\"storage\":{}", add_tensor(storage), storage);
  if (is_view) put(",\"view_of\":{}", output.view_of);
  if (!is_view) put(",\"bytes\":{}", output.size.n);
  if (!is_view) ++storages_;
  put_layout(layout(output.layout));
  put("}}");
}

void TraceWriter::put_argument(const TraceArgument& argument) {
  if (line_[line_.size() - 1] != '[') put(",");
  if (argument == TraceArgument{}) return put("null");
  put("{{");
  if (argument.place != TraceArgument::kNotInput) put("\"in\":{}", argument.place);
  put_layout(argument.layout);
  put("}}");
}

void TraceWriter::put_settings(std::span<const Setting> settings) {
  if (settings.empty()) return;
  put(",\"settings\":{{");
  for (const Setting& setting : settings) {
    if (line_[line_.size() - 1] != '{') put(",");
    put_text(setting.name);
    put_list(":[", setting.values, [](std::int64_t number) { return number; });
  }
  put("}}");
}

void TraceWriter::retain(TensorId tensor) {
  put("{{\"retain\":{}", index(tensor));
  end_event();
}

void TraceWriter::release(TensorId tensor) {
  put("{{\"release\":{}", index(tensor));
  end_event();
}

void TraceWriter::keep(TensorId tensor) {
  put("{{\"keep\":{}", index(tensor));
  end_event();
}

void TraceWriter::step() {
  put("{{\"step\":{}", ++steps_);
  end_event();
}

void TraceWriter::end() {
  put("{{\"end\":true,\"events\":{}", events_);
  end_line();
  sink_.finish();
}

template <typename List, typename Name>
void TraceWriter::put_list(std::string_view key, const List& list, Name name) {
  put("{}", key);
  std::string_view comma;
  for (auto item : list) {
    put("{}{}", comma, name(item));
    comma = ",";
  }
  put("]");
}

void TraceWriter::put_text(std::string_view text) {
  if (!simdjson::validate_utf8(text.data(), text.size()))
    throw BadInput(fmt::format("the name {} is not UTF-8; give it another one", quoted(text)));
  put("\"");
  for (char c : text) {
    if (c == '"' || c == '\\') put("\\");
    if (static_cast<unsigned char>(c) < 0x20) {
      put("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      line_.push_back(c);
    }
  }
  put("\"");
}

void TraceWriter::put_layout(std::uint32_t number) {
  if (number == 0) return;
  put("{}\"layout\":{}", line_[line_.size() - 1] == '{' ? "" : ",", number - 1);
  if (told_.size() < layouts_.size()) told_.resize(layouts_.size());
  if (told_[number]) return;
  told_[number] = true;
  const Layout layout = layouts_[number];
  auto same = [](std::int64_t value) { return value; };
  put(",\"dtype\":");
  put_text(layout.dtype);
  put_list(",\"shape\":[", layout.shape, same);
  put_list(",\"strides\":[", layout.strides, same);
  put(",\"offset\":{}", layout.offset);
}

void TraceWriter::end_line() {
  put("}}\n");
  sink_.write({line_.data(), line_.size()});
  line_.clear();
}

void TraceWriter::end_event() {
  ++events_;
  end_line();
}

std::uint32_t TraceWriter::add_tensor(std::uint32_t storage) {
  storage_of_.push_back(storage);
  return static_cast<std::uint32_t>(storage_of_.size() - 1);
}

void write_trace(const Trace& trace, Sink& sink) {
  TraceWriter writer{sink, {.views = trace.views, .start = trace.start, .pages = trace.pages}};
  for (const TraceEvent& event : trace.events) {
    switch (event.kind) {
      case EventKind::Constant:
        write_constant(trace, trace.tensors[event.item], writer);
        break;
      case EventKind::Op:
        write_op(trace, trace.ops[event.item], writer);
        break;
      case EventKind::Retain:
        writer.retain(TensorId{event.item});
        break;
      case EventKind::Release:
        writer.release(TensorId{event.item});
        break;
      case EventKind::Keep:
        writer.keep(TensorId{event.item});
        break;
      case EventKind::Step:
        writer.step();
        break;
    }
  }
  writer.end();
}

void write_trace(const Trace& trace, const std::filesystem::path& path, Compression compression) {
  FileSink file{path};
  if (compression == Compression::None) return write_trace(trace, file);
  ZstdSink zstd{file};
  write_trace(trace, zstd);
}

}  // namespace weir::trace
