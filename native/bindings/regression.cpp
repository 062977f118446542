// The ridge regression of one side's vectors on its features.
#include "regression.h"

#include "bound_rows.h"
#include "modules.h"

using namespace nb::literals;

namespace ialspp {
namespace {

auto bound_feature_products(const BoundRows& features, Array<const float> weights, Matrix<const float> x,
                            int threads) {
  require_length("weights", length(weights), features.rows().size);
  require_length("x", length(x), features.rows().size);
  require_columns("x", x);
  auto out = new_array<double>(features.n_columns(), length(x, 1));
  {
    const WithoutGil release;
    feature_products(features.rows(), features.n_columns(), weights.data(), x.data(), length(x, 1),
                     out.data(), threads);
  }
  return out;
}

auto bound_feature_gramian(const BoundRows& features, const BoundRows& by_feature, Array<const float> weights,
                           int threads) {
  require_length("weights", length(weights), features.rows().size);
  require_length("by_feature", by_feature.rows().size, features.n_columns());
  require_length("features", features.rows().size, by_feature.n_columns());
  auto out = new_array<double>(features.n_columns(), features.n_columns());
  {
    const WithoutGil release;
    feature_gramian(features.rows(), by_feature.rows(), weights.data(), out.data(), threads);
  }
  return out;
}

}  // namespace

void register_regression(nb::module_& m) {
  m.def("feature_products", bound_feature_products, "features"_a, "weights"_a, "x"_a, "threads"_a,
        "F' diag(weights) X, for features F whose values are the labels of `features`.");
  m.def("feature_gramian", bound_feature_gramian, "features"_a, "by_feature"_a, "weights"_a, "threads"_a,
        "F' diag(weights) F. by_feature: the transpose of `features`.");
}

}  // namespace ialspp
