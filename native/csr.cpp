#include "csr.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace ialspp {
namespace {

// Counts equal keys and writes where the run of each key starts when they are sorted. Returns a copy of the
// starts for the caller to advance.
std::vector<int64_t> starts_of(const int32_t* keys, int64_t n, int64_t n_keys, int64_t* offsets) {
  std::fill_n(offsets, n_keys + 1, int64_t{0});
  for (int64_t i = 0; i < n; ++i) ++offsets[keys[i] + 1];
  for (int64_t k = 0; k < n_keys; ++k) offsets[k + 1] += offsets[k];
  return {offsets, offsets + n_keys};
}

// Sorts by comparisons. That is quicker than counting all columns where pairs are few, such as the history of
// one unseen user among millions of items.
template <class Place>
void sort_by_comparison(const int32_t* rows, const int32_t* columns, int64_t n, int64_t n_rows,
                        int64_t* offsets, int32_t* sorted, Place* order) {
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
  if (n < n_columns / 32) return sort_by_comparison(rows, columns, n, n_rows, offsets, sorted, order);
  // Pairs are sorted by column first. Going through the columns in order then fills every row in order.
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

void sum_runs(const float* values, const uint8_t* first, int64_t n, float* sums) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum = first[i] ? values[i] : sum + values[i];
    if (i + 1 == n || first[i + 1]) *sums++ = static_cast<float>(sum);
  }
}

namespace {

// Calls visit(place, row, entry): entry of `row` comes to this place among the entries sorted by column.
template <class Visit>
void for_each_transposed(const Rows& rows, int64_t n_columns, int64_t* column_offsets, const Visit& visit) {
  std::vector<int64_t> next = starts_of(rows.columns, rows.offsets[rows.size], n_columns, column_offsets);
  for (int64_t r = 0; r < rows.size; ++r)
    for (int64_t j = rows.offsets[r]; j < rows.offsets[r + 1]; ++j) visit(next[rows.columns[j]]++, r, j);
}

}  // namespace

void transpose(const Rows& rows, int64_t n_columns, int64_t* offsets, int32_t* columns, float* labels,
               float* weights) {
  for_each_transposed(rows, n_columns, offsets, [&](int64_t place, int64_t r, int64_t j) {
    columns[place] = static_cast<int32_t>(r);
    if (labels) labels[place] = rows.labels[j];
    if (weights) weights[place] = rows.weights[j];
  });
}

void transposed_ranks(const Rows& rows, int64_t n_columns, uint32_t* ranks) {
  std::vector<int64_t> offsets(n_columns + 1);
  for_each_transposed(rows, n_columns, offsets.data(), [&](int64_t place, int64_t r, int64_t j) {
    ranks[place] = static_cast<uint32_t>(j - rows.offsets[r]);
  });
}

}  // namespace ialspp
