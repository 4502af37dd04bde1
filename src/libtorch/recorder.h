#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "libtorch/block.h"
#include "trace/builder.h"
#include "weir/trace.h"

namespace weir::libtorch {

// Writes what a program does as a trace that the simulator replays. If that fails (a full disk) the
// program goes on without, and finish() says why.
class Recorder {
 public:
  struct Argument {
    Layout layout;
    std::int32_t place;  // among the inputs, or TraceArgument::kNotInput
  };
  struct Op {
    std::string_view name;
    Nanos cost;
    Bytes scratch;
    std::span<Block* const> inputs;
    std::span<const std::uint32_t> mutated;  // places among the inputs
    std::span<Block* const> outputs;
    bool recomputable = true;
    Phase phase = Phase::Forward;
    std::span<const Argument> arguments = {};  // all tensors it takes, in the order of its schema
    std::span<const Layout> output_layouts = {};  // one per output, or none
    std::span<const trace::Setting> settings = {};
  };

  Recorder();
  ~Recorder();

  void start(const std::filesystem::path& file);
  // Of a program that computes nothing: the header says so.
  void start_without_costs(const std::filesystem::path& file);
  // Ends it and leaves no file.
  void discard();
  // Throws BadInput if the trace could not be written; nothing is left of it then.
  void finish();
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }

  void op(const Op& op);
  void release(Block& block);
  void step();

  // For pthread_atfork: nobody is inside between these two.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // In a forked child: the file is the parent's.
  void abandon();

 private:
  struct File;
  template <typename Action>
  void write(Action&& action);
  void put(const Op& op);
  void number(Block& block);

  std::mutex mutex_;
  std::atomic<bool> on_{false};
  std::unique_ptr<File> file_;
  std::string failure_;  // why the recording ended early
};

}  // namespace weir::libtorch
