// Any thread may allocate, also while an op runs; run under the thread sanitizer.
#include <atomic>
#include <thread>

#include "core/program.h"

namespace weir::core {
namespace {

TEST(Threads, AllocateWhileAnOpIsLaunched) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 20_B), cold = program.op({}, 50_B);
  Ticket ticket = program.begin({a}, {{40_B}});
  program.restore(ticket);
  std::thread worker([&] { ticket.deliver(0, program.manager.allocate(40_B)); });
  worker.join();
  program.manager.end(std::move(ticket));
  EXPECT_TRUE(program.evicted(cold));
  EXPECT_TRUE(program.resident(a));
  EXPECT_EQ(program.manager.ledger().used(), 60_B);
}

TEST(Threads, AllocateWhileAnOpIsRunAgain) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 40_B), cold = program.op({}, 50_B);
  program.evict(a);
  Ticket ticket = program.begin({a});
  ASSERT_NE(program.manager.next(ticket), nullptr);
  std::thread worker([&] {
    ticket.deliver(0, program.manager.allocate(40_B));
    const Charge workspace = program.manager.allocate(30_B);
  });
  worker.join();
  EXPECT_EQ(program.manager.next(ticket), nullptr);
  program.manager.end(std::move(ticket));
  EXPECT_TRUE(program.evicted(cold));
  EXPECT_TRUE(program.resident(a));
}

TEST(Threads, BeginOpsWhileAnOpIsRunAgain) {
  Program program{{.budget = 10'000_B}};
  const TensorId a = program.op({}, 1_B), b = program.op({}, 1_B);
  program.evict(a);
  Ticket ticket = program.begin({a});
  const OpRecord* handed_out = program.manager.next(ticket);
  ASSERT_NE(handed_out, nullptr);
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) program.read({b});
  });
  other.join();
  EXPECT_EQ(handed_out->tag, program.maker(a));  // the graph has grown, and moved
  ticket.deliver(0, program.manager.allocate(1_B));
  program.restore(ticket);
  program.manager.end(std::move(ticket));
}

TEST(Threads, EightAllocateAtOnceAndStayWithinTheBudget) {
  Program program{{.budget = 100_B}};
  for (int i = 0; i < 10; ++i) program.op({}, 10_B);
  std::atomic<int> refused = 0;
  const auto allocate_often = [&] {
    for (int i = 0; i < 200; ++i) {
      try {
        const Charge charge = program.manager.allocate(15_B);
        ASSERT_LE(program.manager.ledger().used(), 100_B);
      } catch (const OutOfBudget&) {
        ++refused;
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) threads.emplace_back(allocate_often);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(program.manager.ledger().peak(), 100_B);
  program.manager.check();
}

// Each thread runs a program of its own on the one manager; their ops are never evicted, so nobody
// needs to restore.
TEST(Threads, EightRunOpsAtOnce) {
  Program program{{.budget = 10'000_B}};
  const auto run_ops = [&] {
    TensorId last = program.manager.add_constant(program.manager.allocate(1_B));
    for (int i = 0; i < 50; ++i) {
      const TensorId inputs[] = {last};
      const Output outputs[] = {{1_B}};
      Ticket ticket = program.manager.begin({.tag = 0, .inputs = inputs, .mutated = {}});
      const TensorId made = program.manager.declare(ticket, outputs, 1_ns);
      ASSERT_EQ(program.manager.next(ticket), nullptr);
      ticket.deliver(0, program.manager.allocate(1_B));
      program.manager.end(std::move(ticket));
      program.manager.retain(made);
      program.release(made);
      last = made;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) threads.emplace_back(run_ops);
  for (std::thread& thread : threads) thread.join();
  program.manager.check();
  EXPECT_EQ(program.all_pins(), 0u);
  EXPECT_EQ(program.manager.ledger().used(), 408_B);
}

}  // namespace
}  // namespace weir::core
