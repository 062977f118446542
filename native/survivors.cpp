#include "survivors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ialspp {
namespace {

constexpr int kHalvings = 24;          // of the range in which the k-th best score is searched for
constexpr int64_t kMostSurvivors = 4;  // one in so many: to score one item alone costs several times as much
constexpr int64_t kPanelsForOne = 4;   // wanted item: the largest bounds of so many panels tell enough
constexpr int64_t kPanelsAhead = 8;    // that are requested while one is read: most have left the cache
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = -std::numeric_limits<float>::max();

}  // namespace

float bound_below_kth(const Kernels& kernels, const float* numbers, int64_t n, int64_t k) {
  const auto above = [&](float bound) {
    int64_t more = 0, equal = 0;
    kernels.count(numbers, n, bound, &more, &equal);
    return more;
  };
  if (above(kLowest) < k) return kLowest;
  float low = kInfinity, high = kLowest;
  for (int64_t i = 0; i < n; ++i) {
    low = std::min(low, numbers[i] > kLowest ? numbers[i] : kInfinity);  // without those that are hidden
    high = std::max(high, numbers[i]);
  }
  if (above(low) < k) return std::nextafter(low, -kInfinity);
  for (int step = 0; step < kHalvings; ++step) {
    const float middle = low / 2 + high / 2;
    const int64_t more = above(middle);
    (more >= k ? low : high) = middle;
    if (more >= k && more <= k + k / 8) break;
  }
  return low;
}

Survivors::Survivors(const Kernels& kernels, const PackedItems& items)
    : kernels_(kernels),
      packed_(items),
      most_(items.size / kMostSurvivors),
      items_(work_.integers(most_ + 2 * kPanel)),
      scores_(work_.floats(padded(most_) + 2 * kPanel)),
      panels_(work_.integers(panels_for(items.size) + kPanel)),
      maxima_(work_.floats(panels_for(items.size) + kPanel)) {}

// At least `wanted` items have a bound above `low`. If at least `wanted` of their scores exceed some number,
// an item whose bound does not exceed that number is not among the best: its score is not above its bound.
bool Survivors::find(const float* x, const Scores& bounds, int64_t wanted) {
  size_ = 0;
  float low = kPanelsForOne * wanted <= bounds.n_panels
                  ? bound_below_kth(kernels_, bounds.maxima, bounds.n_panels, wanted)
                  : bound_below_kth(kernels_, bounds.all, bounds.n_panels * kPanel, wanted);
  if (!list(bounds, low, kInfinity)) return false;
  low = std::max(low, bound_below_kth(kernels_, scores_, size_, wanted));
  drop_below(low);
  score_some(kernels_, x, packed_, items_, size_, scores_);
  const float exceeded = bound_below_kth(kernels_, scores_, size_, wanted);
  if (exceeded >= low) return true;
  const int64_t scored = size_;
  if (!list(bounds, exceeded, low)) return false;
  score_some(kernels_, x, packed_, items_ + scored, size_ - scored, scores_ + scored);
  return true;
}

bool Survivors::list(const Scores& bounds, float low, float high) {
  const int64_t panels =
      kernels_.collect(bounds.maxima, 0, bounds.n_panels, low, kInfinity, panels_, maxima_);
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t first = panels_[p] * kPanel;
    if (p + kPanelsAhead < panels) __builtin_prefetch(bounds.all + panels_[p + kPanelsAhead] * kPanel);
    size_ += kernels_.collect(bounds.all, first, first + kPanel, low, high, items_ + size_, scores_ + size_);
    if (size_ > most_) return false;
  }
  return true;
}

void Survivors::drop_below(float low) {
  int64_t kept = 0;
  for (int64_t i = 0; i < size_; ++i) {
    items_[kept] = items_[i];
    kept += scores_[i] > low;
  }
  size_ = kept;
}

}  // namespace ialspp
