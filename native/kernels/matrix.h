// Dense products over factors: X G for many rows at once, L'R for Gramians, squared norms.
#pragma once

#include "tile.h"

namespace ialspp::IALSPP_ISA {
namespace {

template <int rows>
void multiply_rows(const float* x, int64_t x_stride, int64_t depth, const float* panels, int64_t n_panels,
                   float* out) {
  for (int64_t p = 0; p < n_panels; ++p) {
    Tile<rows> tile;
    tile.clear();
    tile.template add<1>(x, x_stride, panels + p * depth * kPanel, depth);
    tile.store_to(out + p * kPanel, n_panels * kPanel);
  }
}

// out (rows x 16 n_panels) = X (rows x depth) G, G as n_panels panels of `depth` rows.
// Several rows share each pass over G: one row alone would be bound by the cache G comes from.
void multiply(const float* x, int64_t x_stride, int64_t rows, int64_t depth, const float* panels,
              int64_t n_panels, float* out) {
  int64_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows)
    multiply_rows<kTileRows>(x + r * x_stride, x_stride, depth, panels, n_panels,
                             out + r * n_panels * kPanel);
  for (; r < rows; ++r)
    multiply_rows<1>(x + r * x_stride, x_stride, depth, panels, n_panels, out + r * n_panels * kPanel);
}

// out (16 left.panels x 16 right.panels, row-major) += L'R over the slabs' common rows.
// Single precision inside a slab of some hundred rows, double from one slab to the next. Panels of L
// more than `diagonal` beyond the panel of R are left out: the half that symmetry gives.
void add_cross(Slab left, Slab right, int64_t diagonal, double* out) {
  const int64_t width = right.panels * kPanel;
  for (int64_t q = 0; q < right.panels; ++q)
    for (int64_t p = 0; p < left.panels && p <= q + diagonal; ++p)
      for (int64_t m = 0; m < kPanel; m += kTileRows) {
        Tile<kTileRows> tile;
        tile.clear();
        tile.add<kPanel>(left.at(p, 0) + m, 1, right.at(q, 0), left.rows);
        float sums[kTileRows * kPanel];
        tile.store_to(sums);
        double* target = out + (p * kPanel + m) * width + q * kPanel;
        for (int64_t r = 0; r < kTileRows; ++r)
          for (int64_t c = 0; c < kPanel; ++c) target[r * width + c] += sums[r * kPanel + c];
      }
}

double squared_norm(const float* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
