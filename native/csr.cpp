#include "csr.h"

#include <algorithm>
#include <vector>

namespace ialspp {

void counting_sort(const int32_t* keys, int64_t n, int64_t n_keys, int64_t* offsets, int64_t* order) {
  std::fill_n(offsets, n_keys + 1, int64_t{0});
  for (int64_t i = 0; i < n; ++i) ++offsets[keys[i] + 1];
  for (int64_t k = 0; k < n_keys; ++k) offsets[k + 1] += offsets[k];
  std::vector<int64_t> next(offsets, offsets + n_keys);
  for (int64_t i = 0; i < n; ++i) order[next[keys[i]]++] = i;
}

}  // namespace ialspp
