#include "ranking.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "pool.h"
#include "survivors.h"
#include "workspace.h"

namespace ialspp {
namespace {

constexpr int64_t kMostScores = int64_t{1} << 24;  // held by a thread: 64 MB, unless one user has more
constexpr int64_t kMostPlacedByCount = 512;        // items that are compared each with each; more are sorted
constexpr int64_t kSmallCatalogue = 512;           // items that are scored as fast as they are bounded
constexpr int64_t kItemsForEach = 8;               // of the best items; with fewer, too many survive

Standing behind_all(int64_t depth) { return {static_cast<int32_t>(depth), 0, 0}; }

// The standing of an item, given the scores of all
Standing standing_of(const Kernels& kernels, const Scores& scores, int64_t item, int64_t depth) {
  const float score = scores.all[item];
  if (score != score) return behind_all(depth);  // NaN ranks behind everything
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
  if (panels_above >= depth || above >= depth) return behind_all(depth);
  const int64_t equal = before + behind - 1;  // without itself
  return {static_cast<int32_t>(above), static_cast<int32_t>(equal), static_cast<int32_t>(before)};
}

// The standing of an item, given the `depth` best items at least, or all that are not hidden
Standing standing_among(const Kernels& kernels, const Found& best, int64_t n_items, int32_t item,
                        int64_t depth) {
  const int32_t* end = best.items + best.size;
  const int32_t* place = std::find(best.items, end, item);
  int64_t above = 0, equal = 0;
  if (place == end) {  // hidden, or behind `depth` others
    if (best.size >= depth) return behind_all(depth);
    const auto before = item - std::count_if(best.items, end, [&](int32_t other) { return other < item; });
    return {static_cast<int32_t>(best.size), static_cast<int32_t>(n_items - best.size - 1),
            static_cast<int32_t>(before)};
  }
  const float score = best.scores[place - best.items];
  kernels.count(best.scores, best.size, score, &above, &equal);
  if (above >= depth) return behind_all(depth);
  int32_t before = 0;
  for (int64_t i = 0; equal > 1 && i < best.size; ++i)
    before += best.scores[i] == score && best.items[i] < item;
  return {static_cast<int32_t>(above), static_cast<int32_t>(equal - 1), before};
}

// Puts each item where the number of better ones says. Unlike a sort, this has no branches to mispredict.
void place_by_count(const Kernels& kernels, const Found& found, int64_t k, int32_t* best, float* scores) {
  for (int64_t i = 0; i < found.size; ++i) {
    int64_t place = 0, equal = 0;
    kernels.count(found.scores, found.size, found.scores[i], &place, &equal);
    for (int64_t j = 0; equal > 1 && j < found.size; ++j)
      place += found.scores[j] == found.scores[i] && found.items[j] < found.items[i];
    if (place >= k) continue;
    best[place] = found.items[i];
    scores[place] = found.scores[i];
  }
}

// The k best of some items: best first, equal scores by row number; -1 after the last of them
void place_best(const Kernels& kernels, const Found& found, int64_t k, int32_t* best, float* scores) {
  std::fill_n(best, k, -1);
  std::fill_n(scores, k, kHidden);
  if (found.size <= kMostPlacedByCount) return place_by_count(kernels, found, k, best, scores);
  Workspace work;
  int32_t* order = work.integers(found.size);
  std::iota(order, order + found.size, 0);
  const int64_t n = std::min(k, found.size);
  std::partial_sort(order, order + n, order + found.size, [&](int32_t a, int32_t b) {
    return found.scores[a] > found.scores[b] ||
           (found.scores[a] == found.scores[b] && found.items[a] < found.items[b]);
  });
  std::transform(order, order + n, best, [&](int32_t i) { return found.items[i]; });
  std::transform(order, order + n, scores, [&](int32_t i) { return found.scores[i]; });
}

// Places the k best items, given the scores of all.
void place_best(const Kernels& kernels, const Scores& scores, int64_t k, int32_t* best, float* best_scores) {
  Workspace work;
  int32_t* items = work.integers((scores.n_panels + 1) * kPanel);
  float* found = work.floats((scores.n_panels + 1) * kPanel);
  int32_t* panels = work.integers(scores.n_panels + kPanel);
  float* maxima = work.floats(scores.n_panels + kPanel);
  const float infinity = std::numeric_limits<float>::infinity();
  const float low = bound_below_kth(kernels, scores.maxima, scores.n_panels, k);
  const int64_t n = kernels.collect(scores.maxima, 0, scores.n_panels, low, infinity, panels, maxima);
  int64_t size = 0;
  for (int64_t p = 0; p < n; ++p) {
    const int64_t begin = panels[p] * kPanel;
    size += kernels.collect(scores.all, begin, begin + kPanel, low, infinity, items + size, found + size);
  }
  place_best(kernels, Found{items, found, size}, k, best, best_scores);
}

class Ranker {
 public:
  Ranker(const Kernels& kernels, const float* x, const PackedItems& items, const Filter& filter,
         const Rows* wanted, const Ranking& out)
      : kernels_(kernels), x_(x), items_(items), filter_(filter), wanted_(wanted), out_(out) {}

