// Disks that are full, and file systems that can do less than others.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tier/file_tier.h"
#include "tier/testing.h"

namespace weir::tier {
namespace {

using namespace literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A small file system in a file, seen by this process only. Needs root and a loop device.
class SmallDisk {
 public:
  SmallDisk(const std::string& make, Bytes size) {
    const std::filesystem::path image = folder_.path() / "image";
    std::ofstream{image}.close();
    std::filesystem::resize_file(image, static_cast<std::uintmax_t>(size.n));
    std::filesystem::create_directory(path());
    mounted_ = geteuid() == 0 && run(make + " -q " + image.string()) && unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               run("mount -o loop " + image.string() + " " + path().string());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) umount2(path().c_str(), MNT_DETACH);
  }

  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "disk"; }

 private:
  static bool run(const std::string& command) {
    return std::system(("PATH=$PATH:/usr/sbin:/sbin; " + command + " >/dev/null 2>&1").c_str()) ==
           0;
  }

  TempFolder folder_;
  bool mounted_ = false;
};

// No file of this process may grow, or be written, beyond the limit while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(Bytes most) : handler_{signal(SIGXFSZ, SIG_IGN)} {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{static_cast<rlim_t>(most.n), before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  sighandler_t handler_;
  rlimit before_{};
};

template <typename Work>
std::string failure_of(Work&& work) {
  try {
    work();
  } catch (const TierError& problem) {
    return problem.what();
  }
  return "";
}

// Fills the tier with slots that all hold the same bytes, until the world says no.
std::vector<Slot> fill(Tier& tier, const std::vector<std::byte>& bytes, std::string& failure) {
  std::vector<Slot> slots;
  const Bytes size{static_cast<std::int64_t>(bytes.size())};
  failure = failure_of([&] {
    for (;;) {
      slots.push_back(must_reserve(tier, size));
      put(tier, slots.back(), bytes);
    }
  });
  return slots;
}

TEST(FullDisk, IsFoundWhenASlotIsReserved) {
  const SmallDisk disk{"mkfs.ext4", 32_MiB};
  if (!disk.mounted()) GTEST_SKIP() << "a small disk cannot be mounted here";
  FileTier tier{{.folder = disk.path(), .capacity = 1_GiB}};
  const std::vector<std::byte> bytes = content(1, 1_MiB);
  std::string failure;
  const std::vector<Slot> slots = fill(tier, bytes, failure);
  EXPECT_THAT(failure, AllOf(HasSubstr("growing its file"), HasSubstr("No space left"),
                             HasSubstr(disk.path().string()), Not(HasSubstr("\n"))));
  ASSERT_GT(slots.size(), 8u);
  EXPECT_EQ(tier.used(), Bytes{static_cast<std::int64_t>(slots.size() << 20)});
  for (const Slot& slot : slots) EXPECT_EQ(get(tier, slot), bytes);
  tier.free(slots.front());
  put(tier, must_reserve(tier, 1_MiB), bytes);
}

TEST(FullDisk, IsFoundByTheWriteWhereSpaceCannotBeAllocated) {
  const SmallDisk disk{"mkfs.ext2", 16_MiB};
  if (!disk.mounted()) GTEST_SKIP() << "a small disk cannot be mounted here";
  FileTier tier{{.folder = disk.path(), .capacity = 1_GiB}};
  const std::vector<std::byte> bytes = content(1, 1_MiB);
  std::string failure;
  std::vector<Slot> slots = fill(tier, bytes, failure);
  EXPECT_THAT(failure, AllOf(HasSubstr("writing 1.00 MiB"), HasSubstr("No space left")));
  ASSERT_GT(slots.size(), 4u);
  slots.pop_back();  // reserved, but the write failed
  for (const Slot& slot : slots) EXPECT_EQ(get(tier, slot), bytes);
}

TEST(FullDisk, EndsTheConstructorIfNotEvenTheProbeFits) {
  const TempFolder folder;
  const FileSizeLimit limit{4_KiB};
  EXPECT_THAT(failure_of([&] { FileTier({.folder = folder.path(), .capacity = 1_GiB}); }),
              HasSubstr("File too large"));
}

TEST(FullDisk, LeavesTheTierAsItWasWhenAReserveFails) {
  const TempFolder folder;
  FileTier tier{{.folder = folder.path(), .capacity = 1_GiB}};
  const Slot before = must_reserve(tier, 1_MiB);
  put(tier, before, content(1, 1_MiB));
  const FileSizeLimit limit{32_MiB};
  EXPECT_THAT(failure_of([&] { (void)tier.reserve(64_MiB); }), HasSubstr("File too large"));
  EXPECT_EQ(tier.used(), 1_MiB);
  EXPECT_EQ(get(tier, before), content(1, 1_MiB));
  EXPECT_TRUE(tier.reserve(1_MiB));
}

TEST(FullDisk, IsUsedUpToItsEnd) {
  const TempFolder folder;
  FileTier tier{{.folder = folder.path(), .capacity = 1_GiB}};
  const FileSizeLimit limit{20_MiB};  // the file has 16 MiB and no room for another step of 16
  EXPECT_TRUE(tier.reserve(16_MiB));
  EXPECT_TRUE(tier.reserve(4_MiB));
  EXPECT_THROW((void)tier.reserve(1_B), TierError);
}

TEST(FullDisk, LeavesTheSlotReservedWhenAWriteFails) {
  const TempFolder folder;
  FileTier tier{{.folder = folder.path(), .capacity = 8_MiB}};
  const Slot slot = must_reserve(tier, 2_MiB);
  {
    const FileSizeLimit limit{1_MiB};  // the first half is written, then nothing more
    EXPECT_THAT(failure_of([&] { put(tier, slot, content(1, 2_MiB)); }),
                AllOf(HasSubstr("writing 2.00 MiB"), HasSubstr("File too large")));
    EXPECT_THROW(put(tier, slot, content(1, 2_MiB), 1), TierError);
  }
  EXPECT_EQ(tier.used(), 2_MiB);
  put(tier, slot, content(2, 2_MiB));
  EXPECT_EQ(get(tier, slot), content(2, 2_MiB));
}

}  // namespace
}  // namespace weir::tier
