// The threads of the process: made once, grown when more are asked for, asleep between calls.
//
// What is computed never depends on how many there are or who does what: callers hand over numbered
// tasks whose results do not overlap, and combine them in the order of their numbers.
#pragma once

#include <cstdint>
#include <functional>

namespace ialspp {

using Task = std::function<void(int64_t)>;

// Thrown by parallel_for after the poll function asked to stop; some tasks have not run.
struct Interrupted {};

// Calls task(0) ... task(count - 1), the caller's thread taking part. The first exception a task throws
// is thrown here. A second caller at the same time runs its tasks alone rather than wait.
enum class Interruptible { no, yes };
void parallel_for(int threads, int64_t count, const Task& task, Interruptible = Interruptible::yes);

// Asked several times a second on the calling thread of a long parallel_for; true stops it.
void set_poll(bool (*poll)());

// Scratch memory of the calling thread: 64-byte aligned, kept from one call to the next and grown as
// needed; what it held before is gone. Two of them: one for a group of rows, one for a piece inside.
enum class Scratch { group, piece };
float* scratch(int64_t floats, Scratch which = Scratch::group);

}  // namespace ialspp
