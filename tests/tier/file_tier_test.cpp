#include "tier/file_tier.h"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>

#include "tier/folder.h"
#include "tier/testing.h"
#include "weir/errors.h"

namespace weir::tier {
namespace {

using namespace literals;
using testing::AllOf;
using testing::HasSubstr;

std::string complaint(const FileTierOptions& options) {
  try {
    const FileTier tier{options};
  } catch (const BadInput& problem) {
    return problem.what();
  }
  return "";
}

// An environment variable with another value for a while.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_{name} {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// How many pages of this process's nameless files in the folder the page cache holds.
std::size_t cached_pages(const std::filesystem::path& folder, std::size_t size) {
  std::size_t cached = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!target.starts_with(folder.string()) || !target.ends_with("(deleted)")) continue;
    const int fd = std::stoi(entry.path().filename().string());
    void* const pages = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    std::vector<unsigned char> there(size / kPage);
    EXPECT_EQ(mincore(pages, size, there.data()), 0);
    for (const unsigned char page : there) cached += page & 1;
    munmap(pages, size);
  }
  return cached;
}

class FileTierTest : public testing::Test {
 protected:
  FileTier tier(Bytes capacity) {
    return FileTier{{.folder = folder.path(), .capacity = capacity}};
  }

  TempFolder folder;
};

TEST_F(FileTierTest, LeavesNoNameInTheFolder) {
  const FileTier disk = tier(1_MiB);
  EXPECT_TRUE(folder.empty());
}

TEST_F(FileTierTest, KnowsItsLinkBeforeTheFirstTransfer) {
  const Link link = tier(64_MiB).link();
  EXPECT_GT(link.write.bytes_per_nano, 0);
  EXPECT_GT(link.read.bytes_per_nano, 0);
  EXPECT_LT(transfer_time(1_MiB, link.write), 60'000'000'000_ns);
}

TEST_F(FileTierTest, TakesWholePages) {
  FileTier disk = tier({10'000});
  EXPECT_EQ(disk.capacity(), 8_KiB);
  const Slot slot = must_reserve(disk, 4097_B);
  EXPECT_EQ(slot.size, 4097_B);
  EXPECT_EQ(disk.used(), 8_KiB);
  EXPECT_EQ(disk.reserve(1_B), std::nullopt);
}

TEST_F(FileTierTest, CopiesAnyMemoryOfAnySize) {
  FileTier disk = tier(16_MiB);
  for (const Bytes size : {1_B, 4095_B, 4096_B, 4097_B, 1_MiB, Bytes{(3 << 20) + 5}}) {
    for (const std::size_t shift : {0u, 1u, 512u, 4095u}) {
      SCOPED_TRACE(testing::Message() << size.n << " bytes, shift " << shift);
      const Slot slot = must_reserve(disk, size);
      const std::vector<std::byte> bytes = content(shift, size);
      put(disk, slot, bytes, shift);
      EXPECT_EQ(get(disk, slot, shift), bytes);
      EXPECT_EQ(get(disk, slot), bytes);
      disk.free(slot);
    }
  }
}

TEST_F(FileTierTest, TouchesNothingBehindTheEndOfTheMemory) {
  FileTier disk = tier(1_MiB);
  const Slot slot = must_reserve(disk, 5000_B);
  put(disk, slot, content(1, 5000_B));
  const Memory memory{8192_B};
  std::ranges::fill(memory.bytes(), std::byte{7});
  disk.read(slot, memory.bytes().first(5000)).wait();
  EXPECT_THAT(memory.bytes().subspan(5000), testing::Each(std::byte{7}));
}

TEST_F(FileTierTest, LeavesNothingInThePageCache) {
  for (const bool direct : {true, false}) {
    FileTier disk{{.folder = folder.path(), .capacity = 1_MiB, .direct = direct}};
    const Slot slot = must_reserve(disk, 1_MiB);
    const std::vector<std::byte> bytes = content(1, 1_MiB);
    put(disk, slot, bytes);
    EXPECT_EQ(cached_pages(folder.path(), 1 << 20), 0u) << "after a write, direct " << direct;
    EXPECT_EQ(get(disk, slot), bytes);
    EXPECT_EQ(cached_pages(folder.path(), 1 << 20), 0u) << "after a read, direct " << direct;
  }
}

TEST_F(FileTierTest, SaysWhetherTransfersAreDirect) {
  FileTier buffered{{.folder = folder.path(), .capacity = 1_MiB, .direct = false}};
  EXPECT_FALSE(buffered.direct());
  const Slot slot = must_reserve(buffered, 5000_B);
  put(buffered, slot, content(1, 5000_B), 3);
  EXPECT_EQ(get(buffered, slot, 1), content(1, 5000_B));
}

TEST_F(FileTierTest, TakesNineTenthsOfTheFreeSpaceByDefault) {
  const FileTier disk{{.folder = folder.path()}};
  EXPECT_GT(disk.capacity(), 0_B);
  EXPECT_LT(disk.capacity().n, std::filesystem::space("/").capacity);
}

TEST_F(FileTierTest, RefusesMemoryThatPosesAsAFolder) {
  if (!std::filesystem::is_directory("/dev/shm")) GTEST_SKIP() << "there is no /dev/shm";
  EXPECT_THAT(complaint({.folder = "/dev/shm", .capacity = 1_MiB}),
              AllOf(HasSubstr("'/dev/shm' is in memory"), HasSubstr("--tier")));
}

TEST_F(FileTierTest, RefusesAFolderThatCannotBeUsed) {
  const auto missing = folder.path() / "missing", file = folder.path() / "file";
  std::ofstream{file} << "text";
  EXPECT_THAT(complaint({.folder = missing, .capacity = 1_MiB}), HasSubstr("No such file"));
  EXPECT_THAT(complaint({.folder = file, .capacity = 1_MiB}), HasSubstr("is not a folder"));
  EXPECT_THAT(complaint({.folder = folder.path(), .capacity = 100_B}), HasSubstr("at least 4KiB"));
}

TEST_F(FileTierTest, UsesTmpdirIfItCan) {
  {
    const Environment chosen{"TMPDIR", folder.path().string()};
    EXPECT_EQ(FileTier{{.capacity = 1_MiB}}.folder(), folder.path());
  }
  for (const std::string unusable : {"", "/missing", "/dev/shm"}) {
    const Environment chosen{"TMPDIR", unusable};
    EXPECT_EQ(default_folder(), "/var/tmp") << unusable;
  }
}

// In no folder of its own: the dying process could not remove it.
TEST(FileTierDeathTest, EndsTheProcessWhenAFreedSlotIsUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the tier must be the dying process's own
  FileTier disk{{.folder = "/var/tmp", .capacity = 1_MiB}};
  const Slot slot = must_reserve(disk, 10_B);
  disk.free(slot);
  EXPECT_DEATH(put(disk, slot, content(1, 10_B)), "taken");
  EXPECT_DEATH((void)get(disk, slot), "taken");
  EXPECT_DEATH(disk.free(slot), "taken");
}

}  // namespace
}  // namespace weir::tier
