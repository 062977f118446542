// The one fact every solver shares.
//
// Hold the other side H (n x d) and its Gramian G = H'H fixed. Row u then appears in the loss only
// through its own vector x:
//
//   L_u(x) = sum_j a_j (<x,h_j> - y_j)^2  +  alpha0 x'Gx  +  lambda_u x'x          j observed in u
//
// With s_j = sqrt(a_j) h_j and the residual r_j = sqrt(a_j) (<x,h_j> - y_j), half its gradient and
// half its Hessian over any coordinates B are
//
//   g = sum_j r_j s_jB       +  alpha0 G_B: x  +  lambda_u x_B
//   A = sum_j s_jB s_jB'     +  alpha0 G_BB    +  lambda_u I
//
// and x_B -= A^-1 g minimises L_u over B exactly. iALS takes B = everything, iALS++ a block at a time;
// iCD has |B| = 1 and scalar code of its own.
#pragma once

#include <memory>
#include <vector>

#include "kernels.h"
#include "memory.h"
#include "rows.h"

namespace ialspp {

// Columns B of the fixed side, and what they share over all rows.
struct Block {
  const Kernels& kernels;
  Columns other;            // h_jB
  int64_t begin;            // B = begin .. begin + width
  AlignedFloats coupling;   // alpha0 G_:B: panels x depth x 16
  AlignedFloats curvature;  // alpha0 G_BB: panels x padded width x 16, ones on the padding's diagonal

  // gramian: G_:B, depth rows of width numbers, gramian_stride apart
  Block(const Kernels& kernels, Columns other, int64_t begin, int64_t depth, const double* gramian,
        int64_t gramian_stride, float alpha0);

  int64_t panels() const { return panels_for(other.width); }
  int64_t width() const { return other.width; }
};

// Memory for one row: a slab of its neighbours, `slab_width` columns wide, and the system over
// `system_width` coordinates.
class Workspace {
 public:
  float* hessian;   // padded system width squared
  float* gradient;  // padded system width; newton_step leaves the step here
  float* products;  // one per row of the slab

  static int64_t floats(int64_t slab_width, int64_t system_width);
  Workspace(float* memory, int64_t slab_width, int64_t system_width);

  int64_t slab_rows() const { return slab_rows_; }

  // sqrt(a_j) h_jB for a piece of at most slab_rows() interactions. Asked for the same piece twice in
  // a row, it gathers once.
  Slab gather(const Kernels& kernels, const Columns& other, const History& piece);

 private:
  float* slab_;
  int64_t slab_rows_;
  const int32_t* held_piece_ = nullptr;
  const float* held_columns_ = nullptr;
  int64_t held_size_ = -1;
};

// residual = -sqrt(a) y: every prediction zero
void residuals_at_zero(const History& history, float* residual);

// residual += sign * sqrt(a) <x, h_B>
void add_predictions(const Kernels& kernels, const Columns& other, const History& history, const float* x,
                     float sign, float* residual, Workspace& w, int threads);

// Solves A step = g for one row into w.gradient; false where A is not positive definite.
// linear: alpha0 G_B: x + lambda x_B, padded width.
bool newton_step(const Block& block, const History& history, const float* residual, float lambda,
                 const float* linear, Workspace& w, int threads);

// The same, A damped until it is positive definite; false where nothing finite comes out.
bool damped_step(const Block& block, const History& history, const float* residual, float lambda,
                 const float* linear, Workspace& w, int threads);

}  // namespace ialspp
