// Codes of vectors and bounds of their products against double loops.
#include <limits>
#include <string>

#include "../scoring.h"
#include "check.h"
#include "tables.h"

namespace {

using namespace ialspp;

double length_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double number : v) sum += number * number;
  return std::sqrt(sum);
}

// v = s q + e, with |v|, |s q| and |e| as encode says
void check_codes(const Kernels& k, const std::vector<float>& v, int levels) {
  std::vector<int8_t> codes(v.size());
  const Coded coded = k.encode(v.data(), static_cast<int64_t>(v.size()), levels, codes.data());
  std::vector<double> whole, part, rest;
  int32_t sum = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    whole.push_back(v[i]);
    part.push_back(static_cast<double>(coded.scale) * codes[i]);
    rest.push_back(v[i] - part[i]);
    sum += codes[i];
    CHECK(std::abs(codes[i]) <= levels);
    CHECK(std::abs(rest[i]) <= 0.5001 * coded.scale || coded.scale == 0);
  }
  CHECK(coded.sum == sum);
  CHECK(std::abs(coded.length - length_of(whole)) <= 1e-12 * length_of(whole));
  CHECK(std::abs(coded.coded_length - length_of(part)) <= 1e-6 * length_of(part));
  CHECK(std::abs(coded.rest - length_of(rest)) <= 1e-9 * length_of(whole));
}

// Upper bounds are not below the products, and not more above them than their terms say
void check_bounds(const Kernels& k, int64_t users, int64_t n_items, int64_t dim) {
  const std::vector<float> x = normals(users * dim, 3), y = normals(n_items * dim, 4);
  const PackedItems items(k, y.data(), n_items, dim, 2);
  CHECK(items.has_codes());
  const int64_t width = padded(n_items), panels = panels_for(n_items);
  std::vector<float> bounds(users * width), maxima(users * panels);
  CHECK(Scorer(k, x.data(), items, {}, {0, users}).bound(bounds.data(), maxima.data()));
  for (int64_t u = 0; u < users; ++u)
    for (int64_t i = 0; i < n_items; ++i) {
      double product = 0, x_square = 0, y_square = 0;
      for (int64_t f = 0; f < dim; ++f) {
        product += static_cast<double>(x[u * dim + f]) * y[i * dim + f];
        x_square += std::pow(x[u * dim + f], 2);
        y_square += std::pow(y[i * dim + f], 2);
      }
      const double above = bounds[u * width + i] - product;
      CHECK(above >= 0);
      // each rest is at most half a step in each number, and a step at most 1 / levels of the length
      CHECK(above <= 1.1 * std::sqrt(x_square * y_square * dim) * (1.0 / k.levels + 1.0 / 127) + 1e-6);
    }
}

}  // namespace

TEST(codes_and_their_rests_make_up_the_vector) {
  for (const Kernels* table : every_table())
    for (const int64_t n : {1, 7, 16, 33, 128}) {
      for (const int levels : {31, 127}) check_codes(*table, normals(n, 5), levels);
      check_codes(*table, std::vector<float>(n, 0.0f), 127);
      check_codes(*table, std::vector<float>(n, 1e-42f), 127);
      check_codes(*table, std::vector<float>(n, -3e17f), 127);
    }
}

TEST(vectors_that_are_too_long_or_not_finite_have_no_codes) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Kernels* table : every_table())
    for (const float bad : {2e19f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> y = normals(20 * 5, 6);
      y[7] = bad;
      CHECK(!PackedItems(*table, y.data(), 20, 5, 1).has_codes());
    }
}

TEST(bounds_are_above_the_products_and_close) {
  for (const Kernels* table : every_table())
    for (const int64_t dim : {1, 8, 13, 128})
      if (table->upper_bounds)
        for (const int64_t users : {1, 11, 24}) check_bounds(*table, users, 1100, dim);
}

TEST(gathered_panels_are_rows_beside_each_other) {
  for (const Kernels* table : every_table())
    for (const int64_t dim : {1, 15, 16, 37}) {
      const std::vector<float> y = normals(60 * dim, 7);
      std::vector<int32_t> rows;
      for (int i = 0; i < 21; ++i) rows.push_back(i * 17 % 60);
      std::vector<float> panels(2 * dim * kPanel);
      table->gather_panels(y.data(), dim, rows.data(), 21, panels.data());
      for (int64_t i = 0; i < 21; ++i)
        for (int64_t f = 0; f < dim; ++f)
          CHECK(panels[(i / kPanel * dim + f) * kPanel + i % kPanel] == y[rows[i] * dim + f]);
    }
}

TEST(collected_scores_are_those_between_the_bounds) {
  for (const Kernels* table : every_table())
    for (const int64_t n : {0, 1, 16, 100}) {
      const std::vector<float> scores = normals(n, 8);
      std::vector<int32_t> items(n + kPanel);
      std::vector<float> found(n + kPanel);
      const int64_t count = table->collect(scores.data(), 0, n, -0.3f, 0.2f, items.data(), found.data());
      int64_t place = 0;
      for (int64_t i = 0; i < n; ++i)
        if (scores[i] > -0.3f && scores[i] <= 0.2f) {
          CHECK(items[place] == i && found[place] == scores[i]);
          ++place;
        }
      CHECK(count == place);
    }
}
