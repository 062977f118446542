// How pairs become rows, and rows columns: stable counting sorts.
#pragma once

#include <cstdint>

namespace ialspp {

// Values by key. keys: n numbers in 0 .. n_keys - 1. offsets (n_keys + 1): where each key's run starts.
// grouped (n): the values, run by run, in their original order inside a run; order (n, or null): where each
// was.
void group(const int32_t* keys, const int32_t* values, int64_t n, int64_t n_keys, int64_t* offsets,
           int32_t* grouped, int64_t* order);

// The transpose of rows in CSR form: for each column its rows, ascending, and each entry's place in that row.
void transpose(const int64_t* offsets, int64_t n_rows, const int32_t* columns, int64_t n_columns,
               int64_t* transposed_offsets, int32_t* rows, uint32_t* places);

}  // namespace ialspp
