// The cache of Algorithms 2 and 3, one float per interaction: r = sqrt(a) (<w,h> - y), the scaled
// prediction less its scaled label. Kept in the users' order; an item's row finds the entry of its j-th
// user u at starts[u] + ranks[j], ranks[j] being the item's place in u's own list (32 bits suffice,
// however many interactions there are).
#pragma once

#include "rows.h"

namespace ialspp {

struct Residuals {
  float* data;
  const int64_t* starts;  // null on the side whose order the cache has
  const uint32_t* ranks;

  // The residuals of one row, side by side: in place, or copied to `buffer`.
  float* fetch(const Rows& rows, int64_t row, float* buffer, int threads) const {
    const int64_t first = rows.offsets[row];
    if (!starts) return data + first;
    in_segments(rows.count(row), threads, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        buffer[j] = data[starts[rows.columns[first + j]] + ranks[first + j]];
    });
    return buffer;
  }

  void put_back(const Rows& rows, int64_t row, const float* buffer, int threads) const {
    const int64_t first = rows.offsets[row];
    if (!starts) return;
    in_segments(rows.count(row), threads, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        data[starts[rows.columns[first + j]] + ranks[first + j]] = buffer[j];
    });
  }
};

}  // namespace ialspp
