#include "trace/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace/generate.h"
#include "trace/reader.h"
#include "trace/testing.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

using test::bytes_of;
using test::FullDisk;
using ::testing::HasSubstr;

std::size_t files_in(const test::TemporaryFolder& folder) {
  std::filesystem::directory_iterator files{folder.path()};
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::string error_of_writing(const Trace& trace, const std::filesystem::path& path) {
  try {
    write_trace(trace, path);
    return "";
  } catch (const BadInput& error) {
    return error.what();
  }
}

TEST(Writer, ReplacesTheFileAndLeavesNothingElse) {
  test::TemporaryFolder folder;
  test::write_file(folder / "a.trace", "old");
  Trace made = training_step(3);
  write_trace(made, folder / "a.trace");
  EXPECT_TRUE(test::same_content(made, read_trace(folder / "a.trace")));
  write_trace(made, folder / "a.trace", Compression::Zstd);
  EXPECT_TRUE(test::same_content(made, read_trace(folder / "a.trace")));
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(Writer, KeepsTheOldFileWhenTheDiskIsFull) {
  test::TemporaryFolder folder;
  test::write_file(folder / "a.trace", "old");
  Trace made = linear_chain(10000);
  {
    FullDisk disk{100000};
    EXPECT_THAT(error_of_writing(made, folder / "a.trace"),
                HasSubstr("a.trace: cannot be written ("));
  }
  EXPECT_EQ(bytes_of(folder / "a.trace"), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(Writer, SaysWhereItCannotWrite) {
  test::TemporaryFolder folder;
  EXPECT_THAT(error_of_writing(linear_chain(1), folder / "no/a.trace"),
              HasSubstr("a.trace: cannot be written (No such file or directory)"));
  EXPECT_THAT(error_of_writing(linear_chain(1), folder.path()), HasSubstr("is not a regular file"));
}

TEST(Writer, WritesThroughALink) {
  test::TemporaryFolder folder;
  test::write_file(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_trace(linear_chain(1), folder / "link");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_trace(folder / "real").ops.size(), 2u);
}

TEST(Writer, TellsWhatPagesCost) {
  test::TemporaryFolder folder;
  Trace made = linear_chain(1);
  made.pages = {.touch = {3}, .huge_touch = {5}, .move = {7}};
  write_trace(made, folder / "a.trace");
  EXPECT_EQ(read_trace(folder / "a.trace").pages, made.pages);
}

TEST(Writer, ARecorderNeedsNoBuilder) {
  StringSink text;
  TraceWriter writer{text, {.producer = "a test"}};
  const TensorId x[] = {writer.constant({4})};
  const std::uint32_t places[] = {0};
  const Output outputs[] = {{.view_of = 0}, {.size = {8}}};
  TensorId y = writer.op({.name = "add_", .inputs = x, .mutated = places, .outputs = outputs});
  writer.release(y);
  writer.step();
  writer.end();
  EXPECT_EQ(text.text(), test::json("{'weir_trace':1,'views':'keep','producer':'a test'}\n"
                                    "{'constant':0,'storage':0,'bytes':4}\n"
                                    "{'op':'add_','phase':'forward','ns':0,'in':[0],'mutates':[0],"
                                    "'out':[{'tensor':1,'storage':0,'view_of':0},"
                                    "{'tensor':2,'storage':1,'bytes':8}]}\n"
                                    "{'release':1}\n{'step':1}\n{'end':true,'events':4}\n"));
  EXPECT_EQ(test::error_of(text.text()), "");
}

}  // namespace
}  // namespace weir::trace
