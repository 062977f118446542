// iALS++, Algorithm 3: Newton steps over blocks of coordinates, predictions following each step.
#include "solvers.h"

namespace ialspp {
namespace {

// The rows of a group with neighbours from `chunks`, kept where there is memory.
std::vector<Row> rows_of(const Kernels& kernels, const Side& side, const Chunks& chunks, Range group,
                         float* residual, float* kept, int team) {
  std::vector<Row> rows;
  rows.reserve(group.size());
  for (int64_t u = group.begin; u < group.end; ++u) {
    const History history = side.rows.history(u);
    rows.push_back({u, {kernels, chunks, history, kept, team}, residual});
    residual += history.size;
    if (kept) kept += Neighbours::floats(history.size, chunks);
  }
  return rows;
}

int64_t kept_floats(const Rows& rows, Range group, const Chunks& chunks) {
  int64_t floats = 0;
  for (int64_t u = group.begin; u < group.end; ++u) floats += Neighbours::floats(rows.count(u), chunks);
  return floats;
}

}  // namespace

// The paper's sweep: one block, all rows, residuals cached between calls.
Outcome update_block(const Kernels& kernels, const Side& side, const Columns& packed, const Block& block,
                     const Residuals& residuals, int threads) {
  const Chunks chunks(packed);
  const Neighbours::Panels everything{0, chunks.panels()};
  const int64_t capacity = capacity_for(chunks.width());
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t interactions = side.rows.count(group);
    const bool keep = interactions <= capacity;
    const int64_t steps = step_floats(block), kept = keep ? kept_floats(side.rows, group, chunks) : 0;
    float* memory = scratch(steps + kept + interactions);
    float* residual = residuals.place(side.rows, group, memory + steps + kept);
    residuals.fetch(side.rows, group, residual, team);
    std::vector<Row> rows =
        rows_of(kernels, side, chunks, group, residual, keep ? memory + steps : nullptr, team);
    newton_steps(kernels, side, block, everything, rows, memory, outcome);
    residuals.put_back(side.rows, group, residual, team);
  });
}

// A side at a time: all blocks of a group of rows before the next group. Where the neighbours of a long row
// would fill the memory, it takes as many blocks at a time as fit.
Outcome update_blocks_by_row(const Kernels& kernels, const Side& side, const Columns& other,
                             const std::vector<Block>& blocks, int threads) {
  const int64_t block_size = blocks.front().width, panels = panels_for(block_size);
  const auto n_blocks = static_cast<int64_t>(blocks.size());
  const int64_t capacity = capacity_for(n_blocks * panels * kPanel);
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t interactions = side.rows.count(group), steps = step_floats(blocks.front());
    const int64_t fitting =
        interactions <= capacity ? n_blocks : kKeptFloats / (panels * kPanel * interactions);
    const int64_t together = std::clamp(fitting, int64_t{1}, n_blocks);
    const auto chunks_from = [&](int64_t first) {
      const int64_t begin = first * block_size;
      return Chunks({other.data + begin, other.stride, std::min(together * block_size, side.dim - begin)},
                    block_size);
    };
    const int64_t kept = fitting > 0 ? kept_floats(side.rows, group, chunks_from(0)) : 0;
    const int64_t width = chunks_from(0).width();
    float* memory = scratch(steps + kept + width + interactions);
    float* x = memory + steps + kept;
    float* residual = x + width;
    const auto gathered_from = [&](int64_t first) {
      return rows_of(kernels, side, chunks_from(first), group, residual, kept > 0 ? memory + steps : nullptr,
                     team);
    };

    std::vector<Row> rows;
    for (int64_t u = group.begin, at = 0; u < group.end; at += side.rows.count(u++))
      residuals_at_zero(side.rows.history(u), residual + at);
    // backwards: the first blocks, gathered last, are updated first
    for (int64_t first = (n_blocks - 1) / together * together; first >= 0; first -= together) {
      rows = gathered_from(first);
      for (Row& row : rows) {
        chunks_from(first).spread(side.row(row.number) + first * block_size, x);
        row.neighbours.add_products({0, chunks_from(first).panels()}, x, 1.0f, row.residual);
      }
    }
    for (int64_t first = 0; first < n_blocks; first += together) {
      if (first > 0) rows = gathered_from(first);
      for (int64_t b = first; b < std::min(first + together, n_blocks); ++b)
        newton_steps(kernels, side, blocks[b], {(b - first) * panels, blocks[b].panels()}, rows, memory,
                     outcome);
    }
    outcome.observed = kernels.squared_norm(residual, interactions);
  });
}

void predict(const Kernels& kernels, const Side& side, const Columns& other, float* residuals, int threads) {
  const Chunks chunks(other);
  for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome&) {
    float* x = scratch(chunks.width());
    for (int64_t u = group.begin; u < group.end; ++u) {
      float* residual = residuals + side.rows.offsets[u];
      residuals_at_zero(side.rows.history(u), residual);
      chunks.spread(side.row(u), x);
      Neighbours(kernels, chunks, side.rows.history(u), nullptr, team)
          .add_products({0, chunks.panels()}, x, 1.0f, residual);
    }
  });
}

}  // namespace ialspp
