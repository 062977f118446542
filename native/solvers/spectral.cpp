// SpectralCG: a few steps of preconditioned conjugate gradients in every row, from where it is.
//
// Both sides are in coordinates where alpha0 G, the fixed side's Gramian, is diag(l) + C. Row u's system is
//
//   A = D + C + S'S,     D = diag(l + lambda_u)
//
// In G's eigenbasis C is zero, and a product A p is one pass over the row's history, without G. What A has
// off its diagonal is small, and M = D + diag(S'S) is nearly A.
//
// In other coordinates C counts in the gradient at x, but the steps leave it out: they minimise a loss with
// D + S'S in place of A, and lead to x + w. The row then goes along w to where the whole loss is least:
//
//   w'(D + S'S) w / (w'(D + S'S) w + w'C w)     times w, since the steps have made g'w = -w'(D + S'S) w
//
// So C is multiplied by two vectors of each row, for all rows of a group at once.
#include <algorithm>
#include <cmath>

#include "../factors.h"
#include "solvers.h"

namespace ialspp {
namespace {

// The vectors of one row's iteration. Each has the padded width, with zeros in the padding.
struct Vectors {
  int64_t width = 0;
  float* x = nullptr;
  float* g = nullptr;  // half the gradient, and behind it M
  float* M = nullptr;  // the preconditioner's diagonal
  float* m = nullptr;  // 1 / M, or 0 where x stays where it is
  float* p = nullptr;  // the direction
  float* q = nullptr;  // (D + S'S) p, and in the end C w
  float* d = nullptr;  // the diagonal of D
  float* b = nullptr;  // lambda c: how strongly the centre pulls; zero without features
  float* w = nullptr;  // the way that the steps went, where C is not zero

  Vectors() = default;
  Vectors(float* memory, int64_t n) : width(n) {
    for (float** vector : {&x, &g, &M, &m, &p, &q, &d, &b, &w}) {
      *vector = memory;
      memory += n;
    }
  }

  // Floats from one row's vectors to the next's. Rows a power of two apart would share their cache sets.
  static int64_t stride(int64_t width) { return 9 * width + kPanel; }
};

// M is only a preconditioner. A long history gives a good estimate of its squares by a sample, which costs
// less.
constexpr int64_t kFewestToSample = 128, kSampledOneIn = 4;

// Neighbours of up to this many bytes are still in a core's own cache when the next pass reads them.
constexpr int64_t kCachedBytes = 1 << 18;

// A row goes at most so many times as far as its steps. Where it could go farther, nearly all of `whole`
// below cancels out, and rounding error is left.
constexpr float kFarthest = 8;

template <class Number>
struct SpectralRow {
  const Kernels* kernels = nullptr;
  const ColumnsOf<Number>* other = nullptr;
  History history{};
  Vectors v;
  float* residual = nullptr;
  float* products = nullptr;  // S p
  float* advance = nullptr;   // S w
  int team = 1;

  const Passes<Number>& passes() const { return kernels->passes<Number>(); }

  // Adds S'r + D x - b to g, computes M, and makes the residuals those of x. False where M overflows.
  bool start(int64_t sampled) {
    for (int64_t k = 0; k < v.width; ++k) v.g[k] -= v.b[k];
    std::fill_n(v.M, v.width, 0.0f);
    sum_in_segments(history.size, team, 2 * v.width, v.g, [&](int64_t begin, int64_t end, float* sums) {
      passes().add_gradient(history.slice(begin, end), *other, v.x, sampled, residual + begin, sums,
                            sums + v.width);
    });
    history.cached = history.size * other->width * static_cast<int64_t>(sizeof(Number)) <= kCachedBytes;
    return std::isfinite(kernels->precondition(v.d, v.x, v.width, v.g, v.M, v.m));
  }

  // Computes S p and q = (D + S'S) p, and returns p'q.
  float apply() {
    std::fill_n(v.q, v.width, 0.0f);
    sum_in_segments(history.size, team, v.width, v.q, [&](int64_t begin, int64_t end, float* sums) {
      passes().add_normal(history.slice(begin, end), *other, v.p, products + begin, sums);
    });
    return kernels->add_diagonal(v.d, v.p, v.width, v.q);
  }

  // Computes S p alone and returns p'q = |S p|^2 + p'D p. After the last step nobody asks for the gradient,
  // so that S'(S p) is not needed.
  float apply_without_gradient() {
    std::fill_n(products, history.size, 0.0f);
    in_segments(history.size, team, [&](int64_t, int64_t begin, int64_t end) {
      passes().add_predictions(history.slice(begin, end), *other, v.p, products + begin);
    });
    return curvature(v.p, products);
  }

  // y'(D + S'S) y, where Sy = S y
  float curvature(const float* y, const float* Sy) const {
    return static_cast<float>(kernels->squared_norm(Sy, history.size)) +
           kernels->weighted_dot(y, v.d, y, v.width);
  }

