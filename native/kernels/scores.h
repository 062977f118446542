// Passes over the scores of all items for one user: the place of an item in the ranking, and the few that
// may be among the best, without sorting.
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

// above += #{i: s_i > score}, equal += #{i: s_i = score}. Counted in 32 bits, which vectorise, for n < 2^31.
void count(const float* scores, int64_t n, float score, int64_t* above, int64_t* equal) {
  int32_t higher = 0, level = 0;
  for (int64_t i = 0; i < n; ++i) {
    higher += scores[i] > score;
    level += scores[i] == score;
  }
  *above += higher;
  *equal += level;
}

inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }

// maxima_b = the largest of scores b * size .. (b + 1) * size - 1, and at the end of what is left; `size` is
// a multiple of 16
void block_maxima(const float* scores, int64_t n, int64_t size, float* maxima) {
  for (int64_t begin = 0; begin < n; begin += size, ++maxima) {
    float most = scores[begin];
    if (begin + size <= n) {
      Vector lanes = load(scores + begin);
      for (int64_t i = kLanes; i < size; i += kLanes) lanes = larger(lanes, load(scores + begin + i));
      for (int i = 0; i < kLanes; ++i) most = lanes[i] > most ? lanes[i] : most;
    } else {
      for (int64_t i = begin; i < n; ++i) most = scores[i] > most ? scores[i] : most;
    }
    *maxima = most;
  }
}

// The scores above `least` and where they are, ascending; how many. Every place is written to, whether it
// stays or not: a branch would be guessed wrong at each one found.
int64_t collect(const float* scores, int64_t begin, int64_t end, float least, int32_t* items, float* found) {
  int64_t count = 0;
  for (int64_t i = begin; i < end; ++i) {
    items[count] = static_cast<int32_t>(i);
    found[count] = scores[i];
    count += scores[i] > least;
  }
  return count;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
