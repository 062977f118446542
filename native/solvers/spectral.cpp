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
  float* b;  // lambda c: how strongly the centre pulls; zero without features

  Vectors(Workspace& work, int64_t w)
      : width(w),
        x(work.zeros(w)),
        g(work.zeros(2 * w)),
        M(g + w),
        m(work.zeros(w)),
        p(work.zeros(w)),
        q(work.zeros(w)),
        d(work.zeros(w)),
        b(work.zeros(w)) {}
};

// M is only a preconditioner. A long history gives a good estimate of its squares by a sample, which costs
// less.
constexpr int64_t kFewestToSample = 128, kSampledOneIn = 4;

// Neighbours of up to this many bytes are still in a core's own cache when the next pass reads them.
constexpr int64_t kCachedBytes = 1 << 18;

template <class Number>
struct SpectralRow {
  const Kernels& kernels;
  const ColumnsOf<Number>& other;
  History history;
  const Vectors& v;
  float* residual;
  float* products;  // S p
  int team;
  float relaxation;

  const Passes<Number>& passes() const { return kernels.passes<Number>(); }

  // Computes g = S'r + D x - b and M, and makes the residuals those of x. False where M overflows.
  bool start(int64_t sampled) {
    for (int64_t k = 0; k < v.width; ++k) v.g[k] = 0.0f - v.b[k];
    std::fill_n(v.M, v.width, 0.0f);
    sum_in_segments(history.size, team, 2 * v.width, v.g, [&](int64_t begin, int64_t end, float* sums) {
      passes().add_gradient(history.slice(begin, end), other, v.x, sampled, residual + begin, sums,
                            sums + v.width);
    });
    history.cached = history.size * other.width * static_cast<int64_t>(sizeof(Number)) <= kCachedBytes;
    return std::isfinite(kernels.precondition(v.d, v.x, v.width, v.g, v.M, v.m));
  }

  // Computes S p and q = A p, and returns p'q.
  float apply() {
    std::fill_n(v.q, v.width, 0.0f);
    sum_in_segments(history.size, team, v.width, v.q, [&](int64_t begin, int64_t end, float* sums) {
      passes().add_normal(history.slice(begin, end), other, v.p, products + begin, sums);
    });
    return kernels.add_diagonal(v.d, v.p, v.width, v.q);
  }

  // Computes S p alone and returns p'A p = |S p|^2 + p'D p. After the last step nobody asks for the gradient,
  // so that S'(S p) is not needed.
  float apply_without_gradient() {
    std::fill_n(products, history.size, 0.0f);
    in_segments(history.size, team, [&](int64_t, int64_t begin, int64_t end) {
      passes().add_predictions(history.slice(begin, end), other, v.p, products + begin);
    });
    return static_cast<float>(kernels.squared_norm(products, history.size)) +
           kernels.weighted_dot(v.p, v.d, v.p, v.width);
  }
};

// Minimises L_u from x, and moves x by `relaxation` times the way to the minimum it found. The recursion for
// g and p does not see the relaxation. False where the result is not finite.
template <class Number>
bool conjugate_gradients(SpectralRow<Number> row, const Descent& descent) {
  const Vectors& v = row.v;
  const Kernels& k = row.kernels;
  std::fill_n(v.p, v.width, 0.0f);
  const bool estimates = descent.tolerance == 0 && row.history.size >= kFewestToSample;
  if (!row.start(estimates ? kSampledOneIn : 1)) return false;
  float before = 1;
  for (int64_t step = 1; step <= descent.steps; ++step) {
    const float slope = k.weighted_dot(v.g, v.m, v.g, v.width);
    if (slope <= descent.tolerance * descent.tolerance * k.weighted_dot(v.x, v.M, v.x, v.width)) break;
    k.next_direction(v.p, slope / before, v.m, v.g, v.width);
    const bool last = step == descent.steps;
    const float curvature = last ? row.apply_without_gradient() : row.apply();
    if (curvature <= 0) break;  // only rounding error is left to reduce
    const float length = slope / curvature;
    if (!std::isfinite(curvature) || !std::isfinite(length)) return false;
    k.add_row(v.p, row.relaxation * length, v.width, v.x);
    k.add_row(row.products, row.relaxation * length, row.history.size, row.residual);
    if (!last) k.add_row(v.q, length, v.width, v.g);
    before = slope;
  }
  return std::isfinite(k.squared_norm(v.x, v.width));
}

}  // namespace

template <class Number>
Outcome improve_rows(const Kernels& kernels, const Side& side, const ColumnsOf<Number>& other,
                     const float* spectrum, const Descent& descent, int threads) {
  return for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome& outcome) {
    Workspace work;
    const Vectors v(work, padded(side.dim));
    float* residual = work.floats(side.rows.count(group));
    float* products = work.floats(side.rows.count(group));
    for (int64_t u = group.begin; u < group.end; ++u) {
      const History history = side.rows.history(u);
      std::copy_n(side.row(u), side.dim, v.x);
      for (int64_t k = 0; k < side.dim; ++k) v.d[k] = spectrum[k] + side.lambda[u];
      if (const float* c = side.centre(u))
        for (int64_t k = 0; k < side.dim; ++k) v.b[k] = side.lambda[u] * c[k];
      residuals_at_zero(history, residual);
      if (conjugate_gradients<Number>({kernels, other, history, v, residual, products, team, side.relaxation},
                                      descent))
        std::copy_n(v.x, side.dim, side.row(u));
      else
        outcome.fail(u);
      outcome.observed += kernels.squared_norm(residual, history.size);
    }
  });
}

template Outcome improve_rows(const Kernels&, const Side&, const Columns&, const float*, const Descent&, int);
template Outcome improve_rows(const Kernels&, const Side&, const HalfColumns&, const float*, const Descent&,
                              int);

}  // namespace ialspp
