// The prediction cache of Algorithms 2 and 3. It holds one float for each interaction, the residual
//
//   r = sqrt(a) (<w,h> - y)
//
// The cache is in the users' order. An item finds the entry of its j-th user u at starts[u] + ranks[j], where
// starts[u] is the beginning of u's row and ranks[j] is the item's place in that row. A rank fits 32 bits,
// however many interactions there are.
#pragma once

#include "rows.h"

namespace ialspp {

struct Residuals {
  float* data;
  const int64_t* starts;  // null on the users' side
  const uint32_t* ranks;

  // The residuals of a group of rows, one row after the other: in the cache itself where they are beside each
  // other, else copied into `buffer`
  float* fetch(const Rows& rows, Range group, float* buffer, int team) const {
    const int64_t first = rows.offsets[group.begin];
    if (!starts) return data + first;
    in_segments(rows.count(group), team, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        buffer[j] = data[starts[rows.columns[first + j]] + ranks[first + j]];
    });
    return buffer;
  }

  // Writes what `fetch` copied back to the cache
  void put_back(const Rows& rows, Range group, const float* buffer, int team) const {
    if (!starts) return;
    const int64_t first = rows.offsets[group.begin];
    in_segments(rows.count(group), team, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        data[starts[rows.columns[first + j]] + ranks[first + j]] = buffer[j];
    });
  }
};

}  // namespace ialspp
