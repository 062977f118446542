// iALS++, Algorithm 3: Newton steps over blocks of coordinates, predictions following each step.
#include <cmath>

#include "solvers.h"

namespace ialspp {

void predict_group(const Kernels& kernels, const Side& side, const Columns& other, Range group, float* x,
                   float* residual, Workspace& w, int team) {
  std::fill_n(x, padded(side.dim), 0.0f);
  for (int64_t u = group.begin; u < group.end; ++u) {
    const History history = side.rows.history(u);
    std::copy_n(side.row(u), side.dim, x);
    residuals_at_zero(history, residual);
    add_predictions(kernels, other, history, x, 1.0f, residual, w, team);
    residual += history.size;
  }
}

void couple(const Side& side, const Block& block, Range group, float* linear) {
  block.kernels.multiply(side.row(group.begin), side.dim, group.size(), side.dim, block.coupling.data(),
                         block.panels(), linear);
}

// Lines 6-16 for one row
bool update_row(const Side& side, const Block& block, int64_t u, float* linear, float* residual, Workspace& w,
                int team) {
  const History history = side.rows.history(u);
  const float lambda = side.lambda[u];
  float* x = side.row(u) + block.begin;
  for (int64_t k = 0; k < block.width(); ++k) linear[k] += lambda * x[k];
  if (!newton_step(block, history, residual, lambda, linear, w, team) &&
      !damped_step(block, history, residual, lambda, linear, w, team))
    return false;
  for (int64_t k = 0; k < block.width(); ++k)
    if (!std::isfinite(x[k] - w.gradient[k])) return false;
  for (int64_t k = 0; k < block.width(); ++k) x[k] -= w.gradient[k];
  add_predictions(block.kernels, block.other, history, w.gradient, -1.0f, residual, w, team);
  return true;
}

// The paper's sweep: one block, all rows, residuals cached between calls.
Outcome update_block(const Side& side, const Block& block, const Residuals& residuals, int threads) {
  const int64_t width = padded(block.width());
  return for_each_group(side.rows, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t own = Workspace::floats(block.width(), block.width());
    float* memory = scratch(own + kGroupRows * width + side.rows.count(group));
    Workspace w(memory, block.width(), block.width());
    float* linear = memory + own;
    float* buffer = linear + kGroupRows * width;

    couple(side, block, group, linear);
    for (int64_t u = group.begin; u < group.end; ++u, linear += width) {
      float* residual = residuals.fetch(side.rows, u, buffer, team);
      if (update_row(side, block, u, linear, residual, w, team))
        residuals.put_back(side.rows, u, residual, team);
      else
        outcome.fail(u);
    }
  });
}

// A side at a time: all blocks of a row before the next group of rows, its residuals made afresh.
Outcome update_blocks_by_row(const Side& side, const std::vector<Block>& blocks, const Columns& other,
                             int threads) {
  const int64_t width = padded(blocks.front().width()), dim = padded(side.dim);
  return for_each_group(side.rows, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t first = side.rows.offsets[group.begin];
    const int64_t total = side.rows.count(group);
    const int64_t shared = std::max(Workspace::floats(side.dim, 0), Workspace::floats(width, width));
    float* memory = scratch(shared + kGroupRows * width + dim + total);
    float* linear = memory + shared;
    float* x = linear + kGroupRows * width;
    float* residual = x + dim;

    Workspace wide(memory, side.dim, 0);
    predict_group(blocks.front().kernels, side, other, group, x, residual, wide, team);
    for (const Block& block : blocks) {
      Workspace w(memory, block.width(), block.width());
      couple(side, block, group, linear);
      for (int64_t u = group.begin; u < group.end; ++u) {
        float* own = residual + side.rows.offsets[u] - first;
        float* row_linear = linear + (u - group.begin) * padded(block.width());
        if (!update_row(side, block, u, row_linear, own, w, team)) outcome.fail(u);
      }
    }
    outcome.observed = blocks.front().kernels.squared_norm(residual, total);
  });
}

void predict(const Kernels& kernels, const Side& side, const Columns& other, float* residuals, int threads) {
  for_each_group(side.rows, threads, [&](Range group, int team, Outcome&) {
    const int64_t own = Workspace::floats(side.dim, 0);
    float* memory = scratch(own + padded(side.dim));
    Workspace w(memory, side.dim, 0);
    predict_group(kernels, side, other, group, memory + own, residuals + side.rows.offsets[group.begin], w,
                  team);
  });
}

}  // namespace ialspp
