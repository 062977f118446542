// Ranks items by score: the best k for each user, and the places of the wanted items.
#pragma once

#include "scoring.h"

namespace ialspp {

// Where a wanted item stands among all items that are not hidden from its user. If `depth` or more of them
// have a higher score, `above` is `depth` and the others are 0.
struct Standing {
  int32_t above;   // items with a higher score
  int32_t equal;   // other items with the same score
  int32_t before;  // of those with the same score, the ones with a lower row number, which rank before it
};

struct Ranking {
  int64_t k, depth;
  int32_t* items;       // users x k, best first, equal scores by row number; -1 where fewer than k are left
  float* scores;        // users x k
  Standing* standings;  // one for each entry of `wanted`
};

// Ranks all items for the users X (users x dim). Row u of `wanted`, which may be absent, has the items whose
// standing is computed for user u. Each score is one sum in one order, whichever users are ranked together
// and whichever items were left out because a bound of their score was too low. Returns false, and leaves
// `out` incomplete, where a score overflows single precision.
bool rank(const Kernels& kernels, const float* x, int64_t users, const PackedItems& items,
          const Filter& filter, const Rows* wanted, const Ranking& out, int threads);

}  // namespace ialspp
