// One call updates one side: exactly (iALS), over one block or all of them (iALS++), in one coordinate (iCD),
// or by conjugate gradients (SpectralCG). Python owns the loops around these calls.
#pragma once

#include "../residuals.h"
#include "../step.h"

namespace ialspp {

// Floats of neighbours that a group of rows keeps (512 KB): what a thread finds in its own cache, or near it.
constexpr int64_t kKeptFloats = 1 << 17;

// Blocks whose neighbours a group has room for, at least: what they share is gathered in longer pieces.
constexpr int64_t kLeastTogether = 4;

// Interactions of rows updated together, their neighbours kept
inline int64_t capacity_for(int64_t width) { return std::max(kKeptFloats / width, kPanel); }

Outcome solve_rows(const Kernels& kernels, const Side& side, const Columns& other, const Block& all,
                   bool want_loss, int threads);

// packed: the block's columns of the other side
Outcome update_block(const Kernels& kernels, const Side& side, const Columns& packed, const Block& block,
                     const Residuals& residuals, int threads);
Outcome update_blocks_by_row(const Kernels& kernels, const Side& side, const Columns& other,
                             const std::vector<Block>& blocks, int threads);

Outcome update_coordinate(const Kernels& kernels, const Side& side, int64_t f, const float* other,
                          const float* gramian_column, float alpha0, const Residuals& residuals, int threads);

// spectrum: alpha0 times the eigenvalues of the other side's Gramian, in whose basis both sides are
Outcome improve_rows(const Kernels& kernels, const Side& side, const Columns& other, const float* spectrum,
                     int64_t steps, float tolerance, int threads);

// residuals of all interactions, in this side's order
void predict(const Kernels& kernels, const Side& side, const Columns& other, float* residuals, int threads);

}  // namespace ialspp
