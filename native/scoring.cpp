#include "scoring.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "pool.h"
#include "workspace.h"

namespace ialspp {
namespace {

constexpr int64_t kChunkPanels =
    64;  // panels scored together: their scores for these users stay in the cache
constexpr int64_t kGatheredPanels = 16;  // of items scored for one user: in the second-level cache
constexpr int kItemLevels = 127;
constexpr double kUp = 1 + 1e-6;  // more than rounding a length to single precision takes away
constexpr double kLeast = 1e-37;  // a normal number, far above the error of what is not
constexpr float kOverflown = std::numeric_limits<float>::infinity();

// Gives every score that is not finite the same value, which no maximum misses. Infinite parts of a sum may
// also have made it NaN, which is in no order, or -inf, which marks items that are not ranked.
void mark_overflown(float* scores, int64_t n) {
  for (int64_t i = 0; i < n; ++i) scores[i] = std::isfinite(scores[i]) ? scores[i] : kOverflown;
}

float rounded_up(double length) { return static_cast<float>(length * kUp + kLeast); }

int64_t padded_codes(int64_t dim) { return (dim + kCodesTogether - 1) / kCodesTogether * kCodesTogether; }

// Codes of some users, and their terms of the bounds
class Encoded {
 public:
  Encoded(const Kernels& kernels, const float* x, int64_t users, int64_t dim) {
    const int64_t depth = padded_codes(dim);
    auto* codes = reinterpret_cast<int8_t*>(work_.zeros(users * depth / 4));
    for (int64_t r = 0; r < users; ++r) {
      const Coded coded = kernels.encode(x + r * dim, dim, kernels.levels, codes + r * depth);
      const double rounding = std::ldexp(static_cast<double>(dim) + 32, -23) * coded.length;
      terms_[r] = {-128 * coded.sum, coded.scale, rounded_up(coded.coded_length),
                   rounded_up(coded.rest + rounding), static_cast<float>(kLeast)};
      all_short_ = all_short_ && coded.is_short();
    }
    users_ = {codes, terms_, users, depth};
  }
  const CodedUsers& users() const { return users_; }
  bool all_short() const { return all_short_; }

