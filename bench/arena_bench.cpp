// What a block of pages costs, and a small object.
//   steady    a block is freed and one of the same size allocated: no system call
//   resize    the same with two sizes in turn and pages for one
//   turnover  blocks are evicted and others, at other addresses, get their pages; "touch" writes
//             the new ones too. A second thread that runs must be told of every move.
//   restore   two blocks are evicted and restored in turn, with pages for one
//   mmap      what a program pays without an arena: a fresh mapping, written, and unmapped
//   first_touch, warm_touch: of pages fresh from the system, of pages in place
//   slab      a small object is allocated and freed
//   find      from an address to its block
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "pages/arena.h"
#include "pages/slab.h"

namespace {

using namespace weir;
using namespace weir::pages;

Bytes size_of(const benchmark::State& state) { return {state.range(0)}; }

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// A thread that computes, as the workers of a program do.
class Busy {
 public:
  explicit Busy(bool runs) {
    if (runs) thread_ = std::thread([this] { spin(); });
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void spin() {
    std::uint64_t n = 0;
    while (!done_.load(std::memory_order_relaxed)) benchmark::DoNotOptimize(++n);
  }

  std::atomic<bool> done_ = false;
  std::thread thread_;
};

void steady(benchmark::State& state) {
  Arena arena{Bytes{std::int64_t{1} << 30}};
  for (auto _ : state) arena.free(arena.allocate(size_of(state)));
}
BENCHMARK(steady)->Arg(32 << 10)->Arg(1 << 20)->Arg(16 << 20);

// Groups of blocks: of the two there are pages for one. The group that was evicted before is gone;
// the other one is evicted, and new blocks get its pages.
void turnover(benchmark::State& state, bool threads, bool touch) {
  const Busy busy{threads};
  const auto count = static_cast<std::size_t>(state.range(1));
  Arena arena{{state.range(0) * state.range(1)}};
  std::vector<Block*> gone, there;
  const auto turn = [&] {
    for (Block* block : gone) arena.free(*block);
    for (Block* block : there) arena.evict(*block);
    gone.swap(there);
    there.clear();
    for (std::size_t i = 0; i < count; ++i) {
      there.push_back(&arena.allocate(size_of(state)));
      if (touch) std::memset(there.back()->address, 2, there.back()->span().bytes());
    }
  };
  turn();
  for (Block* block : there) std::memset(block->address, 1, block->span().bytes());
  for (auto _ : state) turn();
  const auto per_block = [&](double n) {
    return benchmark::Counter(n / static_cast<double>(count), benchmark::Counter::kAvgIterations);
  };
  state.counters["moves_per_block"] = per_block(static_cast<double>(arena.counters().moves));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

// An evicted block is restored where it was with the pages of one evicted just now.
void restore(benchmark::State& state, bool threads) {
  const Busy busy{threads};
  Arena arena{size_of(state)};
  Block* there = &arena.allocate(size_of(state));
  std::memset(there->address, 1, there->span().bytes());
  arena.evict(*there);
  Block* here = &arena.allocate(size_of(state));
  for (auto _ : state) {
    arena.evict(*here);
    arena.restore(*there);
    std::swap(here, there);
  }
  count_bytes(state);
}

// Pages go from free blocks of one size to blocks of another and back.
void resize(benchmark::State& state) {
  Arena arena{{state.range(0) + (4 << 10)}};
  for (auto _ : state) {
    arena.free(arena.allocate({state.range(0)}));
    arena.free(arena.allocate({state.range(0) + (4 << 10)}));
  }
}
BENCHMARK(resize)->Arg(32 << 10)->Arg(256 << 10)->Arg(1 << 20)->Arg(16 << 20);

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(32 << 10)->Arg(256 << 10)->Arg(1 << 20)->Arg(16 << 20)->UseRealTime();
}
void groups(benchmark::internal::Benchmark* bench) {
  bench->Args({32 << 10, 1})->Args({32 << 10, 64})->Args({256 << 10, 8});
  bench->Args({1 << 20, 8})->Args({16 << 20, 4})->UseRealTime();
}
BENCHMARK_CAPTURE(turnover, alone, false, false)->Apply(groups);
BENCHMARK_CAPTURE(turnover, second_thread, true, false)->Apply(groups);
BENCHMARK_CAPTURE(turnover, second_thread_touch, true, true)->Apply(groups);
BENCHMARK_CAPTURE(restore, alone, false)->Apply(sizes);
BENCHMARK_CAPTURE(restore, second_thread, true)->Apply(sizes);

void map_and_touch(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* fresh = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return state.SkipWithError("no memory");
    std::memset(fresh, 2, bytes);
    munmap(fresh, bytes);
  }
  count_bytes(state);
}
BENCHMARK(map_and_touch)->Name("mmap")->Apply(sizes);

void first_touch(benchmark::State& state) {
  Arena arena{size_of(state)};
  for (auto _ : state) {
    Block& block = arena.allocate(size_of(state));
    std::memset(block.address, 1, block.span().bytes());
    arena.free(block);
    arena.give_back_free();
  }
  count_bytes(state);
}
BENCHMARK(first_touch)->Arg(64 << 20)->UseRealTime();

void warm_touch(benchmark::State& state) {
  Arena arena{size_of(state)};
  Block& block = arena.allocate(size_of(state));
  std::memset(block.address, 1, block.span().bytes());
  for (auto _ : state) std::memset(block.address, 1, block.span().bytes());
  count_bytes(state);
}
BENCHMARK(warm_touch)->Arg(64 << 20)->UseRealTime();

void slab(benchmark::State& state) {
  Arena arena{Bytes{std::int64_t{1} << 26}};
  Slabs slabs{[&](std::size_t bytes) {
                return arena.allocate({static_cast<std::int64_t>(bytes)}, {kSlabUnit}).address;
              },
              [&](std::byte* memory, std::size_t) { arena.free(*arena.find(memory)); }};
  for (auto _ : state) {
    void* object = slabs.allocate(static_cast<std::size_t>(state.range(0)));
    benchmark::DoNotOptimize(object);
    slabs.free(object);
  }
}
BENCHMARK(slab)->Arg(64)->Arg(1000)->Arg(30'000);

void find(benchmark::State& state) {
  Arena arena{Bytes{std::int64_t{1} << 26}};
  const Block& block = arena.allocate({40 << 10});
  const std::byte* inside = block.address + 100;
  for (auto _ : state) {
    benchmark::DoNotOptimize(inside);
    benchmark::DoNotOptimize(arena.find(inside));
  }
}
BENCHMARK(find);

}  // namespace
