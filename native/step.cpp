#include "step.h"

#include <cmath>
#include <cstring>

namespace ialspp {
namespace {

// Systems of up to this width are solved side by side, one row in each lane (kernels/lanes.h). A wider one
// fills the vector units alone.
constexpr int64_t kWidestInLanes = 32;

int64_t systems_at_once(const Block& block) { return padded(block.width) <= kWidestInLanes ? kGroupRows : 1; }

float* diagonal(float* hessian, int64_t width, int64_t i) {
  return hessian + ((i / kPanel) * padded(width) + i) * kPanel + i % kPanel;
}

// A += damping * largest diagonal entry * I. The step is then shorter but still one of descent, and tends to
// the step of least norm as the damping goes to zero. Where A is zero, any multiple of I will do.
void damp(const Block& block, float damping, float* hessian) {
  float largest = 0;
  for (int64_t i = 0; i < block.width; ++i) largest = std::max(largest, *diagonal(hessian, block.width, i));
  const float added = largest > 0 ? damping * largest : 1.0f;
  for (int64_t i = 0; i < block.width; ++i) *diagonal(hessian, block.width, i) += added;
}

// The smallest one already leaves every pivot well above the tolerance of cholesky.h.
constexpr float kDampings[] = {1e-5f, 1e-4f, 1e-2f, 1.0f};

bool damped_step(const Kernels& kernels, const Block& block, Panels panels, Row& row, float lambda,
                 const float* linear, float* system) {
  for (const float damping : kDampings) {
    build_system(block, panels, row, lambda, linear, system);
    damp(block, damping, system);
    bool solved;
    kernels.solve(system, 0, 1, block.panels(), &solved);
    if (solved) return true;
  }
  return false;
}

bool take_step(const Side& side, const Block& block, Panels panels, const float* step, Row& row) {
  float* x = side.row(row.number) + block.begin;
  for (int64_t k = 0; k < block.width; ++k)
    if (!std::isfinite(x[k] - side.relaxation * step[k])) return false;
  for (int64_t k = 0; k < block.width; ++k) x[k] -= side.relaxation * step[k];
  row.neighbours.add_products(panels, step, -side.relaxation, row.residual);
  return true;
}

}  // namespace

Block::Block(int64_t first, int64_t columns, int64_t depth, const double* gramian, int64_t gramian_stride,
             float alpha0)
    : begin(first),
      width(columns),
      coupling(panels() * depth * kPanel),
      curvature(padded(width) * padded(width)) {
  const int64_t full = padded(width);
  for (int64_t row = 0; row < depth; ++row)
    for (int64_t c = 0; c < full; ++c)
      coupling.data()[((c / kPanel) * depth + row) * kPanel + c % kPanel] =
          c < width ? static_cast<float>(alpha0 * gramian[row * gramian_stride + c]) : 0.0f;
  for (int64_t p = 0; p < panels(); ++p) {
    float* panel = curvature.data() + p * full * kPanel;
    std::copy_n(coupling.data() + (p * depth + begin) * kPanel, width * kPanel, panel);
    std::fill(panel + width * kPanel, panel + full * kPanel, 0.0f);
  }
  for (int64_t i = width; i < full; ++i) *diagonal(curvature.data(), full, i) = 1.0f;
}

void residuals_at_zero(const History& history, float* residual) {
  for (int64_t j = 0; j < history.size; ++j) {
    const float label = history.labels ? history.labels[j] : 1.0f;
    residual[j] = history.weights ? -std::sqrt(history.weights[j]) * label : -label;
  }
}

void build_system(const Block& block, Panels panels, Row& row, float lambda, const float* linear,
                  float* system) {
  const int64_t width = padded(block.width);
  for (int64_t p = 0; p < block.panels(); ++p)  // down to the diagonal, since nothing is read below it
    std::memcpy(system + p * width * kPanel, block.curvature.data() + p * width * kPanel,
                sizeof(float) * (p + 1) * kPanel * kPanel);
  std::memcpy(block.step_of(system), linear, sizeof(float) * width);
  for (int64_t i = 0; i < block.width; ++i) *diagonal(system, block.width, i) += lambda;
  row.neighbours.add_normal_equations(panels, row.residual, system);
}

void newton_steps(const Kernels& kernels, const Side& side, const Block& block, Panels panels,
                  std::vector<Row>& rows, Outcome& outcome) {
  const int64_t width = padded(block.width), stride = block.system_floats();
  const auto count = static_cast<int64_t>(rows.size()), batch = systems_at_once(block);
  Workspace work;
  float* linear = work.floats(count * width);
  float* systems = work.floats(std::min(batch, count) * stride);

  kernels.multiply(side.row(rows.front().number), side.dim, count, side.dim, block.coupling.data(),
                   block.panels(), linear, width);
  for (int64_t first = 0; first < count; first += batch) {
    const int64_t n = std::min(batch, count - first);
    for (int64_t i = 0; i < n; ++i) {
      Row& row = rows[first + i];
      const float lambda = side.lambda[row.number];
      const float* x = side.row(row.number) + block.begin;
      const float* c = side.centre(row.number);
      float* own = linear + (first + i) * width;
      for (int64_t k = 0; k < block.width; ++k) own[k] += lambda * (c ? x[k] - c[block.begin + k] : x[k]);
      build_system(block, panels, row, lambda, own, systems + i * stride);
    }
    bool solved[kGroupRows];
    kernels.solve(systems, stride, n, block.panels(), solved);
    for (int64_t i = 0; i < n; ++i) {
      Row& row = rows[first + i];
      float* system = systems + i * stride;
      const bool found = solved[i] || damped_step(kernels, block, panels, row, side.lambda[row.number],
                                                  linear + (first + i) * width, system);
      if (!found || !take_step(side, block, panels, block.step_of(system), row)) outcome.fail(row.number);
    }
  }
}

}  // namespace ialspp
