// Sums for the ridge regression of one side's vectors X on the features F of its rows:
//
//   M = argmin_M  sum_r w_r |x_r - M'f_r|^2 + mu |M|^2  =  (F' diag(w) F + mu I)^-1 F' diag(w) X
//
// F is sparse: a row's columns are features, and its labels are their values.
#pragma once

#include "rows.h"

namespace ialspp {

// out (n_features x dim) = F' diag(w) X, for X (rows x dim)
void feature_products(const Rows& features, int64_t n_features, const float* weights, const float* x,
                      int64_t dim, double* out, int threads);

// out (n_features x n_features) = F' diag(w) F. by_feature: the transpose of `features`
void feature_gramian(const Rows& features, const Rows& by_feature, const float* weights, double* out,
                     int threads);

}  // namespace ialspp
