#include "csr.h"

#include <algorithm>
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

}  // namespace

void group(const int32_t* keys, const int32_t* values, int64_t n, int64_t n_keys, int64_t* offsets,
           int32_t* grouped, int64_t* order) {
  std::vector<int64_t> next = starts_of(keys, n, n_keys, offsets);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t place = next[keys[i]]++;
    grouped[place] = values[i];
    if (order) order[place] = i;
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
