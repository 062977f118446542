// What a row's history adds to its system, from a slab S of the scaled neighbours s_j = sqrt(a_j) h_jB:
//
//   Hessian   A += S'S      gradient   g += S'r      predictions   S x
//
#pragma once

#include "tile.h"

namespace ialspp::IALSPP_ISA {
namespace {

// Rows come from random places in memory, so they are requested this many floats before they are copied.
constexpr int64_t kPrefetchAhead = 2048, kMostAhead = 16;

template <bool weighted>
void gather_rows(const History& history, const Columns& other, Slab slab) {
  const int64_t full = other.width / kPanel, rest = other.width % kPanel;
  const int64_t fitting = kPrefetchAhead / other.width + 1;
  const int64_t ahead = fitting < kMostAhead ? fitting : kMostAhead;
  const int64_t known = history.size + history.following - ahead;
  for (int64_t j = 0; j < history.size; ++j) {
    if (j < known) {
      const float* next = other.data + history.columns[j + ahead] * other.stride;
      for (int64_t c = 0; c < other.width; c += kPanel) __builtin_prefetch(next + c);
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

// A += S'S, for panels on and above the diagonal. hessian: panels x padded width x 16, panel-major.
// The slab's sum starts at zero. Small squares added one by one to a diagonal with a large lambda would all
// be rounded in the same direction.
void add_outer(Slab slab, float* hessian) {
  const int64_t width = slab.panels * kPanel;
  for (int64_t right = 0; right < slab.panels; ++right) {
    for (int64_t left = 0; left < right; ++left)
      in_tiles([&]<int rows>(int64_t m) {
        Tile<rows> tile;
        tile.clear();
        tile.template add<kPanel>(slab.at(left, 0) + m, 1, slab.at(right, 0), slab.rows);
        tile.add_to(hessian + (right * width + left * kPanel + m) * kPanel);
      });
    add_squared_panel(slab.at(right, 0), slab.rows, hessian + (right * width + right * kPanel) * kPanel);
  }
}

// g += S'e, with four sums side by side: a single one would wait for each of its additions.
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

// S x for the kLanes rows from j on. One transposing tree adds up their products, instead of a horizontal sum
// for each row. The slab has room for whole vectors of rows; the results for rows beyond the last are not
// used.
inline Vector dots_from(Slab slab, const float* vector, int64_t j) {
  Vector sums[kLanes] = {};
  for (int64_t p = 0; p < slab.panels; ++p)
    for (int v = 0; v < kVectors; ++v) {
      const Vector x = load(vector + p * kPanel + v * kLanes);
      for (int r = 0; r < kLanes; ++r) sums[r] += x * load(slab.at(p, j + r) + v * kLanes);
    }
  return sum_each(sums);
}

// r += sign S x
void add_dots(Slab slab, const float* vector, float sign, float* residual) {
  for (int64_t j = 0; j < slab.rows; j += kLanes) {
    const Vector products = sign * dots_from(slab, vector, j);
    if (j + kLanes <= slab.rows)
      store(residual + j, load(residual + j) + products);
    else
      for (int64_t i = j; i < slab.rows; ++i) residual[i] += products[i - j];
  }
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
