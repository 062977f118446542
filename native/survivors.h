// The items that may be among a user's best: those whose bound exceeds a score that enough items exceed. Only
// these get exact scores.
#pragma once

#include "scoring.h"
#include "workspace.h"

namespace ialspp {

// Some items of one user with their scores, which are above those of all others that are not hidden
struct Found {
  const int32_t* items;
  const float* scores;
  int64_t size;
};

// A bound that at least k of n numbers exceed, and not many more than k unless they are equal. Where there is
// no such bound, it is the lowest finite number.
float bound_below_kth(const Kernels& kernels, const float* numbers, int64_t n, int64_t k);

class Survivors {
 public:
  Survivors(const Kernels& kernels, const PackedItems& items);

  // The `wanted` best items of x and others, or all where fewer are not hidden, given bounds of all scores.
  // False where so many items survive that scoring all of them together costs less.
  bool find(const float* x, const Scores& bounds, int64_t wanted);

  Found found() const { return {items_, scores_, size_}; }

 private:
  // Adds the items whose bound is above `low` but not above `high`, with their bounds.
  bool list(const Scores& bounds, float low, float high);
  void drop_below(float low);

  const Kernels& kernels_;
  const PackedItems& packed_;
  const int64_t most_;
  int64_t size_ = 0;
  Workspace work_;
  int32_t* items_;
  float* scores_;
  int32_t* panels_;
  float* maxima_;
};

}  // namespace ialspp
