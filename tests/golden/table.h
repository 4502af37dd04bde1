#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::golden {

// A line of a table, by the names in the table's first line.
using Row = std::vector<std::string>;
struct Table {
  Row columns;
  std::vector<Row> rows;

  [[nodiscard]] const std::string& get(const Row& row, std::string_view column) const;
};

// tests/golden/NAME; no field has a comma.
[[nodiscard]] std::filesystem::path path_of(const std::string& name);
[[nodiscard]] Table read_table(const std::string& name);

// A file of the shared data ($WEIR_DATA or beside the project), which is not part of it.
[[nodiscard]] std::optional<std::filesystem::path> data_file(const std::string& name);
inline constexpr const char* kNoData =
    "the published traces are not here; set WEIR_DATA to the folder with dtr-logs/ and "
    "checkmate-graphs/";

// Was --update-golden given?
[[nodiscard]] bool updating();

// "unet_6" for "unet-6": fit for the name of a test.
[[nodiscard]] std::string plain(std::string_view text);

}  // namespace weir::golden
