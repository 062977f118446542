// Every kernel of every instruction set against double loops.
#include <algorithm>
#include <string>

#include "../memory.h"
#include "check.h"
#include "tables.h"

namespace {

using namespace ialspp;

// A history of `size` random rows of a random matrix, gathered by `k`.
struct Gathered {
  static constexpr int64_t kRows = 50, kCapacity = 160;
  std::vector<float> matrix, weights;
  std::vector<int32_t> columns;
  AlignedFloats memory;
  Slab slab;
  int64_t width;

  Gathered(const Kernels& k, int64_t size, int64_t w, bool weighted)
      : matrix(normals(kRows * (w + 3), 1)),
        weights(normals(size, 2)),
        memory(panels_for(w) * kCapacity * kPanel),
        slab{memory.data(), kCapacity * kPanel, panels_for(w), size},
        width(w) {
    for (float& a : weights) a = std::abs(a);
    for (int64_t j = 0; j < size; ++j) columns.push_back(static_cast<int32_t>((7 * j + 3) % kRows));
    std::fill_n(memory.data(), panels_for(w) * kCapacity * kPanel, 1e9f);
    k.gather(history(weighted), columns_of_matrix(), slab);
    if (!weighted) std::fill(weights.begin(), weights.end(), 1.0f);
  }

  History history(bool weighted) const {
    const auto size = static_cast<int64_t>(columns.size());
    return {columns.data(), nullptr, weighted ? weights.data() : nullptr, size};
  }
  Columns columns_of_matrix() const { return {matrix.data() + 2, width + 3, width}; }

