// iALS++, Algorithm 3: Newton steps over blocks of coordinates. Predictions are kept as residuals
// (residuals.h), and every step brings them up to date.
#include "solvers.h"

namespace ialspp {
namespace {

// The rows of a group, their residuals one after the other. keep: where their neighbours stay, or null
std::vector<Row> rows_of(const Kernels& kernels, const Side& side, const PaddedColumns& columns, Range group,
                         float* residual, Workspace* keep, int team) {
  std::vector<Row> rows;
  rows.reserve(group.size());
  for (int64_t u = group.begin; u < group.end; ++u) {
    const History history = side.rows.history(u);
    rows.push_back({u, {kernels, columns, history, keep, team}, residual});
    residual += history.size;
  }
  return rows;
}

// residual = sqrt(a) (<x,h> - y), row after row
void residuals_of_group(const Kernels& kernels, const Side& side, const Columns& other, Range group,
                        float* residual, int team) {
  for (int64_t u = group.begin; u < group.end; ++u) {
    const History history = side.rows.history(u);
    residuals_at_zero(history, residual);
    in_segments(history.size, team, [&](int64_t, int64_t begin, int64_t end) {
      kernels.single.add_predictions(history.slice(begin, end), other, side.row(u), residual + begin);
    });
    residual += history.size;
  }
}

// P, the partition of all coordinates into blocks
struct Partition {
  const std::vector<Block>& blocks;

  int64_t size() const { return static_cast<int64_t>(blocks.size()); }
  int64_t block_size() const { return blocks.front().width; }
  int64_t panels_each() const { return blocks.front().panels(); }

  // How many blocks of the neighbours of so many interactions the cache has room for; perhaps not even one
  int64_t fitting(int64_t interactions) const {
    return kKeptFloats / (panels_each() * kPanel * std::max(interactions, int64_t{1}));
  }
  // The columns of `count` blocks from the first one on, or of fewer at the end
  PaddedColumns columns(const Columns& other, int64_t first, int64_t count) const {
    const int64_t begin = first * block_size(), end = std::min(begin + count * block_size(), other.width);
    return {{other.data + begin, other.stride, end - begin}, block_size()};
  }
  // Where block b is among those columns
  Panels panels(int64_t first, int64_t b) const { return {(b - first) * panels_each(), blocks[b].panels()}; }
};

}  // namespace

// sweep="block", the paper's order: one block of every row. The prediction cache lasts from call to call.
Outcome update_block(const Kernels& kernels, const Side& side, const Columns& packed, const Block& block,
                     const Residuals& residuals, int threads) {
  const PaddedColumns columns(packed);
  const int64_t capacity = capacity_for(columns.width());
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    Workspace work;
    const int64_t interactions = side.rows.count(group);
    float* residual = residuals.fetch(side.rows, group, work.floats(interactions), team);
    const bool keep = interactions <= capacity;
    std::vector<Row> rows = rows_of(kernels, side, columns, group, residual, keep ? &work : nullptr, team);
    newton_steps(kernels, side, block, columns.panels(), rows, outcome);
    residuals.put_back(side.rows, group, residual, team);
  });
}

// sweep="side": all blocks of a group of rows before the next group. As many blocks as have their neighbours
// in the cache are gathered at once.
Outcome update_side(const Kernels& kernels, const Side& side, const Columns& other,
                    const std::vector<Block>& blocks, int threads) {
  const Partition partition{blocks};
  const int64_t n_blocks = partition.size(), least = std::min(n_blocks, kLeastBlocksAtOnce);
  const int64_t capacity = capacity_for(least * partition.panels_each() * kPanel);
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    Workspace work;
    const int64_t interactions = side.rows.count(group), fitting = partition.fitting(interactions);
    const int64_t at_once = std::clamp(fitting, int64_t{1}, n_blocks);
    float* residual = work.floats(interactions);
    residuals_of_group(kernels, side, other, group, residual, team);
    for (int64_t first = 0; first < n_blocks; first += at_once) {
      Workspace kept;
      std::vector<Row> rows = rows_of(kernels, side, partition.columns(other, first, at_once), group,
                                      residual, fitting > 0 ? &kept : nullptr, team);
      for (int64_t b = first; b < std::min(first + at_once, n_blocks); ++b)
        newton_steps(kernels, side, blocks[b], partition.panels(first, b), rows, outcome);
    }
    outcome.observed = kernels.squared_norm(residual, interactions);
  });
}

void compute_residuals(const Kernels& kernels, const Side& side, const Columns& other, float* residuals,
                       int threads) {
  for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome&) {
    residuals_of_group(kernels, side, other, group, residuals + side.rows.offsets[group.begin], team);
  });
}

}  // namespace ialspp
