#include "factors.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "pool.h"

namespace ialspp {
namespace {

// Rows are summed in fixed shares, one task each, and the shares in their order: the same bits on any
// number of threads.
constexpr int64_t kShares = 16;
constexpr int64_t kChunk = 128;    // rows summed in single precision
constexpr int64_t kColumns = 256;  // columns of the result at a time, which bounds the shares' memory

constexpr int64_t kRotatedRows = 48;  // rows turned together: whole tiles, in the cache

int64_t share_begin(int64_t rows, int64_t share) { return rows * share / kShares; }

void reduce(const std::vector<std::vector<double>>& shares, std::vector<double>& total) {
  for (const auto& share : shares)
    for (size_t i = 0; i < total.size(); ++i) total[i] += share[i];
}

// Columns `begin` .. `end` of X'X; with upper_only, rows of panels below the diagonal are left undone.
void gramian_columns(const Kernels& k, const float* x, int64_t rows, int64_t dim, int64_t begin, int64_t end,
                     bool upper_only, double* out, int64_t out_stride, int threads) {
  const int64_t depth = upper_only ? end : dim, width = end - begin;
  const int64_t left_floats = kChunk * padded(depth), right_floats = kChunk * padded(width);
  std::vector<int32_t> in_order(kChunk);
  std::iota(in_order.begin(), in_order.end(), 0);
  std::vector<std::vector<double>> shares(kShares);

  parallel_for(threads, kShares, [&](int64_t s) {
    shares[s].assign(padded(depth) * padded(width), 0.0);
    float* memory = scratch(left_floats + right_floats);
    const int64_t last = share_begin(rows, s + 1);
    for (int64_t r = share_begin(rows, s); r < last; r += kChunk) {
      const History chunk{in_order.data(), nullptr, nullptr, std::min(kChunk, last - r)};
      const Slab left{memory, kChunk * kPanel, panels_for(depth), chunk.size};
      const Slab right{memory + left_floats, kChunk * kPanel, panels_for(width), chunk.size};
      k.gather(chunk, {x + r * dim, dim, depth}, left);
      k.gather(chunk, {x + r * dim + begin, dim, width}, right);
      k.add_cross(left, right, upper_only ? begin / kPanel : left.panels, shares[s].data());
    }
  });
  std::vector<double> total(padded(depth) * padded(width), 0.0);
  reduce(shares, total);
  for (int64_t row = 0; row < depth; ++row)
    std::copy_n(&total[row * padded(width)], width, out + row * out_stride);
}

// One column, without a panel's padding: iCD asks for d of these.
void gramian_column(const Kernels& k, const float* x, int64_t rows, int64_t dim, int64_t f, double* out,
                    int threads) {
  std::vector<std::vector<double>> shares(kShares);
  parallel_for(threads, kShares, [&](int64_t s) {
    shares[s].assign(dim, 0.0);
    float* sums = scratch(dim);
    const int64_t last = share_begin(rows, s + 1);
    for (int64_t r = share_begin(rows, s); r < last; r += kChunk) {
      std::fill_n(sums, dim, 0.0f);
      for (int64_t i = r; i < std::min(r + kChunk, last); ++i)
        k.add_row(x + i * dim, x[i * dim + f], dim, sums);
      for (int64_t c = 0; c < dim; ++c) shares[s][c] += sums[c];
    }
  });
  std::vector<double> total(dim, 0.0);
  reduce(shares, total);
  std::copy(total.begin(), total.end(), out);
}

template <class Part>
double sum_of_shares(int64_t n, int threads, const Part& part) {
  double sums[kShares];
  parallel_for(threads, kShares,
               [&](int64_t s) { sums[s] = part(share_begin(n, s), share_begin(n, s + 1)); });
  return std::accumulate(sums, sums + kShares, 0.0);
}

}  // namespace

void gramian(const Kernels& k, const float* x, int64_t rows, int64_t dim, int64_t begin, int64_t end,
             double* out, int threads) {
  const int64_t width = end - begin;
  if (width == 1) return gramian_column(k, x, rows, dim, begin, out, threads);
  const bool symmetric = width == dim;
  for (int64_t c = begin; c < end; c += kColumns)
    gramian_columns(k, x, rows, dim, c, std::min(c + kColumns, end), symmetric, out + c - begin, width,
                    threads);
  if (symmetric)
    for (int64_t row = 0; row < dim; ++row)
      for (int64_t c = 0; c < row; ++c) out[row * dim + c] = out[c * dim + row];
}

AlignedFloats pack_columns(const float* x, int64_t rows, int64_t dim, int64_t begin, int64_t end,
                           int threads) {
  const int64_t width = end - begin, full = padded(width);
  AlignedFloats packed(rows * full);
  parallel_for(threads, kShares, [&](int64_t s) {
    for (int64_t r = share_begin(rows, s); r < share_begin(rows, s + 1); ++r) {
      float* target = packed.data() + r * full;
      std::copy_n(x + r * dim + begin, width, target);
      std::fill(target + width, target + full, 0.0f);
    }
  });
  return packed;
}

void rotate(const Kernels& k, float* x, int64_t rows, int64_t dim, const double* q, int threads) {
  const int64_t panels = panels_for(dim), width = panels * kPanel;
  const AlignedFloats packed(dim * width);
  for (int64_t f = 0; f < dim; ++f)
    for (int64_t c = 0; c < width; ++c)
      packed.data()[(c / kPanel * dim + f) * kPanel + c % kPanel] =
          c < dim ? static_cast<float>(q[f * dim + c]) : 0.0f;
  parallel_for(
      threads, (rows + kRotatedRows - 1) / kRotatedRows,
      [&](int64_t task) {
        const int64_t first = task * kRotatedRows, n = std::min(kRotatedRows, rows - first);
        float* turned = scratch(kRotatedRows * width);
        k.multiply(x + first * dim, dim, n, dim, packed.data(), panels, turned, width);
        for (int64_t r = 0; r < n; ++r) std::copy_n(turned + r * width, dim, x + (first + r) * dim);
      },
      Interruptible::no);
}

AlignedFloats transposed_panels(const float* y, int64_t rows, int64_t dim, int threads) {
  const int64_t panels = panels_for(rows);
  AlignedFloats transposed(panels * dim * kPanel);
  parallel_for(threads, panels, [&](int64_t p) {
    for (int64_t f = 0; f < dim; ++f)
      for (int64_t c = 0; c < kPanel; ++c) {
        const int64_t row = p * kPanel + c;
        transposed.data()[(p * dim + f) * kPanel + c] = row < rows ? y[row * dim + f] : 0.0f;
      }
  });
  return transposed;
}

double weighted_squared_norm(const Kernels& k, const float* x, const float* weights, int64_t rows,
                             int64_t dim, int threads) {
  return sum_of_shares(rows, threads, [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t r = begin; r < end; ++r) sum += weights[r] * k.squared_norm(x + r * dim, dim);
    return sum;
  });
}

double squared_sum_of(const Kernels& k, const float* x, int64_t n, int threads) {
  return sum_of_shares(n, threads,
                       [&](int64_t begin, int64_t end) { return k.squared_norm(x + begin, end - begin); });
}

}  // namespace ialspp
