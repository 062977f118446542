#include <atomic>
#include <stdexcept>
#include <thread>

#include "../pool.h"
#include "../workspace.h"
#include "check.h"

using namespace ialspp;

TEST(every_task_runs_once_on_any_number_of_threads) {
  for (const int threads : {1, 2, 3, 16})
    for (const int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> runs(count);
      parallel_for(threads, count, [&](int64_t i) { ++runs[i]; });
      for (const auto& run : runs) CHECK(run == 1);
    }
}

TEST(an_exception_in_a_task_reaches_the_caller) {
  for (const int threads : {1, 4}) {
    bool caught = false;
    try {
      parallel_for(threads, 100, [](int64_t i) {
        if (i == 42) throw std::runtime_error("task");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    std::atomic<int> runs{0};
    parallel_for(threads, 10, [&](int64_t) { ++runs; });  // the pool still works
    CHECK(runs == 10);
  }
}

TEST(callers_on_several_threads_do_not_disturb_each_other) {
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        parallel_for(3, 20, [&](int64_t i) {
          Workspace work;
          work.floats(100 + i)[0] = 1.0f;
          total += i;
        });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(total == 4 * 50 * 190);
}

TEST(a_poll_that_says_stop_interrupts) {
  set_poll([] { return true; });
  bool interrupted = false;
  std::atomic<int64_t> runs{0};
  try {
    parallel_for(2, 1'000'000, [&](int64_t) {
      ++runs;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  } catch (const Interrupted&) {
    interrupted = true;
  }
  set_poll(nullptr);
  CHECK(interrupted);
  CHECK(runs < 1'000'000);
}
