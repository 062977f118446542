// A thread's scratch memory, handed out in named pieces:
//
//   Workspace work;
//   float* residual = work.floats(interactions);
//
// A piece lasts as long as the Workspace that it came from. Workspaces of one thread nest like the calls that
// open them, so a function takes what it needs without being told what its callers hold. The memory itself
// stays with the thread: once the largest task has run, taking a piece allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ialspp {

class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // n numbers that start on a cache line. They are not initialised, except by `zeros`.
  float* floats(int64_t n);
  float* zeros(int64_t n);
  int32_t* integers(int64_t n);

 private:
  // How far the thread's memory is in use: all blocks before `block`, and `used` floats of that one.
  struct Position {
    size_t block = 0;
    int64_t used = 0, total = 0;  // total: in all pieces together
  };
  class Memory;
  static Memory& memory_of_this_thread();

  Memory& memory_;
  const Position start_;
};

}  // namespace ialspp
