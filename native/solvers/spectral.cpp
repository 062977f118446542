// SpectralCG: a few steps of preconditioned conjugate gradients in every row, from where it is.
//
// Both sides are rotated into the eigenbasis of the fixed side's Gramian G, where alpha0 G = diag(l). Row u's
// system is then
//
//   A = D + S'S,     D = diag(l + lambda_u)
//
// So a product A p is one pass over the row's history, without G. What A has off its diagonal is small, and
// M = D + diag(S'S) is nearly A.
#include <cmath>

#include "solvers.h"

namespace ialspp {
namespace {

// The vectors of one row's iteration. Each has the padded width, with zeros in the padding.
struct Vectors {
  int64_t width;
  float* x;
  float* g;  // half the gradient, and behind it M
  float* M;  // the preconditioner's diagonal
  float* m;  // 1 / M, or 0 where x stays where it is
  float* p;  // the direction
  float* q;  // A p
  float* d;  // the diagonal of D

  Vectors(Workspace& work, int64_t w)
      : width(w),
        x(work.zeros(w)),
        g(work.zeros(2 * w)),
        M(g + w),
        m(work.zeros(w)),
        p(work.zeros(w)),
        q(work.zeros(w)),
        d(work.zeros(w)) {}
};

// A coordinate with less than this share of the largest curvature has nothing but the squares of rounding
// errors. Nothing determines the row there, so it stays where it is.
constexpr float kNegligibleCurvature = 1e-12f;
constexpr float kSmallestInvertible = 1e-38f;  // one over anything smaller overflows

struct SpectralRow {
  const Kernels& kernels;
  const Columns& other;
  const History& history;
  const Vectors& v;
  float* residual;
  float* products;  // S p
  int team;

  // Computes g = S'r + D x and M, and makes the residuals those of x. False where M overflows.
  bool start() {
    std::fill_n(v.g, 2 * v.width, 0.0f);
    sum_in_segments(history.size, team, 2 * v.width, v.g, [&](int64_t begin, int64_t end, float* sums) {
      kernels.add_gradient(history.slice(begin, end), other, v.x, residual + begin, sums, sums + v.width);
    });
    for (int64_t k = 0; k < v.width; ++k) v.g[k] += v.d[k] * v.x[k], v.M[k] += v.d[k];
    const float largest = *std::max_element(v.M, v.M + v.width);
    for (int64_t k = 0; k < v.width; ++k)
      v.m[k] = v.M[k] > std::max(kNegligibleCurvature * largest, kSmallestInvertible) ? 1 / v.M[k] : 0;
    return std::isfinite(largest);
  }

  // q = A p
  void apply() {
    std::fill_n(v.q, v.width, 0.0f);
    sum_in_segments(history.size, team, v.width, v.q, [&](int64_t begin, int64_t end, float* sums) {
      kernels.add_normal(history.slice(begin, end), other, v.p, products + begin, sums);
    });
    for (int64_t k = 0; k < v.width; ++k) v.q[k] += v.d[k] * v.p[k];
  }
};

// Minimises L_u from x; false where the result is not finite.
bool conjugate_gradients(SpectralRow row, int64_t steps, float tolerance) {
  const Vectors& v = row.v;
  const Kernels& k = row.kernels;
  std::fill_n(v.p, v.width, 0.0f);
  if (!row.start()) return false;
  float before = 1;
  for (int64_t step = 0; step < steps; ++step) {
    const float slope = k.weighted_dot(v.g, v.m, v.g, v.width);
    if (slope <= tolerance * tolerance * k.weighted_dot(v.x, v.M, v.x, v.width)) break;
    k.next_direction(v.p, slope / before, v.m, v.g, v.width);
    row.apply();
    const float curvature = k.dot(v.p, v.q, v.width);
    if (curvature <= 0) break;  // only rounding error is left to reduce
    const float length = slope / curvature;
    if (!std::isfinite(curvature) || !std::isfinite(length)) return false;
    k.add_row(v.p, length, v.width, v.x);
    k.add_row(v.q, length, v.width, v.g);
    k.add_row(row.products, length, row.history.size, row.residual);
    before = slope;
  }
  return std::isfinite(k.squared_norm(v.x, v.width));
}

}  // namespace

Outcome improve_rows(const Kernels& kernels, const Side& side, const Columns& other, const float* spectrum,
                     int64_t steps, float tolerance, int threads) {
  return for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome& outcome) {
    Workspace work;
    const Vectors v(work, padded(side.dim));
    float* residual = work.floats(side.rows.count(group));
    float* products = work.floats(side.rows.count(group));
    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      std::copy_n(side.row(u), side.dim, v.x);
      for (int64_t k = 0; k < side.dim; ++k) v.d[k] = spectrum[k] + side.lambda[u];
      residuals_at_zero(history, residual);
      if (conjugate_gradients({kernels, other, history, v, residual, products, team}, steps, tolerance))
        std::copy_n(v.x, side.dim, side.row(u));
      else
        outcome.fail(u);
      outcome.observed += kernels.squared_norm(residual, history.size);
    }
  });
}

}  // namespace ialspp