  // sqrt(a_j) h_jc, zero in the padding
  double value(int64_t j, int64_t c) const {
    if (c >= width) return 0;
    return std::sqrt(weights[j]) * static_cast<double>(matrix[columns[j] * (width + 3) + 2 + c]);
  }
};

void check_history_kernels(const Kernels& k, int64_t size, int64_t width, bool weighted) {
  const Gathered g(k, size, width, weighted);
  const int64_t full = padded(width);
  const std::vector<float> scales = normals(size, 3);
  std::vector<float> x = normals(full, 4);
  std::fill(x.begin() + width, x.end(), 0.0f);

  std::vector<float> hessian(full * full, 0.5f), gradient(full, 0.25f), out(size, 0.75f);
  k.add_outer(g.slab, hessian.data());
  k.add_scaled(g.slab, scales.data(), gradient.data());
  k.add_dots(g.slab, x.data(), -1.0f, out.data());

  for (int64_t c = 0; c < full; ++c) {
    double sum = 0.25;
    for (int64_t j = 0; j < size; ++j) sum += scales[j] * g.value(j, c);
    CHECK(near(gradient[c], sum, 1e-5));
    for (int64_t r = 0; r <= c; ++r) {
      double outer = 0.5;
      for (int64_t j = 0; j < size; ++j) outer += g.value(j, r) * g.value(j, c);
      CHECK(near(hessian[((c / kPanel) * full + r) * kPanel + c % kPanel], outer, 1e-5));
    }
  }
  for (int64_t j = 0; j < size; ++j) {
    double dot = 0.75;
    for (int64_t c = 0; c < width; ++c) dot -= x[c] * g.value(j, c);
    CHECK(near(out[j], dot, 1e-5));
  }
}

// The same history, read in place
void check_passes(const Kernels& k, int64_t size, int64_t width, bool weighted, int64_t sampled) {
  const Gathered g(k, size, width, weighted);
  const History history = g.history(weighted);
  const Columns other = g.columns_of_matrix();
  const std::vector<float> x = normals(width, 4);
  std::vector<float> residual(size, 0.5f), products(size), gradient(width, 0.25f), squares(width, 2.0f),
      normal(width, 1.0f);
  k.single.add_gradient(history, other, x.data(), sampled, residual.data(), gradient.data(), squares.data());
  k.single.add_normal(history, other, x.data(), products.data(), normal.data());
  for (int64_t j = 0; j < size; ++j) {
    double dot = 0;
    for (int64_t c = 0; c < width; ++c) dot += x[c] * g.value(j, c);
    CHECK(near(products[j], dot, 1e-5));
    CHECK(near(residual[j], 0.5 + dot, 1e-5));
  }
  for (int64_t c = 0; c < width; ++c) {
    double wanted_gradient = 0.25, wanted_squares = 2, wanted_normal = 1;
    for (int64_t j = 0; j < size; ++j) {
      wanted_gradient += static_cast<double>(residual[j]) * g.value(j, c);
      if (j % (sampled * kPanel) < kPanel) {
        const int64_t rest = size - j + j % (sampled * kPanel);  // from the first of the sample on
        const double counts = std::min(rest, sampled * kPanel), of = std::min(rest, kPanel);
        wanted_squares += counts / of * g.value(j, c) * g.value(j, c);
      }
      wanted_normal += static_cast<double>(products[j]) * g.value(j, c);
    }
    CHECK(near(gradient[c], wanted_gradient, 1e-5));
    CHECK(near(squares[c], wanted_squares, 1e-5));
    CHECK(near(normal[c], wanted_normal, 1e-5));
  }
}

// The weights of add_weighted are its own, not those of the interactions.
void check_weighted_sums(const Kernels& k, int64_t size, int64_t width, bool weighted) {
  const Gathered g(k, size, width, weighted);
  const Columns other = g.columns_of_matrix();
  const std::vector<float> t = normals(size, 5);
  std::vector<float> sum(width + 1, 0.5f);
  k.single.add_weighted(g.history(weighted), other, t.data(), sum.data());
  for (int64_t c = 0; c < width; ++c) {
    double wanted = 0.5;
    for (int64_t j = 0; j < size; ++j) wanted += static_cast<double>(t[j]) * other.row(g.columns[j])[c];
    CHECK(near(sum[c], wanted, 1e-5));
  }
  CHECK(sum[width] == 0.5f);  // nothing is written behind the last column
}

// Passes over a copy in half precision, against passes over what the copy stands for
void check_half_passes(const Kernels& k, int64_t size, int64_t width, bool weighted, float unit) {
  if (!k.to_half) return;
  const Gathered g(k, size, width, weighted);
  const History history = g.history(weighted);
  const Columns exact = g.columns_of_matrix();
  const int64_t full = padded(width);
  std::vector<Half> copy(Gathered::kRows * full, Half{0xffff});
  for (int64_t r = 0; r < Gathered::kRows; ++r) CHECK(k.to_half(exact.row(r), width, unit, &copy[r * full]));
  const HalfColumns half{copy.data(), full, full, unit};

  // One product with each unit vector reads the numbers of the copy back.
  std::vector<float> rounded(Gathered::kRows * full);
  for (int32_t r = 0; r < Gathered::kRows; ++r) {
    const float one = 1;
    k.half.add_weighted({&r, nullptr, nullptr, 1}, half, &one, &rounded[r * full]);
    for (int64_t c = 0; c < full; ++c) {
      const float wanted = c < width ? exact.row(r)[c] : 0.0f;
      CHECK(std::abs(rounded[r * full + c] - wanted) <= std::abs(wanted) / 2048 + unit * 0x1p-25f);
    }
  }
  const Columns single{rounded.data(), full, full};

  std::vector<float> x = normals(full, 4);
  const std::vector<float> t = normals(size, 5);
  std::fill(x.begin() + width, x.end(), 0.0f);
  struct Sums {
    std::vector<float> residual, products, predictions, gradient, squares, normal, weighted;
    Sums(int64_t size, int64_t full)
        : residual(size, 0.5f),
          products(size),
          predictions(size, 0.25f),
          gradient(full, 0.25f),
          squares(full, 2.0f),
          normal(full, 1.0f),
          weighted(full, 0.5f) {}
  } got(size, full), wanted(size, full);
  const auto pass = [&](const auto& passes, const auto& other, Sums& out) {
    passes.add_gradient(history, other, x.data(), 2, out.residual.data(), out.gradient.data(),
                        out.squares.data());
    passes.add_normal(history, other, x.data(), out.products.data(), out.normal.data());
    passes.add_predictions(history, other, x.data(), out.predictions.data());
    passes.add_weighted(history, other, t.data(), out.weighted.data());
  };
  pass(k.half, half, got);
  pass(k.single, single, wanted);
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
    for (size_t i = 0; i < a.size(); ++i) CHECK(near(a[i], b[i], 1e-5));
  };
  same(got.residual, wanted.residual);
  same(got.products, wanted.products);
  same(got.predictions, wanted.predictions);
  same(got.gradient, wanted.gradient);
  same(got.squares, wanted.squares);
  same(got.normal, wanted.normal);
  same(got.weighted, wanted.weighted);
}

