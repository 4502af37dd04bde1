#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/dtr_import.h"
#include "trace/json_line.h"

namespace weir::trace {

// Reads lines in the one shape that DTR's logger gives them: keys sorted, no spaces, names "x<n>".
class DtrScanner {
 public:
  explicit DtrScanner(DtrImport& import) : import_{import} {}

  // The bytes after a line's newline that must be readable: the longest literal compared at once.
  static constexpr std::ptrdiff_t kReadsBeyond = 64;

  // Tells the import about the line at `at` and moves there past its newline; if the line has
  // another shape, says false, with nothing told. The line must end with a newline.
  bool scan(const char*& at);

 private:
  using Slot = DtrNames::Slot;

  bool scan_instruction(const char*& at);
  bool scan_release(const char*& at);
  bool scan_memory(const char*& at);
  bool scan_constant(const char*& at);
  bool scan_copy(const char*& at);
  bool scan_alias(const char*& at);
  bool scan_args(const char*& at);
  bool scan_call(const char*& at);
  bool scan_mutate(const char*& at);
  bool take_slot(const char*& at, Slot& slot);
  bool take_slots(const char*& at, std::vector<Slot>& slots);
  bool take_positions(const char*& at);

  DtrImport& import_;
  std::vector<Slot> args_, results_;
  std::vector<std::uint32_t> positions_;
};

// Reads a line of any shape: the naive twin of the scanner, and its way out.
class DtrLineReader {
 public:
  explicit DtrLineReader(DtrImport& import) : import_{import} {}
  void read(std::string_view line);

 private:
  using Slot = DtrNames::Slot;
  struct Fields;

  Fields gather(std::string_view line);
  void tell(const Fields& fields);
  void tell_call(const Fields& fields);
  void gather_slots(simdjson::dom::element list, std::vector<Slot>& slots);
  void gather_positions(simdjson::dom::element list);

  DtrImport& import_;
  JsonLine json_;
  std::vector<Slot> args_, results_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace weir::trace
