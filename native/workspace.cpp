#include "workspace.h"

#include <algorithm>
#include <vector>

#include "memory.h"
#include "types.h"

namespace ialspp {

// Pieces are cut from a block until it is full, then from another one: a block that has given out a piece
// cannot move. When no piece is left in use, several blocks are replaced by a single one as large as the
// thread ever needed.
class Workspace::Memory {
 public:
  Position position() const { return top_; }

  float* take(int64_t n) {
    const int64_t floats = padded(n);
    if (top_.block == blocks_.size() || top_.used + floats > blocks_[top_.block].size) find_block(floats);
    float* piece = blocks_[top_.block].floats.data() + top_.used;
    top_.used += floats;
    top_.total += floats;
    most_ = std::max(most_, top_.total);
    return piece;
  }

  void give_back(const Position& start) {
    top_ = start;
    if (top_.total == 0 && blocks_.size() > 1) blocks_.clear();
  }

 private:
  struct Block {
    AlignedFloats floats;
    int64_t size = -1;
  };

  void find_block(int64_t floats) {
    if (top_.used > 0) {
      ++top_.block;
      top_.used = 0;
    }
    if (top_.block == blocks_.size()) blocks_.emplace_back();
    Block& block = blocks_[top_.block];
    if (block.size >= floats) return;
    const int64_t size = top_.block == 0 ? std::max(floats, most_) : floats;
    block = Block();  // free the old memory first: a thread never holds both
    block = Block{AlignedFloats(size), size};
  }

  std::vector<Block> blocks_;
  Position top_;
  int64_t most_ = 0;  // floats that were in use at once
};

Workspace::Memory& Workspace::memory_of_this_thread() {
  thread_local Memory memory;
  return memory;
}

Workspace::Workspace() : memory_(memory_of_this_thread()), start_(memory_.position()) {}
Workspace::~Workspace() { memory_.give_back(start_); }

float* Workspace::floats(int64_t n) { return memory_.take(n); }
int32_t* Workspace::integers(int64_t n) { return reinterpret_cast<int32_t*>(memory_.take(n)); }

float* Workspace::zeros(int64_t n) {
  float* piece = memory_.take(n);
  std::fill_n(piece, padded(n), 0.0f);
  return piece;
}

}  // namespace ialspp
