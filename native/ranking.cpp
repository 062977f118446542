#include "ranking.h"

#include <algorithm>
#include <limits>

#include "pool.h"
#include "workspace.h"

namespace ialspp {
namespace {

constexpr int64_t kRankedRows = 48;  // users scored together: whole tiles, their vectors in the cache
constexpr int64_t kChunkPanels =
    64;  // panels scored together: their scores for these users stay in the cache
constexpr int64_t kMostScores = int64_t{1} << 24;  // held by a thread: 64 MB, unless one user has more
constexpr int kHalvings = 24;                // of the range in which the k-th best score is searched for
constexpr int64_t kMostPlacedByCount = 512;  // items that are compared each with each; more are sorted
constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr float kLowest = -std::numeric_limits<float>::max();

// A bound that at least k of n numbers exceed, and not many more than k unless they are equal. Where there is
// no such bound, it is the lowest finite number.
float bound_below_kth(const Kernels& kernels, const float* numbers, int64_t n, int64_t k) {
  const auto above = [&](float bound) {
    int64_t more = 0, equal = 0;
    kernels.count(numbers, n, bound, &more, &equal);
    return more;
  };
  if (above(kLowest) < k) return kLowest;
  float low = std::numeric_limits<float>::infinity(), high = kLowest;
  for (int64_t i = 0; i < n; ++i)
    if (numbers[i] > kLowest) {  // not hidden
      low = std::min(low, numbers[i]);
      high = std::max(high, numbers[i]);
    }
  if (above(low) < k) return kLowest;
  for (int step = 0; step < kHalvings; ++step) {
    const float middle = low / 2 + high / 2;
    const int64_t more = above(middle);
    (more >= k ? low : high) = middle;
    if (more >= k && more <= k + k / 8) break;
  }
  return low;
}

// The scores of all items for one user, and the largest score of each panel, which tells the few panels that
// have to be looked at.
struct Scores {
  const float *all, *maxima;
  int64_t n_items, n_panels;
};

Standing standing_of(const Kernels& kernels, const Scores& scores, int64_t item, int64_t depth) {
  const float score = scores.all[item];
  if (score != score) return {static_cast<int32_t>(depth), 0, 0};  // NaN ranks behind everything
  int64_t above = 0, before = 0, behind = 0, panels_above = 0, panels_equal = 0;
  kernels.count(scores.maxima, scores.n_panels, score, &panels_above, &panels_equal);
  if (panels_above < depth)
    for (int64_t p = 0; p < scores.n_panels; ++p)
      if (scores.maxima[p] >= score) {
        const int64_t begin = p * kPanel, end = std::min(begin + kPanel, scores.n_items);
        const int64_t split = std::clamp(item, begin, end);
        kernels.count(scores.all + begin, split - begin, score, &above, &before);
        kernels.count(scores.all + split, end - split, score, &above, &behind);
      }
  if (panels_above >= depth || above >= depth) return {static_cast<int32_t>(depth), 0, 0};
  const int64_t equal = before + behind - 1;  // without itself
  return {static_cast<int32_t>(above), static_cast<int32_t>(equal), static_cast<int32_t>(before)};
}

// The best items of one user
class Best {
 public:
  Best(const Kernels& kernels, const Scores& scores, int64_t k) : kernels_(kernels), scores_(scores), k_(k) {}

  // Best first, equal scores by row number; -1 after the last item that is not hidden
  void take(int32_t* best, float* best_scores) {
    const int64_t found = collect();
    std::fill_n(best, k_, -1);
    std::fill_n(best_scores, k_, kHidden);
    if (found <= kMostPlacedByCount) return put_in_place(found, best, best_scores);
    const auto before = [&](int32_t a, int32_t b) {
      return scores_.all[a] > scores_.all[b] || (scores_.all[a] == scores_.all[b] && a < b);
    };
    const int64_t n = std::min(k_, found);
    std::partial_sort(items_, items_ + n, items_ + found, before);
    std::copy_n(items_, n, best);
    std::transform(items_, items_ + n, best_scores, [&](int32_t item) { return scores_.all[item]; });
  }

 private:
  // Lists every item that may be among the best, ascending.
  int64_t collect() {
    const float bound = bound_below_kth(kernels_, scores_.maxima, scores_.n_panels, k_);
    const int64_t panels = kernels_.collect(scores_.maxima, 0, scores_.n_panels, bound, panels_, maxima_);
    int64_t found = 0;
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t begin = panels_[p] * kPanel;
      found += kernels_.collect(scores_.all, begin, begin + kPanel, bound, items_ + found, found_ + found);
    }
    return found;
  }

  // Puts each item where the number of better ones says. Unlike a sort, this has no branches to mispredict.
  void put_in_place(int64_t found, int32_t* best, float* best_scores) {
    for (int64_t i = 0; i < found; ++i) {
      int64_t place = 0, equal = 0, ignored = 0;
      kernels_.count(found_, found, found_[i], &place, &equal);
      if (equal > 1) {  // besides itself
        int64_t before = 0;
        kernels_.count(found_, i, found_[i], &ignored, &before);
        place += before;
      }
      if (place >= k_) continue;
      best[place] = items_[i];
      best_scores[place] = found_[i];
    }
  }

