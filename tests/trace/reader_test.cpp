// Which file it is, and everything that can be wrong with a file as such.
#include "trace/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "trace/generate.h"
#include "trace/sink.h"
#include "trace/testing.h"
#include "trace/writer.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

using test::error_of;
using test::written;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of_file(const std::filesystem::path& path) {
  try {
    read_trace(path);
    return "";
  } catch (const BadInput& error) {
    return error.what();
  }
}

std::string compressed(std::string_view text) {
  StringSink out;
  ZstdSink zstd{out};
  zstd.write(text);
  zstd.finish();
  return out.text();
}

constexpr const char* kLog = "{'ANNOTATION':'START','INSTRUCTION':'ANNOTATE'}\n";
constexpr const char* kGraph = "{\n 'nodes':[],\n 'links':[]}";

TEST(Reader, KnowsAFormatByItsContent) {
  EXPECT_EQ(test::read(written(linear_chain(3))).ops.size(), 6u);
  EXPECT_EQ(error_of(test::json(kLog)), "");
  EXPECT_EQ(error_of(test::json(kGraph)), "");
  EXPECT_EQ(error_of("\xef\xbb\xbf" + written(linear_chain(3))), "");
  EXPECT_THAT(error_of("PK\x03\x04"), StartsWith("t:1: this is no trace: neither Weir's format"));
  EXPECT_THAT(error_of("{\"hello\":1}\n"), StartsWith("t:1: this is no trace"));
}

TEST(Reader, UnfoldsZstdInAnyFormat) {
  EXPECT_EQ(error_of(compressed(written(linear_chain(3)))), "");
  EXPECT_EQ(error_of(compressed(test::json(kLog))), "");
  EXPECT_EQ(error_of(compressed(test::json(kGraph))), "");
  std::string text = written(linear_chain(3));  // frames in a row are one text
  EXPECT_EQ(error_of(compressed(text.substr(0, 20)) + compressed(text.substr(20))), "");
}

TEST(Reader, SaysWhenZstdIsCutOrDamaged) {
  std::string whole = compressed(written(linear_chain(1000)));
  for (std::size_t bytes : {std::size_t{4}, std::size_t{9}, whole.size() / 2, whole.size() - 1})
    EXPECT_EQ(error_of(whole.substr(0, bytes)),
              "t: the zstd data ends too early; get the file again");
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x55;
  EXPECT_THAT(error_of(damaged), StartsWith("t: the zstd data is damaged ("));
  EXPECT_THAT(error_of(whole + "rubbish"), StartsWith("t: the zstd data is damaged ("));
}

TEST(Reader, GivesUpOnABomb) {
  std::string bomb = compressed(std::string(std::size_t{80} << 20, ' '));
  EXPECT_LT(bomb.size(), 100000u);
  EXPECT_THAT(error_of(bomb), StartsWith("t: unfolds to more than 64 MiB, which no trace"));
}

TEST(Reader, SavesWhatIsReadableOfACutZstdTrace) {
  std::string whole = compressed(written(layered_dag(200, 20, 1)));
  std::string cut = whole.substr(0, whole.size() * 3 / 4);
  Readable readable = read_what_is_readable(std::span<const char>(cut), "t");
  EXPECT_THAT(readable.error, StartsWith("t: the zstd data ends too early"));
  EXPECT_GT(readable.trace.events.size(), 1000u);
  EXPECT_EQ(error_of(written(readable.trace)), "");
}

TEST(Reader, SaysInOneLineWhatIsWrongWithAFile) {
  test::TemporaryFolder folder;
  test::write_file(folder / "empty", "");
  test::write_file(folder / "blank", "\n \n");
  test::write_file(folder / "nul", std::string(100, '\0'));
  test::write_file(folder / "new\nline", "{");
  EXPECT_THAT(error_of_file(folder / "nothing"),
              EndsWith("nothing: cannot be read (No such file or directory); check the path"));
  EXPECT_THAT(error_of_file(folder.path()),
              EndsWith(": is a directory; give the trace file in it"));
  EXPECT_THAT(error_of_file("/dev/null"), StartsWith("/dev/null: is not a regular file"));
  EXPECT_THAT(error_of_file(folder / "empty"), HasSubstr("empty: is empty;"));
  EXPECT_THAT(error_of_file(folder / "blank"), HasSubstr("blank: is empty;"));
  EXPECT_THAT(error_of_file(folder / "nul"), HasSubstr("nul:1: this is no trace"));
  EXPECT_THAT(error_of_file(folder / "new\nline"), HasSubstr("new\\x0aline:1: this is no trace"));
}

TEST(Reader, SaysWhenItMayNotRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  test::TemporaryFolder folder;
  test::write_file(folder / "secret", "x");
  std::filesystem::permissions(folder / "secret", std::filesystem::perms::none);
  EXPECT_THAT(error_of_file(folder / "secret"), HasSubstr("(Permission denied)"));
}

}  // namespace
}  // namespace weir::trace
