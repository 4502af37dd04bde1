#include <optional>

#include <fmt/format.h>

#include "trace/dtr_scan.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {

struct DtrLineReader::Fields {
  std::optional<std::string_view> instruction, name, to, from, annotation;
  std::optional<std::int64_t> memory, alias, time;
  bool has_args = false, has_results = false, has_positions = false;
};

namespace {

template <typename T>
T needed(const std::optional<T>& field, const char* key) {
  if (!field) throw BadInput(fmt::format("the instruction lacks {}; the log is damaged", key));
  return *field;
}

void need(bool has, const char* key) { needed(has ? std::optional(true) : std::nullopt, key); }

}  // namespace

void DtrLineReader::read(std::string_view line) {
  Fields fields;
  try {
    fields = gather(line);
  } catch (const simdjson::simdjson_error& error) {
    throw BadInput(fmt::format("{}: {}", explain(error.error()), quoted(line)));
  }
  tell(fields);
}

DtrLineReader::Fields DtrLineReader::gather(std::string_view line) {
  Fields fields;
  for (auto [key, value] : json_.parse(line)) {
    if (key == "INSTRUCTION") fields.instruction = value.get_string().value();
    if (key == "NAME") fields.name = value.get_string().value();
    if (key == "DST") fields.to = value.get_string().value();
    if (key == "SRC") fields.from = value.get_string().value();
    if (key == "ANNOTATION") fields.annotation = value.get_string().value();
    if (key == "MEMORY") fields.memory = number_in(value);
    if (key == "ALIAS") fields.alias = number_in(value);
    if (key == "TIME") fields.time = number_in(value);
    if (key == "ARGS") gather_slots(value, args_), fields.has_args = true;
    if (key == "RESULT") gather_slots(value, results_), fields.has_results = true;
    if (key == "MUTATE") gather_positions(value), fields.has_positions = true;
  }
  return fields;
}

void DtrLineReader::tell(const Fields& fields) {
  DtrNames& names = import_.names();
  auto slot = [&](const auto& field, const char* key) { return names.slot(needed(field, key)); };
  std::string_view what = needed(fields.instruction, "INSTRUCTION");
  if (what == "RELEASE") {
    import_.release(slot(fields.name, "NAME"));
  } else if (what == "MEMORY") {
    import_.memory(slot(fields.name, "NAME"), Bytes{needed(fields.memory, "MEMORY")});
  } else if (what == "ALIAS") {
    import_.alias(slot(fields.name, "NAME"), needed(fields.alias, "ALIAS"));
  } else if (what == "CONSTANT") {
    import_.constant(slot(fields.name, "NAME"));
  } else if (what == "COPY") {
    import_.copy(slot(fields.to, "DST"), slot(fields.from, "SRC"));
  } else if (what == "COPY_FROM") {
    import_.copy_from(slot(fields.to, "DST"), slot(fields.from, "SRC"));
  } else if (what == "ANNOTATE") {
    import_.annotate(needed(fields.annotation, "ANNOTATION"));
  } else {
    tell_call(fields);
  }
}

void DtrLineReader::tell_call(const Fields& fields) {
  bool mutates = *fields.instruction == "MUTATE";
  if (!mutates && *fields.instruction != "CALL")
    throw BadInput(fmt::format("instruction {} is not known; the log is damaged",
                               quoted(*fields.instruction)));
  need(fields.has_args, "ARGS");
  need(mutates ? fields.has_positions : fields.has_results, mutates ? "MUTATE" : "RESULT");
  Nanos cost{needed(fields.time, "TIME")};
  std::string_view op = needed(fields.name, "NAME");
  if (mutates) {
    import_.mutate(op, args_, positions_, cost);
  } else {
    import_.call(op, args_, results_, cost);
  }
}

void DtrLineReader::gather_slots(simdjson::dom::element list, std::vector<Slot>& slots) {
  slots.clear();
  for (auto name : list.get_array()) slots.push_back(import_.names().slot(name.get_string()));
}

void DtrLineReader::gather_positions(simdjson::dom::element list) {
  positions_.clear();
  for (auto position : list.get_array()) {
    std::int64_t n = number_in(position);
    if (n < 0 || n > UINT32_MAX)
      throw BadInput("MUTATE has an index out of range; count ARGS from 0");
    positions_.push_back(static_cast<std::uint32_t>(n));
  }
}

}  // namespace weir::trace
