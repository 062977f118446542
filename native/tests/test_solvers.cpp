// The solvers without Python: long rows and empty rows have the same bits on any number of threads.
#include <cstring>
#include <numeric>

#include "../dispatch.h"
#include "../factors.h"
#include "../products.h"
#include "../solvers/solvers.h"
#include "check.h"

using namespace ialspp;

namespace {

constexpr int64_t kDim = 19, kColumns = 40'000;

// Three rows: one with every column, one with none, one with two.
struct Problem {
  std::vector<int64_t> offsets{0, kColumns, kColumns, kColumns + 2}, bounds{0, 1, 3};
  std::vector<int64_t> other_bounds{0, 7, 20'000, kColumns};
  std::vector<int32_t> columns;
  std::vector<float> weights, lambda{3.0f, 2.0f, 1.0f}, start, other;
  std::vector<double> gram;
  Rows rows;

  Problem()
      : columns(kColumns),
        weights(normals(kColumns + 2, 1)),
        start(normals(3 * kDim, 2)),
        other(normals(kColumns * kDim, 3)),
        gram(kDim * kDim) {
    std::iota(columns.begin(), columns.end(), 0);
    columns.insert(columns.end(), {5, 77});
    for (float& a : weights) a = std::abs(a);
    gramian(kernels(), other.data(), other_shards(), kDim, 0, kDim, gram.data(), 2);
    rows = {3, offsets.data(), columns.data(), nullptr, weights.data(), {bounds.data(), 2}};
  }

  Shards other_shards() const { return {other_bounds.data(), 3}; }

  Block block(int64_t begin, int64_t width) const {
    return {begin, width, kDim, gram.data() + begin, kDim, 0.1f};
  }
  Columns all() const { return {other.data(), kDim, kDim}; }
};

enum class Update { exact, block, side, gradients };

std::vector<float> solved(const Problem& p, Update update, int threads) {
  std::vector<float> x = p.start;
  const Side side{p.rows, x.data(), p.lambda.data(), kDim};
  if (update == Update::exact) {
    CHECK(solve_rows(kernels(), side, p.all(), p.block(0, kDim), true, threads).failed_row == -1);
    return x;
  }
  if (update == Update::gradients) {
    const std::vector<float> spectrum(kDim, 0.2f);
    CHECK(improve_rows(kernels(), side, p.all(), spectrum.data(), nullptr, {3, 0}, threads).failed_row == -1);
    return x;
  }
  std::vector<Block> blocks;
  for (int64_t begin = 0; begin < kDim; begin += 8)
    blocks.push_back(p.block(begin, std::min<int64_t>(8, kDim - begin)));
  if (update == Update::side) {
    CHECK(update_side(kernels(), side, p.all(), blocks, threads).failed_row == -1);
    return x;
  }
  std::vector<float> residuals(p.columns.size());
  compute_residuals(kernels(), side, p.all(), residuals.data(), threads);
  for (const Block& block : blocks) {
    const Columns columns{p.other.data() + block.begin, kDim, block.width};
    const Residuals cache{residuals.data(), nullptr, nullptr};
    CHECK(update_block(kernels(), side, columns, block, cache, threads).failed_row == -1);
  }
  return x;
}

}  // namespace

TEST(the_same_bits_on_any_number_of_threads) {
  const Problem p;
  for (const Update update : {Update::exact, Update::block, Update::side, Update::gradients}) {
    const std::vector<float> one = solved(p, update, 1);
    for (const int threads : {2, 3, 16}) CHECK(solved(p, update, threads) == one);
  }
}

TEST(both_sweeps_of_one_side_agree) {
  const Problem p;
  const std::vector<float> of_blocks = solved(p, Update::block, 2), of_sides = solved(p, Update::side, 2);
  for (size_t i = 0; i < of_blocks.size(); ++i) CHECK(near(of_blocks[i], of_sides[i], 1e-5));
}

TEST(an_empty_row_solves_to_zero) {
  const Problem p;
  const std::vector<float> x = solved(p, Update::exact, 2);
  for (int64_t k = 0; k < kDim; ++k) CHECK(x[kDim + k] == 0.0f);
}

TEST(the_gradient_of_an_exact_solution_is_zero) {
  const Problem p;
  const std::vector<float> x = solved(p, Update::exact, 2);
  for (const int64_t row : {0, 2})
    for (int64_t k = 0; k < kDim; ++k) {
      double gradient = p.lambda[row] * x[row * kDim + k], scale = 1;
      for (int64_t c = 0; c < kDim; ++c) gradient += 0.1 * p.gram[k * kDim + c] * x[row * kDim + c];
      for (int64_t j = p.offsets[row]; j < p.offsets[row + 1]; ++j) {
        const float* h = &p.other[p.columns[j] * kDim];
        double prediction = 0;
        for (int64_t c = 0; c < kDim; ++c) prediction += x[row * kDim + c] * h[c];
        gradient += p.weights[j] * (prediction - 1) * h[k];
        scale += std::abs(p.weights[j] * h[k]);
      }
      CHECK(std::abs(gradient) < 1e-5 * scale);
    }
}

TEST(a_row_that_overflows_is_reported_and_left_alone) {
  Problem p;
  p.weights[kColumns] = INFINITY;
  std::vector<float> x = p.start;
  const Side side{p.rows, x.data(), p.lambda.data(), kDim};
  CHECK(solve_rows(kernels(), side, p.all(), p.block(0, kDim), false, 2).failed_row == 2);
  CHECK(std::memcmp(&x[2 * kDim], &p.start[2 * kDim], kDim * sizeof(float)) == 0);
}

TEST(gramian_columns_match_the_whole) {
  const Problem p;
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 1}, {3, 9}, {18, 19}}) {
    std::vector<double> part(kDim * (end - begin));
    gramian(kernels(), p.other.data(), p.other_shards(), kDim, begin, end, part.data(), 3);
    for (int64_t r = 0; r < kDim; ++r)
      for (int64_t c = begin; c < end; ++c)
        CHECK(near(part[r * (end - begin) + c - begin], p.gram[r * kDim + c], 1e-6));
  }
}

