// SpectralCG: every row by a few steps of preconditioned conjugate gradients from where it is.
//
// With both sides turned into the eigenbasis of the fixed side's Gramian, alpha0 G = diag(l), row u's system
// is
//
//   A = D + S'S,     D = diag(l + lambda_u)
//
// G has left the row's work; what is left of A off its diagonal is small, so that M = D + diag(S'S) is nearly
// A, and a product A p is one pass over the row's history.
#include <cmath>

#include "solvers.h"

namespace ialspp {
namespace {

// The vectors of one row's iteration, padded width each.
struct Vectors {
  float *x, *g, *M, *m, *p, *q, *d;  // g and M beside each other; m = 1 / M
  int64_t width;

  static int64_t floats(int64_t width) { return 7 * width; }
  Vectors(float* memory, int64_t w)
      : x(memory), g(x + w), M(g + w), m(M + w), p(m + w), q(p + w), d(q + w), width(w) {}
};

// A coordinate with this little of the largest one's curvature is the square of rounding errors: nothing
// holds the row in place there, and it stays where it is.
constexpr float kNothing = 1e-12f;
constexpr float kLeast = 1e-38f;  // one over anything smaller overflows

struct SpectralRow {
  const Kernels& kernels;
  const Columns& other;
  const History& history;
  const Vectors& v;
  float* residual;
  float* products;
  int team;

  // g = S'r + D x, half the gradient, and M; the residuals become those of x. False where M overflows.
  bool start() {
    std::fill_n(v.g, 2 * v.width, 0.0f);
    sum_in_segments(history.size, team, 2 * v.width, v.g, [&](int64_t begin, int64_t end, float* sums) {
      kernels.add_gradient(history.slice(begin, end), other, v.x, residual + begin, sums, sums + v.width);
    });
    for (int64_t k = 0; k < v.width; ++k) v.g[k] += v.d[k] * v.x[k], v.M[k] += v.d[k];
    const float largest = *std::max_element(v.M, v.M + v.width);
    for (int64_t k = 0; k < v.width; ++k)
      v.m[k] = v.M[k] > std::max(kNothing * largest, kLeast) ? 1 / v.M[k] : 0;
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
    k.turn(v.p, slope / before, v.m, v.g, v.width);
    row.apply();
    const float curvature = k.dot(v.p, v.q, v.width);
    if (curvature <= 0) break;  // rounding error is all that is left
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
  const int64_t width = padded(side.dim);
  return for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t interactions = side.rows.count(group);
    float* memory = scratch(Vectors::floats(width) + 2 * interactions);
    const Vectors v(memory, width);
    float* residual = memory + Vectors::floats(width);

    std::fill_n(memory, Vectors::floats(width), 0.0f);
    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      std::copy_n(side.row(u), side.dim, v.x);
      for (int64_t k = 0; k < side.dim; ++k) v.d[k] = spectrum[k] + side.lambda[u];
      residuals_at_zero(history, residual);
      if (conjugate_gradients({kernels, other, history, v, residual, residual + history.size, team}, steps,
                              tolerance))
        std::copy_n(v.x, side.dim, side.row(u));
      else
        outcome.fail(u);
      outcome.observed += kernels.squared_norm(residual, history.size);
    }
  });
}

}  // namespace ialspp
