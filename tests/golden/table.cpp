#include "golden/table.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace weir::golden {
namespace {

Row fields_of(const std::string& line) {
  Row fields(1);
  for (const char c : line) {
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

}  // namespace

const std::string& Table::get(const Row& row, std::string_view column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) throw std::runtime_error("no column " + std::string(column));
  return row.at(static_cast<std::size_t>(found - columns.begin()));
}

std::filesystem::path path_of(const std::string& name) {
  return std::filesystem::path{WEIR_SOURCE_DIR} / "tests/golden" / name;
}

Table read_table(const std::string& name) {
  std::ifstream file{path_of(name)};
  std::string line;
  Table table;
  if (std::getline(file, line)) table.columns = fields_of(line);
  while (std::getline(file, line)) table.rows.push_back(fields_of(line));
  return table;
}

std::optional<std::filesystem::path> data_file(const std::string& name) {
  const char* told = std::getenv("WEIR_DATA");
  const std::filesystem::path beside = std::filesystem::path{WEIR_SOURCE_DIR} / "../shared/data";
  const std::filesystem::path path = (told != nullptr ? told : beside) / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

std::string plain(std::string_view text) {
  std::string name{text};
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace weir::golden
