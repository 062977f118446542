#include "factors.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "pool.h"
#include "workspace.h"

namespace ialspp {
namespace {

// Work that is not a sum over rows is cut into so many tasks.
constexpr int64_t kShares = 16;
constexpr int64_t kSlabRows = 128;        // rows summed in single precision
constexpr int64_t kGramianColumns = 256;  // columns of a Gramian at a time, which bounds the shares' memory

constexpr int64_t kTransformedRows = 48;  // rows changed together: whole tiles, in the cache

int64_t share_begin(int64_t rows, int64_t share) { return rows * share / kShares; }

// Adds up `size` numbers over the shards, one task each: add(rows of a shard, its sums). A few shards at a
// time, which bounds the memory of their sums.
template <class Add>
std::vector<double> sum_over(const Shards& shards, int64_t size, int threads, const Add& add) {
  const int64_t at_once = std::max<int64_t>(threads, kShares);
  PairwiseSum total(size);
  for (int64_t first = 0; first < shards.count; first += at_once) {
    std::vector<std::vector<double>> sums(std::min(at_once, shards.count - first));
    parallel_for(threads, static_cast<int64_t>(sums.size()), [&](int64_t s) {
      sums[s].assign(size, 0.0);
      add(shards[first + s], sums[s].data());
    });
    for (std::vector<double>& sum : sums) total.add(std::move(sum));
  }
  return total.total();
}

// Computes columns `begin` .. `end` of X'X. With upper_only, panels below the diagonal are left out.
void gramian_columns(const Kernels& k, const float* x, const Shards& shards, int64_t dim, int64_t begin,
                     int64_t end, bool upper_only, double* out, int64_t out_stride, int threads) {
  const int64_t depth = upper_only ? end : dim, width = end - begin;
  std::vector<int32_t> in_order(kSlabRows);
  std::iota(in_order.begin(), in_order.end(), 0);
  const auto total = sum_over(shards, padded(depth) * padded(width), threads, [&](Range rows, double* sums) {
    Workspace work;
    float* left_memory = work.floats(kSlabRows * padded(depth));
    float* right_memory = work.floats(kSlabRows * padded(width));
    for (int64_t r = rows.begin; r < rows.end; r += kSlabRows) {
      const History some{in_order.data(), nullptr, nullptr, std::min(kSlabRows, rows.end - r)};
      const Slab left{left_memory, kSlabRows * kPanel, panels_for(depth), some.size};
      const Slab right{right_memory, kSlabRows * kPanel, panels_for(width), some.size};
      k.gather(some, {x + r * dim, dim, depth}, left);
      k.gather(some, {x + r * dim + begin, dim, width}, right);
      k.add_cross(left, right, upper_only ? begin / kPanel : left.panels, sums);
    }
  });
  for (int64_t row = 0; row < depth; ++row)
    std::copy_n(&total[row * padded(width)], width, out + row * out_stride);
}

// Computes one column, without a panel's padding: iCD needs d of these.
void gramian_column(const Kernels& k, const float* x, const Shards& shards, int64_t dim, int64_t f,
                    double* out, int threads) {
  const auto total = sum_over(shards, dim, threads, [&](Range rows, double* sums) {
    Workspace work;
    float* slab = work.floats(dim);
    for (int64_t r = rows.begin; r < rows.end; r += kSlabRows) {
      std::fill_n(slab, dim, 0.0f);
      for (int64_t i = r; i < std::min(r + kSlabRows, rows.end); ++i)
        k.add_row(x + i * dim, x[i * dim + f], dim, slab);
      for (int64_t c = 0; c < dim; ++c) sums[c] += slab[c];
    }
  });
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

void gramian(const Kernels& k, const float* x, const Shards& shards, int64_t dim, int64_t begin, int64_t end,
             double* out, int threads) {
  const int64_t width = end - begin;
  if (width == 1) return gramian_column(k, x, shards, dim, begin, out, threads);
  const bool symmetric = width == dim;
  for (int64_t c = begin; c < end; c += kGramianColumns)
    gramian_columns(k, x, shards, dim, c, std::min(c + kGramianColumns, end), symmetric, out + c - begin,
                    width, threads);
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

bool copy_to_half(const Kernels& k, const float* x, int64_t rows, int64_t dim, float unit, Half* out,
                  int threads) {
  std::atomic<bool> fits{true};
  parallel_for(threads, kShares, [&](int64_t s) {
    for (int64_t r = share_begin(rows, s); r < share_begin(rows, s + 1); ++r)
      if (!k.to_half(x + r * dim, dim, unit, out + r * padded(dim))) fits = false;
  });
  return fits;
}

namespace {

bool round_row(const Kernels& k, float* row, int64_t dim, float unit, float* scratch) {
  Half* halves = reinterpret_cast<Half*>(scratch);
  if (!k.to_halves(row, dim, unit, halves, halves + dim)) return false;
  k.from_halves(halves, halves + dim, dim, unit, row);
  return true;
}

}  // namespace

bool round_to_halves(const Kernels& k, float* x, int64_t rows, int64_t dim, float unit, int threads) {
  AlignedFloats scratch(kShares * dim);
  std::atomic<bool> fits{true};
  parallel_for(
      threads, kShares,
      [&](int64_t s) {
        for (int64_t r = share_begin(rows, s); r < share_begin(rows, s + 1); ++r)
          if (!round_row(k, x + r * dim, dim, unit, scratch.data() + s * dim)) fits = false;
      },
      Interruptible::no);
  return fits;
}

InHalves::InHalves(const Kernels& kernels, float* x, int64_t rows, int64_t dim, float unit, int threads)
    : kernels_(kernels),
      x_(x),
      rows_(rows),
      dim_(dim),
      unit_(unit),
      threads_(threads),
      fits_(true),
      scratch_(kShares * dim) {
  int64_t ends[kShares];  // of the rows of each share that are in halves
  for_each_share([&](int64_t s, int64_t begin, int64_t end, float* scratch) {
    Half* halves = reinterpret_cast<Half*>(scratch);
    for (ends[s] = begin; ends[s] < end; ++ends[s]) {
      float* row = x_ + ends[s] * dim_;
      if (!kernels_.to_halves(row, dim_, unit_, halves, halves + dim_)) break;
      std::memcpy(row, halves, dim_ * sizeof(float));
    }
  });
  for (int64_t s = 0; s < kShares; ++s) fits_ = fits_ && ends[s] == share_begin(rows_, s + 1);
  if (!fits_)
    for_each_share([&](int64_t s, int64_t begin, int64_t end, float* scratch) {
      join(begin, ends[s], scratch);
      for (int64_t r = ends[s]; r < end; ++r) round_row(kernels_, x_ + r * dim_, dim_, unit_, scratch);
    });
}

InHalves::~InHalves() {
  if (fits_)
    for_each_share([&](int64_t, int64_t begin, int64_t end, float* scratch) { join(begin, end, scratch); });
}

template <class Work>
void InHalves::for_each_share(const Work& work) const {
  parallel_for(
      threads_, kShares,
      [&](int64_t s) {
        work(s, share_begin(rows_, s), share_begin(rows_, s + 1), scratch_.data() + s * dim_);
      },
      Interruptible::no);
}

void InHalves::join(int64_t begin, int64_t end, float* scratch) const {
  const Half* halves = reinterpret_cast<const Half*>(scratch);
  for (int64_t r = begin; r < end; ++r) {
    std::memcpy(scratch, x_ + r * dim_, dim_ * sizeof(float));
    kernels_.from_halves(halves, halves + dim_, dim_, unit_, x_ + r * dim_);
  }
}

AlignedFloats in_panels(const double* q, int64_t dim) {
  const int64_t width = padded(dim);
  AlignedFloats packed(dim * width);
  for (int64_t f = 0; f < dim; ++f)
    for (int64_t c = 0; c < width; ++c)
      packed.data()[(c / kPanel * dim + f) * kPanel + c % kPanel] =
          c < dim ? static_cast<float>(q[f * dim + c]) : 0.0f;
  return packed;
}

void transform(const Kernels& k, float* x, int64_t rows, int64_t dim, const double* q, int threads) {
  const int64_t panels = panels_for(dim), width = panels * kPanel;
  const AlignedFloats packed = in_panels(q, dim);
  parallel_for(
      threads, (rows + kTransformedRows - 1) / kTransformedRows,
      [&](int64_t task) {
        const int64_t first = task * kTransformedRows, n = std::min(kTransformedRows, rows - first);
        Workspace work;
        float* product = work.floats(n * width);
        // One line apart from whole pages: rows a power of two apart would share their cache sets.
        const int64_t stride = width + kPanel;
        float* rows_of_task = work.floats(n * stride);
        for (int64_t r = 0; r < n; ++r) std::copy_n(x + (first + r) * dim, dim, rows_of_task + r * stride);
        k.multiply(rows_of_task, stride, n, dim, packed.data(), panels, product, width);
        for (int64_t r = 0; r < n; ++r) std::copy_n(product + r * width, dim, x + (first + r) * dim);
      },
      Interruptible::no);
}

void weighted_column_squares(const Kernels& k, const float* x, const float* weights, const Shards& shards,
                             int64_t dim, double* out, int threads) {
  const auto total = sum_over(shards, dim, threads, [&](Range rows, double* sums) {
    for (int64_t r = rows.begin; r < rows.end; ++r) k.add_squares(x + r * dim, weights[r], dim, sums);
  });
  std::copy(total.begin(), total.end(), out);
}

double squared_sum_of(const Kernels& k, const float* x, int64_t n, int threads) {
  return sum_of_shares(n, threads,
                       [&](int64_t begin, int64_t end) { return k.squared_norm(x + begin, end - begin); });
}

}  // namespace ialspp
