// How pairs become rows, and rows columns: stable counting sorts.
#pragma once

#include <cstdint>

namespace ialspp {

// n pairs (row, column) by row, then column, equal ones in their given order. offsets (n_rows + 1): where
// each row starts; sorted (n): the columns; order (n, or null): where each pair was.
void sort_pairs(const int32_t* rows, const int32_t* columns, int64_t n, int64_t n_rows, int64_t n_columns,
                int64_t* offsets, int32_t* sorted, int64_t* order);

// Of rows in CSR form with ascending columns, whether each entry is the first of its column in its row; and
// the offsets of what is left without the others.
void mark_first(const int64_t* offsets, int64_t n_rows, const int32_t* columns, bool* first, int64_t* left);

// The transpose of rows in CSR form: for each column its rows, ascending, and each entry's place in that row.
void transpose(const int64_t* offsets, int64_t n_rows, const int32_t* columns, int64_t n_columns,
               int64_t* transposed_offsets, int32_t* rows, uint32_t* places);

}  // namespace ialspp