// M'M + I in add_outer's layout, then a right-hand side; and the same as doubles
struct System {
  int64_t full;
  std::vector<float> floats, right;
  std::vector<double> dense;

  System(int64_t n_panels, unsigned seed)
      : full(n_panels * kPanel), floats(full * full), right(normals(full, seed)), dense(full * full) {
    const std::vector<float> m = normals(full * full, seed + 1);
    for (int64_t r = 0; r < full; ++r)
      for (int64_t c = 0; c < full; ++c) {
        double sum = r == c;
        for (int64_t j = 0; j < full; ++j) sum += m[j * full + r] * m[j * full + c];
        entry(r, c) = static_cast<float>(sum);
        dense[r * full + c] = static_cast<float>(sum);
      }
    floats.insert(floats.end(), right.begin(), right.end());
  }

  float& entry(int64_t r, int64_t c) { return floats[((c / kPanel) * full + r) * kPanel + c % kPanel]; }
};

// Solves all of them in one call, the systems a few floats apart
std::vector<std::vector<float>> solve_all(const Kernels& k, const std::vector<System>& systems,
                                          bool* solved) {
  const auto size = static_cast<int64_t>(systems.front().floats.size()), stride = size + 16;
  const auto count = static_cast<int64_t>(systems.size()), full = systems.front().full;
  const AlignedFloats memory(count * stride);
  for (int64_t i = 0; i < count; ++i)
    std::copy(systems[i].floats.begin(), systems[i].floats.end(), memory.data() + i * stride);
  k.solve(memory.data(), stride, count, full / kPanel, solved);
  std::vector<std::vector<float>> solutions;
  for (int64_t i = 0; i < count; ++i) {
    const float* x = memory.data() + i * stride + full * full;
    solutions.emplace_back(x, x + full);
  }
  return solutions;
}

}  // namespace

TEST(history_kernels_match_double_loops) {
  for (const Kernels* k : every_table())
    for (const int64_t size : {0, 1, 3, 16, 17, 50, 150})
      for (const int64_t width : {1, 7, 16, 33, 64})
        for (const bool weighted : {false, true}) {
          check_history_kernels(*k, size, width, weighted);
          for (int64_t sampled : {1, 4}) check_passes(*k, size, width, weighted, sampled);
        }
}

TEST(passes_match_double_loops_where_the_last_vector_is_not_whole) {
  for (const Kernels* k : every_table())
    for (const int64_t size : {0, 1, 8, 17})
      for (const int64_t width : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 32, 100})
        for (const bool weighted : {false, true}) {
          for (int64_t sampled : {1, 4}) check_passes(*k, size, width, weighted, sampled);
          check_weighted_sums(*k, size, width, weighted);
        }
}

TEST(passes_over_a_copy_in_half_precision_are_those_over_its_numbers) {
  for (const Kernels* k : every_table())
    for (const int64_t size : {0, 1, 8, 17, 50})
      for (const int64_t width : {1, 7, 15, 16, 17, 31, 64})
        for (const bool weighted : {false, true})
          for (const float unit : {1.0f, 0x1p-6f}) check_half_passes(*k, size, width, weighted, unit);
}

TEST(numbers_beyond_half_precision_are_reported) {
  for (const Kernels* k : every_table()) {
    if (!k->to_half) continue;
    for (const int64_t width : {1, 7, 16, 17})
      for (int64_t place = 0; place < width; ++place)
        for (const float bad : {65536.0f, -1e30f, static_cast<float>(INFINITY)}) {
          std::vector<float> x(width, 1.0f);
          std::vector<Half> out(padded(width));
          CHECK(k->to_half(x.data(), width, 1, out.data()));
          x[place] = bad;
          CHECK(!k->to_half(x.data(), width, 1, out.data()));
        }
  }
}

