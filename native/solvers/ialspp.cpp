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

// residual = sqrt(a) (<x,h> - y), row after row
void predict_group(const Kernels& kernels, const Side& side, const Columns& other, Range group,
                   float* residual, int team) {
  for (int64_t u = group.begin; u < group.end; ++u) {
    const History history = side.rows.history(u);
    residuals_at_zero(history, residual);
    in_segments(history.size, team, [&](int64_t, int64_t begin, int64_t end) {
      kernels.add_predictions(history.slice(begin, end), other, side.row(u), residual + begin);
    });
    residual += history.size;
  }
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

// A side at a time: all blocks of a group of rows before the next group, as many blocks at a time as have
// their neighbours in the cache.
Outcome update_blocks_by_row(const Kernels& kernels, const Side& side, const Columns& other,
                             const std::vector<Block>& blocks, int threads) {
  const int64_t block_size = blocks.front().width, panels = panels_for(block_size);
  const auto n_blocks = static_cast<int64_t>(blocks.size());
  const int64_t capacity = capacity_for(std::min(n_blocks, kLeastTogether) * panels * kPanel);
  return for_each_group(side.rows, capacity, threads, [&](Range group, int team, Outcome& outcome) {
    const int64_t interactions = side.rows.count(group), steps = step_floats(blocks.front());
    const int64_t fitting = kKeptFloats / (panels * kPanel * std::max(interactions, int64_t{1}));
    const int64_t together = std::clamp(fitting, int64_t{1}, n_blocks);
    const auto chunks_from = [&](int64_t first) {
      const int64_t begin = first * block_size;
      return Chunks({other.data + begin, other.stride, std::min(together * block_size, side.dim - begin)},
                    block_size);
    };
    const int64_t kept = fitting > 0 ? kept_floats(side.rows, group, chunks_from(0)) : 0;
    float* memory = scratch(steps + kept + interactions);
    float* residual = memory + steps + kept;

    predict_group(kernels, side, other, group, residual, team);
    for (int64_t first = 0; first < n_blocks; first += together) {
      std::vector<Row> rows = rows_of(kernels, side, chunks_from(first), group, residual,
                                      kept > 0 ? memory + steps : nullptr, team);
      for (int64_t b = first; b < std::min(first + together, n_blocks); ++b)
        newton_steps(kernels, side, blocks[b], {(b - first) * panels, blocks[b].panels()}, rows, memory,
                     outcome);
    }
    outcome.observed = kernels.squared_norm(residual, interactions);
  });
}

void predict(const Kernels& kernels, const Side& side, const Columns& other, float* residuals, int threads) {
  for_each_group(side.rows, kLongRow, threads, [&](Range group, int team, Outcome&) {
    predict_group(kernels, side, other, group, residuals + side.rows.offsets[group.begin], team);
  });
}

}  // namespace ialspp
