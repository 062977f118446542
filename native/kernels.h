// The arithmetic that solvers and rankings are made of, as a table of functions. There is one table for each
// instruction set, and dispatch.h chooses among them at run time. Each function is documented where it is
// written, under kernels/.
#pragma once

#include "types.h"

namespace ialspp {

template <class Number>
struct Passes {
  void (*add_predictions)(const History& history, const ColumnsOf<Number>& other, const float* x,
                          float* residual);
  void (*add_gradient)(const History& history, const ColumnsOf<Number>& other, const float* x,
                       int64_t sampled, float* residual, float* gradient, float* squares);
  void (*add_normal)(const History& history, const ColumnsOf<Number>& other, const float* x, float* products,
                     float* sum);
  void (*add_weighted)(const History& history, const ColumnsOf<Number>& other, const float* t, float* sum);
};

struct Kernels {
  const char* name;

  // history.h: s_j = sqrt(a_j) h_j for the rows j of a history
  void (*gather)(const History& history, const Columns& other, Slab slab);
  void (*add_outer)(Slab slab, float* hessian);                                   // A += S'S
  void (*add_scaled)(Slab slab, const float* scales, float* vector);              // g += S'r
  void (*add_dots)(Slab slab, const float* vector, float sign, float* residual);  // r += sign S x

  // passes.h: sums over a history whose neighbours are read in place, in single or half precision. An
  // instruction set that cannot convert half precision has no passes over it.
  Passes<float> single;
  Passes<Half> half;
  bool (*to_half)(const float* x, int64_t n, float unit, Half* out);  // null where half has no passes

  // halves.h: a row as two numbers in half precision for each of its own, and back; null where `to_half` is
  bool (*to_halves)(const float* x, int64_t n, float unit, Half* high, Half* low);
  void (*from_halves)(const Half* high, const Half* low, int64_t n, float unit, float* x);

  template <class Number>
  const Passes<Number>& passes() const {
    if constexpr (sizeof(Number) == sizeof(Half))
      return half;
    else
      return single;
  }

  float (*precondition)(const float* diagonal, const float* x, int64_t n, float* g, float* M, float* m);
  float (*add_diagonal)(const float* diagonal, const float* p, int64_t n, float* q);
  float (*weighted_dot)(const float* x, const float* weights, const float* y, int64_t n);
  // p = share p - m g
  void (*next_direction)(float* p, float share, const float* m, const float* g, int64_t n);

  // matrix.h
  void (*multiply)(const float* x, int64_t x_stride, int64_t rows, int64_t depth, const float* panels,
                   int64_t n_panels, float* out, int64_t out_stride);           // out = X G
  void (*add_cross)(Slab left, Slab right, int64_t diagonal, double* out);      // out += L'R
  void (*add_squares)(const float* x, double weight, int64_t n, double* sums);  // sums += weight x^2
  double (*squared_norm)(const float* x, int64_t n);

  // codes.h: bounds of scores by codes of 8 bits. An instruction set without fast products has no bounds.
  int levels;  // of a user's codes
  Coded (*encode)(const float* v, int64_t n, int levels, int8_t* codes);
  void (*upper_bounds)(const CodedUsers& users, const CodedPanels& items, int64_t first_panel,
                       int64_t n_panels, float* out, int64_t out_stride);
  void (*gather_panels)(const float* y, int64_t dim, const int32_t* rows, int64_t n, float* panels);

  // scores.h: passes over the scores of all items
  void (*count)(const float* scores, int64_t n, float score, int64_t* above, int64_t* equal);
  void (*panel_maxima)(const float* scores, int64_t n_panels, float* maxima);
  int64_t (*collect)(const float* scores, int64_t begin, int64_t end, float low, float high, int32_t* items,
                     float* found);

  // cholesky.h, lanes.h: solves A x = g in place for `count` systems, each A and then g, `stride` floats
  // apart. solved[i] is false where the i-th A is not positive definite.
  void (*solve)(float* systems, int64_t stride, int64_t count, int64_t n_panels, bool* solved);

  // coordinate.h: the scalar code of iCD, and sums over plain vectors
  void (*coordinate_sums)(const History& history, const float* other, const float* residual, double* gradient,
                          double* hessian);
  void (*coordinate_advance)(const History& history, const float* other, float step, float* residual);
  float (*dot)(const float* x, const float* y, int64_t n);
  void (*add_row)(const float* x, float scale, int64_t n, float* sum);
};

}  // namespace ialspp
