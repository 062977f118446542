// Scratch memory: pieces neither overlap nor move, and memory is used again.
#include <numeric>

#include "../workspace.h"
#include "check.h"

using namespace ialspp;

namespace {

bool on_a_cache_line(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; }

// Takes pieces of every size given, fills each with its own number, and checks that all keep theirs.
void check_pieces(const std::vector<int64_t>& sizes) {
  Workspace work;
  std::vector<float*> pieces;
  for (const int64_t size : sizes) {
    float* piece = work.floats(size);
    CHECK(on_a_cache_line(piece));
    std::fill_n(piece, size, static_cast<float>(pieces.size()));
    pieces.push_back(piece);
  }
  for (size_t p = 0; p < pieces.size(); ++p)
    for (int64_t i = 0; i < sizes[p]; ++i) CHECK(pieces[p][i] == static_cast<float>(p));
}

}  // namespace

TEST(pieces_do_not_overlap_however_much_is_taken) {
  for (int round = 0; round < 3; ++round) {
    check_pieces({1, 0, 17, 1000});
    check_pieces({100'000, 3, 100'000, 5});
    check_pieces({64, 200'000});
  }
}

TEST(a_nested_workspace_leaves_the_outer_pieces_alone) {
  Workspace outer;
  float* mine = outer.floats(100);
  std::iota(mine, mine + 100, 0.0f);
  for (const int64_t size : {10, 1'000'000, 10}) {
    Workspace inner;
    std::fill_n(inner.floats(size), size, -1.0f);
  }
  float* more = outer.floats(100);
  std::fill_n(more, 100, -1.0f);
  for (int i = 0; i < 100; ++i) CHECK(mine[i] == static_cast<float>(i));
}

TEST(zeros_are_zero_in_used_memory) {
  {
    Workspace work;
    std::fill_n(work.floats(500), 500, 1.0f);
  }
  Workspace work;
  const float* zeros = work.zeros(500);
  for (int i = 0; i < 500; ++i) CHECK(zeros[i] == 0.0f);
}

TEST(a_second_task_of_the_same_size_gets_the_same_memory) {
  const auto task = [] {
    Workspace work;
    std::vector<const void*> pieces{work.floats(70'000), work.integers(30)};
    Workspace inner;
    pieces.push_back(inner.floats(500'000));
    return pieces;
  };
  task();  // several blocks, one after the other
  const auto settled = task();
  for (int i = 0; i < 3; ++i) CHECK(task() == settled);
}
