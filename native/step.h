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
// iCD has |B| = 1 and scalar code of its own; SpectralCG approaches the minimum over everything without
// ever making A.
#pragma once

#include <vector>

#include "neighbours.h"

namespace ialspp {

// The side being updated.
struct Side {
  const Rows& rows;
  float* factors;       // rows.size x dim
  const float* lambda;  // one per row
  int64_t dim;

  float* row(int64_t r) const { return factors + r * dim; }
};

// The coordinates B = begin .. begin + width, and what they share over all rows.
struct Block {
  int64_t begin, width;
  AlignedFloats coupling;   // alpha0 G_:B: panels x depth x 16
  AlignedFloats curvature;  // alpha0 G_BB: panels x padded width x 16, ones on the padding's diagonal

  // gramian: G_:B, depth rows of width numbers, gramian_stride apart
  Block(int64_t begin, int64_t width, int64_t depth, const double* gramian, int64_t gramian_stride,
        float alpha0);

  int64_t panels() const { return panels_for(width); }
  int64_t system_floats() const { return padded(width) * (padded(width) + 1); }  // A and g
};

// One row while it is updated.
struct Row {
  int64_t number;
  Neighbours neighbours;
  float* residual;  // of each interaction
};

// residual = -sqrt(a) y: every prediction zero
void residuals_at_zero(const History& history, float* residual);

// A and g of one row over B, as step.h's head has them. linear: alpha0 G_B: x + lambda x_B, padded width;
// panels: where S has B.
void build_system(const Block& block, Neighbours::Panels panels, Row& row, float lambda, const float* linear,
                  float* system);

// x_B -= A^-1 g for the rows of one group, their residuals catching up. Rows without a finite step stay as
// they are and are reported. memory: step_floats(block)
int64_t step_floats(const Block& block);
void newton_steps(const Kernels& kernels, const Side& side, const Block& block, Neighbours::Panels panels,
                  std::vector<Row>& rows, float* memory, Outcome& outcome);

}  // namespace ialspp
