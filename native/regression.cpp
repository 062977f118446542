#include "regression.h"

namespace ialspp {
namespace {

double value(const Rows& features, int64_t entry) { return features.labels ? features.labels[entry] : 1.0; }

}  // namespace

// A task owns sixteen columns of the result and reads all rows in order, so that no sum depends on threads.
void feature_products(const Rows& features, int64_t n_features, const float* weights, const float* x,
                      int64_t dim, double* out, int threads) {
  std::fill_n(out, n_features * dim, 0.0);
  if (features.offsets[features.size] == 0) return;  // X may then have any number of columns, and no rows
  parallel_for(threads, panels_for(dim), [&](int64_t panel) {
    const int64_t begin = panel * kPanel, width = std::min(kPanel, dim - begin);
    for (int64_t r = 0; r < features.size; ++r) {
      const float* row = x + r * dim + begin;
      for (int64_t e = features.offsets[r]; e < features.offsets[r + 1]; ++e) {
        const double scale = weights[r] * value(features, e);
        double* sums = out + features.columns[e] * dim + begin;
        for (int64_t k = 0; k < width; ++k) sums[k] += scale * row[k];
      }
    }
  });
}

// A task owns one row of the result: the features that occur together with one feature.
void feature_gramian(const Rows& features, const Rows& by_feature, const float* weights, double* out,
                     int threads) {
  std::fill_n(out, by_feature.size * by_feature.size, 0.0);
  parallel_for(threads, by_feature.size, [&](int64_t feature) {
    double* sums = out + feature * by_feature.size;
    for (int64_t j = by_feature.offsets[feature]; j < by_feature.offsets[feature + 1]; ++j) {
      const int64_t r = by_feature.columns[j];
      const double scale = weights[r] * value(by_feature, j);
      for (int64_t e = features.offsets[r]; e < features.offsets[r + 1]; ++e)
        sums[features.columns[e]] += scale * value(features, e);
    }
  });
}

}  // namespace ialspp
