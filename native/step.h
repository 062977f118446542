// The one fact that all solvers share.
//
// Hold the other side H (n x d) and its Gramian G = H'H fixed. Row u then appears in the loss only through
// its own vector x:
//
//   L_u(x) = sum_j a_j (<x,h_j> - y_j)^2  +  alpha0 x'Gx  +  lambda_u x'x          j observed in u
//
// With s_j = sqrt(a_j) h_j and the residual r_j = sqrt(a_j) (<x,h_j> - y_j), half its gradient and half its
// Hessian over any coordinates B are
//
//   g = sum_j r_j s_jB       +  alpha0 G_B: x  +  lambda_u x_B
//   A = sum_j s_jB s_jB'     +  alpha0 G_BB    +  lambda_u I
//
// With features, the ridge term is lambda_u |x - c_u|^2: c_u, the centre, is what a linear map makes of the
// row's features. Then g has lambda_u (x - c_u)_B instead of lambda_u x_B, and A stays as it is.
//
// The Newton step x_B -= A^-1 g minimises L_u over B exactly. iALS takes all coordinates as B, iALS++ one
// block after the other. iCD has |B| = 1 and scalar code of its own. SpectralCG approaches the minimum over
// all coordinates and never makes A.
#pragma once

#include <vector>

#include "neighbours.h"

namespace ialspp {

// The side that is updated
struct Side {
  const Rows& rows;
  float* factors;       // rows.size x dim
  const float* lambda;  // one per row
  int64_t dim;
  float relaxation = 1;            // how far a row goes: 1 is to the minimum that its solver finds
  const float* centres = nullptr;  // rows.size x dim; null: zero

  float* row(int64_t r) const { return factors + r * dim; }
  const float* centre(int64_t r) const { return centres ? centres + r * dim : nullptr; }
};

// The coordinates B = begin .. begin + width, and what all rows share over them.
struct Block {
  int64_t begin, width;
  AlignedFloats coupling;   // alpha0 G_:B: panels x depth x 16
  AlignedFloats curvature;  // alpha0 G_BB: panels x padded width x 16, ones on the padding's diagonal

  // gramian: G_:B, depth rows of width numbers, gramian_stride apart
  Block(int64_t begin, int64_t width, int64_t depth, const double* gramian, int64_t gramian_stride,
        float alpha0);

  int64_t panels() const { return panels_for(width); }

  // One row's system: A panel-major, then g, which kernels.solve replaces by the step A^-1 g.
  int64_t system_floats() const { return padded(width) * (padded(width) + 1); }
  float* step_of(float* system) const { return system + padded(width) * padded(width); }
};

// One row while it is updated
struct Row {
  int64_t number;
  Neighbours neighbours;
  float* residual;  // of each interaction
};

// residual = -sqrt(a) y, what every prediction being zero leaves
void residuals_at_zero(const History& history, float* residual);

// Builds the A and g of one row over B. linear: alpha0 G_B: x + lambda (x - c)_B, in the padded width;
// panels: where B is in S.
void build_system(const Block& block, Panels panels, Row& row, float lambda, const float* linear,
                  float* system);

// Takes the step x_B -= relaxation A^-1 g in every row of a group, after which the residuals are those of the
// new x. Rows without a finite step stay as they are and are reported.
//
// Along the step L_u is a parabola with its minimum at relaxation 1, so that L_u falls with any relaxation
// between 0 and 2. (A damped step ends before the minimum. There even more than 2 would do.)
void newton_steps(const Kernels& kernels, const Side& side, const Block& block, Panels panels,
                  std::vector<Row>& rows, Outcome& outcome);

}  // namespace ialspp
