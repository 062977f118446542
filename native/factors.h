// Sums over all rows of one side's factors, and copies of them in other layouts.
#pragma once

#include "kernels.h"
#include "memory.h"
#include "shards.h"

namespace ialspp {

// out (dim x (end - begin), row-major) = X' X_B for the columns B = begin .. end of X, whose rows the shards
// have
void gramian(const Kernels& kernels, const float* x, const Shards& shards, int64_t dim, int64_t begin,
             int64_t end, double* out, int threads);

// A copy of X_B, its rows padded to whole panels
AlignedFloats pack_columns(const float* x, int64_t rows, int64_t dim, int64_t begin, int64_t end,
                           int threads);

// A copy of X / unit in half precision, its rows padded to whole panels. False where it is not whole, because
// a number is beyond the range of half precision. Not for kernels without half precision.
bool copy_to_half(const Kernels& kernels, const float* x, int64_t rows, int64_t dim, float unit, Half* out,
                  int threads);

// X = X Q in place, Q (dim x dim, row-major). Signals do not interrupt it: a side changed by half could not
// be used.
void transform(const Kernels& kernels, float* x, int64_t rows, int64_t dim, const double* q, int threads);

// out_f = sum_r weight_r x_rf^2
void weighted_column_squares(const Kernels& kernels, const float* x, const float* weights,
                             const Shards& shards, int64_t dim, double* out, int threads);

double squared_sum_of(const Kernels& kernels, const float* x, int64_t n, int threads);

}  // namespace ialspp
