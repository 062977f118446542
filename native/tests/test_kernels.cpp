// Every kernel of every instruction set against double loops.
#include <algorithm>
#include <string>

#include "../dispatch.h"
#include "../memory.h"
#include "check.h"

namespace ialspp::wide {
extern const Kernels kKernels;
}

namespace {

using namespace ialspp;

std::vector<const Kernels*> every_table() {
  std::vector<const Kernels*> tables{&wide::kKernels};
  for (const std::string& name : available_isas()) {
    select_isa(name);
    tables.push_back(&kernels());
  }
  return tables;
}

// A history of `size` random rows of a random matrix, gathered by `k`.
struct Gathered {
  static constexpr int64_t kRows = 50, kCapacity = 64;
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
    const History history{columns.data(), nullptr, weighted ? weights.data() : nullptr, size};
    k.gather(history, {matrix.data() + 2, w + 3, w}, slab);
    if (!weighted) std::fill(weights.begin(), weights.end(), 1.0f);
  }

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

  std::vector<float> hessian(full * full, 0.5f), gradient(full, 0.25f), out(Gathered::kCapacity, 0.0f);
  k.add_outer(g.slab, hessian.data());
  k.add_scaled(g.slab, scales.data(), gradient.data());
  k.dots(g.slab, x.data(), out.data());

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
    double dot = 0;
    for (int64_t c = 0; c < width; ++c) dot += x[c] * g.value(j, c);
    CHECK(near(out[j], dot, 1e-5));
  }
}

// M'M + I in add_outer's layout, and the same as doubles
struct System {
  int64_t full;
  std::vector<float> panels, right;
  std::vector<double> dense;

  explicit System(int64_t n_panels)
      : full(n_panels * kPanel), panels(full * full), right(normals(full, 5)), dense(full * full) {
    const std::vector<float> m = normals(full * full, 6);
    for (int64_t r = 0; r < full; ++r)
      for (int64_t c = 0; c < full; ++c) {
        double sum = r == c;
        for (int64_t j = 0; j < full; ++j) sum += m[j * full + r] * m[j * full + c];
        panels[((c / kPanel) * full + r) * kPanel + c % kPanel] = static_cast<float>(sum);
        dense[r * full + c] = static_cast<float>(sum);
      }
  }
};

}  // namespace

TEST(history_kernels_match_double_loops) {
  for (const Kernels* k : every_table())
    for (const int64_t size : {0, 1, 3, 16, 17, 50})
      for (const int64_t width : {1, 7, 16, 33, 64})
        for (const bool weighted : {false, true}) check_history_kernels(*k, size, width, weighted);
}

TEST(cholesky_solves_positive_definite_systems) {
  for (const Kernels* k : every_table())
    for (const int64_t n_panels : {1, 2, 5}) {
      System s(n_panels);
      std::vector<float> x = s.right;
      CHECK(k->solve(s.panels.data(), n_panels, x.data()));
      for (int64_t r = 0; r < s.full; ++r) {
        double product = 0;
        for (int64_t c = 0; c < s.full; ++c) product += s.dense[r * s.full + c] * x[c];
        CHECK(near(product, s.right[r], 1e-3));
      }
    }
}

TEST(cholesky_refuses_what_is_not_positive_definite) {
  const float nan = std::nanf(""), infinity = INFINITY;
  for (const Kernels* k : every_table())
    for (const float bad : {0.0f, -1.0f, nan, infinity}) {
      System s(2);
      s.panels[((20 / kPanel) * s.full + 20) * kPanel + 20 % kPanel] = bad;
      CHECK(!k->solve(s.panels.data(), 2, s.right.data()));
    }
}

TEST(multiply_matches_double_loops) {
  for (const Kernels* k : every_table())
    for (const int64_t rows : {1, 5, 16, 19}) {
      const int64_t depth = 21, panels = 2, stride = depth + 2;
      const std::vector<float> x = normals(rows * stride, 7), g = normals(panels * depth * kPanel, 8);
      std::vector<float> out(rows * panels * kPanel);
      k->multiply(x.data(), stride, rows, depth, g.data(), panels, out.data());
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
