// The arithmetic every solver is made of, as a table: one table per instruction set, one choice at
// run time (dispatch.h). Each entry is documented where it is written, under kernels/.
#pragma once

#include "types.h"

namespace ialspp {

struct Kernels {
  const char* name;

  // history.h: s_j = sqrt(a_j) h_j for the rows j of a history
  void (*gather)(const History& history, const Columns& other, Slab slab);
  void (*add_outer)(Slab slab, float* hessian);                       // A += sum_j s_j s_j'
  void (*add_scaled)(Slab slab, const float* scales, float* vector);  // g += sum_j e_j s_j
  void (*dots)(Slab slab, const float* vector, float* out);           // out_j = <x, s_j>

  // matrix.h
  void (*multiply)(const float* x, int64_t x_stride, int64_t rows, int64_t depth, const float* panels,
                   int64_t n_panels, float* out);                           // out = X G
  void (*add_cross)(Slab left, Slab right, int64_t diagonal, double* out);  // out += L'R
  double (*squared_norm)(const float* x, int64_t n);

  // cholesky.h: A x = g in place; false where A is not positive definite
  bool (*solve)(float* hessian, int64_t n_panels, float* gradient);

  // coordinate.h: the scalar code of iCD
  void (*coordinate_sums)(const History& history, const float* other, const float* residual, double* gradient,
                          double* hessian);
  void (*coordinate_advance)(const History& history, const float* other, float step, float* residual);
  float (*dot)(const float* x, const float* y, int64_t n);
  void (*add_row)(const float* x, float scale, int64_t n, float* sum);
};

}  // namespace ialspp