  // x += scale y, and the residuals follow
  void go(float scale, const float* y, const float* Sy) {
    kernels->add_row(y, scale, v.width, v.x);
    kernels->add_row(Sy, scale, history.size, residual);
  }
};

// Takes the steps that lead from x to the minimum, and calls advance(length) for each: it goes so many times
// p. g comes with C x. False where a number is not finite.
template <class Number, class Advance>
bool conjugate_gradients(SpectralRow<Number>& row, const Descent& descent, const Advance& advance) {
  const Vectors& v = row.v;
  const Kernels& k = *row.kernels;
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
    advance(length);
    if (!last) k.add_row(v.q, length, v.width, v.g);
    before = slope;
  }
  return true;
}

// Moves x by `relaxation` times the way to the minimum that the steps found. The recursion for g and p does
// not see the relaxation. False where the result is not finite.
template <class Number>
bool go_to_minimum(SpectralRow<Number>& row, const Descent& descent, float relaxation) {
  std::fill_n(row.v.g, row.v.width, 0.0f);
  return conjugate_gradients(row, descent,
                             [&](float length) { row.go(relaxation * length, row.v.p, row.products); });
}

// Finds the way w without moving x. g has C x.
template <class Number>
bool find_way(SpectralRow<Number>& row, const Descent& descent) {
  std::fill_n(row.v.w, row.v.width, 0.0f);
  std::fill_n(row.advance, row.history.size, 0.0f);
  return conjugate_gradients(row, descent, [&](float length) {
    row.kernels->add_row(row.v.p, length, row.v.width, row.v.w);
    row.kernels->add_row(row.products, length, row.history.size, row.advance);
  });
}

// Moves x by `relaxation` times the way along w to the minimum of the whole loss, q = C w.
template <class Number>
void go_along_way(SpectralRow<Number>& row, float relaxation) {
  const Vectors& v = row.v;
  const float own = row.curvature(v.w, row.advance);
  const float whole = own + row.kernels->dot(v.w, v.q, v.width);
  if (own > 0) row.go(relaxation * own / std::max(whole, own / kFarthest), v.w, row.advance);
}

// The problem of one side, and what its rows share
template <class Number>
struct SpectralSide {
  const Kernels& kernels;
  const Side& side;
  const ColumnsOf<Number>& other;
  const float* spectrum;
  const float* coupling;  // C in panels, or null
  const Descent& descent;
  int64_t width, stride;  // of a vector; from one row's vectors to the next's

  Outcome improve(int threads) const {
    return for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome& outcome) {
      if (coupling)
        improve_together(group, team, outcome);
      else
        improve_each(group, team, outcome);
    });
  }

  // Row u before its steps. The arrays have room for its history.
  SpectralRow<Number> row(int64_t u, int team, float* vectors, float* residual, float* products,
                          float* advance) const {
    const Vectors v(vectors, width);
    std::copy_n(side.row(u), side.dim, v.x);
    for (int64_t k = 0; k < side.dim; ++k) v.d[k] = spectrum[k] + side.lambda[u];
    if (const float* c = side.centre(u))
      for (int64_t k = 0; k < side.dim; ++k) v.b[k] = side.lambda[u] * c[k];
    const History history = side.rows.history(u);
    residuals_at_zero(history, residual);
    return {&kernels, &other, history, v, residual, products, advance, team};
  }

  // Keeps what the steps of row u led to.
  void keep(int64_t u, const SpectralRow<Number>& row, bool finite, Outcome& outcome) const {
    if (finite && std::isfinite(kernels.squared_norm(row.v.x, width)))
      std::copy_n(row.v.x, side.dim, side.row(u));
    else
      outcome.fail(u);
    outcome.observed += kernels.squared_norm(row.residual, row.history.size);
  }

  // Where C is zero: one row after the other
  void improve_each(Range group, int team, Outcome& outcome) const {
    Workspace work;
    float* vectors = work.zeros(stride);
    float* residual = work.floats(side.rows.count(group));
    float* products = work.floats(side.rows.count(group));
    for (int64_t u = group.begin; u < group.end; ++u) {
      SpectralRow<Number> one = row(u, team, vectors, residual, products, nullptr);
      const bool finite = go_to_minimum(one, descent, side.relaxation);
      keep(u, one, finite, outcome);
    }
  }

  // Where C is not zero: all rows of the group are multiplied by it at once.
  void improve_together(Range group, int team, Outcome& outcome) const {
    const int64_t size = group.end - group.begin, pairs = side.rows.count(group);
    Workspace work;
    float* vectors = work.zeros(size * stride);
    float* residuals = work.floats(pairs);
    float* products = work.floats(pairs);
    float* advances = work.floats(pairs);
    SpectralRow<Number> rows[kGroupRows];
    bool finite[kGroupRows];
    for (int64_t r = 0, begin = 0; r < size; begin += rows[r++].history.size)
      rows[r] =
          row(group.begin + r, team, vectors + r * stride, residuals + begin, products, advances + begin);
    multiply_by_coupling(rows[0].v.x, size, rows[0].v.g);
    for (int64_t r = 0; r < size; ++r) finite[r] = find_way(rows[r], descent);
    multiply_by_coupling(rows[0].v.w, size, rows[0].v.q);
    for (int64_t r = 0; r < size; ++r) {
      go_along_way(rows[r], side.relaxation);
      keep(group.begin + r, rows[r], finite[r], outcome);
    }
  }

  void multiply_by_coupling(const float* in, int64_t rows, float* out) const {
    kernels.multiply(in, stride, rows, side.dim, coupling, panels_for(side.dim), out, stride);
  }
};

}  // namespace

template <class Number>
Outcome improve_rows(const Kernels& kernels, const Side& side, const ColumnsOf<Number>& other,
                     const float* spectrum, const double* coupling, const Descent& descent, int threads) {
  const AlignedFloats panels = coupling ? in_panels(coupling, side.dim) : AlignedFloats();
  const int64_t width = padded(side.dim);
  const SpectralSide<Number> all{kernels,       side,    other, spectrum,
                                 panels.data(), descent, width, Vectors::stride(width)};
  return all.improve(threads);
}

template Outcome improve_rows(const Kernels&, const Side&, const Columns&, const float*, const double*,
                              const Descent&, int);
template Outcome improve_rows(const Kernels&, const Side&, const HalfColumns&, const float*, const double*,
                              const Descent&, int);

}  // namespace ialspp
