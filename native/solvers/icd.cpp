// iCD, Algorithm 2: a Newton step over one coordinate of every row. Predictions are kept as residuals
// (residuals.h), and every step brings them up to date.
#include <cmath>

#include "solvers.h"

namespace ialspp {

// other: h_f of every row h of the other side; gramian_column: sum_i h_if h_i
Outcome update_coordinate(const Kernels& kernels, const Side& side, int64_t f, const float* other,
                          const float* gramian_column, float alpha0, const Residuals& residuals,
                          int threads) {
  return for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome& outcome) {
    Workspace work;
    float* buffer = work.floats(side.rows.count(group));
    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      float* w = side.row(u);
      float* residual = residuals.fetch(side.rows, {u, u + 1}, buffer, team);

      double gradients[kSegments] = {}, hessians[kSegments] = {};
      in_segments(history.size, team, [&](int64_t s, int64_t begin, int64_t end) {
        kernels.coordinate_sums(history.slice(begin, end), other, residual + begin, &gradients[s],
                                &hessians[s]);
      });
      const double lambda = side.lambda[u];
      const double from_centre = side.centres ? double{w[f]} - side.centre(u)[f] : w[f];
      double gradient = alpha0 * kernels.dot(w, gramian_column, side.dim) + lambda * from_centre;
      double hessian = alpha0 * gramian_column[f] + lambda;
      for (int64_t s = 0; s < kSegments; ++s) gradient += gradients[s], hessian += hessians[s];

      // Without curvature there is no slope either, and no step would gain anything.
      const auto step = static_cast<float>(hessian > 0 ? gradient / hessian : 0.0);
      if (!std::isfinite(w[f] - step) || !std::isfinite(hessian)) {
        outcome.fail(u);
        continue;
      }
      w[f] -= step;
      in_segments(history.size, team, [&](int64_t, int64_t begin, int64_t end) {
        kernels.coordinate_advance(history.slice(begin, end), other, step, residual + begin);
      });
      residuals.put_back(side.rows, {u, u + 1}, residual, team);
    }
  });
}

}  // namespace ialspp
