// The threads of the process. They are started when a caller first wants so many, and sleep between calls.
//
// Results never depend on how many threads there are or which one runs a task. Callers hand over numbered
// tasks whose results do not overlap, and combine these in the order of their numbers.
#pragma once

#include <cstdint>
#include <functional>

namespace ialspp {

using Task = std::function<void(int64_t)>;

// Thrown by parallel_for after the poll function said to stop. Some tasks have then not run.
struct Interrupted {};

// Calls task(0) ... task(count - 1), also on the caller's own thread. The first exception of a task is thrown
// here. A second caller at the same time does not wait for the threads but runs its tasks alone.
enum class Interruptible { no, yes };
void parallel_for(int threads, int64_t count, const Task& task, Interruptible = Interruptible::yes);

// The poll function is called on the calling thread of a long parallel_for, between two tasks and at most
// twenty times a second. It returns true to stop.
void set_poll(bool (*poll)());

}  // namespace ialspp
