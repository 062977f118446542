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

// residuals of all interactions, in this side's order
void predict(const Kernels& kernels, const Side& side, const Columns& other, float* residuals, int threads);

}  // namespace ialspp
