// Other processes: a child that reads, and one that is killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tier/file_tier.h"
#include "tier/queued_tier.h"
#include "tier/testing.h"

namespace weir::tier {
namespace {

using namespace literals;

// Runs `work` in a child, which ends without destructors, and gives its exit code.
template <typename Work>
int in_child(Work&& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(TierAndFork, AChildReadsWhatTheParentWrote) {
  const TempFolder folder;
  FileTier tier{{.folder = folder.path(), .capacity = 1_MiB}};
  const Slot slot = must_reserve(tier, 5000_B);
  const std::vector<std::byte> bytes = content(1, 5000_B);
  put(tier, slot, bytes);
  EXPECT_EQ(
      in_child([&] { return get(tier, slot) == bytes && get(tier, slot, 7) == bytes ? 0 : 1; }), 0);
  EXPECT_EQ(get(tier, slot), bytes);
}

TEST(TierAndFork, AChildReadsThoughTheThreadsOfAQueueAreGone) {
  const TempFolder folder;
  FileTier file{{.folder = folder.path(), .capacity = 1_MiB}};
  QueuedTier tier{file};
  const Slot slot = must_reserve(tier, 5000_B);
  const std::vector<std::byte> bytes = content(1, 5000_B);
  put(tier, slot, bytes);
  EXPECT_EQ(in_child([&] { return get(tier, slot) == bytes ? 0 : 1; }), 0);
}

TEST(TierAndFork, WhatAChildLetsGoStaysTheParents) {
  const TempFolder folder;
  FileTier tier{{.folder = folder.path(), .capacity = 1_MiB}};
  const Slot slot = must_reserve(tier, 5000_B);
  put(tier, slot, content(1, 5000_B));
  EXPECT_EQ(in_child([&] { return tier.free(slot), 0; }), 0);
  EXPECT_EQ(tier.used(), 8_KiB);
  EXPECT_EQ(get(tier, slot), content(1, 5000_B));
}

TEST(TierAndForkDeathTest, AChildMustNotWrite) {
  const TempFolder folder;
  FileTier tier{{.folder = folder.path(), .capacity = 1_MiB}};
  const Slot slot = must_reserve(tier, 10_B);
  EXPECT_DEATH(put(tier, slot, content(1, 10_B)), "in_child");  // a death test is a child
  EXPECT_DEATH((void)tier.reserve(10_B), "in_child");
}

TEST(TierAndFork, AKilledProcessLeavesNoLitter) {
  const TempFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    FileTier tier{{.folder = folder.path(), .capacity = 8_MiB}};
    put(tier, must_reserve(tier, 1_MiB), content(1, 1_MiB));
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(folder.empty());
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(folder.empty());
  close(ready[0]);
}

}  // namespace
}  // namespace weir::tier
