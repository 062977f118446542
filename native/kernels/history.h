// What a row's history contributes, from a slab of its scaled neighbours s_j = sqrt(a_j) h_jB:
//
//   Hessian   A += sum_j s_j s_j'      gradient   g += sum_j e_j s_j      predictions   <x, s_j>
//
// Scaling by sqrt(a) while gathering makes weights free everywhere else.
#pragma once

#include "tile.h"

namespace ialspp::IALSPP_ISA {
namespace {

// Rows arrive from random places: ask for one this many interactions before it is copied.
constexpr int64_t kPrefetchAhead = 12;

template <bool weighted>
void gather_rows(const History& history, const Columns& other, Slab slab) {
  const int64_t full = other.width / kPanel, rest = other.width % kPanel;
  for (int64_t j = 0; j < history.size; ++j) {
    if (j + kPrefetchAhead < history.size) {
      const float* ahead = other.data + history.columns[j + kPrefetchAhead] * other.stride;
      for (int64_t c = 0; c < other.width; c += kPanel) __builtin_prefetch(ahead + c);
    }
    const float* row = other.data + history.columns[j] * other.stride;
    const float scale = weighted ? __builtin_sqrtf(history.weights[j]) : 1.0f;
    for (int64_t p = 0; p < full; ++p)
      for (int v = 0; v < kVectors; ++v) {
        const Vector part = load(row + p * kPanel + v * kLanes);
        store(slab.at(p, j) + v * kLanes, weighted ? scale * part : part);
      }
    if (rest) {
      float* last = slab.at(full, j);
      for (int64_t c = 0; c < kPanel; ++c) last[c] = c < rest ? scale * row[full * kPanel + c] : 0.0f;
    }
  }
}

// slab row j = sqrt(a_j) h_jB
void gather(const History& history, const Columns& other, Slab slab) {
  if (history.weights)
    gather_rows<true>(history, other, slab);
  else
    gather_rows<false>(history, other, slab);
}

// A += S'S, panels on and above the diagonal. hessian: panels x padded width x 16, panel-major.
// The slab's sum starts at zero: added one by one to a diagonal with a large lambda, small squares
// would all be rounded away in the same direction.
void add_outer(Slab slab, float* hessian) {
  const int64_t width = slab.panels * kPanel;
  for (int64_t right = 0; right < slab.panels; ++right)
    for (int64_t left = 0; left <= right; ++left)
      for (int64_t m = 0; m < kPanel; m += kTileRows) {
        float* target = hessian + (right * width + left * kPanel + m) * kPanel;
        Tile<kTileRows> tile;
        tile.clear();
        tile.add<kPanel>(slab.at(left, 0) + m, 1, slab.at(right, 0), slab.rows);
        tile.add_to(target);
      }
}

// g += S'e. Four rows at a time, or the sum would wait for itself.
void add_scaled(Slab slab, const float* scales, float* vector) {
  constexpr int kChains = 4;
  for (int64_t p = 0; p < slab.panels; ++p) {
    Vector sums[kChains][kVectors] = {};
    int64_t j = 0;
    for (; j + kChains <= slab.rows; j += kChains)
      for (int c = 0; c < kChains; ++c)
        for (int v = 0; v < kVectors; ++v) sums[c][v] += scales[j + c] * load(slab.at(p, j + c) + v * kLanes);
    for (; j < slab.rows; ++j)
      for (int v = 0; v < kVectors; ++v) sums[0][v] += scales[j] * load(slab.at(p, j) + v * kLanes);
    for (int v = 0; v < kVectors; ++v) {
      float* target = vector + p * kPanel + v * kLanes;
      store(target, load(target) + ((sums[0][v] + sums[1][v]) + (sums[2][v] + sums[3][v])));
    }
  }
}

// out = S x, kLanes rows at a time: their products are added across by one transposing tree instead
// of a horizontal sum each. Slab and out have room for whole groups; the excess is never read.
void dots(Slab slab, const float* vector, float* out) {
  for (int64_t j = 0; j < slab.rows; j += kLanes) {
    Vector sums[kLanes] = {};
    for (int64_t p = 0; p < slab.panels; ++p)
      for (int v = 0; v < kVectors; ++v) {
        const Vector x = load(vector + p * kPanel + v * kLanes);
        for (int r = 0; r < kLanes; ++r) sums[r] += x * load(slab.at(p, j + r) + v * kLanes);
      }
    store(out + j, sum_each(sums));
  }
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
