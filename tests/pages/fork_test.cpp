// A forked child must not make the parent's recycled pages cost twice.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "pages/arena.h"
#include "pages/system.h"

namespace weir::pages {
namespace {

using namespace literals;

// What the child returns is its exit code; 0 is well.
int in_child(Arena& arena, int (*body)(Arena&)) {
  arena.lock();
  const pid_t child = fork();
  arena.unlock();
  if (child == 0) _exit(body(arena));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(Fork, TheChildGivesFreePagesBackAndReadsTheRest) {
  Arena arena{1_MiB, {.address_space = 64_MiB}};
  Block& kept = arena.allocate(64_KiB);
  Block& freed = arena.allocate(512_KiB);
  std::memset(kept.address, 5, kept.span().bytes());
  std::memset(freed.address, 6, freed.span().bytes());
  arena.free(freed);
  const int result = in_child(arena, [](Arena& mine) {
    mine.give_back_free();
    if (pages_present(mine.addresses()) != 16) return 1;
    if (mine.committed() != 64_KiB) return 2;
    Block& own = mine.allocate(512_KiB);
    std::memset(own.address, 7, own.span().bytes());
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(arena.committed(), 576_KiB);
  EXPECT_EQ(kept.address[100], std::byte{5});
  const Block& again = arena.allocate(512_KiB);
  EXPECT_EQ(again.address[100], std::byte{6});
}

TEST(Fork, TheParentMovesPagesThatTheChildStillReads) {
  Arena arena{64_KiB};
  Block& block = arena.allocate(64_KiB);
  std::memset(block.address, 5, block.span().bytes());
  static Block* shared = nullptr;
  shared = &block;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    char go = 0;
    _exit(read(ready[0], &go, 1) == 1 && shared->address[5000] == std::byte{5} ? 0 : 1);
  }
  arena.evict(block);
  Block& other = arena.allocate(64_KiB);
  std::memset(other.address, 9, other.span().bytes());
  ASSERT_EQ(write(ready[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace weir::pages