TEST(cholesky_solves_positive_definite_systems) {
  for (const Kernels* k : every_table())
    for (const int64_t n_panels : {1, 2, 3, 5})
      for (const int count : {1, 3, 16}) {
        std::vector<System> systems;
        for (int i = 0; i < count; ++i) systems.emplace_back(n_panels, 5 + 2 * i);
        bool solved[16];
        const auto solutions = solve_all(*k, systems, solved);
        for (int i = 0; i < count; ++i) {
          const System& s = systems[i];
          CHECK(solved[i]);
          for (int64_t r = 0; r < s.full; ++r) {
            double product = 0;
            for (int64_t c = 0; c < s.full; ++c) product += s.dense[r * s.full + c] * solutions[i][c];
            CHECK(near(product, s.right[r], 2e-3));
          }
        }
      }
}

TEST(cholesky_refuses_what_is_not_positive_definite_and_nothing_else) {
  const float nan = std::nanf(""), infinity = INFINITY;
  for (const Kernels* k : every_table())
    for (const int64_t n_panels : {1, 2, 3})
      for (const float bad : {0.0f, -1.0f, nan, infinity}) {
        std::vector<System> systems(5, System(n_panels, 5));
        systems[3].entry(11, 11) = bad;
        bool solved[5];
        solve_all(*k, systems, solved);
        for (int i = 0; i < 5; ++i) CHECK(solved[i] == (i != 3));
      }
}

TEST(multiply_matches_double_loops) {
  for (const Kernels* k : every_table())
    for (const int64_t rows : {1, 5, 16, 19}) {
      const int64_t depth = 21, panels = 2, stride = depth + 2;
      const std::vector<float> x = normals(rows * stride, 7), g = normals(panels * depth * kPanel, 8);
      std::vector<float> out(rows * panels * kPanel);
      k->multiply(x.data(), stride, rows, depth, g.data(), panels, out.data(), panels * kPanel);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < panels * kPanel; ++c) {
          double sum = 0;
          for (int64_t f = 0; f < depth; ++f)
            sum += x[r * stride + f] * g[((c / kPanel) * depth + f) * kPanel + c % kPanel];
          CHECK(near(out[r * panels * kPanel + c], sum, 1e-5));
        }
    }
}

TEST(cross_products_match_double_loops) {
  for (const Kernels* k : every_table()) {
    const Gathered left(*k, 40, 33, false), right(*k, 40, 20, true);
    std::vector<double> out(padded(33) * padded(20), 1.0);
    k->add_cross(left.slab, right.slab, left.slab.panels, out.data());
    for (int64_t r = 0; r < 33; ++r)
      for (int64_t c = 0; c < 20; ++c) {
        double sum = 1;
        for (int64_t j = 0; j < 40; ++j) sum += left.value(j, r) * right.value(j, c);
        CHECK(near(out[r * padded(20) + c], sum, 1e-5));
      }
  }
}

TEST(coordinate_kernels_match_double_loops) {
  const std::vector<float> other = normals(30, 9);
  const std::vector<int32_t> columns{3, 29, 0, 3, 11};
  std::vector<float> weights{1.0f, 0.0f, 2.5f, 0.1f, 4.0f};
  for (const Kernels* k : every_table())
    for (const bool weighted : {false, true}) {
      std::vector<float> residual = normals(5, 10);
      const History history{columns.data(), nullptr, weighted ? weights.data() : nullptr, 5};
      double gradient = 1, hessian = 2, wanted_gradient = 1, wanted_hessian = 2;
      std::vector<double> after;
      for (int64_t j = 0; j < 5; ++j) {
        const double s = (weighted ? std::sqrt(weights[j]) : 1.0f) * other[columns[j]];
        wanted_gradient += residual[j] * s;
        wanted_hessian += s * s;
        after.push_back(residual[j] - 0.3 * s);
      }
      k->coordinate_sums(history, other.data(), residual.data(), &gradient, &hessian);
      k->coordinate_advance(history, other.data(), 0.3f, residual.data());
      CHECK(near(gradient, wanted_gradient, 1e-5));
      CHECK(near(hessian, wanted_hessian, 1e-5));
      for (int64_t j = 0; j < 5; ++j) CHECK(near(residual[j], after[j], 1e-5));
    }
}

TEST(an_unknown_instruction_set_is_refused) {
  bool refused = false;
  try {
    select_isa("mmx");
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
  CHECK(known_isas().front() == "baseline");
}
