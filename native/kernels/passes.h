// Passes over a row's history that read the fixed side's rows in place. With s_j = sqrt(a_j) h_j:
//
//   add_predictions   r_j += <s_j, x>
//   add_gradient      r_j += <s_j, x>     g += sum_j r_j s_j     m += sum_j s_j^2
//   add_normal        t_j  = <s_j, x>     q += sum_j t_j s_j
//
// A pass takes kLanes rows at a time: one transposing tree then adds up all their products, and the second
// use of a row finds it in the first-level cache. Each use takes a load and an FMA for every vector of
// columns. With two of both a cycle that makes d / kLanes cycles an interaction; the rest depends on the
// cache that the rows come from.
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

// kLanes neighbours from the j-th on. Past the end the last one is repeated, with a scale of zero.
struct NeighbourBatch {
  const float* rows[kLanes];
  float scales[kLanes];  // sqrt(a)
  int count;             // of those before the end

  NeighbourBatch(const History& history, const Columns& other, int64_t j) {
    count = history.size - j < kLanes ? static_cast<int>(history.size - j) : kLanes;
    for (int r = 0; r < kLanes; ++r) {
      const int64_t at = j + (r < count ? r : count - 1);
      rows[r] = other.data + history.columns[at] * other.stride;
      const float root = history.weights ? __builtin_sqrtf(history.weights[at]) : 1.0f;
      scales[r] = r < count ? root : 0.0f;
    }
    prefetch_next(history, other, j);
  }

  // Rows come from random places in memory, so the next ones are requested now.
  void prefetch_next(const History& history, const Columns& other, int64_t j) {
    const int64_t known = history.size + history.following - j - kLanes;
    for (int64_t r = 0; r < kLanes && r < known; ++r) {
      const float* row = other.data + history.columns[j + kLanes + r] * other.stride;
      for (int64_t c = 0; c < other.width; c += kPanel) __builtin_prefetch(row + c);
    }
  }

  // <s_r, x> in lane r
  Vector dots(const float* x, int64_t width) const {
    Vector sums[kLanes] = {};
    int64_t c = 0;
    for (; c + kLanes <= width; c += kLanes) {
      const Vector part = load(x + c);
      for (int r = 0; r < kLanes; ++r) sums[r] += part * load(rows[r] + c);
    }
    Vector total = sum_each(sums);
    for (; c < width; ++c)
      for (int r = 0; r < kLanes; ++r) total[r] += x[c] * rows[r][c];
    return total * load(scales);
  }

  // sum += sum_r t_r h_r
  void add_scaled(const float* t, int64_t width, float* sum) const {
    int64_t c = 0;
    for (; c + kLanes <= width; c += kLanes) {
      Vector even = load(sum + c), odd{};
      for (int r = 0; r < kLanes; r += 2) {
        even += t[r] * load(rows[r] + c);
        odd += t[r + 1] * load(rows[r + 1] + c);
      }
      store(sum + c, even + odd);
    }
    for (; c < width; ++c)
      for (int r = 0; r < kLanes; ++r) sum[c] += t[r] * rows[r][c];
  }

  // sum += sum_r t_r h_r, squares += sum_r a_r h_r^2
  template <bool all_weights_are_one>
  void add_scaled_and_squares(const float* t, int64_t width, float* sum, float* squares) const {
    int64_t c = 0;
    for (; c + kLanes <= width; c += kLanes) {
      Vector even = load(sum + c), odd{}, square = load(squares + c);
      for (int r = 0; r < kLanes; r += 2) {
        const Vector a = load(rows[r] + c), b = load(rows[r + 1] + c);
        even += t[r] * a;
        odd += t[r + 1] * b;
        square += all_weights_are_one ? a * a : scales[r] * a * (scales[r] * a);
        square += all_weights_are_one ? b * b : scales[r + 1] * b * (scales[r + 1] * b);
      }
      store(sum + c, even + odd);
      store(squares + c, square);
    }
    for (; c < width; ++c)
      for (int r = 0; r < kLanes; ++r) {
        const float h = rows[r][c];
        sum[c] += t[r] * h;
        squares[c] += scales[r] * h * scales[r] * h;
      }
  }
};

// r += S x
void add_predictions(const History& history, const Columns& other, const float* x, float* residual) {
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch batch(history, other, j);
    const Vector products = batch.dots(x, other.width);
    for (int r = 0; r < batch.count; ++r) residual[j + r] += products[r];
  }
}

void add_gradient(const History& history, const Columns& other, const float* x, float* residual,
                  float* gradient, float* squares) {
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch batch(history, other, j);
    const Vector products = batch.dots(x, other.width);
    float scaled[kLanes] = {};
    for (int r = 0; r < batch.count; ++r) {
      residual[j + r] += products[r];
      scaled[r] = batch.scales[r] * residual[j + r];
    }
    if (!history.weights && batch.count == kLanes)
      batch.add_scaled_and_squares<true>(scaled, other.width, gradient, squares);
    else
      batch.add_scaled_and_squares<false>(scaled, other.width, gradient, squares);
  }
}

void add_normal(const History& history, const Columns& other, const float* x, float* products, float* sum) {
  for (int64_t j = 0; j < history.size; j += kLanes) {
    const NeighbourBatch batch(history, other, j);
    const Vector t = batch.dots(x, other.width);
    if (batch.count == kLanes)
      store(products + j, t);
    else
      for (int r = 0; r < batch.count; ++r) products[j + r] = t[r];
    float scaled[kLanes];
    store(scaled, t * load(batch.scales));
    batch.add_scaled(scaled, other.width, sum);
  }
}

// <x, y> in the inner product of diag(weights)
float weighted_dot(const float* x, const float* weights, const float* y, int64_t n) {
  float sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += x[k] * weights[k] * y[k];
  return sum;
}

// p = share p - m g: the next direction of preconditioned conjugate gradients
void next_direction(float* p, float share, const float* m, const float* g, int64_t n) {
  for (int64_t k = 0; k < n; ++k) p[k] = share * p[k] - m[k] * g[k];
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
