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

// Writes the chosen lanes and their positions one after another, and returns how many there are. Without an
// instruction for it, every lane is written, and the next one overwrites it if it was not chosen: a branch
// would be mispredicted at each lane chosen.
inline int64_t put_chosen(Vector part, Lanes chosen, int32_t first, int32_t* items, float* found) {
#if defined(__AVX512F__) && IALSPP_VECTOR_BYTES == 64
  const __mmask16 mask = _mm512_test_epi32_mask((__m512i)chosen, (__m512i)chosen);
  const __m512i places = _mm512_add_epi32(
      _mm512_set1_epi32(first), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  _mm512_storeu_si512(items, _mm512_maskz_compress_epi32(mask, places));
  _mm512_storeu_ps(found, _mm512_maskz_compress_ps(mask, (__m512)part));
  return __builtin_popcount(mask);
#else
  int64_t count = 0;
  for (int i = 0; i < kLanes; ++i) {
    items[count] = first + i;
    found[count] = part[i];
    count -= chosen[i];
  }
  return count;
#endif
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
// there are. `items` and `found` have room for a vector more. Vectors without such scores are skipped.
int64_t collect(const float* scores, int64_t begin, int64_t end, float low, float high, int32_t* items,
                float* found) {
  int64_t count = 0;
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    const Vector part = load(scores + i);
    const Lanes chosen = (part > low) & (part <= high);
    if (any(chosen)) count += put_chosen(part, chosen, static_cast<int32_t>(i), items + count, found + count);
  }
  for (; i < end; ++i) {
    items[count] = static_cast<int32_t>(i);
    found[count] = scores[i];
    count += (scores[i] > low) & (scores[i] <= high);
  }
  return count;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
