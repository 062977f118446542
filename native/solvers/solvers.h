// Each function updates one side, or one block or coordinate of it. Python owns the loops around them.
#pragma once

#include "../residuals.h"
#include "../step.h"

namespace ialspp {

// Floats of neighbours that a group of rows keeps (512 KB): what a thread finds in its own cache, or near it
constexpr int64_t kKeptFloats = 1 << 17;

// A group has room for the neighbours of at least so many blocks: gathering several at once copies longer
// pieces of each row.
constexpr int64_t kLeastBlocksAtOnce = 4;

// How many interactions the rows of one group may have together if their neighbours are kept
inline int64_t capacity_for(int64_t width) { return std::max(kKeptFloats / width, kPanel); }

// iALS
Outcome solve_rows(const Kernels& kernels, const Side& side, const Columns& other, const Block& all,
                   bool want_loss, int threads);

// iALS++ with sweep="block" and sweep="side". packed: the block's columns of the other side
Outcome update_block(const Kernels& kernels, const Side& side, const Columns& packed, const Block& block,
                     const Residuals& residuals, int threads);
Outcome update_side(const Kernels& kernels, const Side& side, const Columns& other,
                    const std::vector<Block>& blocks, int threads);

// iCD. other: coordinate f of every row of the other side; gramian_column: column f of its Gramian
Outcome update_coordinate(const Kernels& kernels, const Side& side, int64_t f, const float* other,
                          const float* gramian_column, float alpha0, const Residuals& residuals, int threads);

// How a row goes to its minimum by conjugate gradients
struct Descent {
  int64_t steps;    // at most
  float tolerance;  // stop once a step is this small, relative to the row's vector
};

// SpectralCG. spectrum, coupling: alpha0 times what the other side's Gramian has on its diagonal, and off it
// (dim x dim; null where both sides are in its eigenbasis). other: in single precision, or a copy in half
// precision
template <class Number>
Outcome improve_rows(const Kernels& kernels, const Side& side, const ColumnsOf<Number>& other,
                     const float* spectrum, const double* coupling, const Descent& descent, int threads);

// residuals = sqrt(a) (<x,h> - y) of all interactions, in this side's order
void compute_residuals(const Kernels& kernels, const Side& side, const Columns& other, float* residuals,
                       int threads);

}  // namespace ialspp
