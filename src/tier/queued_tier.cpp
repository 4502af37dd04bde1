#include "tier/queued_tier.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace weir::tier {

namespace {

struct Item {
  enum State : std::uint8_t { Queued, Running, Done };

  std::function<Transfer()> copy;
  std::atomic<State> state{Queued};  // changed under the lane's lock
  std::optional<TierError> failure;  // written before it is Done
};

}  // namespace

class QueuedTier::Lane {
 public:
  Lane() : thread_{[this] { serve(); }} {}
  ~Lane() {
    {
      const std::lock_guard lock{mutex_};
      closing_ = true;
    }
    added_.notify_one();
    thread_.join();
  }

  Transfer add(std::function<Transfer()> copy) {
    auto item = std::make_shared<Item>();
    item->copy = std::move(copy);
    {
      const std::lock_guard lock{mutex_};
      queue_.push_back(item);
    }
    added_.notify_one();
    return Transfer{std::make_unique<Waiting>(*this, std::move(item))};
  }

  void make(const std::function<Transfer()>& copy) {
    const Count count{*this};
    copy().wait();
  }

  void drain() {
    std::unique_lock lock{mutex_};
    done_.wait(lock, [&] { return queue_.empty() && running_ == 0; });
  }

 private:
  // The other end of an item, for who asked for it.
  class Waiting final : public Transfer::Work {
   public:
    Waiting(Lane& lane, std::shared_ptr<Item> item) : lane_{lane}, item_{std::move(item)} {}
    [[nodiscard]] bool done() const override { return item_->state == Item::Done; }
    void wait() override {
      if (!done()) lane_.finish(*item_);
      if (item_->failure) throw TierError{*item_->failure};
    }

   private:
    Lane& lane_;
    std::shared_ptr<Item> item_;
  };

  // One that is made by who wants it.
  class Count {
   public:
    explicit Count(Lane& lane) : lane_{lane} {
      const std::lock_guard lock{lane_.mutex_};
      ++lane_.running_;
    }
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    ~Count() {
      const std::lock_guard lock{lane_.mutex_};
      --lane_.running_;
      lane_.done_.notify_all();
    }

   private:
    Lane& lane_;
  };

  void serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
      added_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::shared_ptr<Item> item = queue_.front();
      carry_out(*item, lock);
    }
  }

  void finish(Item& item) {
    std::unique_lock lock{mutex_};
    if (item.state == Item::Queued) carry_out(item, lock);
    done_.wait(lock, [&] { return item.state == Item::Done; });
  }

  void carry_out(Item& item, std::unique_lock<std::mutex>& lock) {
    std::erase_if(queue_, [&](const std::shared_ptr<Item>& other) { return other.get() == &item; });
    item.state = Item::Running;
    ++running_;
    lock.unlock();
    try {
      item.copy().wait();
    } catch (const TierError& error) {
      item.failure = error;
    }
    lock.lock();
    --running_;
    item.state = Item::Done;
    done_.notify_all();
  }

  std::mutex mutex_;  // never held during a transfer
  std::condition_variable added_, done_;
  std::deque<std::shared_ptr<Item>> queue_;
  int running_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

QueuedTier::QueuedTier(Tier& inner)
    : Wrapper{inner},
      owner_{getpid()},
      writes_{std::make_unique<Lane>()},
      reads_{std::make_unique<Lane>()} {}

QueuedTier::~QueuedTier() = default;

Transfer QueuedTier::write(Slot slot, std::span<const std::byte> from) {
  return writes_->add([this, slot, from] { return Wrapper::write(slot, from); });
}

// A forked child has none of the threads, and a lock could have been held when it was forked.
Transfer QueuedTier::read(Slot slot, std::span<std::byte> to) {
  if (getpid() != owner_) return Wrapper::read(slot, to);
  return reads_->add([this, slot, to] { return Wrapper::read(slot, to); });
}

void QueuedTier::write_now(Slot slot, std::span<const std::byte> from) {
  writes_->make([&] { return Wrapper::write(slot, from); });
}

void QueuedTier::read_now(Slot slot, std::span<std::byte> to) {
  reads_->make([&] { return Wrapper::read(slot, to); });
}

void QueuedTier::drain() {
  writes_->drain();
  reads_->drain();
}

}  // namespace weir::tier
