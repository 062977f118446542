// One side's interactions by row, and how its rows are shared out among threads.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "memory.h"
#include "pool.h"
#include "shards.h"
#include "types.h"

namespace ialspp {

// A row with this many interactions or more is summed in a fixed number of segments. All threads may then
// work on it together, and the sums and their order are the same whichever thread computes them.
constexpr int64_t kLongRow = 32768;
constexpr int64_t kSegments = 16;

// The most rows that share one task, and one pass over the Gramian
constexpr int64_t kGroupRows = 16;

// CSR: row r owns entries offsets[r] .. offsets[r + 1] of the other arrays.
struct Rows {
  int64_t size;
  const int64_t* offsets;
  const int32_t* columns;
  const float* labels;
  const float* weights;
  Shards shards{};  // groups of rows never cross their bounds

  int64_t count(Range group) const { return offsets[group.end] - offsets[group.begin]; }
  History history(int64_t row) const {
    return History{columns, labels, weights, offsets[size]}.slice(offsets[row], offsets[row + 1]);
  }
};

// What an update of one side reports
struct Outcome {
  double observed = 0;      // sum a (prediction - y)^2 over the side, where it was computed
  int64_t failed_row = -1;  // the first row without a finite solution; its coordinates are left

  void fail(int64_t row) {
    if (failed_row < 0) failed_row = row;
  }
};

// Splits the rows of a shard into groups: consecutive rows with at most `capacity` interactions together, or
// a single row with more.
inline void add_groups(const Rows& rows, Range shard, int64_t capacity, std::vector<Range>& groups) {
  for (int64_t begin = shard.begin, end; begin < shard.end; begin = end) {
    end = begin + 1;
    while (end < shard.end && end - begin < kGroupRows &&
           rows.offsets[end + 1] - rows.offsets[begin] <= capacity)
      ++end;
    groups.push_back({begin, end});
  }
}

// update(rows of the group, threads that may share one row, outcome of the group)
using UpdateGroup = std::function<void(Range, int, Outcome&)>;

// Updates every group of rows: first the ordinary groups, each on one thread, then very long rows, one at a
// time, shared by all threads. One thread alone would still work on such a row when all others are done.
inline Outcome for_each_group(const Rows& rows, int64_t capacity, int threads, const UpdateGroup& update) {
  std::vector<Range> groups;
  std::vector<size_t> ends;  // of each shard among the groups
  for (int64_t s = 0; s < rows.shards.count; ++s) {
    add_groups(rows, rows.shards[s], std::min(capacity, kLongRow - 1), groups);
    ends.push_back(groups.size());
  }
  std::vector<Outcome> outcomes(groups.size());
  const int64_t fair_share = rows.offsets[rows.size] / (16 * std::max<int64_t>(threads, 1));
  const auto is_shared = [&](Range g) { return rows.count(g) >= std::max(kLongRow, fair_share); };
  parallel_for(threads, static_cast<int64_t>(groups.size()), [&](int64_t g) {
    if (!is_shared(groups[g])) update(groups[g], 1, outcomes[g]);
  });
  for (size_t g = 0; g < groups.size(); ++g)
    if (is_shared(groups[g])) update(groups[g], threads, outcomes[g]);

  Outcome total;
  PairwiseSum observed(1);
  for (size_t s = 0, g = 0; s < ends.size(); ++s) {
    double sum = 0;
    for (; g < ends[s]; ++g) {
      sum += outcomes[g].observed;
      if (outcomes[g].failed_row >= 0) total.fail(outcomes[g].failed_row);
    }
    observed.add({sum});
  }
  total.observed = observed.total()[0];
  return total;
}

// Calls body(segment, begin, end): once for the whole history of an ordinary row, once for each segment of a
// long one, on several threads.
template <class Body>
void in_segments(int64_t size, int threads, const Body& body) {
  if (size < kLongRow) return body(int64_t{0}, int64_t{0}, size);
  parallel_for(threads, kSegments,
               [&](int64_t s) { body(s, size * s / kSegments, size * (s + 1) / kSegments); });
}

// Calls sum(begin, end, sums), which adds its part of a history to `floats` sums. For an ordinary row these
// are `out` itself. For a long one each segment has its own, and they are added to `out` in order. They do
// not come from a Workspace, which would hold their memory long after the last long row.
template <class Sum>
void sum_in_segments(int64_t size, int threads, int64_t floats, float* out, const Sum& sum) {
  if (size < kLongRow) return sum(int64_t{0}, size, out);
  const AlignedFloats shares(kSegments * floats);
  in_segments(size, threads, [&](int64_t s, int64_t begin, int64_t end) {
    float* share = shares.data() + s * floats;
    std::fill_n(share, floats, 0.0f);
    sum(begin, end, share);
  });
  for (int64_t s = 0; s < kSegments; ++s)
    for (int64_t i = 0; i < floats; ++i) out[i] += shares.data()[s * floats + i];
}

}  // namespace ialspp
