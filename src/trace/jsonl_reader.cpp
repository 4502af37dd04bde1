#include "trace/jsonl_reader.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/builder.h"
#include "trace/json_line.h"
#include "trace/jsonl_fields.h"
#include "trace/lines.h"
#include "trace/message.h"
#include "trace/number_map.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::string_view kCutOff =
    "the trace is cut off: its last line is not {\"end\":true,...}; `weir trace convert --repair` "
    "writes the readable part";

struct Header {
  ViewRule views;
  Nanos start;
  PageCosts pages;
};

ViewRule views_of(JsonObject header) {
  std::string_view views = text(header, "views");
  if (views == "keep") return ViewRule::Keep;
  if (views == "rerun") return ViewRule::Rerun;
  throw BadInput(fmt::format("\"views\" is {}; give \"keep\" or \"rerun\"", quoted(views)));
}

Header header_in(std::string_view line) {
  JsonLine json;
  JsonObject object = json.parse(line);
  std::int64_t version = whole_number(object, kHeaderKey);
  if (version != kFormatVersion)
    throw BadInput(
        fmt::format("the trace has format version {}, this program reads version {}; "
                    "use a newer one",
                    version, kFormatVersion));
  return {views_of(object),
          Nanos{whole_number_or(object, "start", 0)},
          {.touch = {whole_number_or(object, "touch_ns_per_mib", 0)},
           .huge_touch = {whole_number_or(object, "huge_touch_ns_per_mib", 0)},
           .move = {whole_number_or(object, "move_ns", 0)}}};
}

class EventReader {
 public:
  EventReader(const Header& header, std::string_view source, std::size_t text_bytes)
      : builder_{header.views, std::string(source), header.start},
        tensors_{text_bytes / 8 + 64},
        storages_{text_bytes / 8 + 64} {
    builder_.pages(header.pages);
  }

  void read(std::string_view line);
  [[nodiscard]] bool ended() const { return ended_; }
  Trace finish(std::size_t lines) { return std::move(builder_).finish(lines); }

 private:
  void read_constant(JsonObject event);
  void read_op(JsonObject event);
  void read_output(JsonObject output);
  void read_argument(simdjson::dom::element argument);
  void read_settings(JsonObject event);
  void read_end(JsonObject event);
  TensorId known_tensor(std::int64_t id) const;
  void add_tensor(std::int64_t id, std::size_t place);
  void add_storage(std::int64_t id, std::size_t place);
  void check_storage_of_view(JsonObject output, std::int32_t view_of) const;

  TraceBuilder builder_;
  NumberMap tensors_, storages_;  // from the file's ids to ours
  JsonLine json_;
  bool ended_ = false;

  // Of the op being read:
  std::vector<TensorId> inputs_;
  std::vector<std::uint32_t> mutated_;
  std::vector<Output> outputs_;
  std::vector<std::uint32_t> output_layouts_;
  std::vector<TraceArgument> arguments_;
  std::vector<std::int64_t> numbers_;  // of all settings
  std::vector<Setting> settings_;
  std::size_t fresh_outputs_ = 0;

  LayoutReader layouts_;
};

void EventReader::read(std::string_view line) {
  if (ended_) throw BadInput("text follows the end of the trace; remove it");
  JsonObject event = json_.parse(line);
  if (event.begin() == event.end()) throw BadInput("an event has no keys");
  std::string_view kind = event.begin().key();
  if (kind == "op") return read_op(event);
  if (kind == "release") return builder_.release(known_tensor(whole_number(event, kind)));
  if (kind == "retain") return builder_.retain(known_tensor(whole_number(event, kind)));
  if (kind == "keep") return builder_.keep(known_tensor(whole_number(event, kind)));
  if (kind == "constant") return read_constant(event);
  if (kind == "step") return builder_.step();
  if (kind == "end") return read_end(event);
  throw BadInput(
      fmt::format("{} is no event; the first key must be op, constant, retain, release, "
                  "keep, step or end",
                  quoted(kind)));
}

void EventReader::read_constant(JsonObject event) {
  add_tensor(whole_number(event, "constant"), builder_.tensors());
  add_storage(whole_number(event, "storage"), builder_.storages());
  const std::uint32_t layout = layouts_.read(event);
  builder_.constant(Bytes{whole_number(event, "bytes")}, layouts_.layout(layout));
}

void EventReader::read_op(JsonObject event) {
  inputs_.clear(), mutated_.clear(), outputs_.clear(), output_layouts_.clear();
  arguments_.clear();
  fresh_outputs_ = 0;
  for_each(event, "in", [&](auto id) { inputs_.push_back(known_tensor(id.get_int64())); });
  for_each(event, "mutates", [&](auto place) { mutated_.push_back(position(place)); });
  for_each(event, "out", [&](auto output) { read_output(output.get_object()); });
  for_each(event, "args", [&](auto argument) { read_argument(argument); });
  read_settings(event);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    outputs_[i].layout = layouts_.layout(output_layouts_[i]);
  builder_.op({.name = text(event, "op"),
               .phase = phase(event),
               .cost = Nanos{whole_number(event, "ns")},
               .recomputable = truth(event, "recomputable", true),
               .inputs = inputs_,
               .mutated = mutated_,
               .outputs = outputs_,
               .scratch = Bytes{whole_number_or(event, "scratch", 0)},
               .arguments = arguments_,
               .settings = settings_});
}

