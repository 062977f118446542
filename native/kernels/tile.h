// The one inner loop behind Hessians, Gramians, Cholesky factors and matrix products:
//
//   acc[m][:] += sum_j a[j * a_step + m * a_row] * b[j * kPanel + :]       m < rows, j < n
//
// b is one panel, read front to back. Per j: kVectors loads, `rows` broadcasts, rows * kVectors FMAs;
// with two FMAs and two loads a cycle the FMAs are the limit.
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

  // c: `rows` rows of a panel
  void load_from(const float* c) {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) acc[m][v] = load(c + m * kPanel + v * kLanes);
  }

  void store_to(float* c, int64_t stride = kPanel) const {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) store(c + m * stride + v * kLanes, acc[m][v]);
  }

  void add_to(float* c) const {
    for (int m = 0; m < rows; ++m)
      for (int v = 0; v < kVectors; ++v) {
        float* target = c + m * kPanel + v * kLanes;
        store(target, load(target) + acc[m][v]);
      }
  }

  template <int64_t a_step, bool subtract = false>
  __attribute__((always_inline)) void add(const float* a, int64_t a_row, const float* b, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      Vector right[kVectors];
      for (int v = 0; v < kVectors; ++v) right[v] = load(b + j * kPanel + v * kLanes);
      for (int m = 0; m < rows; ++m) {
        const float left = a[j * a_step + m * a_row];
        for (int v = 0; v < kVectors; ++v) acc[m][v] += (subtract ? -left : left) * right[v];
      }
    }
  }
};

}  // namespace
}  // namespace ialspp::IALSPP_ISA