  const Kernels& kernels_;
  const Scores scores_;
  const int64_t k_;
  Workspace work_;
  int32_t* items_ = work_.integers(scores_.n_panels * kPanel);  // those that may be among the best
  float* found_ = work_.floats(scores_.n_panels * kPanel);      // their scores
  int32_t* panels_ = work_.integers(scores_.n_panels);          // panels that have such items
  float* maxima_ = work_.floats(scores_.n_panels);              // their largest scores
};

// Scores all items for some users, chunk by chunk. While a chunk is still in the cache, the items that the
// filter excludes are hidden and the largest score of each panel is noted.
class Scorer {
 public:
  Scorer(const Kernels& kernels, const float* x, const PackedItems& items, const Filter& filter, Range users)
      : kernels_(kernels), x_(x), items_(items), filter_(filter), users_(users) {
    for (int64_t r = 0; r < users.size(); ++r) {
      next_hidden_[r] = filter.hidden ? filter.hidden->offsets[users.begin + r] : 0;
      next_candidate_[r] = filter.candidates ? filter.candidates->offsets[users.begin + r] : 0;
    }
  }

  void score(float* scores, float* maxima) {
    const int64_t n_panels = panels_for(items_.size), width = n_panels * kPanel;
    for (int64_t first = 0; first < n_panels; first += kChunkPanels) {
      const int64_t count = std::min(kChunkPanels, n_panels - first);
      const Range chunk{first * kPanel, std::min((first + count) * kPanel, items_.size)};
      if (any_eligible(chunk))
        kernels_.multiply(x_ + users_.begin * items_.dim, items_.dim, users_.size(), items_.dim,
                          items_.panels.data() + first * items_.dim * kPanel, count, scores + chunk.begin,
                          width);
      for (int64_t r = 0; r < users_.size(); ++r) {
        float* row = scores + r * width;
        std::fill(row + chunk.end, row + (first + count) * kPanel, kHidden);
        hide(r, chunk, row);
        kernels_.panel_maxima(row + chunk.begin, count, maxima + r * n_panels + first);
      }
    }
  }

 private:
  bool any_eligible(Range chunk) const {
    if (filter_.eligible && std::all_of(filter_.eligible + chunk.begin, filter_.eligible + chunk.end,
                                        [](uint8_t byte) { return byte == 0; }))
      return false;
    if (!filter_.candidates) return true;
    for (int64_t r = 0; r < users_.size(); ++r)
      if (next_candidate_[r] < last(filter_.candidates, r) &&
          filter_.candidates->columns[next_candidate_[r]] < chunk.end)
        return true;
    return false;
  }

  void hide(int64_t r, Range chunk, float* row) {
    if (filter_.candidates) keep_candidates(r, chunk, row);
    if (filter_.eligible)
      for (int64_t i = chunk.begin; i < chunk.end; ++i) row[i] = filter_.eligible[i] ? row[i] : kHidden;
    if (filter_.hidden)
      for (int64_t& next = next_hidden_[r];
           next < last(filter_.hidden, r) && filter_.hidden->columns[next] < chunk.end; ++next)
        row[filter_.hidden->columns[next]] = kHidden;
  }

  // Hides everything between two candidates.
  void keep_candidates(int64_t r, Range chunk, float* row) {
    int64_t begin = chunk.begin;
    for (int64_t& next = next_candidate_[r];
         next < last(filter_.candidates, r) && filter_.candidates->columns[next] < chunk.end; ++next) {
      const int64_t candidate = filter_.candidates->columns[next];
      std::fill(row + begin, row + candidate, kHidden);
      begin = candidate + 1;
    }
    std::fill(row + begin, row + chunk.end, kHidden);
  }

  int64_t last(const Rows* rows, int64_t r) const { return rows->offsets[users_.begin + r + 1]; }

  const Kernels& kernels_;
  const float* x_;
  const PackedItems& items_;
  const Filter& filter_;
  const Range users_;
  int64_t next_hidden_[kRankedRows], next_candidate_[kRankedRows];  // in each user's row
};

}  // namespace

void rank(const Kernels& kernels, const float* x, int64_t users, const PackedItems& items,
          const Filter& filter, const Rows* wanted, const Ranking& out, int threads) {
  const int64_t n_panels = panels_for(items.size), width = n_panels * kPanel;
  const int64_t together = std::clamp(kMostScores / std::max<int64_t>(width, 1), int64_t{1}, kRankedRows);
  parallel_for(threads, (users + together - 1) / together, [&](int64_t task) {
    const Range group{task * together, std::min((task + 1) * together, users)};
    Workspace work;
    float* scores = work.floats(group.size() * width);
    float* maxima = work.floats(group.size() * n_panels);
    Scorer(kernels, x, items, filter, group).score(scores, maxima);
    for (int64_t user = group.begin; user < group.end; ++user) {
      const int64_t r = user - group.begin;
      const Scores row{scores + r * width, maxima + r * n_panels, items.size, n_panels};
      if (wanted)
        for (int64_t j = wanted->offsets[user]; j < wanted->offsets[user + 1]; ++j)
          out.standings[j] = standing_of(kernels, row, wanted->columns[j], out.depth);
      if (out.k > 0) Best(kernels, row, out.k).take(out.items + user * out.k, out.scores + user * out.k);
    }
  });
}

}  // namespace ialspp
