// Every seed of the fuzzer, and everything that it ever found, as an ordinary test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/check_reader.h"
#include "trace/testing.h"

namespace weir::trace {
namespace {

const std::filesystem::path kFolder = WEIR_SOURCE_DIR "/tests/fuzz";

std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  for (const char* folder : {"corpus", "found"})
    for (const auto& entry : std::filesystem::directory_iterator(kFolder / folder))
      files.push_back(entry.path().lexically_relative(kFolder));
  std::ranges::sort(files);
  return files;
}

class FuzzCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(FuzzCorpus, IsReadOrRefused) { check_reader(test::bytes_of(kFolder / GetParam())); }

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, ::testing::ValuesIn(corpus_files()));

}  // namespace
}  // namespace weir::trace
