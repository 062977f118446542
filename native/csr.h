// Turns pairs into rows, and rows into columns, by counting sorts.
//
// Each function makes the rows of one range of keys only, and passes over all pairs for it. So pairs in a
// mapped file can be sorted range by range, in as much memory as one range takes. Within the range, each
// thread has keys of its own: it passes over all pairs, too, and no two threads write to the same place.
#pragma once

#include <cstdint>

#include "rows.h"

namespace ialspp {

// Pairs in any order. labels, weights and times may be null.
struct Pairs {
  int64_t size;
  const int32_t *rows, *columns;
  const float *labels, *weights;
  const double* times;
};

// Where sorted pairs go. labels, weights and times are null where the pairs have none.
struct SortedPairs {
  int32_t* columns;
  float *labels, *weights;
  double* times;
};

// Counts the keys in a range and writes where the run of each starts when they are sorted: n + 1 offsets for
// n keys. Other keys are ignored.
void offsets_of(const int32_t* keys, int64_t size, Range range, int64_t* offsets, int threads);

// Sorts the pairs whose row is in the range by row, then column; equal pairs keep their order. The offsets
// are those of the range.
void sort_pairs(const Pairs& pairs, Range range, const int64_t* offsets, const SortedPairs& out, int threads);

// Marks in rows with ascending columns whether each entry is the first of its column in its row. left
// (n_rows + 1): the offsets of the rows when the other entries are left out.
void mark_first(const int64_t* offsets, int64_t n_rows, const int32_t* columns, bool* first, int64_t* left);

// Sums each run of values. A run starts at value i where first_i is not 0.
void sum_runs(const float* values, const uint8_t* first, int64_t n, float* sums);

// The transpose: for each column in the range the rows that have it, ascending. The offsets are those of the
// range. labels and weights are null where `rows` has none.
void transpose(const Rows& rows, Range range, const int64_t* offsets, int32_t* columns, float* labels,
               float* weights, int threads);

// ranks_j = the place, in its own row of `rows`, of the interaction that is entry j of the transpose
void transposed_ranks(const Rows& rows, Range range, const int64_t* offsets, uint32_t* ranks, int threads);

// Finds the k-core: rows with at least `least` columns and columns with at least `column_least` rows,
// counting only those that are in the core themselves. Writes 1 for each row and column that is in it, else
// 0.
void find_core(const Rows& rows, int64_t n_columns, int64_t least, int64_t column_least, uint8_t* in_rows,
               uint8_t* in_columns, int threads);

}  // namespace ialspp
