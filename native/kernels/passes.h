// Passes over a row's history that read the fixed side's rows in place. With s_j = sqrt(a_j) h_j:
//
//   add_predictions   r_j += <s_j, x>
//   add_gradient      r_j += <s_j, x>     g += sum_j r_j s_j     m += sum_j s_j^2, or an estimate of it
//   add_normal        t_j  = <s_j, x>     q += sum_j t_j s_j
//   add_weighted      q += sum_j t_j h_j
//
// A pass takes kLanes rows at a time: one transposing tree then adds up all their products, and the second
// use of a row finds it in the first-level cache. Each use takes a load and an FMA for every vector of
// columns. With two of both a cycle that makes d / kLanes cycles an interaction; the rest depends on the
// cache that the rows come from. Rows in half precision come from there in half the time, and each use
// converts them to single precision.
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

// Rows used together: as many as there are general registers for their addresses
constexpr int kTogether = kLanes < 8 ? kLanes : 8;

// How many neighbours ahead rows are requested
constexpr int64_t kAhead = 16;
static_assert(kAhead % kLanes == 0);

// kLanes neighbours from the j-th on. Past the end the last one is repeated, with a scale of zero.
template <class Number>
struct NeighbourBatch {
  const Number* rows[kLanes];
  float scales[kLanes];  // sqrt(a), times the unit of the rows' numbers
  int count;             // of those before the end

  NeighbourBatch(const History& history, const ColumnsOf<Number>& other, int64_t j) {
    count = history.size - j < kLanes ? static_cast<int>(history.size - j) : kLanes;
    for (int r = 0; r < kLanes; ++r) {
      const int64_t at = j + (r < count ? r : count - 1);
      rows[r] = other.row(history.columns[at]);
      const float root = history.weights ? __builtin_sqrtf(history.weights[at]) : 1.0f;
      scales[r] = r < count ? root * other.unit : 0.0f;
    }
    prefetch_next(history, other, j);
  }

  // Rows come from random places in memory, so later ones are requested now: into the second-level cache,
  // which can wait for far more lines at once than the first. Inlined by force: GCC takes a function that
  // only prefetches for one without effect, and removes calls of it.
  [[gnu::always_inline]] void prefetch_next(const History& history, const ColumnsOf<Number>& other,
                                            int64_t j) {
    constexpr int64_t kLine = 64 / sizeof(Number);
    const int64_t known = history.size + history.following, next = j + kAhead;
    const int64_t begin = history.cached && next < history.size ? history.size : next;
    const int64_t end = next + kLanes < known ? next + kLanes : known;
    for (int64_t at = begin; at < end; ++at) {
      const Number* row = other.row(history.columns[at]);
      for (int64_t c = 0; c < other.width; c += kLine) __builtin_prefetch(row + c, 0, 2);
    }
  }

  // <s_r, x> in lane r
  Vector dots(const float* x, int64_t width) const {
    Vector sums[kLanes];
#pragma GCC unroll 4  // so that `products` are registers
    for (int first = 0; first < kLanes; first += kTogether) {
      const Some some(rows + first);
      Vector products[kTogether] = {};
      for_each_vector(width, [&](auto at) {
        const Vector part = at.load(x);
        for (int r = 0; r < kTogether; ++r) products[r] += part * at.load(some.row[r]);
      });
      for (int r = 0; r < kTogether; ++r) sums[first + r] = products[r];
    }
    return sum_each(sums) * IALSPP_ISA::load(scales);
  }

  // sum += sum_r t_r h_r
  void add_scaled(const float* t, int64_t width, float* sum) const {
    for (int first = 0; first < kLanes; first += kTogether) {
      const Some some(rows + first);
      const Broadcast factor(t + first);
      for_each_vector(width, [&](auto at) {
        Vector even{}, odd{};
        for (int r = 0; r < kTogether; r += 2) {
          even += factor.lanes[r] * at.load(some.row[r]);
          odd += factor.lanes[r + 1] * at.load(some.row[r + 1]);
        }
        at.store(at.load(sum) + (even + odd), sum);  // only here, not to wait for the sum of the rows before
      });
    }
  }

  // sum += sum_r t_r h_r, squares += weight sum_r a_r h_r^2
  template <bool all_scales_are_one>
  void add_scaled_and_squares(const float* t, int64_t width, float weight, float* sum, float* squares) const {
    for (int first = 0; first < kLanes; first += kTogether) {
      const Some some(rows + first);
      const Broadcast factor(t + first), scale(scales + first);
      for_each_vector(width, [&](auto at) {
        Vector even{}, odd{}, even_squares{}, odd_squares{};
        for (int r = 0; r < kTogether; r += 2) {
          const Vector a = at.load(some.row[r]), b = at.load(some.row[r + 1]);
          const Vector sa = all_scales_are_one ? a : scale.lanes[r] * a;
          const Vector sb = all_scales_are_one ? b : scale.lanes[r + 1] * b;
          even += factor.lanes[r] * a;
          odd += factor.lanes[r + 1] * b;
          even_squares += sa * sa;
          odd_squares += sb * sb;
        }
        at.store(at.load(sum) + (even + odd), sum);
        at.store(at.load(squares) + weight * (even_squares + odd_squares), squares);
      });
    }
  }

