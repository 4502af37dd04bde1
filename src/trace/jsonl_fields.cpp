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

std::uint32_t LayoutReader::read(JsonObject object) {
  if (!has(object, "dtype")) return named(object);
  numbers_.clear();
  for_each(object, "shape", [&](auto size) { numbers_.push_back(size.get_int64()); });
  const std::size_t rank = numbers_.size();
  add_strides(object, rank);
  const std::span<const std::int64_t> numbers{numbers_};
  const std::uint32_t layout =
      layouts_.find_or_add({.dtype = text(object, "dtype"),
                            .shape = numbers.first(rank),
                            .strides = numbers.subspan(rank),
                            .offset = whole_number_or(object, "offset", 0)});
  if (!has(object, "layout")) return layout;
  const std::int64_t name = whole_number(object, "layout");
  if (!by_name_.emplace(name, layout).second)
    throw BadInput(fmt::format("layout {} exists already; name it without a dtype", name));
  return layout;
}

std::uint32_t LayoutReader::named(JsonObject object) {
  if (has(object, "shape")) throw BadInput("a \"shape\" needs a \"dtype\"; give both or none");
  if (!has(object, "layout")) return 0;
  const std::int64_t name = whole_number(object, "layout");
  const auto known = by_name_.find(name);
  if (known == by_name_.end())
    throw BadInput(fmt::format("layout {} does not exist; tell it where it first occurs", name));
  return known->second;
}

void LayoutReader::add_strides(JsonObject object, std::size_t rank) {
  for_each(object, "strides", [&](auto stride) { numbers_.push_back(stride.get_int64()); });
  if (has(object, "strides")) {
    if (numbers_.size() != 2 * rank)
      throw BadInput("\"strides\" and \"shape\" differ in length; give one stride per dimension");
    return;
  }
  numbers_.resize(2 * rank);
  std::int64_t stride = 1;  // not said: contiguous
  for (std::size_t i = rank; i-- > 0;) {
    numbers_[rank + i] = stride;
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(numbers_[i], 1), &stride))
      throw BadInput("\"shape\" has more elements than 64 bits can count");
  }
}

Layout LayoutReader::layout(std::uint32_t number) const { return layouts_[number]; }

}  // namespace weir::trace
