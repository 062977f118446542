// Passes over the scores of all items for one user. They find the place of an item in the ranking, and the
// items that may be among the best, without sorting.
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

// above += #{i: s_i > score}, equal += #{i: s_i = score}. For n < 2^31: counts of 32 bits vectorise.
void count(const float* scores, int64_t n, float score, int64_t* above, int64_t* equal) {
  int32_t higher = 0, level = 0;
  for (int64_t i = 0; i < n; ++i) {
    higher += scores[i] > score;
    level += scores[i] == score;
  }
  *above += higher;
  *equal += level;
}

// maxima_p = the largest of scores 16 p .. 16 p + 15
void panel_maxima(const float* scores, int64_t n_panels, float* maxima) {
  const Maximum larger;
  int64_t p = 0;
  for (; p + kLanes <= n_panels; p += kLanes) {
    Vector most[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const float* panel = scores + (p + i) * kPanel;
      most[i] = load(panel);
      for (int v = 1; v < kVectors; ++v) most[i] = larger(most[i], load(panel + v * kLanes));
    }
    store(maxima + p, sum_each(most, larger));
  }
  for (; p < n_panels; ++p) {
    maxima[p] = scores[p * kPanel];
    for (int64_t i = p * kPanel; i < (p + 1) * kPanel; ++i)
      if (scores[i] > maxima[p]) maxima[p] = scores[i];
  }
}

// Lists the scores above `low` but not above `high` and their positions, ascending, and returns how many
// there are. Vectors without such scores are skipped. In the others every score is written, and the next one
// overwrites it if it does not count: a branch would be mispredicted at each score found.
int64_t collect(const float* scores, int64_t begin, int64_t end, float low, float high, int32_t* items,
                float* found) {
  int64_t count = 0;
  const auto take = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      items[count] = static_cast<int32_t>(i);
      found[count] = scores[i];
      count += (scores[i] > low) & (scores[i] <= high);
    }
  };
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    const Vector part = load(scores + i);
    if (any((part > low) & (part <= high))) take(i, i + kLanes);
  }
  take(i, end);
  return count;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
