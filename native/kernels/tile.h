// The one inner loop behind Hessians, Gramians, Cholesky factors and matrix products:
//
//   acc[m][:] += sum_j a[j * a_step + m * a_row] * b[j * kPanel + :]       m < rows, j < n
//
// b is one panel, read front to back. Each j takes kVectors loads, `rows` broadcasts and rows * kVectors
// FMAs. With two FMAs and two loads a cycle the FMAs are the limit.
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

template <int rows>
struct Tile {
  Vector acc[rows][kVectors];

  void clear() {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) acc[m][v] = Vector{};
  }

  void store_to(float* c, int64_t stride = kPanel) const {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) store(c + m * stride + v * kLanes, acc[m][v]);
  }

  // c += acc; c: `rows` rows of a panel
  void add_to(float* c) const {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) {
        float* target = c + m * kPanel + v * kLanes;
        store(target, load(target) + acc[m][v]);
      }
  }

  // c -= acc
  void subtract_from(float* c) const {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) {
        float* target = c + m * kPanel + v * kLanes;
        store(target, load(target) - acc[m][v]);
      }
  }

  template <int64_t a_step>
  __attribute__((always_inline)) void add(const float* a, int64_t a_row, const float* b, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      Vector right[kVectors];
      for (int v = 0; v < kVectors; ++v) right[v] = load(b + j * kPanel + v * kLanes);
      for (int m = 0; m < rows; ++m) {
        const float left = a[j * a_step + m * a_row];
        for (int v = 0; v < kVectors; ++v) acc[m][v] += left * right[v];
      }
    }
  }
};

// Calls body<rows>(first row) for tiles that cover a panel's sixteen rows
template <class Body>
__attribute__((always_inline)) inline void in_tiles(const Body& body) {
  int64_t m = 0;
  for (; m + kTileRows <= kPanel; m += kTileRows) body.template operator()<kTileRows>(m);
  if constexpr (kPanel % kTileRows != 0) body.template operator()<kPanel % kTileRows>(m);
}

// A panel times itself, acc[m][:] += sum_j b[j][m] * b[j][:], without the vectors that lie wholly below the
// diagonal. The others are numbered row by row, and taken as many at a time as there are accumulators.
constexpr int kAccumulators = kTileRows * kVectors;

struct Triangle {
  int row[kPanel * kVectors], vector[kPanel * kVectors], size = 0;
  constexpr Triangle() : row(), vector() {
    for (int m = 0; m < kPanel; ++m)
      for (int v = m / kLanes; v < kVectors; ++v, ++size) row[size] = m, vector[size] = v;
  }
};
constexpr Triangle kTriangle;

template <int first = 0>
void add_squared_panel(const float* b, int64_t n, float* target) {
  constexpr int count = kTriangle.size - first < kAccumulators ? kTriangle.size - first : kAccumulators;
  Vector acc[count] = {};
  for (int64_t j = 0; j < n; ++j) {
    Vector right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = load(b + j * kPanel + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < count; ++i)
      acc[i] += b[j * kPanel + kTriangle.row[first + i]] * right[kTriangle.vector[first + i]];
  }
#pragma GCC unroll 16
  for (int i = 0; i < count; ++i) {
    float* place = target + kTriangle.row[first + i] * kPanel + kTriangle.vector[first + i] * kLanes;
    store(place, load(place) + acc[i]);
  }
  if constexpr (first + count < kTriangle.size) add_squared_panel<first + count>(b, n, target);
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