void EventReader::read_argument(simdjson::dom::element argument) {
  TraceArgument& read = arguments_.emplace_back();
  if (argument.is_null()) return;
  const JsonObject object = argument.get_object();
  if (simdjson::dom::element place; object["in"].get(place) == simdjson::SUCCESS)
    read.place = static_cast<std::int32_t>(position(place));
  read.layout = builder_.layout(layouts_.layout(layouts_.read(object)));
}

void EventReader::read_settings(JsonObject event) {
  numbers_.clear(), settings_.clear();
  simdjson::dom::element all;
  if (event["settings"].get(all) != simdjson::SUCCESS) return;
  const JsonObject settings = all.get_object();
  std::vector<std::size_t> lengths;
  for (auto [name, values] : settings) {
    for (simdjson::dom::element value : values.get_array()) numbers_.push_back(value.get_int64());
    settings_.push_back({.name = name});
    lengths.push_back(numbers_.size());
  }
  std::size_t first = 0;
  for (std::size_t i = 0; i < lengths.size(); first = lengths[i++])
    settings_[i].values = std::span(numbers_).subspan(first, lengths[i] - first);
}

void EventReader::read_output(JsonObject output) {
  add_tensor(whole_number(output, "tensor"), builder_.tensors() + outputs_.size());
  output_layouts_.push_back(layouts_.read(output));
  if (simdjson::dom::element place; output["view_of"].get(place) == simdjson::SUCCESS) {
    std::uint32_t view_of = position(place);
    outputs_.push_back({.view_of = static_cast<std::int32_t>(view_of)});
    return check_storage_of_view(output, outputs_.back().view_of);
  }
  add_storage(whole_number(output, "storage"), builder_.storages() + fresh_outputs_++);
  outputs_.push_back({.size = Bytes{whole_number(output, "bytes")}});
}

void EventReader::read_end(JsonObject event) {
  auto events = static_cast<std::int64_t>(builder_.events());
  if (std::int64_t told = whole_number(event, "events"); told != events)
    throw BadInput(
        fmt::format("the trace says that it has {} events, but {} are here; some lines "
                    "are lost",
                    told, events));
  ended_ = true;
}

TensorId EventReader::known_tensor(std::int64_t id) const {
  std::uint32_t place = tensors_.find(static_cast<std::uint64_t>(id));
  if (place == NumberMap::kNone)
    throw BadInput(fmt::format("tensor {} does not exist; define it before its use", id));
  return TensorId{place};
}

void EventReader::add_tensor(std::int64_t id, std::size_t place) {
  if (id < 0) throw BadInput("the number of a tensor cannot be negative");
  if (tensors_.find(static_cast<std::uint64_t>(id)) != NumberMap::kNone)
    throw BadInput(fmt::format("tensor {} exists already; give it a new number", id));
  tensors_.set(static_cast<std::uint64_t>(id), static_cast<std::uint32_t>(place));
}

void EventReader::add_storage(std::int64_t id, std::size_t place) {
  if (id < 0) throw BadInput("the number of a storage cannot be negative");
  if (storages_.find(static_cast<std::uint64_t>(id)) != NumberMap::kNone)
    throw BadInput(
        fmt::format("storage {} exists already; a second tensor on it needs \"view_of\"", id));
  storages_.set(static_cast<std::uint64_t>(id), static_cast<std::uint32_t>(place));
}

void EventReader::check_storage_of_view(JsonObject output, std::int32_t view_of) const {
  simdjson::dom::element told;
  if (output["storage"].get(told) != simdjson::SUCCESS) return;     // it need not be said
  if (static_cast<std::size_t>(view_of) >= inputs_.size()) return;  // the builder will complain
  StorageId storage = builder_.storage_of(inputs_[static_cast<std::size_t>(view_of)]);
  std::int64_t id = told.get_int64();
  if (storages_.find(static_cast<std::uint64_t>(id)) != index(storage))
    throw BadInput(
        fmt::format("storage {} is not that of the viewed tensor; a view shares its storage", id));
}

class Reading {
 public:
  Reading(std::string_view all, std::string_view source)
      : rest_{all}, source_{source}, ends_with_newline_{all.ends_with('\n')} {}

  Readable run() {
    try {
      std::size_t bytes = rest_.size();
      std::string_view header = next_line();
      while (header.empty()) header = next_line();  // the text is not blank
      events_.emplace(header_in(header), source_, bytes);
      while (!rest_.empty()) read_line();
      if (!events_->ended()) return readable_part(kCutOff);
      return {events_->finish(line_), ""};
    } catch (const BadInput& error) {
      return readable_part(error.what());
    } catch (const simdjson::simdjson_error& error) {
      return readable_part(explain(error.error()));
    }
  }

 private:
  Readable readable_part(std::string_view mistake) {
    bool cut_off = rest_.empty() && !ends_with_newline_;
    std::string error = located(source_, line_, cut_off ? kCutOff : mistake);
    if (!events_) throw BadInput(error);
    return {events_->finish(line_), std::move(error)};
  }

  std::string_view next_line() {
    ++line_;
    std::size_t next = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
    std::string_view line = trimmed(rest_.substr(0, next));
    rest_.remove_prefix(next);
    return line;
  }

  void read_line() {
    std::string_view line = next_line();
    if (!line.empty()) events_->read(line);
  }

  std::string_view rest_, source_;
  bool ends_with_newline_;
  std::size_t line_ = 0;
  std::optional<EventReader> events_;
};

}  // namespace

Readable read_jsonl(std::string_view text, std::string_view source) {
  return Reading(text, source).run();
}

}  // namespace weir::trace
