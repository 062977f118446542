// iALS, Algorithm 1: solve every row exactly, by one Newton step over all d coordinates.
//
// The step leads to the minimum from anywhere. It starts at x = 0, where the gradient needs no product with
// the Gramian: x = -A^-1 g with g = sum_j r_j s_j - lambda c and r_j = -sqrt(a_j) y_j.
#include "solvers.h"

namespace ialspp {
namespace {

// x += relaxation (-A^-1 g - x). False where A is not positive definite; x and the residuals at zero are then
// left alone.
bool solve_row(const Kernels& kernels, const Side& side, const Block& all, Panels panels, Row& row,
               bool want_loss) {
  Workspace work;
  const float lambda = side.lambda[row.number];
  float* linear = work.zeros(padded(all.width));
  if (const float* c = side.centre(row.number))
    for (int64_t k = 0; k < side.dim; ++k) linear[k] = -lambda * c[k];
  float* system = work.floats(all.system_floats());
  build_system(all, panels, row, lambda, linear, system);
  bool solved;
  kernels.solve(system, 0, 1, all.panels(), &solved);
  if (!solved) return false;
  float* end = all.step_of(system);  // the step from zero, then the new x, with zeros behind
  float* x = side.row(row.number);
  for (int64_t k = 0; k < side.dim; ++k) {
    const float minimum = 0.0f - end[k];
    const bool exact = side.relaxation == 1;  // then nothing of the old x is left, not even by rounding
    end[k] = exact ? minimum : x[k] + side.relaxation * (minimum - x[k]);
  }
  std::copy_n(end, side.dim, x);
  if (want_loss) row.neighbours.add_products(panels, end, 1.0f, row.residual);
  return true;
}

// For a row without a unique solution: a damped step from where it is, which can only lower the loss.
void improve_row(const Kernels& kernels, const Side& side, const PaddedColumns& columns, const Block& all,
                 const Row& row, Outcome& outcome) {
  Workspace work;
  float* x = work.floats(columns.width());
  columns.spread(side.row(row.number), x);
  std::vector<Row> alone{row};
  alone.front().neighbours.add_products(columns.panels(), x, 1.0f, row.residual);
  newton_steps(kernels, side, all, columns.panels(), alone, outcome);
}

}  // namespace

Outcome solve_rows(const Kernels& kernels, const Side& side, const Columns& other, const Block& all,
                   bool want_loss, int threads) {
  const PaddedColumns columns(other);
  const int64_t capacity = capacity_for(columns.width());
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    // The loss takes a second pass over the neighbours, and the group is short enough to keep them for it.
    const bool keep = want_loss && side.rows.count(group) <= capacity;
    for (int64_t u = group.begin; u < group.end; ++u) {
      Workspace work;
      const History history = side.rows.history(u);
      Row row{u, {kernels, columns, history, keep ? &work : nullptr, team}, work.floats(history.size)};
      residuals_at_zero(history, row.residual);
      if (!solve_row(kernels, side, all, columns.panels(), row, want_loss))
        improve_row(kernels, side, columns, all, row, outcome);
      if (want_loss) outcome.observed += kernels.squared_norm(row.residual, history.size);
    }
  });
}

}  // namespace ialspp