TEST(a_rotation_matches_double_loops) {
  const int64_t rows = 101, dim = 21;
  const std::vector<float> before = normals(rows * dim, 7), rotation = normals(dim * dim, 8);
  const std::vector<double> q(rotation.begin(), rotation.end());
  std::vector<float> x = before;
  transform(kernels(), x.data(), rows, dim, q.data(), 3);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < dim; ++c) {
      double sum = 0;
      for (int64_t f = 0; f < dim; ++f) sum += before[r * dim + f] * q[f * dim + c];
      CHECK(near(x[r * dim + c], sum, 1e-5));
    }
}

TEST(products_with_the_interactions_match_double_loops) {
  const Problem p;
  const std::vector<float> row_scales{0.5f, 1.0f, 2.0f}, column_scales = normals(kColumns, 9);
  std::vector<float> one;
  for (const int threads : {1, 2, 3}) {
    std::vector<float> out(3 * kDim, NAN);
    multiply_rows(kernels(), p.rows, row_scales.data(), column_scales.data(), p.all(), kDim, out.data(),
                  threads);
    if (threads == 1) one = out;
    CHECK(out == one);
  }
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t c = 0; c < kDim; ++c) {
      double sum = 0, terms = 1;
      for (int64_t j = p.offsets[row]; j < p.offsets[row + 1]; ++j) {
        const double term = static_cast<double>(p.weights[j]) * column_scales[p.columns[j]] *
                            p.other[p.columns[j] * kDim + c];
        sum += row_scales[row] * term;
        terms += std::abs(term);
      }
      CHECK(std::abs(one[row * kDim + c] - sum) < 1e-6 * terms);
    }
}

TEST(absolute_row_sums_match_double_loops) {
  const Problem p;
  std::vector<double> out(3, -1);
  absolute_row_sums(p.rows, out.data(), 3);
  for (int64_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (int64_t j = p.offsets[row]; j < p.offsets[row + 1]; ++j) sum += p.weights[j];
    CHECK(near(out[row], sum, 1e-12));
  }
}

TEST(a_relaxed_step_goes_that_much_further) {
  const Problem p;
  const auto moved = [&](float relaxation) {
    std::vector<float> x = p.start;
    const Side side{p.rows, x.data(), p.lambda.data(), kDim, relaxation};
    CHECK(solve_rows(kernels(), side, p.all(), p.block(0, kDim), false, 2).failed_row == -1);
    return x;
  };
  const std::vector<float> minimum = moved(1.0f), beyond = moved(1.5f), before = moved(0.5f);
  for (size_t i = 0; i < minimum.size(); ++i) {
    const double way = static_cast<double>(minimum[i]) - p.start[i];
    CHECK(near(beyond[i], p.start[i] + 1.5 * way, 1e-6));
    CHECK(near(before[i], p.start[i] + 0.5 * way, 1e-6));
  }
}