  // A number for each of the neighbours, from a list of their numbers, and back
  Vector load(const float* numbers) const {
    return count == kLanes ? IALSPP_ISA::load(numbers) : load_first(numbers, count);
  }
  void store(Vector v, float* numbers) const {
    count == kLanes ? IALSPP_ISA::store(numbers, v) : store_first(numbers, v, count);
  }

 private:
  struct Some {
    const Number* row[kTogether];
    explicit Some(const Number* const* of) {
      for (int r = 0; r < kTogether; ++r) row[r] = of[r];
    }
  };

  struct Broadcast {
    Vector lanes[kTogether];
    explicit Broadcast(const float* numbers) {
      for (int r = 0; r < kTogether; ++r) lanes[r] = numbers[r] - Vector{};
    }
  };
};

// r += S x
template <class Number>
void add_predictions(const History& history, const ColumnsOf<Number>& other, const float* x,
                     float* residual) {
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch<Number> batch(history, other, j);
    batch.store(batch.load(residual + j) + batch.dots(x, other.width), residual + j);
  }
}

// The squares are those of the first kPanel neighbours in every `sampled` times kPanel, which count for all.
template <class Number>
void add_gradient(const History& history, const ColumnsOf<Number>& other, const float* x, int64_t sampled,
                  float* residual, float* gradient, float* squares) {
  const int64_t stride = sampled * kPanel;
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch<Number> batch(history, other, j);
    const Vector changed = batch.load(residual + j) + batch.dots(x, other.width);
    batch.store(changed, residual + j);
    float scaled[kLanes];
    store(scaled, changed * load(batch.scales));
    const int64_t first = j - j % stride, rest = history.size - first;
    if (j - first >= kPanel) {
      batch.add_scaled(scaled, other.width, gradient);
      continue;
    }
    const float weight =
        static_cast<float>(rest < stride ? rest : stride) / static_cast<float>(rest < kPanel ? rest : kPanel);
    if (!history.weights && other.unit == 1 && batch.count == kLanes)
      batch.template add_scaled_and_squares<true>(scaled, other.width, weight, gradient, squares);
    else
      batch.template add_scaled_and_squares<false>(scaled, other.width, weight, gradient, squares);
  }
}

template <class Number>
void add_normal(const History& history, const ColumnsOf<Number>& other, const float* x, float* products,
                float* sum) {
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch<Number> batch(history, other, j);
    const Vector t = batch.dots(x, other.width);
    batch.store(t, products + j);
    float scaled[kLanes];
    store(scaled, t * load(batch.scales));
    batch.add_scaled(scaled, other.width, sum);
  }
}

// The weights are t alone, without those of the interactions.
template <class Number>
void add_weighted(const History& history, const ColumnsOf<Number>& other, const float* t, float* sum) {
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch<Number> batch(history, other, j);
    float scaled[kLanes];
    store(scaled, other.unit * batch.load(t + j));
    batch.add_scaled(scaled, other.width, sum);
  }
}

#ifdef IALSPP_HALF
// out = x / unit in half precision, with zeros behind. Returns whether all of them are in its range.
bool to_half(const float* x, int64_t n, float unit, Half* out) {
  Vector largest{};
  for_each_vector(n, [&](auto at) {
    const Vector scaled = at.load(x) * (1 / unit);
    const Vector size = scaled < 0 ? -scaled : scaled;
    largest = size > largest ? size : largest;
    store(out + at.begin, scaled);
  });
  for (int64_t i = (n + kLanes - 1) / kLanes * kLanes; i < padded(n); i += kLanes) store(out + i, Vector{});
  bool fits = true;
  for (int i = 0; i < kLanes; ++i) fits = fits && largest[i] <= kLargestHalf;
  return fits;
}
#endif

// <x, y> in the inner product of diag(weights)
float weighted_dot(const float* x, const float* weights, const float* y, int64_t n) {
  float sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += x[k] * weights[k] * y[k];
  return sum;
}

// The end of add_gradient, with the part of the system that is diagonal: g += D x, M += D, and m = 1 / M, or
// 0 where nothing but rounding errors determine x, which then stays where it is. Returns the largest M.
float precondition(const float* diagonal, const float* x, int64_t n, float* g, float* M, float* m) {
  // The squares of rounding errors are less than this share of the largest curvature.
  constexpr float kNegligibleCurvature = 1e-12f;
  constexpr float kSmallestInvertible = 1e-38f;  // one over anything smaller overflows
  float largest = 0;
  for (int64_t k = 0; k < n; ++k) {
    g[k] += diagonal[k] * x[k];
    M[k] += diagonal[k];
    largest = M[k] > largest ? M[k] : largest;
  }
  const float share = kNegligibleCurvature * largest;
  const float least = share > kSmallestInvertible ? share : kSmallestInvertible;
  for (int64_t k = 0; k < n; ++k) m[k] = M[k] > least ? 1 / M[k] : 0;
  return largest;
}

// The end of add_normal: q += D p. Returns <p, q>.
float add_diagonal(const float* diagonal, const float* p, int64_t n, float* q) {
  float sum = 0;
  for (int64_t k = 0; k < n; ++k) {
    q[k] += diagonal[k] * p[k];
    sum += p[k] * q[k];
  }
  return sum;
}

// p = share p - m g: the next direction of preconditioned conjugate gradients
void next_direction(float* p, float share, const float* m, const float* g, int64_t n) {
  for (int64_t k = 0; k < n; ++k) p[k] = share * p[k] - m[k] * g[k];
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
