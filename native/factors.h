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

// Rounds every row of X to what its halves can say (kernels/halves.h): all but the last bit of its numbers. A
// row with a number beyond the range of half precision stays as it is; then the result is false. Rows are
// whole panels. Signals do not interrupt it.
bool round_to_halves(const Kernels& kernels, float* x, int64_t rows, int64_t dim, float unit, int threads);

// X in halves, in place: the bytes of a row are first its numbers / unit in half precision, then what they
// lack. That takes no memory, where a copy takes half as much as X. When it ends, X is what round_to_halves
// makes of it. Rows are whole panels. Signals do not interrupt it.
class InHalves {
 public:
  InHalves(const Kernels& kernels, float* x, int64_t rows, int64_t dim, float unit, int threads);
  InHalves(const InHalves&) = delete;
  InHalves& operator=(const InHalves&) = delete;
  ~InHalves();

  // False where round_to_halves is, which has then been done instead.
  bool fits() const { return fits_; }
  HalfColumns columns() const { return {reinterpret_cast<const Half*>(x_), 2 * dim_, dim_, unit_}; }

 private:
  template <class Work>
  void for_each_share(const Work& work) const;
  void join(int64_t begin, int64_t end, float* scratch) const;

  const Kernels& kernels_;
  float* x_;
  int64_t rows_, dim_;
  float unit_;
  int threads_;
  bool fits_;
  AlignedFloats scratch_;  // a row for each share, so that no task has to ask for memory
};

// A square matrix (dim x dim, row-major) in single precision, as the panels that Kernels::multiply takes
AlignedFloats in_panels(const double* q, int64_t dim);

// X = X Q in place, Q (dim x dim, row-major). Signals do not interrupt it: a side changed by half could not
// be used.
void transform(const Kernels& kernels, float* x, int64_t rows, int64_t dim, const double* q, int threads);

// out_f = sum_r weight_r x_rf^2
void weighted_column_squares(const Kernels& kernels, const float* x, const float* weights,
                             const Shards& shards, int64_t dim, double* out, int threads);

double squared_sum_of(const Kernels& kernels, const float* x, int64_t n, int threads);

}  // namespace ialspp
