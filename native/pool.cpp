#include "pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace ialspp {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kMostThreads = 1024;  // as many as Python lets a user ask for
constexpr auto kPollInterval = std::chrono::milliseconds(50);

std::atomic<bool (*)()> poll_function{nullptr};

thread_local Clock::time_point next_poll{};
thread_local bool polling = false;

// The poll function may run anything, also this library. Such a call gets no help from the pool, whose
// threads are busy with what was interrupted. Its Workspaces nest inside those of the interrupted task.
bool should_stop() {
  const auto poll = poll_function.load();
  if (!poll || polling || Clock::now() < next_poll) return false;
  polling = true;
  const bool stop = poll();
  polling = false;
  next_poll = Clock::now() + kPollInterval;
  return stop;
}

struct Job {
  const Task& task;
  const int64_t count;
  const bool interruptible;
  std::atomic<int64_t> next{0};
  std::atomic<bool> interrupted{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;

  Job(const Task& t, int64_t n, Interruptible i)
      : task(t), count(n), interruptible(i == Interruptible::yes) {}

  void stop() { next.store(count); }

  void work(bool may_poll) {
    for (int64_t i; (i = next.fetch_add(1)) < count;) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        stop();
      }
      if (may_poll && interruptible && should_stop()) {
        interrupted = true;
        stop();
      }
    }
  }

  void finish() {
    if (failure) std::rethrow_exception(failure);
    if (interrupted) throw Interrupted{};
  }
};

class Pool {
 public:
  // False where another caller has the threads
  bool run(int helpers, Job& job) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    {
      const std::lock_guard lock(mutex_);
      grow(helpers);
      job_ = &job;
      wanted_ = pending_ = std::min(helpers, size_);
      ++round_;
    }
    wake_.notify_all();
    job.work(true);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
    job_ = nullptr;
    return true;
  }

 private:
  // Where the system allows no more threads, the existing ones do all the work.
  void grow(int helpers) {
    try {
      for (; size_ < helpers; ++size_)
        std::thread([this, number = size_, round = round_] { serve(number, round); }).detach();
    } catch (const std::system_error&) {
    }
  }

  void serve(int number, int64_t round) {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return round_ != round; });
      round = round_;
      if (number >= wanted_) continue;
      Job& job = *job_;
      lock.unlock();
      job.work(false);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex owner_, mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  int size_ = 0, wanted_ = 0, pending_ = 0;
  int64_t round_ = 0;
};

// The pool is never destroyed: its threads sleep until the process ends. A forked child has none of these
// threads, so it starts a pool of its own.
std::atomic<Pool*> current_pool{nullptr};
std::mutex creation;

Pool& pool() {
  if (Pool* existing = current_pool.load()) return *existing;
  const std::lock_guard lock(creation);
  if (!current_pool.load()) {
#ifndef _WIN32
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { current_pool = nullptr; }); });
#endif
    current_pool = new Pool;
  }
  return *current_pool.load();
}

}  // namespace

void set_poll(bool (*poll)()) { poll_function = poll; }

void parallel_for(int threads, int64_t count, const Task& task, Interruptible interruptible) {
  Job job(task, count, interruptible);
  const auto helpers = static_cast<int>(std::min<int64_t>({std::max(threads, 1), count, kMostThreads})) - 1;
  if (helpers < 1 || polling || !pool().run(helpers, job)) job.work(true);
  job.finish();
}

}  // namespace ialspp
