#include <atomic>
#include <stdexcept>
#include <thread>

#include "../csr.h"
#include "../pool.h"
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
          scratch(100 + i)[0] = 1.0f;
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

TEST(pairs_are_sorted_and_repeated_ones_keep_their_order) {
  const std::vector<int32_t> rows{2, 0, 2, 4, 0, 2}, columns{1, 3, 0, 2, 3, 1};
  std::vector<int64_t> offsets(6), order(6), left(6);
  std::vector<int32_t> sorted(6);
  sort_pairs(rows.data(), columns.data(), 6, 5, 4, offsets.data(), sorted.data(), order.data());
  CHECK((offsets == std::vector<int64_t>{0, 2, 2, 5, 5, 6}));
  CHECK((sorted == std::vector<int32_t>{3, 3, 0, 1, 1, 2}));
  CHECK((order == std::vector<int64_t>{1, 4, 2, 0, 5, 3}));
  bool first[6];
  mark_first(offsets.data(), 5, sorted.data(), first, left.data());
  CHECK((std::vector<bool>(first, first + 6) == std::vector<bool>{true, false, true, true, false, true}));
  CHECK((left == std::vector<int64_t>{0, 1, 1, 3, 3, 4}));
}
