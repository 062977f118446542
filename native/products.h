// The interactions as a matrix: products with a side's factors.
#pragma once

#include "kernels.h"
#include "rows.h"

namespace ialspp {

// out = R B C X: B has a_j y_j for each interaction, R and C are diagonal, X are the factors of the other side.
// out (rows.size x dim)
void multiply_rows(const Kernels& kernels, const Rows& rows, const float* row_scales,
                   const float* column_scales, const Columns& x, float* out, int threads);

}  // namespace ialspp
