#include "products.h"

#include <cmath>

#include "workspace.h"

namespace ialspp {
namespace {

// a_j y_j, which single precision may not have room for
double value(const History& history, int64_t j) {
  const double label = history.labels ? history.labels[j] : 1.0;
  return history.weights ? history.weights[j] * label : label;
}

}  // namespace

template <class Number>
void multiply_rows(const Kernels& kernels, const Rows& rows, const float* row_scales,
                   const float* column_scales, const ColumnsOf<Number>& x, int64_t dim, float* out,
                   int threads) {
  for_each_group(rows, kLongRow, threads, [&](Range group, int team, Outcome&) {
    Workspace work;
    float* t = work.floats(rows.count(group));
    float* sum = work.floats(x.width);
    for (int64_t r = group.begin; r < group.end; ++r) {
      const History history = rows.history(r);
      for (int64_t j = 0; j < history.size; ++j)
        t[j] = static_cast<float>(row_scales[r] * value(history, j) * column_scales[history.columns[j]]);
      std::fill_n(sum, x.width, 0.0f);
      sum_in_segments(history.size, team, x.width, sum, [&](int64_t begin, int64_t end, float* sums) {
        kernels.passes<Number>().add_weighted(history.slice(begin, end), x, t + begin, sums);
      });
      std::copy_n(sum, dim, out + r * dim);
    }
  });
}

template void multiply_rows(const Kernels&, const Rows&, const float*, const float*, const Columns&, int64_t,
                            float*, int);
template void multiply_rows(const Kernels&, const Rows&, const float*, const float*, const HalfColumns&,
                            int64_t, float*, int);

void absolute_row_sums(const Rows& rows, double* out, int threads) {
  for_each_group(rows, kLongRow, threads, [&](Range group, int, Outcome&) {
    for (int64_t r = group.begin; r < group.end; ++r) {
      const History history = rows.history(r);
      double sum = 0;
      for (int64_t j = 0; j < history.size; ++j) sum += std::abs(value(history, j));
      out[r] = sum;
    }
  });
}

}  // namespace ialspp
