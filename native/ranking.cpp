#include "ranking.h"

#include <algorithm>
#include <limits>

#include "factors.h"
#include "pool.h"

namespace ialspp {
namespace {

constexpr int64_t kRankedRows = 48;  // users scored together: whole tiles, their vectors in the cache
constexpr int64_t kChunk = 1024;  // items scored together: their scores for all of those users in the cache
constexpr int kHalvings = 24;     // of the range in which the k-th best score is looked for
constexpr int64_t kFew = 512;     // items compared each with each; more are sorted
constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr float kLowest = -std::numeric_limits<float>::max();

Standing standing_of(const Kernels& k, const float* scores, int64_t n_items, int64_t item) {
  int64_t above = 0, before = 0, behind = 0;
  k.count(scores, item, scores[item], &above, &before);
  k.count(scores + item + 1, n_items - item - 1, scores[item], &above, &behind);
  return {static_cast<int32_t>(above), static_cast<int32_t>(before + behind), static_cast<int32_t>(before)};
}

// A bound that at least k of n numbers are above, and not many more unless they are equal; the lowest number
// there is where no k are above it.
float bound_below_kth(const Kernels& kernels, const float* numbers, int64_t n, int64_t k) {
  const auto above = [&](float bound) {
    int64_t more = 0, equal = 0;
    kernels.count(numbers, n, bound, &more, &equal);
    return more;
  };
  float low = kLowest, high = *std::max_element(numbers, numbers + n);
  const float least = *std::min_element(numbers, numbers + n);
  if (above(low) < k) return low;
  if (least > low && above(least) >= k) low = least;
  for (int step = 0; step < kHalvings; ++step) {
    const float middle = low / 2 + high / 2;
    const int64_t more = above(middle);
    (more >= k ? low : high) = middle;
    if (more >= k && more <= k + k / 8) break;
  }
  return low;
}

// How items are cut for ranking: few blocks have one of the k best, and few items of those blocks are.
// Chunks, of whole blocks, are what is scored at a time.
struct Cut {
  int64_t n_items, width, block, chunk;

  Cut(int64_t n_items, int64_t k)
      : n_items(n_items),
        width(padded(n_items)),
        block(std::max(kPanel, n_items / (3 * std::max<int64_t>(k, 1)) / kPanel * kPanel)),
        chunk((kChunk + block - 1) / block * block) {}

  int64_t blocks() const { return (n_items + block - 1) / block; }
};

// The best items of one user, from all scores and the largest of each block.
class Best {
 public:
  Best(const Kernels& kernels, const Cut& cut, const float* scores, const float* maxima, int64_t k)
      : kernels_(kernels), cut_(cut), scores_(scores), maxima_(maxima), k_(k) {
    float* memory = scratch(2 * cut.n_items, Scratch::piece);
    items_ = reinterpret_cast<int32_t*>(memory);
    found_ = memory + cut.n_items;
  }

  // best first, equal scores by row number; -1 where fewer than k are not hidden
  void take(int32_t* best, float* best_scores) {
    const int64_t found = collect();
    std::fill_n(best, k_, -1);
    std::fill_n(best_scores, k_, kHidden);
    if (found <= kFew) return put_in_place(found, best, best_scores);
    const auto before = [&](int32_t a, int32_t b) {
      return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
    };
    const int64_t n = std::min(k_, found);
    std::partial_sort(items_, items_ + n, items_ + found, before);
    std::copy_n(items_, n, best);
    std::transform(items_, items_ + n, best_scores, [&](int32_t item) { return scores_[item]; });
  }

 private:
  // Every item that may be among the best, ascending.
  int64_t collect() {
    const float least = bound_below_kth(kernels_, maxima_, cut_.blocks(), k_);
    int64_t found = 0;
    for (int64_t b = 0; b < cut_.blocks(); ++b)
      if (maxima_[b] > least)
        found += kernels_.collect(scores_, b * cut_.block, std::min((b + 1) * cut_.block, cut_.n_items),
                                  least, items_ + found, found_ + found);
    return found;
  }

  // Each goes where its standing among the others says: no branch to guess, as in a sort.
  void put_in_place(int64_t found, int32_t* best, float* best_scores) {
    for (int64_t i = 0; i < found; ++i) {
      const Standing standing = standing_of(kernels_, found_, found, i);
      const int64_t place = standing.above + standing.before;
      if (place >= k_) continue;
      best[place] = items_[i];
      best_scores[place] = found_[i];
    }
  }

  const Kernels& kernels_;
  const Cut& cut_;
  const float *scores_, *maxima_;
  int64_t k_;
  int32_t* items_;  // those found, and their scores
  float* found_;
};

// The scores of some users, chunk by chunk; what is hidden is taken out, and the largest of each block noted,
// while a chunk is still in the cache.
void score(const Kernels& kernels, const float* x, Range users, const float* items, int64_t dim,
           const Cut& cut, const Rows* hidden, bool want_maxima, float* scores, float* maxima) {
  int64_t next[kRankedRows];
  for (int64_t r = 0; r < users.size(); ++r) next[r] = hidden ? hidden->offsets[users.begin + r] : 0;
  for (int64_t begin = 0; begin < cut.n_items; begin += cut.chunk) {
    const int64_t end = std::min(begin + cut.chunk, cut.n_items);
    kernels.multiply(x + users.begin * dim, dim, users.size(), dim, items + begin * dim,
                     panels_for(end - begin), scores + begin, cut.width);
    for (int64_t r = 0; r < users.size(); ++r) {
      float* row = scores + r * cut.width;
      if (hidden)
        for (const int64_t last = hidden->offsets[users.begin + r + 1];
             next[r] < last && hidden->columns[next[r]] < end; ++next[r])
          row[hidden->columns[next[r]]] = kHidden;
      if (want_maxima)
        kernels.block_maxima(row + begin, end - begin, cut.block,
                             maxima + r * cut.blocks() + begin / cut.block);
    }
  }
}

}  // namespace

void rank(const Kernels& kernels, const float* x, int64_t users, const float* y, int64_t n_items, int64_t dim,
          const Rows* hidden, const Rows* wanted, const Ranking& out, int threads) {
  const AlignedFloats items = transposed_panels(y, n_items, dim, threads);
  const Cut cut(n_items, out.k);
  parallel_for(threads, (users + kRankedRows - 1) / kRankedRows, [&](int64_t task) {
    const Range group{task * kRankedRows, std::min((task + 1) * kRankedRows, users)};
    float* scores = scratch(group.size() * (cut.width + cut.blocks()));
    float* maxima = scores + group.size() * cut.width;
    score(kernels, x, group, items.data(), dim, cut, hidden, out.k > 0, scores, maxima);
    for (int64_t user = group.begin; user < group.end; ++user) {
      const int64_t r = user - group.begin;
      const float* row = scores + r * cut.width;
      if (wanted)
        for (int64_t j = wanted->offsets[user]; j < wanted->offsets[user + 1]; ++j)
          out.standings[j] = standing_of(kernels, row, n_items, wanted->columns[j]);
      if (out.k > 0)
        Best(kernels, cut, row, maxima + r * cut.blocks(), out.k)
            .take(out.items + user * out.k, out.scores + user * out.k);
    }
  });
}

}  // namespace ialspp
