// The interactions as a matrix: products with a side's factors.
#pragma once

#include "kernels.h"
#include "rows.h"

namespace ialspp {

// out = R B C X: B has a_j y_j for each interaction, R and C are diagonal, X are the factors of the other
// side. out (rows.size x dim)
template <class Number>
void multiply_rows(const Kernels& kernels, const Rows& rows, const float* row_scales,
                   const float* column_scales, const ColumnsOf<Number>& x, int64_t dim, float* out,
                   int threads);

// out_r = sum_j |a_j y_j| over the interactions j of row r
void absolute_row_sums(const Rows& rows, double* out, int threads);

}  // namespace ialspp
