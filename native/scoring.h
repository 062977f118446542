// Scores of all items for a group of users, or upper bounds of them, chunk by chunk.
//
// Bounds come from codes of 8 bits (kernels/codes.h). The kernel of scores sums in single precision, so a
// score differs from the exact product by rounding, by at most d 2^-23 |x| |y| (d products and d sums, each
// rounded by 2^-24, twice that to be safe). The bound's own arithmetic rounds a few times more. So
//
//   score <= s t <p,q> + |s p| |f| + (|e| + (d + 32) 2^-23 |x|) |y| + 1e-37
//
// where lengths are rounded up, and the last term covers what is lost below the smallest normal number.
#pragma once

#include <limits>

#include "kernels.h"
#include "memory.h"
#include "rows.h"

namespace ialspp {

constexpr int64_t kRankedRows =
    24;  // users ranked together: whole tiles, and their bounds nearly fit a core's cache
constexpr float kHidden =
    -std::numeric_limits<float>::infinity();  // the score of an item that nobody may see

// The items Y (size x dim), and a coded copy of a quarter of their memory. Y itself is not copied and must
// outlast this. The copy is made once for many rankings.
class PackedItems {
 public:
  PackedItems(const Kernels& kernels, const float* y, int64_t items, int64_t dim, int threads);

  bool has_codes() const { return has_codes_; }
  CodedPanels codes() const { return {code_bytes(), numbers(0), numbers(1), numbers(2)}; }

  const float* const y;
  const int64_t size, dim;
  const int64_t depth;  // codes of an item

 private:
  uint8_t* code_bytes() const { return reinterpret_cast<uint8_t*>(codes_.data()); }
  float* numbers(int64_t which) const { return numbers_.data() + which * padded(size); }

  bool has_codes_;                 // not where vectors are so long that scores might overflow
  AlignedFloats numbers_, codes_;  // codes: four to a float
};

// Which items may be ranked for which user. Each part may be absent. Rows are ascending.
struct Filter {
  const Rows* hidden = nullptr;       // row u: items that are not ranked for user u
  const Rows* candidates = nullptr;   // row u: the only items that are ranked for user u
  const uint8_t* eligible = nullptr;  // a byte for each item; 0: the item is ranked for nobody
};

// One number for each item for one user, -inf for items that the filter excludes, and the largest number of
// each panel, which tells the few panels that have to be looked at.
struct Scores {
  const float *all, *maxima;
  int64_t n_items, n_panels;
};

class Scorer {
 public:
  Scorer(const Kernels& kernels, const float* x, const PackedItems& items, const Filter& filter, Range users);

  // Each writes users x 16 n_panels numbers, and users x n_panels maxima. There are no bounds, and `bound`
  // returns false, where vectors are so long that scores might overflow. `score` returns false where the
  // score of an item that is ranked does overflow: its place would be unknown.
  bool score(float* scores, float* maxima);
  bool bound(float* bounds, float* maxima);

 private:
  template <class Fill>
  void fill(const Fill& fill_chunk, float* numbers, float* maxima);
  bool may_overflow() const;
  bool any_eligible(Range chunk) const;
  void hide(int64_t r, Range chunk, float* row);
  void keep_candidates(int64_t r, Range chunk, float* row);
  int64_t last(const Rows* rows, int64_t r) const { return rows->offsets[users_.begin + r + 1]; }

  const Kernels& kernels_;
  const float* x_;
  const PackedItems& items_;
  const Filter& filter_;
  const Range users_;
  int64_t next_hidden_[kRankedRows], next_candidate_[kRankedRows];  // in each user's row
};

// The scores of some items for one user, with the bits that `Scorer` gives them. `out` has room for whole
// panels.
void score_some(const Kernels& kernels, const float* x, const PackedItems& items, const int32_t* rows,
                int64_t n, float* out);

}  // namespace ialspp
