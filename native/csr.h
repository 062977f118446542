// Turns pairs into rows, and rows into columns, by stable counting sorts.
#pragma once

#include <cstdint>

#include "rows.h"

namespace ialspp {

// Sorts n pairs (row, column) by row, then column; equal pairs keep their order. offsets (n_rows + 1): where
// each row starts; sorted (n): the columns; order (n, or null): where each pair was. n must fit a Place.
template <class Place>
void sort_pairs(const int32_t* rows, const int32_t* columns, int64_t n, int64_t n_rows, int64_t n_columns,
                int64_t* offsets, int32_t* sorted, Place* order);

// Marks in rows with ascending columns whether each entry is the first of its column in its row. left
// (n_rows + 1): the offsets of the rows when the other entries are left out.
void mark_first(const int64_t* offsets, int64_t n_rows, const int32_t* columns, bool* first, int64_t* left);

// Sums each run of values. A run starts at value i where first_i is not 0.
void sum_runs(const float* values, const uint8_t* first, int64_t n, float* sums);

// out_i = values[order_i]
template <class Value, class Place>
void gather(const Value* values, const Place* order, int64_t n, Value* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = values[order[i]];
}

// The transpose: for each column of `rows` the rows that have it, ascending. offsets has n_columns + 1
// entries. labels and weights are null where `rows` has none.
void transpose(const Rows& rows, int64_t n_columns, int64_t* offsets, int32_t* columns, float* labels,
               float* weights);

// ranks_j = the place, in its own row of `rows`, of the interaction that is entry j of the transpose
void transposed_ranks(const Rows& rows, int64_t n_columns, uint32_t* ranks);

}  // namespace ialspp
