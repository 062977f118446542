// One call updates one side: exactly (iALS), over one block or all of them (iALS++), in one
// coordinate (iCD). Python owns the loops around these calls.
#pragma once

#include "../residuals.h"
#include "../step.h"

namespace ialspp {

// The side being updated.
struct Side {
  const Rows& rows;
  float* factors;       // rows.size x dim
  const float* lambda;  // one per row
  int64_t dim;

  float* row(int64_t r) const { return factors + r * dim; }
};

Outcome solve_rows(const Side& side, const Block& all, bool want_loss, int threads);
Outcome update_block(const Side& side, const Block& block, const Residuals& residuals, int threads);
Outcome update_blocks_by_row(const Side& side, const std::vector<Block>& blocks, const Columns& other,
                             int threads);
Outcome update_coordinate(const Kernels& kernels, const Side& side, int64_t f, const float* other,
                          const float* gramian_column, float alpha0, const Residuals& residuals, int threads);

// The pieces of an update, for rows of one group. x, linear: scratch of padded width, per row.

// residual = sqrt(a) (<x,h> - y), row after row
void predict_group(const Kernels& kernels, const Side& side, const Columns& other, Range group, float* x,
                   float* residual, Workspace& w, int team);

// linear = alpha0 G_B: x
void couple(const Side& side, const Block& block, Range group, float* linear);

// x_B -= A^-1 g, then the row's residuals catch up; false where there is no finite step
bool update_row(const Side& side, const Block& block, int64_t u, float* linear, float* residual, Workspace& w,
                int team);

// residuals of all interactions, in this side's order
void predict(const Kernels& kernels, const Side& side, const Columns& other, float* residuals, int threads);

}  // namespace ialspp
