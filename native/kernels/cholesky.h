// Solves A x = g by Cholesky's factorisation A = U'U, in place, for a matrix stored as panels (add_outer's
// layout): panel q holds rows 0 .. 16q + 15 of columns 16q .. 16q + 15.
//
// The factorisation is left-looking and goes over blocks of sixteen rows. It first subtracts from a block
// what all earlier rows contribute; this is the tile loop, with nearly all of the d^3/6 FMAs. Each half of
// the block is then eliminated: on the diagonal by a chain of eight square roots, and in all panels to the
// right of it in registers.
#pragma once

#include "history.h"

namespace ialspp::IALSPP_ISA {
namespace {

// A pivot with less than this share of its diagonal entry left is nothing but rounding error.
constexpr float kPivotTolerance = 1e-6f;

constexpr int64_t kStep = 8;  // rows of half a block
static_assert(kPanel == 2 * kStep);

// rows r .. r + rows of panel q  -=  sum_{begin <= j < end} u_j,p' u_j,q, p being the panel with the columns
// r .. r + rows
template <int rows>
void subtract_earlier(Slab a, int64_t begin, int64_t end, int64_t r, int64_t q) {
  Tile<rows> tile;
  tile.clear();
  tile.template add<kPanel>(a.at(r / kPanel, begin) + r % kPanel, 1, a.at(q, begin), end - begin);
  tile.subtract_from(a.at(q, r));
}

void subtract_row(float* row, float scale, const float* other) {
  for (int v = 0; v < kVectors; ++v)
    store(row + v * kLanes, load(row + v * kLanes) - scale * load(other + v * kLanes));
}

// Eliminates rows r .. r + 8 inside the panel of the diagonal. The diagonal keeps 1/u_kk, which is all of it
// that substitution needs.
bool factor_diagonal(Slab a, int64_t r, const float* original_diagonal) {
  for (int64_t k = 0; k < kStep; ++k) {
    float* row = a.at(r / kPanel, r + k);
    const int64_t column = r % kPanel + k;
    const float pivot = row[column];
    if (!(pivot > kPivotTolerance * original_diagonal[k]) || __builtin_isinf(pivot)) return false;
    const float inverse = 1.0f / __builtin_sqrtf(pivot);
    for (int v = 0; v < kVectors; ++v) store(row + v * kLanes, inverse * load(row + v * kLanes));
    for (int64_t i = k + 1; i < kStep; ++i) subtract_row(row + (i - k) * kPanel, row[column + i - k], row);
    row[column] = inverse;
  }
  return true;
}

// Eliminates the same rows in panel q to the right, kLanes columns at a time
void eliminate(Slab a, int64_t r, int64_t q) {
  const float* u = a.at(r / kPanel, r) + r % kPanel;  // u_ki at u[k * kPanel + i], 1/u_kk for i = k
  for (int v = 0; v < kVectors; ++v) {
    Vector rows[kStep];
    for (int k = 0; k < kStep; ++k) rows[k] = load(a.at(q, r + k) + v * kLanes);
#pragma GCC unroll 8
    for (int k = 0; k < kStep; ++k) {
      rows[k] *= u[k * kPanel + k];
#pragma GCC unroll 8
      for (int i = k + 1; i < kStep; ++i) rows[i] -= u[k * kPanel + i] * rows[k];
    }
    for (int k = 0; k < kStep; ++k) store(a.at(q, r + k) + v * kLanes, rows[k]);
  }
}

bool factor(Slab a) {
  constexpr int kHalfTile = kTileRows < 4 ? kTileRows : 4;
  for (int64_t p = 0; p < a.panels; ++p) {
    const int64_t first = p * kPanel, second = first + kStep;
    float diagonal[kPanel];
    for (int64_t k = 0; k < kPanel; ++k) diagonal[k] = a.at(p, first + k)[k];
    if (p > 0)
      for (int64_t q = p; q < a.panels; ++q)
        in_tiles([&]<int rows>(int64_t m) { subtract_earlier<rows>(a, 0, first, first + m, q); });

    if (!factor_diagonal(a, first, diagonal)) return false;
    for (int64_t q = p + 1; q < a.panels; ++q) eliminate(a, first, q);
    for (int64_t q = p; q < a.panels; ++q)
      for (int64_t m = 0; m < kStep; m += kHalfTile)
        subtract_earlier<kHalfTile>(a, first, second, second + m, q);

    if (!factor_diagonal(a, second, diagonal + kStep)) return false;
    for (int64_t q = p + 1; q < a.panels; ++q) eliminate(a, second, q);
  }
  return true;
}

// Solves U'z = g, in place
void substitute_forward(Slab a, float* g) {
  for (int64_t p = 0; p < a.panels; ++p) {
    float* block = g + p * kPanel;
    Tile<1> tile;
    tile.clear();
    tile.template add<1>(g, 0, a.at(p, 0), p * kPanel);
    tile.subtract_from(block);
    float z[kPanel];
    for (int64_t k = 0; k < kPanel; ++k) {
      const float* row = a.at(p, p * kPanel + k);
      z[k] = block[k] * row[k];
      subtract_row(block, z[k], row);  // also spoils the entries up to k, which z has
    }
    for (int64_t k = 0; k < kPanel; ++k) block[k] = z[k];
  }
}

// Solves Ux = z, in place
void substitute_backward(Slab a, float* z) {
  for (int64_t p = a.panels - 1; p >= 0; --p) {
    float* block = z + p * kPanel;
    float later[kPanel] = {};
    const Slab right{a.at(p, p * kPanel) + a.panel_stride, a.panel_stride, a.panels - p - 1, kPanel};
    if (right.panels > 0) add_dots(right, block + kPanel, 1.0f, later);
    alignas(64) float x[kPanel] = {};
    for (int64_t k = kPanel - 1; k >= 0; --k) {
      const float* row = a.at(p, p * kPanel + k);
      Vector products{};
      for (int v = 0; v < kVectors; ++v) products += load(row + v * kLanes) * load(x + v * kLanes);
      x[k] = (block[k] - later[k] - sum(products)) * row[k];
    }
    for (int64_t k = 0; k < kPanel; ++k) block[k] = x[k];
  }
}

bool solve_one(float* hessian, int64_t n_panels, float* gradient) {
  const int64_t width = n_panels * kPanel;
  const Slab a{hessian, width * kPanel, n_panels, width};
  if (!factor(a)) return false;
  substitute_forward(a, gradient);
  substitute_backward(a, gradient);
  for (int64_t i = 0; i < width; ++i)
    if (!__builtin_isfinite(gradient[i])) return false;
  return true;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
