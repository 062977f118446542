// Items by score: the best k of each user, and where the wanted ones stand.
#pragma once

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

// X (users x dim) against all items Y (n_items x dim). Row u of `hidden` lists, ascending, what may not be
// named to user u, row u of `wanted` what is asked for; either may be absent. One sum in one order for each
// score, whatever is beside it.
void rank(const Kernels& kernels, const float* x, int64_t users, const float* y, int64_t n_items, int64_t dim,
          const Rows* hidden, const Rows* wanted, const Ranking& out, int threads);

}  // namespace ialspp
