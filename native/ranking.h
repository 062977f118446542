// Items by score: the best k of each user, and where the wanted ones stand.
#pragma once

#include "factors.h"
#include "kernels.h"
#include "rows.h"

namespace ialspp {

// Of one wanted item, among all items that are not hidden from its user. Counted only if fewer than `depth`
// have a higher score; else `above` is `depth` and the others 0.
struct Standing {
  int32_t above;   // with a higher score
  int32_t equal;   // others with the same score
  int32_t before;  // of those equal ones, how many have a lower row number, and so rank before it
};

struct Ranking {
  int64_t k, depth;
  int32_t* items;       // users x k, best first, equal scores by row number; -1 where fewer are left
  float* scores;        // users x k
  Standing* standings;  // one for each entry of `wanted`
};

// Y (size x dim) as scoring reads it; made once for many questions.
class PackedItems {
 public:
  PackedItems(const float* y, int64_t items, int64_t dim, int threads)
      : size(items), dim(dim), panels(transposed_panels(y, items, dim, threads)) {}

  const int64_t size, dim;
  const AlignedFloats panels;
};

// What may be named to whom; each part may be absent.
struct Filter {
  const Rows* hidden = nullptr;       // row u, ascending: not to user u
  const Rows* candidates = nullptr;   // row u, ascending: to user u nothing else
  const uint8_t* eligible = nullptr;  // a byte for each item, 0: to nobody
};

// X (users x dim) against all items. Row u of `wanted`, which may be absent, is what is asked for. One sum in
// one order for each score, whatever is beside it.
void rank(const Kernels& kernels, const float* x, int64_t users, const PackedItems& items,
          const Filter& filter, const Rows* wanted, const Ranking& out, int threads);

}  // namespace ialspp
