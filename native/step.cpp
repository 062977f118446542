#include "step.h"

#include <cmath>
#include <cstring>

namespace ialspp {
namespace {

// A slab of this many floats (64 KB) stays in the second-level cache while its tiles pass over it.
constexpr int64_t kSlabFloats = 16384;

int64_t slab_rows_for(int64_t width) {
  return std::clamp(kSlabFloats / padded(width), int64_t{64}, int64_t{512}) / kPanel * kPanel;
}

// A system of a long row, one segment's share of it: the workspace with memory of its own.
struct Share {
  AlignedFloats memory;
  Workspace workspace;
  Share(int64_t slab_width, int64_t system_width)
      : memory(Workspace::floats(slab_width, system_width)),
        workspace(memory.data(), slab_width, system_width) {}
};

void accumulate(const Block& block, const History& history, const float* residual, Workspace& w) {
  for (int64_t j = 0; j < history.size; j += w.slab_rows()) {
    const History piece = history.slice(j, std::min(j + w.slab_rows(), history.size));
    const Slab slab = w.gather(block.kernels, block.other, piece);
    block.kernels.add_outer(slab, w.hessian);
    block.kernels.add_scaled(slab, residual + j, w.gradient);
  }
}

void add(const float* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

void accumulate_together(const Block& block, const History& history, const float* residual, Workspace& w,
                         int threads) {
  const int64_t width = padded(block.width());
  std::vector<std::unique_ptr<Share>> shares(kSegments);
  in_segments(history.size, threads, [&](int64_t s, int64_t begin, int64_t end) {
    shares[s] = std::make_unique<Share>(block.width(), block.width());
    Workspace& own = shares[s]->workspace;
    std::fill_n(own.hessian, width * width, 0.0f);
    std::fill_n(own.gradient, width, 0.0f);
    accumulate(block, history.slice(begin, end), residual + begin, own);
  });
  for (const auto& share : shares) {
    add(share->workspace.hessian, width * width, w.hessian);
    add(share->workspace.gradient, width, w.gradient);
  }
}

float* diagonal(float* hessian, int64_t width, int64_t i) {
  return hessian + ((i / kPanel) * padded(width) + i) * kPanel + i % kPanel;
}

void build(const Block& block, const History& history, const float* residual, float lambda,
           const float* linear, Workspace& w, int threads) {
  const int64_t width = padded(block.width());
  std::memcpy(w.hessian, block.curvature.data(), sizeof(float) * width * width);
  std::memcpy(w.gradient, linear, sizeof(float) * width);
  for (int64_t i = 0; i < block.width(); ++i) *diagonal(w.hessian, block.width(), i) += lambda;
  if (history.size < kLongRow)
    accumulate(block, history, residual, w);
  else
    accumulate_together(block, history, residual, w, threads);
}

// A += damping * largest diagonal entry: a shorter step in the same direction of descent, towards the
// step of least norm as the damping goes to zero. All of A zero: any multiple of I does.
void damp(const Block& block, float damping, float* hessian) {
  float largest = 0;
  for (int64_t i = 0; i < block.width(); ++i)
    largest = std::max(largest, *diagonal(hessian, block.width(), i));
  const float added = largest > 0 ? damping * largest : 1.0f;
  for (int64_t i = 0; i < block.width(); ++i) *diagonal(hessian, block.width(), i) += added;
}

// The least one leaves every pivot well above the tolerance of cholesky.h.
constexpr float kDampings[] = {1e-5f, 1e-4f, 1e-2f, 1.0f};

}  // namespace

Block::Block(const Kernels& k, Columns fixed, int64_t first, int64_t depth, const double* gramian,
             int64_t gramian_stride, float alpha0)
    : kernels(k),
      other(fixed),
      begin(first),
      coupling(panels() * depth * kPanel),
      curvature(padded(width()) * padded(width())) {
  const int64_t full = padded(width());
  for (int64_t row = 0; row < depth; ++row)
    for (int64_t c = 0; c < full; ++c)
      coupling.data()[((c / kPanel) * depth + row) * kPanel + c % kPanel] =
          c < width() ? static_cast<float>(alpha0 * gramian[row * gramian_stride + c]) : 0.0f;
  for (int64_t p = 0; p < panels(); ++p) {
    float* panel = curvature.data() + p * full * kPanel;
    std::copy_n(coupling.data() + (p * depth + begin) * kPanel, width() * kPanel, panel);
    std::fill(panel + width() * kPanel, panel + full * kPanel, 0.0f);
  }
  for (int64_t i = width(); i < full; ++i) *diagonal(curvature.data(), full, i) = 1.0f;
}

int64_t Workspace::floats(int64_t slab_width, int64_t system_width) {
  const int64_t rows = slab_rows_for(slab_width), system = padded(system_width);
  return rows * padded(slab_width) + rows + system * system + system;
}

Workspace::Workspace(float* memory, int64_t slab_width, int64_t system_width) {
  const int64_t system = padded(system_width);
  slab_rows_ = slab_rows_for(slab_width);
  slab_ = memory;
  products = slab_ + slab_rows_ * padded(slab_width);
  hessian = products + slab_rows_;
  gradient = hessian + system * system;
}

Slab Workspace::gather(const Kernels& kernels, const Columns& other, const History& piece) {
  const Slab slab{slab_, slab_rows_ * kPanel, panels_for(other.width), piece.size};
  const bool held = held_piece_ == piece.columns && held_size_ == piece.size && held_columns_ == other.data;
  if (!held) kernels.gather(piece, other, slab);
  held_piece_ = piece.columns;
  held_columns_ = other.data;
  held_size_ = piece.size;
  return slab;
}

void residuals_at_zero(const History& history, float* residual) {
  for (int64_t j = 0; j < history.size; ++j) {
    const float label = history.labels ? history.labels[j] : 1.0f;
    residual[j] = history.weights ? -std::sqrt(history.weights[j]) * label : -label;
  }
}

void add_predictions(const Kernels& kernels, const Columns& other, const History& history, const float* x,
                     float sign, float* residual, Workspace& w, int threads) {
  const auto pieces = [&](const History& part, float* target, Workspace& own) {
    for (int64_t j = 0; j < part.size; j += own.slab_rows()) {
      const int64_t end = std::min(j + own.slab_rows(), part.size);
      kernels.dots(own.gather(kernels, other, part.slice(j, end)), x, own.products);
      for (int64_t i = j; i < end; ++i) target[i] += sign * own.products[i - j];
    }
  };
  if (history.size < kLongRow) return pieces(history, residual, w);
  in_segments(history.size, threads, [&](int64_t, int64_t begin, int64_t end) {
    Share own(other.width, 0);
    pieces(history.slice(begin, end), residual + begin, own.workspace);
  });
}

bool newton_step(const Block& block, const History& history, const float* residual, float lambda,
                 const float* linear, Workspace& w, int threads) {
  build(block, history, residual, lambda, linear, w, threads);
  return block.kernels.solve(w.hessian, block.panels(), w.gradient);
}

bool damped_step(const Block& block, const History& history, const float* residual, float lambda,
                 const float* linear, Workspace& w, int threads) {
  for (const float damping : kDampings) {
    build(block, history, residual, lambda, linear, w, threads);
    damp(block, damping, w.hessian);
    if (block.kernels.solve(w.hessian, block.panels(), w.gradient)) return true;
  }
  return false;
}

}  // namespace ialspp
