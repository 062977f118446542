// Dense products over factors: X G for many rows at once, L'R for Gramians, squared norms.
#pragma once

#include "tile.h"

namespace ialspp::IALSPP_ISA {
namespace {

// With one vector to a panel, a tile of a product has two panels beside each other: each broadcast then
// serves two FMAs. Twelve rows of them fill the registers that AVX-512 has for accumulators.
constexpr int kPanelsBeside = kVectors == 1 ? 2 : 1;
constexpr int kProductRows = kVectors == 1 ? 12 : kTileRows;

template <int rows, int panels>
void multiply_tile(const float* x, int64_t x_stride, int64_t depth, const float* panel, float* out,
                   int64_t out_stride) {
  Tile<rows> tiles[panels];
  for (int p = 0; p < panels; ++p) tiles[p].clear();
  for (int64_t j = 0; j < depth; ++j)
#pragma GCC unroll 2
    for (int p = 0; p < panels; ++p)
      tiles[p].template add<1>(x + j, x_stride, panel + (p * depth + j) * kPanel, 1);
  for (int p = 0; p < panels; ++p) tiles[p].store_to(out + p * kPanel, out_stride);
}

// Calls body<rows>() for a number of rows that is known at run time only
template <int most = kProductRows, class Body>
inline void with_rows(int64_t rows, const Body& body) {
  if constexpr (most == 1)
    body.template operator()<1>();
  else if (rows == most)
    body.template operator()<most>();
  else
    with_rows<most - 1>(rows, body);
}

// out (rows x 16 n_panels, its rows out_stride apart) = X (rows x depth) G, G as n_panels panels of `depth`
// rows. All rows use a panel before the next one is read: a row alone would wait for the cache that G comes
// from. Tiles are of nearly equal size, since a tile of one row takes as long as one of four.
void multiply(const float* x, int64_t x_stride, int64_t rows, int64_t depth, const float* panels,
              int64_t n_panels, float* out, int64_t out_stride) {
  const int64_t tiles = (rows + kProductRows - 1) / kProductRows;
  for (int64_t p = 0; p < n_panels; p += kPanelsBeside)
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t r = rows * t / tiles, end = rows * (t + 1) / tiles;
      with_rows(end - r, [&]<int n>() {
        const float* left = x + r * x_stride;
        const float* panel = panels + p * depth * kPanel;
        float* target = out + r * out_stride + p * kPanel;
        if (p + kPanelsBeside <= n_panels)
          multiply_tile<n, kPanelsBeside>(left, x_stride, depth, panel, target, out_stride);
        else
          multiply_tile<n, 1>(left, x_stride, depth, panel, target, out_stride);
      });
    }
}

// out (16 left.panels x 16 right.panels, row-major) += L'R over the slabs' common rows. Sums are in single
// precision inside a slab of some hundred rows, and in double precision from one slab to the next. Panels of
// L more than `diagonal` beyond the panel of R are left out, since symmetry gives that half.
void add_cross(Slab left, Slab right, int64_t diagonal, double* out) {
  const int64_t width = right.panels * kPanel;
  for (int64_t q = 0; q < right.panels; ++q)
    for (int64_t p = 0; p < left.panels && p <= q + diagonal; ++p)
      in_tiles([&]<int rows>(int64_t m) {
        Tile<rows> tile;
        tile.clear();
        tile.template add<kPanel>(left.at(p, 0) + m, 1, right.at(q, 0), left.rows);
        float sums[rows * kPanel];
        tile.store_to(sums);
        double* target = out + (p * kPanel + m) * width + q * kPanel;
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < kPanel; ++c) target[r * width + c] += sums[r * kPanel + c];
      });
}

// sums += weight x^2, number by number
void add_squares(const float* x, double weight, int64_t n, double* sums) {
  for (int64_t i = 0; i < n; ++i) sums[i] += weight * x[i] * x[i];
}

double squared_norm(const float* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
