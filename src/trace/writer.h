#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trace/builder.h"
#include "trace/layout_table.h"
#include "trace/sink.h"
#include "weir/trace.h"

namespace weir::trace {

// Writes Weir's own format event by event, with the calls of TraceBuilder but without its checks
// and without keeping the trace: for a recorder. Tensors and storages are numbered by appearance.
class TraceWriter {
 public:
  struct Header {
    ViewRule views = ViewRule::Keep;
    Nanos start = {};
    PageCosts pages = {};
    std::string_view producer = "weir";
  };

  TraceWriter(Sink& sink, const Header& header);

  TensorId constant(Bytes size, const Layout& layout = {});
  std::uint32_t layout(const Layout& layout);  // its number, for arguments of ops
  TensorId op(const OpCall& call);             // the first output; the others follow it
  void retain(TensorId tensor);
  void release(TensorId tensor);
  void keep(TensorId tensor);
  void step();
  void end();  // the last line, without which the trace counts as cut off; then finishes the sink

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(line_), text, std::forward<Values>(values)...);
  }
  template <typename List, typename Name>
  void put_list(std::string_view key, const List& list, Name name);
  void put_text(std::string_view text);
  void put_layout(std::uint32_t layout);
  void put_argument(const TraceArgument& argument);
  void put_settings(std::span<const Setting> settings);
  void put_output(const Output& output, std::span<const TensorId> inputs);
  void end_line();
  void end_event();
  std::uint32_t add_tensor(std::uint32_t storage);

  Sink& sink_;
  fmt::memory_buffer line_;
  std::vector<std::uint32_t> storage_of_;  // by tensor
  LayoutTable layouts_;
  std::vector<bool> told_;  // by layout
  std::uint32_t storages_ = 0;
  std::size_t events_ = 0, steps_ = 0;
};

void write_trace(const Trace& trace, Sink& sink);

// The old file stays untouched until the new one is complete. Throws BadInput "file: why".
enum class Compression { None, Zstd };
void write_trace(const Trace& trace, const std::filesystem::path& path,
                 Compression compression = Compression::None);

}  // namespace weir::trace