 private:
  Workspace work_;
  UserTerms terms_[kRankedRows];
  CodedUsers users_;
  bool all_short_ = true;
};

}  // namespace

PackedItems::PackedItems(const Kernels& kernels, const float* vectors, int64_t items, int64_t d, int threads)
    : y(vectors), size(items), dim(d), depth(padded_codes(d)), has_codes_(d <= kMostCodes) {
  if (!has_codes_) return;
  const int64_t panels = panels_for(items);
  numbers_ = AlignedFloats(3 * panels * kPanel);
  codes_ = AlignedFloats(panels * kPanel * depth / 4);
  std::atomic<bool> all_coded{true};
  parallel_for(threads, panels, [&](int64_t p) {
    Workspace work;
    auto* codes = reinterpret_cast<int8_t*>(work.zeros(depth / 4));
    uint8_t* panel = code_bytes() + p * kPanel * depth;
    for (int64_t i = p * kPanel; i < (p + 1) * kPanel; ++i) {
      const Coded coded = i < items ? kernels.encode(y + i * dim, dim, kItemLevels, codes) : Coded{};
      if (!coded.is_short()) all_coded = false;
      numbers(0)[i] = coded.scale;
      numbers(1)[i] = rounded_up(coded.length);
      numbers(2)[i] = rounded_up(coded.rest);
      for (int64_t c = 0; c < depth; c += 4) {
        uint32_t quad = 0;
        if (i < items) std::memcpy(&quad, codes + c, 4);
        quad ^= 0x80808080;  // 128 added to each code
        std::memcpy(panel + c * kPanel + i % kPanel * 4, &quad, 4);
      }
    }
  });
  has_codes_ = all_coded;
}

Scorer::Scorer(const Kernels& kernels, const float* x, const PackedItems& items, const Filter& filter,
               Range users)
    : kernels_(kernels), x_(x + users.begin * items.dim), items_(items), filter_(filter), users_(users) {}

template <class Fill>
void Scorer::fill(const Fill& fill_chunk, float* numbers, float* maxima) {
  for (int64_t r = 0; r < users_.size(); ++r) {
    next_hidden_[r] = filter_.hidden ? filter_.hidden->offsets[users_.begin + r] : 0;
    next_candidate_[r] = filter_.candidates ? filter_.candidates->offsets[users_.begin + r] : 0;
  }
  const int64_t n_panels = panels_for(items_.size), width = n_panels * kPanel;
  for (int64_t first = 0; first < n_panels; first += kChunkPanels) {
    const int64_t count = std::min(kChunkPanels, n_panels - first);
    const Range chunk{first * kPanel, std::min((first + count) * kPanel, items_.size)};
    if (any_eligible(chunk)) fill_chunk(first, count, numbers + chunk.begin, width);
    // While the chunk is still in the cache
    for (int64_t r = 0; r < users_.size(); ++r) {
      float* row = numbers + r * width;
      std::fill(row + chunk.end, row + (first + count) * kPanel, kHidden);
      hide(r, chunk, row);
      kernels_.panel_maxima(row + chunk.begin, count, maxima + r * n_panels + first);
    }
  }
}

bool Scorer::may_overflow() const {
  return !items_.has_codes() || !Encoded(kernels_, x_, users_.size(), items_.dim).all_short();
}

bool Scorer::score(float* scores, float* maxima) {
  const bool is_checked = may_overflow();
  Workspace work;
  float* panels = work.floats(kChunkPanels * kPanel * items_.dim);
  int32_t rows[kChunkPanels * kPanel];
  fill(
      [&](int64_t first, int64_t count, float* out, int64_t stride) {
        const int64_t begin = first * kPanel, n = std::min(count * kPanel, items_.size - begin);
        std::iota(rows, rows + n, static_cast<int32_t>(begin));
        kernels_.gather_panels(items_.y, items_.dim, rows, n, panels);
        kernels_.multiply(x_, items_.dim, users_.size(), items_.dim, panels, count, out, stride);
        for (int64_t r = 0; is_checked && r < users_.size(); ++r) mark_overflown(out + r * stride, n);
      },
      scores, maxima);
  float* end = maxima + users_.size() * panels_for(items_.size);
  return !is_checked || std::find(maxima, end, kOverflown) == end;
}

bool Scorer::bound(float* bounds, float* maxima) {
  const Encoded encoded(kernels_, x_, users_.size(), items_.dim);
  if (!encoded.all_short()) return false;
  fill(
      [&](int64_t first, int64_t count, float* out, int64_t stride) {
        kernels_.upper_bounds(encoded.users(), items_.codes(), first, count, out, stride);
      },
      bounds, maxima);
  return true;
}

bool Scorer::any_eligible(Range chunk) const {
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

void Scorer::hide(int64_t r, Range chunk, float* row) {
  if (filter_.candidates) keep_candidates(r, chunk, row);
  if (filter_.eligible)
    for (int64_t i = chunk.begin; i < chunk.end; ++i) row[i] = filter_.eligible[i] ? row[i] : kHidden;
  if (filter_.hidden)
    for (int64_t& next = next_hidden_[r];
         next < last(filter_.hidden, r) && filter_.hidden->columns[next] < chunk.end; ++next)
      row[filter_.hidden->columns[next]] = kHidden;
}

// Hides everything between two candidates.
void Scorer::keep_candidates(int64_t r, Range chunk, float* row) {
  int64_t begin = chunk.begin;
  for (int64_t& next = next_candidate_[r];
       next < last(filter_.candidates, r) && filter_.candidates->columns[next] < chunk.end; ++next) {
    const int64_t candidate = filter_.candidates->columns[next];
    std::fill(row + begin, row + candidate, kHidden);
    begin = candidate + 1;
  }
  std::fill(row + begin, row + chunk.end, kHidden);
}

void score_some(const Kernels& kernels, const float* x, const PackedItems& items, const int32_t* rows,
                int64_t n, float* out) {
  constexpr int64_t kTogether = kGatheredPanels * kPanel;
  Workspace work;
  float* panels = work.floats(kTogether * items.dim);
  for (int64_t first = 0; first < n; first += kTogether) {
    const int64_t count = std::min(kTogether, n - first);
    kernels.gather_panels(items.y, items.dim, rows + first, count, panels);
    kernels.multiply(x, items.dim, 1, items.dim, panels, panels_for(count), out + first, kTogether);
  }
}

}  // namespace ialspp
