// iALS, Algorithm 1: every row exactly, by one Newton step over all d coordinates from zero.
#include "solvers.h"

namespace ialspp {

Outcome solve_rows(const Side& side, const Block& all, bool want_loss, int threads) {
  const int64_t width = padded(side.dim);
  return for_each_group(side.rows, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t longest = side.rows.offsets[group.end] - side.rows.offsets[group.begin];
    float* memory = scratch(Workspace::floats(side.dim, side.dim) + width + longest);
    Workspace w(memory, side.dim, side.dim);
    float* zero = memory + Workspace::floats(side.dim, side.dim);
    float* residual = zero + width;
    std::fill_n(zero, width, 0.0f);

    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      residuals_at_zero(history, residual);
      if (!newton_step(all, history, residual, side.lambda[u], zero, w, team)) {
        outcome.fail(u);
        continue;
      }
      for (int64_t k = 0; k < side.dim; ++k) side.row(u)[k] = 0.0f - w.gradient[k];
      if (want_loss) {
        add_predictions(all.kernels, all.other, history, w.gradient, -1.0f, residual, w, team);
        outcome.observed += squared_sum(residual, history.size);
      }
    }
  });
}

}  // namespace ialspp
