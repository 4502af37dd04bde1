#include "trace/dtr_scan.h"

#include <cstring>

namespace weir::trace {
namespace {

template <std::size_t N>
bool take(const char*& at, const char (&literal)[N]) {
  static_assert(N - 1 <= DtrScanner::kReadsBeyond);
  if (std::memcmp(at, literal, N - 1) != 0) return false;
  at += N - 1;
  return true;
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Up to 18 digits, so that it cannot overflow; without the leading zeros that make another name.
bool take_number(const char*& at, std::uint64_t& number) {
  const char* first = at;
  std::uint64_t n = 0;
  while (is_digit(*at) && at - first < 19) n = n * 10 + static_cast<unsigned char>(*at++ - '0');
  number = n;
  return at != first && at - first < 19 && (*first != '0' || at - first == 1);
}

bool take_number(const char*& at, std::int64_t& number) {
  std::uint64_t n = 0;
  if (!take_number(at, n)) return false;
  number = static_cast<std::int64_t>(n);
  return true;
}

// The text up to the closing quote, if it needs no unescaping and no check for UTF-8.
bool take_text(const char*& at, std::string_view& text) {
  const char* first = at;
  while (*at != '"' && *at != '\\' && *at >= 0x20 && *at < 0x7f) ++at;
  text = {first, static_cast<std::size_t>(at - first)};
  return *at == '"';
}

}  // namespace

bool DtrScanner::scan(const char*& at) {
  const char* here = at;
  bool told = false;
  if (take(here, "{\"INSTRUCTION\":\"")) {
    told = scan_instruction(here);
  } else if (take(here, "{\"DST\":\"x")) {
    told = scan_copy(here);
  } else if (take(here, "{\"ALIAS\":\"")) {
    told = scan_alias(here);
  } else if (take(here, "{\"ARGS\":[")) {
    told = scan_args(here);
  }
  if (told) at = here;
  return told;
}

bool DtrScanner::scan_instruction(const char*& at) {
  switch (*at) {
    case 'R':
      return scan_release(at);
    case 'M':
      return scan_memory(at);
    case 'C':
      return scan_constant(at);
    default:
      return false;
  }
}

bool DtrScanner::scan_release(const char*& at) {
  Slot name;
  if (!take(at, "RELEASE\",\"NAME\":\"x") || !take_slot(at, name) || !take(at, "\"}\n"))
    return false;
  import_.release(name);
  return true;
}

bool DtrScanner::scan_memory(const char*& at) {
  Slot name;
  Bytes size;
  if (!take(at, "MEMORY\",\"MEMORY\":\"") || !take_number(at, size.n) ||
      !take(at, "\",\"NAME\":\"x") || !take_slot(at, name) || !take(at, "\"}\n"))
    return false;
  import_.memory(name, size);
  return true;
}

bool DtrScanner::scan_constant(const char*& at) {
  Slot name;
  if (!take(at, "CONSTANT\",\"NAME\":\"x") || !take_slot(at, name) || !take(at, "\"}\n"))
    return false;
  import_.constant(name);
  return true;
}

bool DtrScanner::scan_copy(const char*& at) {
  Slot to, from;
  if (!take_slot(at, to) || !take(at, "\",\"INSTRUCTION\":\"COPY\",\"SRC\":\"x") ||
      !take_slot(at, from) || !take(at, "\"}\n"))
    return false;
  import_.copy(to, from);
  return true;
}

bool DtrScanner::scan_alias(const char*& at) {
  Slot name;
  std::int64_t input = kFresh;
  if (!take(at, "-1") && !take_number(at, input)) return false;
  if (!take(at, "\",\"INSTRUCTION\":\"ALIAS\",\"NAME\":\"x") || !take_slot(at, name) ||
      !take(at, "\"}\n"))
    return false;
  import_.alias(name, input);
  return true;
}

bool DtrScanner::scan_args(const char*& at) {
  if (!take_slots(at, args_) || !take(at, ",\"INSTRUCTION\":\"")) return false;
  return *at == 'C' ? scan_call(at) : scan_mutate(at);
}

bool DtrScanner::scan_call(const char*& at) {
  std::string_view op;
  Nanos cost;
  if (!take(at, "CALL\",\"NAME\":\"") || !take_text(at, op) || !take(at, "\",\"RESULT\":[") ||
      !take_slots(at, results_) || !take(at, ",\"TIME\":\"") || !take_number(at, cost.n) ||
      !take(at, "\"}\n"))
    return false;
  import_.call(op, args_, results_, cost);
  return true;
}

bool DtrScanner::scan_mutate(const char*& at) {
  std::string_view op;
  Nanos cost;
  if (!take(at, "MUTATE\",\"MUTATE\":[") || !take_positions(at) || !take(at, ",\"NAME\":\"") ||
      !take_text(at, op) || !take(at, "\",\"TIME\":\"") || !take_number(at, cost.n) ||
      !take(at, "\"}\n"))
    return false;
  import_.mutate(op, args_, positions_, cost);
  return true;
}

bool DtrScanner::take_slot(const char*& at, Slot& slot) {
  std::uint64_t number = 0;
  if (!take_number(at, number) || number > kMostNumber) return false;
  slot = import_.names().slot(number);
  return true;
}

bool DtrScanner::take_slots(const char*& at, std::vector<Slot>& slots) {
  slots.clear();
  if (*at == ']') return ++at, true;
  do {
    Slot slot;
    if (!take(at, "\"x") || !take_slot(at, slot) || *at++ != '"') return false;
    slots.push_back(slot);
  } while (*at++ == ',');
  return at[-1] == ']';
}

bool DtrScanner::take_positions(const char*& at) {
  positions_.clear();
  if (*at == ']') return ++at, true;
  do {
    std::uint64_t position = 0;
    if (!take_number(at, position) || position > kMostNumber) return false;
    positions_.push_back(static_cast<std::uint32_t>(position));
  } while (*at++ == ',');
  return at[-1] == ']';
}

}  // namespace weir::trace
