#include "trace/message.h"

namespace weir::trace {
namespace {

constexpr std::size_t kMostQuoted = 60;
constexpr char kHex[] = "0123456789abcdef";

void append_escaped(std::string& out, char c) {
  auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

bool is_control(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (is_control(c)) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text.substr(0, kMostQuoted)) {
    if (is_control(c) || static_cast<unsigned char>(c) >= 0x80) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  out += text.size() > kMostQuoted ? "...'" : "'";
  return out;
}

std::string located(std::string_view source, std::string_view what) {
  return printable(source).append(": ").append(what);
}

std::string located(std::string_view source, std::size_t line, std::string_view what) {
  return printable(source).append(":").append(std::to_string(line)).append(": ").append(what);
}

}  // namespace weir::trace
