// iALS, Algorithm 1: every row exactly, by one Newton step over all d coordinates from zero.
#include "solvers.h"

namespace ialspp {

Outcome solve_rows(const Kernels& kernels, const Side& side, const Columns& other, const Block& all,
                   bool want_loss, int threads) {
  const Chunks chunks(other);
  const int64_t width = chunks.width(), capacity = capacity_for(width);
  const Neighbours::Panels everything{0, chunks.panels()};
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t interactions = side.rows.count(group), steps = step_floats(all);
    const bool keep = want_loss && interactions <= capacity;
    const int64_t kept = keep ? Neighbours::floats(interactions, chunks) : 0;
    float* memory = scratch(kept + steps + width + interactions);
    float* systems = memory + kept;
    float* zero = systems + steps;
    float* residual = zero + width;

    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      Row row{u, {kernels, chunks, history, keep ? memory : nullptr, team}, residual};
      std::fill_n(zero, width, 0.0f);
      residuals_at_zero(history, residual);
      build_system(all, everything, row, side.lambda[u], zero, systems);
      bool solved;
      kernels.solve(systems, 0, 1, all.panels(), &solved);
      if (solved) {
        const float* x = systems + width * width;
        for (int64_t k = 0; k < side.dim; ++k) side.row(u)[k] = 0.0f - x[k];
        if (want_loss) row.neighbours.add_products(everything, x, -1.0f, residual);
      } else {
        // No unique solution. From where the row is, a damped step can only lower the loss.
        chunks.spread(side.row(u), zero);
        row.neighbours.add_products(everything, zero, 1.0f, residual);
        std::vector<Row> alone{row};
        newton_steps(kernels, side, all, everything, alone, systems, outcome);
      }
      if (want_loss) outcome.observed += kernels.squared_norm(residual, history.size);
    }
  });
}

}  // namespace ialspp
