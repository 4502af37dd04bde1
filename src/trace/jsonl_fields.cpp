#include "trace/jsonl_fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

template <typename T>
T field(JsonObject object, std::string_view key, const char* type) {
  simdjson::dom::element value;
  T result;
  if (object[key].get(value) != simdjson::SUCCESS)
    throw BadInput(fmt::format("\"{}\" is missing; it must be {}", key, type));
  if (value.get(result) != simdjson::SUCCESS)
    throw BadInput(fmt::format("\"{}\" must be {}", key, type));
  return result;
}

bool has(JsonObject object, std::string_view key) {
  return object[key].error() == simdjson::SUCCESS;
}

}  // namespace

std::int64_t whole_number(JsonObject object, std::string_view key) {
  return field<std::int64_t>(object, key, "a whole number of 64 bits");
}

std::int64_t whole_number_or(JsonObject object, std::string_view key, std::int64_t otherwise) {
  return has(object, key) ? whole_number(object, key) : otherwise;
}

std::string_view text(JsonObject object, std::string_view key) {
  return field<std::string_view>(object, key, "a string");
}

bool truth(JsonObject object, std::string_view key, bool otherwise) {
  return has(object, key) ? field<bool>(object, key, "true or false") : otherwise;
}

Phase phase(JsonObject op) {
  if (!has(op, "phase")) return Phase::Forward;
  std::string_view name = text(op, "phase");
  if (name == "forward") return Phase::Forward;
  if (name == "backward") return Phase::Backward;
  if (name == "optimizer") return Phase::Optimizer;
  throw BadInput(fmt::format("\"phase\" is {}; give \"forward\", \"backward\" or \"optimizer\"",
                             quoted(name)));
}

std::uint32_t position(simdjson::dom::element value) {
  std::int64_t number = -1;
  if (value.get(number) != simdjson::SUCCESS || number < 0 || number > INT32_MAX)
    throw BadInput("\"view_of\" and \"mutates\" must be places in \"in\", counted from 0");
  return static_cast<std::uint32_t>(number);
}

void LayoutReader::clear() {
  parts_.clear();
  numbers_.clear();
}

void LayoutReader::read(JsonObject output) {
  Part part{.dtype = {}, .first = numbers_.size(), .rank = 0, .offset = 0};
  if (has(output, "dtype")) {
    part.dtype = text(output, "dtype");
    for_each(output, "shape", [&](auto size) { numbers_.push_back(size.get_int64()); });
    part.rank = numbers_.size() - part.first;
    add_strides(output, part.first, part.rank);
    part.offset = whole_number_or(output, "offset", 0);
  } else if (has(output, "shape")) {
    throw BadInput("a \"shape\" needs a \"dtype\"; give both or none");
  }
  parts_.push_back(part);
}

void LayoutReader::add_strides(JsonObject output, std::size_t first, std::size_t rank) {
  for_each(output, "strides", [&](auto stride) { numbers_.push_back(stride.get_int64()); });
  std::size_t strides = numbers_.size() - first - rank;
  if (has(output, "strides") && strides != rank)
    throw BadInput("\"strides\" and \"shape\" differ in length; give one stride per dimension");
  if (has(output, "strides")) return;
  numbers_.resize(first + 2 * rank);
  std::int64_t stride = 1;  // not said: contiguous
  for (std::size_t i = rank; i-- > 0;) {
    numbers_[first + rank + i] = stride;
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(numbers_[first + i], 1), &stride))
      throw BadInput("\"shape\" has more elements than 64 bits can count");
  }
}

Layout LayoutReader::layout(std::size_t output) const {
  const Part& part = parts_[output];
  std::span<const std::int64_t> numbers{numbers_};
  return {.dtype = part.dtype,
          .shape = numbers.subspan(part.first, part.rank),
          .strides = numbers.subspan(part.first + part.rank, part.rank),
          .offset = part.offset};
}

}  // namespace weir::trace
