// How pairs become rows, and rows columns: stable counting sorts.
#pragma once

#include <cstdint>

namespace ialspp {

// n pairs (row, column) by row, then column, equal ones in their given order. offsets (n_rows + 1): where
// each row starts; sorted (n): the columns; order (n, or null): where each pair was. Place: an integer that n
// fits.
template <class Place>
void sort_pairs(const int32_t* rows, const int32_t* columns, int64_t n, int64_t n_rows, int64_t n_columns,
                int64_t* offsets, int32_t* sorted, Place* order);

// Of rows in CSR form with ascending columns, whether each entry is the first of its column in its row; and
// the offsets of what is left without the others.
void mark_first(const int64_t* offsets, int64_t n_rows, const int32_t* columns, bool* first, int64_t* left);

// The sum of each run of values; first_i: a run starts at value i.
void sum_runs(const float* values, const bool* first, int64_t n, float* sums);

// out_i = values[order_i]
template <class Value, class Place>
void gather(const Value* values, const Place* order, int64_t n, Value* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = values[order[i]];
}

// The transpose of rows in CSR form: for each column its rows, ascending, and each entry's place in that row.
void transpose(const int64_t* offsets, int64_t n_rows, const int32_t* columns, int64_t n_columns,
               int64_t* transposed_offsets, int32_t* rows, uint32_t* places);

}  // namespace ialspp
