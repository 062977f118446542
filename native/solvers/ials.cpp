// iALS, Algorithm 1: every row exactly, by one Newton step over all d coordinates from zero.
#include "solvers.h"

namespace ialspp {

Outcome solve_rows(const Side& side, const Block& all, bool want_loss, int threads) {
  const int64_t width = padded(side.dim);
  return for_each_group(side.rows, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t own = Workspace::floats(side.dim, side.dim);
    float* memory = scratch(own + width + side.rows.count(group));
    Workspace w(memory, side.dim, side.dim);
    float* linear = memory + own;
    float* residual = linear + width;

    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      std::fill_n(linear, width, 0.0f);
      residuals_at_zero(history, residual);
      if (newton_step(all, history, residual, side.lambda[u], linear, w, team)) {
        for (int64_t k = 0; k < side.dim; ++k) side.row(u)[k] = 0.0f - w.gradient[k];
        if (want_loss) add_predictions(all.kernels, all.other, history, w.gradient, -1.0f, residual, w, team);
      } else {
        // No unique solution. From where the row is, a damped step can only lower the loss.
        predict_group(all.kernels, side, all.other, {u, u + 1}, linear, residual, w, team);
        couple(side, all, {u, u + 1}, linear);
        if (!update_row(side, all, u, linear, residual, w, team)) outcome.fail(u);
      }
      if (want_loss) outcome.observed += all.kernels.squared_norm(residual, history.size);
    }
  });
}

}  // namespace ialspp
