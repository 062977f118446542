#include "products.h"

#include "workspace.h"

namespace ialspp {

void multiply_rows(const Kernels& kernels, const Rows& rows, const float* row_scales,
                   const float* column_scales, const Columns& x, float* out, int threads) {
  for_each_group(rows, kLongRow, threads, [&](Range group, int team, Outcome&) {
    Workspace work;
    float* t = work.floats(rows.count(group));
    for (int64_t r = group.begin; r < group.end; ++r) {
      const History history = rows.history(r);
      for (int64_t j = 0; j < history.size; ++j) {
        const float label = history.labels ? history.labels[j] : 1.0f;
        const float weight = history.weights ? history.weights[j] : 1.0f;
        t[j] = row_scales[r] * weight * label * column_scales[history.columns[j]];
      }
      float* sum = out + r * x.width;
      std::fill_n(sum, x.width, 0.0f);
      sum_in_segments(history.size, team, x.width, sum, [&](int64_t begin, int64_t end, float* sums) {
        kernels.single.add_weighted(history.slice(begin, end), x, t + begin, sums);
      });
    }
  });
}

}  // namespace ialspp
