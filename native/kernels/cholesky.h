// A x = g by Cholesky, A = U'U in place, for a matrix stored as panels (add_outer's layout): panel q
// holds rows 0 .. 16q + 15 of columns 16q .. 16q + 15.
//
// Left-looking over blocks of sixteen rows: first everything earlier rows explain is taken off the
// block (the tile loop, where the d^3 is), then the block eliminates itself row by row.
#pragma once

#include "history.h"

namespace ialspp::IALSPP_ISA {
namespace {

// A pivot that lost all but this share of its diagonal entry is rounding error, not information.
constexpr float kPivotTolerance = 1e-6f;

// rows 16p .. 16p + 15 of panel q  -=  sum_{j < 16p} u_j,p' u_j,q
void subtract_earlier_rows(Slab a, int64_t p, int64_t q) {
  for (int64_t m = 0; m < kPanel; m += kTileRows) {
    float* target = a.at(q, p * kPanel + m);
    Tile<kTileRows> tile;
    tile.load_from(target);
    tile.template add<kPanel, true>(a.at(p, 0) + m, 1, a.at(q, 0), p * kPanel);
    tile.store_to(target);
  }
}

void scale_row(float* row, float scale) {
  for (int v = 0; v < kVectors; ++v) store(row + v * kLanes, scale * load(row + v * kLanes));
}

void subtract_row(float* row, float scale, const float* other) {
  for (int v = 0; v < kVectors; ++v)
    store(row + v * kLanes, load(row + v * kLanes) - scale * load(other + v * kLanes));
}

// Eliminate block p inside itself, carrying the panels to its right along. The diagonal keeps 1/u_kk,
// which is all that substitution needs.
bool factor_block(Slab a, int64_t p, const float* original_diagonal) {
  for (int64_t k = 0; k < kPanel; ++k) {
    float* pivot_row = a.at(p, p * kPanel + k);
    const float pivot = pivot_row[k];
    if (!(pivot > kPivotTolerance * original_diagonal[k]) || __builtin_isinf(pivot)) return false;
    const float inverse = 1.0f / __builtin_sqrtf(pivot);
    for (int64_t q = p; q < a.panels; ++q) scale_row(a.at(q, p * kPanel + k), inverse);
    for (int64_t q = p; q < a.panels; ++q)
      for (int64_t i = k + 1; i < kPanel; ++i)
        subtract_row(a.at(q, p * kPanel + i), pivot_row[i], a.at(q, p * kPanel + k));
    pivot_row[k] = inverse;
  }
  return true;
}

bool factor(Slab a) {
  for (int64_t p = 0; p < a.panels; ++p) {
    float diagonal[kPanel];
    for (int64_t k = 0; k < kPanel; ++k) diagonal[k] = a.at(p, p * kPanel + k)[k];
    if (p > 0)
      for (int64_t q = p; q < a.panels; ++q) subtract_earlier_rows(a, p, q);
    if (!factor_block(a, p, diagonal)) return false;
  }
  return true;
}

// U'z = g, in place
void substitute_forward(Slab a, float* g) {
  for (int64_t p = 0; p < a.panels; ++p) {
    float* block = g + p * kPanel;
    Tile<1> tile;
    tile.load_from(block);
    tile.template add<1, true>(g, 0, a.at(p, 0), p * kPanel);
    tile.store_to(block);
    float z[kPanel];
    for (int64_t k = 0; k < kPanel; ++k) {
      const float* row = a.at(p, p * kPanel + k);
      z[k] = block[k] * row[k];
      subtract_row(block, z[k], row);  // right for what is still to come; z keeps what is done
    }
    for (int64_t k = 0; k < kPanel; ++k) block[k] = z[k];
  }
}

// Ux = z, in place
void substitute_backward(Slab a, float* z) {
  for (int64_t p = a.panels - 1; p >= 0; --p) {
    float* block = z + p * kPanel;
    float later[kPanel] = {};
    const Slab right{a.at(p, p * kPanel) + a.panel_stride, a.panel_stride, a.panels - p - 1, kPanel};
    if (right.panels > 0) dots(right, block + kPanel, later);
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

bool solve(float* hessian, int64_t n_panels, float* gradient) {
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
