#include "csr.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace ialspp {
namespace {

// Where each key's run starts; returned once more, to be counted up.
std::vector<int64_t> starts_of(const int32_t* keys, int64_t n, int64_t n_keys, int64_t* offsets) {
  std::fill_n(offsets, n_keys + 1, int64_t{0});
  for (int64_t i = 0; i < n; ++i) ++offsets[keys[i] + 1];
  for (int64_t k = 0; k < n_keys; ++k) offsets[k + 1] += offsets[k];
  return {offsets, offsets + n_keys};
}

// Compared with each other, where that takes less than to look at all columns: the history of one stranger
// among millions of items.
template <class Place>
void sort_few_pairs(const int32_t* rows, const int32_t* columns, int64_t n, int64_t n_rows, int64_t* offsets,
                    int32_t* sorted, Place* order) {
  std::vector<int64_t> places(n);
  std::iota(places.begin(), places.end(), int64_t{0});
  std::sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    return std::tuple(rows[a], columns[a], a) < std::tuple(rows[b], columns[b], b);
  });
  starts_of(rows, n, n_rows, offsets);
  for (int64_t i = 0; i < n; ++i) {
    sorted[i] = columns[places[i]];
    if (order) order[i] = static_cast<Place>(places[i]);
  }
}

}  // namespace

template <class Place>
void sort_pairs(const int32_t* rows, const int32_t* columns, int64_t n, int64_t n_rows, int64_t n_columns,
                int64_t* offsets, int32_t* sorted, Place* order) {
  if (n < n_columns / 32) return sort_few_pairs(rows, columns, n, n_rows, offsets, sorted, order);
  // By column first: going through the columns in order then fills every row in order.
  std::vector<int64_t> column_offsets(n_columns + 1);
  std::vector<int32_t> rows_by_column(n);
  std::vector<Place> places(order ? n : 0);
  std::vector<int64_t> next = starts_of(columns, n, n_columns, column_offsets.data());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t place = next[columns[i]]++;
    rows_by_column[place] = rows[i];
    if (order) places[place] = static_cast<Place>(i);
  }
  next = starts_of(rows, n, n_rows, offsets);
  for (int64_t c = 0; c < n_columns; ++c)
    for (int64_t j = column_offsets[c]; j < column_offsets[c + 1]; ++j) {
      const int64_t place = next[rows_by_column[j]]++;
      sorted[place] = static_cast<int32_t>(c);
      if (order) order[place] = places[j];
    }
}

template void sort_pairs(const int32_t*, const int32_t*, int64_t, int64_t, int64_t, int64_t*, int32_t*,
                         uint32_t*);
template void sort_pairs(const int32_t*, const int32_t*, int64_t, int64_t, int64_t, int64_t*, int32_t*,
                         int64_t*);

void mark_first(const int64_t* offsets, int64_t n_rows, const int32_t* columns, bool* first, int64_t* left) {
  left[0] = 0;
  for (int64_t r = 0; r < n_rows; ++r) {
    left[r + 1] = left[r];
    for (int64_t j = offsets[r]; j < offsets[r + 1]; ++j) {
      first[j] = j == offsets[r] || columns[j] != columns[j - 1];
      left[r + 1] += first[j];
    }
  }
}

void sum_runs(const float* values, const bool* first, int64_t n, float* sums) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum = first[i] ? values[i] : sum + values[i];
    if (i + 1 == n || first[i + 1]) *sums++ = static_cast<float>(sum);
  }
}

void transpose(const int64_t* offsets, int64_t n_rows, const int32_t* columns, int64_t n_columns,
               int64_t* transposed_offsets, int32_t* rows, uint32_t* places) {
  std::vector<int64_t> next = starts_of(columns, offsets[n_rows], n_columns, transposed_offsets);
  for (int64_t r = 0; r < n_rows; ++r)
    for (int64_t j = offsets[r]; j < offsets[r + 1]; ++j) {
      const int64_t place = next[columns[j]]++;
      rows[place] = static_cast<int32_t>(r);
      places[place] = static_cast<uint32_t>(j - offsets[r]);
    }
}

}  // namespace ialspp
