// Every kernel on every instruction set of this machine: first against plain double loops, then timed on one
// thread with its data in the second-level cache.
//
//   make bench-kernels
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../dispatch.h"
#include "../memory.h"

using namespace ialspp;

namespace {

constexpr int64_t kRows = 256, kMatrixRows = 512;

std::vector<float> normals(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}

bool wrong = false;

void check(const char* what, int64_t width, double got, double wanted) {
  if (std::abs(got - wanted) <= 1e-3 * (1 + std::abs(wanted))) return;
  std::printf("WRONG: %s, width %lld: %g instead of %g\n", what, static_cast<long long>(width), got, wanted);
  wrong = true;
}

// Seconds of one call: the best of several batches
double seconds(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int batch = 0; batch < 7; ++batch) {
    int64_t calls = 0;
    const auto start = Clock::now();
    double elapsed = 0;
    for (; elapsed < 0.02; ++calls) {
      call();
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    best = std::min(best, elapsed / static_cast<double>(calls));
  }
  return best;
}

void report(const Kernels& k, const char* what, int64_t width, double fmas,
            const std::function<void()>& call) {
  const double s = seconds(call);
  std::printf("%-9s %-12s width %4lld %10.2f us %8.1f GFLOPS\n", k.name, what, static_cast<long long>(width),
              1e6 * s, 2e-9 * fmas / s);
}

// A history of kRows random rows of a matrix, and a vector
struct Data {
  int64_t width, full;
  std::vector<float> matrix, x;
  std::vector<int32_t> columns;
  AlignedFloats memory;
  Slab slab;

  explicit Data(int64_t w)
      : width(w),
        full(padded(w)),
        matrix(normals(kMatrixRows * w, 1)),
        x(normals(full, 2)),
        memory(full * (kRows + 1)),
        slab{memory.data(), (kRows + 1) * kPanel, panels_for(w), kRows} {
    for (int64_t j = 0; j < kRows; ++j) columns.push_back(static_cast<int32_t>((37 * j + 11) % kMatrixRows));
  }
  History history() const { return {columns.data(), nullptr, nullptr, kRows}; }
  Columns other() const { return {matrix.data(), width, width}; }
  double at(int64_t j, int64_t c) const { return matrix[columns[j] * width + c]; }
  double dot(int64_t j) const {
    double sum = 0;
    for (int64_t c = 0; c < width; ++c) sum += at(j, c) * x[c];
    return sum;
  }
};

void history_kernels(const Kernels& k, int64_t width) {
  Data d(width);
  const double n = kRows, w = static_cast<double>(width);
  std::vector<float> hessian(d.full * d.full), gradient(d.full), products(kRows), squares(d.full),
      sum(d.full);

  k.gather(d.history(), d.other(), d.slab);
  k.add_outer(d.slab, hessian.data());
  k.add_dots(d.slab, d.x.data(), 1.0f, products.data());
  k.add_scaled(d.slab, products.data(), gradient.data());
  k.single.add_normal(d.history(), d.other(), d.x.data(), products.data(), sum.data());
  double outer = 0, normal = 0;
  for (int64_t j = 0; j < kRows; ++j) {
    outer += d.at(j, 0) * d.at(j, width - 1);
    normal += d.dot(j) * d.at(j, width - 1);
  }
  const int64_t last = width - 1;
  check("add_outer", width, hessian[(last / kPanel * d.full) * kPanel + last % kPanel], outer);
  check("add_dots", width, products[kRows - 1], d.dot(kRows - 1));
  check("add_scaled", width, gradient[last], normal);
  check("add_normal", width, sum[last], normal);

  report(k, "gather", width, 0, [&] { k.gather(d.history(), d.other(), d.slab); });
  report(k, "add_outer", width, n * w * (w + 1) / 2, [&] { k.add_outer(d.slab, hessian.data()); });
  report(k, "add_scaled", width, n * w, [&] { k.add_scaled(d.slab, products.data(), gradient.data()); });
  report(k, "add_dots", width, n * w, [&] { k.add_dots(d.slab, d.x.data(), 1e-9f, products.data()); });
  report(k, "add_gradient", width, 3 * n * w, [&] {
    std::fill(products.begin(), products.end(), 0.0f);
    k.single.add_gradient(d.history(), d.other(), d.x.data(), 1, products.data(), gradient.data(),
                          squares.data());
  });
  report(k, "add_normal", width, 2 * n * w,
         [&] { k.single.add_normal(d.history(), d.other(), d.x.data(), products.data(), sum.data()); });
}

// Sixteen systems M'M + I
void solve_kernel(const Kernels& k, int64_t width) {
  constexpr int64_t kSystems = 16;
  const int64_t stride = width * (width + 1);
  const std::vector<float> m = normals(width * width, 3), right = normals(width, 4);
  std::vector<double> dense(width * width);
  const AlignedFloats original(stride), systems(kSystems * stride);
  for (int64_t r = 0; r < width; ++r)
    for (int64_t c = 0; c < width; ++c) {
      double sum = r == c ? 1 : 0;
      for (int64_t j = 0; j < width; ++j) sum += m[j * width + r] * m[j * width + c];
      dense[r * width + c] = sum;
      original.data()[((c / kPanel) * width + r) * kPanel + c % kPanel] = static_cast<float>(sum);
    }
  std::copy(right.begin(), right.end(), original.data() + width * width);
  bool solved[kSystems];
  const auto refill = [&] {
    for (int64_t i = 0; i < kSystems; ++i) std::copy_n(original.data(), stride, systems.data() + i * stride);
  };
  const auto solve = [&] {
    refill();
    k.solve(systems.data(), stride, kSystems, width / kPanel, solved);
  };
  solve();
  for (int64_t i = 0; i < kSystems; ++i) {
    const float* x = systems.data() + i * stride + width * width;
    double product = 0;
    for (int64_t c = 0; c < width; ++c) product += dense[c] * x[c];
    check("solve", width, product, right[0]);
  }
  const auto w = static_cast<double>(width);
  const double filling = seconds(refill), both = seconds(solve);
  std::printf("%-9s %-12s width %4lld %10.2f us %8.1f GFLOPS (one system)\n", k.name, "solve",
              static_cast<long long>(width), 1e6 * (both - filling) / kSystems,
              2e-9 * kSystems * (w * w * w / 6 + w * w) / (both - filling));
}

void multiply_kernel(const Kernels& k, int64_t width) {
  constexpr int64_t kCount = 48;
  const std::vector<float> x = normals(kCount * width, 5), g = normals(width * width, 6);
  std::vector<float> out(kCount * width);
  const auto call = [&] {
    k.multiply(x.data(), width, kCount, width, g.data(), width / kPanel, out.data(), width);
  };
  call();
  double sum = 0;
  for (int64_t f = 0; f < width; ++f) sum += static_cast<double>(x[f]) * g[f * kPanel];
  check("multiply", width, out[0], sum);
  report(k, "multiply", width, static_cast<double>(kCount * width * width), call);
}

}  // namespace

int main() {
  for (const std::string& isa : available_isas()) {
    select_isa(isa);
    for (const int64_t width : {16, 32, 128, 512}) history_kernels(kernels(), width);
    for (const int64_t width : {16, 32, 64, 128}) solve_kernel(kernels(), width);
    for (const int64_t width : {128, 512}) multiply_kernel(kernels(), width);
  }
  return wrong ? 1 : 0;
}
