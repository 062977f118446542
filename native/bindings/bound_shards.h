// Shards that Python hands over.
#pragma once

#include <vector>

#include "arrays.h"
#include "shards.h"

namespace ialspp {

inline void require_offsets(const std::string& name, const Array<const int64_t>& offsets,
                            const std::string& entries, int64_t end) {
  const int64_t last = length(offsets) - 1;
  if (last < 0) throw std::invalid_argument(name + " must not be empty");
  const int64_t* offset = offsets.data();
  if (offset[0] != 0 || offset[last] != end)
    throw std::invalid_argument(name + " must run from 0 to the number of " + entries + ", " +
                                std::to_string(end));
  require_none(last, [=](int64_t i) { return offset[i] > offset[i + 1]; }, name + " must not decrease");
}

// Where each shard of so many rows begins, and where the last one ends. Without shards: `count` of one size
inline std::vector<int64_t> bounds_of(const Maybe<int64_t>& shards, int64_t rows, int64_t count = 1) {
  if (shards) {
    require_offsets("shards", *shards, "rows", rows);
    return {shards->data(), shards->data() + length(*shards)};
  }
  std::vector<int64_t> bounds;
  for (int64_t s = 0; s <= count; ++s) bounds.push_back(rows * s / count);
  return bounds;
}

inline Shards shards_of(const std::vector<int64_t>& bounds) {
  return {bounds.data(), static_cast<int64_t>(bounds.size()) - 1};
}

}  // namespace ialspp
