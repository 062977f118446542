// Stable counting sort: how triples become rows.
#pragma once

#include <cstdint>

namespace ialspp {

// keys: n numbers in 0 .. n_keys - 1. offsets (n_keys + 1): where each key's run starts. order (n):
// the positions of the keys, run by run, in their original order inside a run.
void counting_sort(const int32_t* keys, int64_t n, int64_t n_keys, int64_t* offsets, int64_t* order);

}  // namespace ialspp