  void rank(Range users) {
    const int64_t best = std::max(out_.k, wanted_ ? out_.depth : 0);
    const bool by_bounds = kernels_.upper_bounds && items_.has_codes() && items_.size > kSmallCatalogue &&
                           kItemsForEach * best <= items_.size;
    if (!by_bounds || !rank_by_bounds(users, best)) rank_by_scores(users);
  }
  bool overflows() const { return overflows_; }

 private:
  Scores row(const float* numbers, const float* maxima, int64_t r) const {
    return {numbers + r * width_, maxima + r * n_panels_, items_.size, n_panels_};
  }

  bool rank_by_bounds(Range users, int64_t best) {
    Workspace work;
    float* bounds = work.floats(users.size() * width_);
    float* maxima = work.floats(users.size() * n_panels_);
    if (!Scorer(kernels_, x_, items_, filter_, users).bound(bounds, maxima)) return false;
    for (int64_t user = users.begin; user < users.end; ++user) {
      Survivors survivors(kernels_, items_);
      if (survivors.find(x_ + user * items_.dim, row(bounds, maxima, user - users.begin), best))
        report(user, survivors.found());
      else
        rank_by_scores({user, user + 1});
    }
    return true;
  }

  void rank_by_scores(Range users) {
    Workspace work;
    float* scores = work.floats(users.size() * width_);
    float* maxima = work.floats(users.size() * n_panels_);
    if (!Scorer(kernels_, x_, items_, filter_, users).score(scores, maxima)) {
      overflows_ = true;
      return;
    }
    for (int64_t user = users.begin; user < users.end; ++user)
      report(user, row(scores, maxima, user - users.begin));
  }

  void report(int64_t user, const auto& known) {
    if (wanted_)
      for (int64_t j = wanted_->offsets[user]; j < wanted_->offsets[user + 1]; ++j)
        out_.standings[j] = standing(known, wanted_->columns[j]);
    if (out_.k > 0)
      place_best(kernels_, known, out_.k, out_.items + user * out_.k, out_.scores + user * out_.k);
  }

  Standing standing(const Scores& all, int32_t item) const {
    return standing_of(kernels_, all, item, out_.depth);
  }
  Standing standing(const Found& best, int32_t item) const {
    return standing_among(kernels_, best, items_.size, item, out_.depth);
  }

  const Kernels& kernels_;
  const float* x_;
  const PackedItems& items_;
  const Filter& filter_;
  const Rows* wanted_;
  const Ranking& out_;
  const int64_t n_panels_ = panels_for(items_.size), width_ = n_panels_ * kPanel;
  std::atomic<bool> overflows_{false};
};

}  // namespace

bool rank(const Kernels& kernels, const float* x, int64_t users, const PackedItems& items,
          const Filter& filter, const Rows* wanted, const Ranking& out, int threads) {
  const int64_t width = padded(items.size);
  const int64_t together = std::clamp(kMostScores / std::max<int64_t>(width, 1), int64_t{1}, kRankedRows);
  Ranker ranker(kernels, x, items, filter, wanted, out);
  parallel_for(threads, (users + together - 1) / together,
               [&](int64_t task) { ranker.rank({task * together, std::min((task + 1) * together, users)}); });
  return !ranker.overflows();
}

}  // namespace ialspp
