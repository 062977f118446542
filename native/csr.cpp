#include "csr.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ialspp {
namespace {

constexpr int64_t kWorthSharing = 1 << 16;  // entries; fewer are done sooner than another thread wakes up
constexpr int64_t kMostTasks = 64;          // each passes over all entries

int64_t tasks_for(int64_t entries, int threads) {
  return std::clamp<int64_t>(threads, 1, std::clamp<int64_t>(entries / kWorthSharing, 1, kMostTasks));
}

// Calls body(keys) for each thread's share of n keys: keys with about as many entries, by their offsets.
template <class Body>
void for_each_share(const int64_t* offsets, int64_t n, int64_t tasks, int threads, const Body& body) {
  const auto bound = [&](int64_t task) {
    const int64_t wanted = offsets[n] / tasks * task;
    return task == tasks ? n : std::lower_bound(offsets, offsets + n, wanted) - offsets;
  };
  parallel_for(threads, tasks, [&](int64_t task) { body(Range{bound(task), bound(task + 1)}); });
}

// Where the next entry of each key goes: a thread has such places for its own keys, and ignores all others.
class Places {
 public:
  // The first of the range has number `first` among all keys.
  Places(const int64_t* offsets, Range keys, int64_t first)
      : next_(offsets + keys.begin, offsets + keys.end), first_(first + keys.begin) {}

  // The place of the next entry with this key, or -1 if the key is another thread's
  int64_t take(int64_t key) {
    const auto own = static_cast<uint64_t>(key - first_);
    return own < next_.size() ? next_[own]++ : -1;
  }

 private:
  std::vector<int64_t> next_;
  int64_t first_;
};

// Sorts one row by column. Equal columns keep the order of their values.
class RowSorter {
 public:
  explicit RowSorter(const SortedPairs& out) : out_(out) {}

  void sort(int64_t begin, int64_t end) {
    int32_t* columns = out_.columns;
    if (std::is_sorted(columns + begin, columns + end)) return;
    if (!out_.labels && !out_.weights && !out_.times) return std::sort(columns + begin, columns + end);
    order_.resize(end - begin);
    for (int64_t i = begin; i < end; ++i) order_[i - begin] = {columns[i], i};
    std::sort(order_.begin(), order_.end());
    reorder(begin, columns, integers_);
    reorder(begin, out_.labels, floats_);
    reorder(begin, out_.weights, floats_);
    reorder(begin, out_.times, doubles_);
  }

 private:
  template <class Value>
  void reorder(int64_t begin, Value* values, std::vector<Value>& sorted) const {
    if (!values) return;
    sorted.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) sorted[i] = values[order_[i].second];
    std::copy(sorted.begin(), sorted.end(), values + begin);
  }

  SortedPairs out_;
  std::vector<std::pair<int32_t, int64_t>> order_;
  std::vector<int32_t> integers_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
};

}  // namespace

void offsets_of(const int32_t* keys, int64_t size, Range range, int64_t* offsets, int threads) {
  const int64_t n = range.size(), tasks = tasks_for(size, threads);
  std::fill_n(offsets, n + 1, int64_t{0});
  parallel_for(threads, tasks, [&](int64_t task) {
    const int64_t begin = n * task / tasks, end = n * (task + 1) / tasks;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t key = keys[i] - range.begin;
      if (key >= begin && key < end) ++offsets[key + 1];
    }
  });
  for (int64_t k = 0; k < n; ++k) offsets[k + 1] += offsets[k];
}

void sort_pairs(const Pairs& pairs, Range range, const int64_t* offsets, const SortedPairs& out,
                int threads) {
  const int64_t tasks = tasks_for(pairs.size, threads);
  for_each_share(offsets, range.size(), tasks, threads, [&](Range keys) {
    Places places(offsets, keys, range.begin);
    for (int64_t i = 0; i < pairs.size; ++i) {
      const int64_t place = places.take(pairs.rows[i]);
      if (place < 0) continue;
      out.columns[place] = pairs.columns[i];
      if (out.labels) out.labels[place] = pairs.labels[i];
      if (out.weights) out.weights[place] = pairs.weights[i];
      if (out.times) out.times[place] = pairs.times[i];
    }
    RowSorter sorter(out);
    for (int64_t key = keys.begin; key < keys.end; ++key) sorter.sort(offsets[key], offsets[key + 1]);
  });
}

void mark_first(const int64_t* offsets, int64_t n_rows, const int32_t* columns, bool* first, int64_t* left) {
  left[0] = 0;
  for (int64_t r = 0; r < n_rows; ++r) {
    left[r + 1] = left[r];
    for (int64_t j = offsets[r]; j < offsets[r + 1]; ++j) {
      first[j] = j == offsets[r] || columns[j] != columns[j - 1];
      left[r + 1] += first[j];
    }
  }
}

void sum_runs(const float* values, const uint8_t* first, int64_t n, float* sums) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum = first[i] ? values[i] : sum + values[i];
    if (i + 1 == n || first[i + 1]) *sums++ = static_cast<float>(sum);
  }
}

namespace {

// Calls visit(place, row, entry): entry of `row` comes to this place among the entries sorted by column.
template <class Visit>
void for_each_transposed(const Rows& rows, Range range, const int64_t* offsets, int threads,
                         const Visit& visit) {
  const int64_t tasks = tasks_for(rows.offsets[rows.size], threads);
  for_each_share(offsets, range.size(), tasks, threads, [&](Range keys) {
    Places places(offsets, keys, range.begin);
    for (int64_t r = 0; r < rows.size; ++r)
      for (int64_t j = rows.offsets[r]; j < rows.offsets[r + 1]; ++j) {
        const int64_t place = places.take(rows.columns[j]);
        if (place >= 0) visit(place, r, j);
      }
  });
}

}  // namespace

void transpose(const Rows& rows, Range range, const int64_t* offsets, int32_t* columns, float* labels,
               float* weights, int threads) {
  for_each_transposed(rows, range, offsets, threads, [&](int64_t place, int64_t r, int64_t j) {
    columns[place] = static_cast<int32_t>(r);
    if (labels) labels[place] = rows.labels[j];
    if (weights) weights[place] = rows.weights[j];
  });
}

void transposed_ranks(const Rows& rows, Range range, const int64_t* offsets, uint32_t* ranks, int threads) {
  for_each_transposed(rows, range, offsets, threads, [&](int64_t place, int64_t r, int64_t j) {
    ranks[place] = static_cast<uint32_t>(j - rows.offsets[r]);
  });
}

void find_core(const Rows& rows, int64_t n_columns, int64_t least, int64_t column_least, uint8_t* in_rows,
               uint8_t* in_columns, int threads) {
  const int64_t entries = rows.offsets[rows.size];
  std::vector<int64_t> offsets(n_columns + 1), counts(n_columns);
  offsets_of(rows.columns, entries, {0, n_columns}, offsets.data(), threads);
  std::adjacent_difference(offsets.begin() + 1, offsets.end(), counts.begin());
  std::fill_n(in_rows, rows.size, uint8_t{1});
  std::vector<uint8_t> leaves(rows.size);
  const auto partners = [&](int64_t r) {
    return std::count_if(rows.columns + rows.offsets[r], rows.columns + rows.offsets[r + 1],
                         [&](int32_t c) { return in_columns[c]; });
  };
  for (bool changed = true; changed;) {
    for (int64_t c = 0; c < n_columns; ++c) in_columns[c] = counts[c] >= column_least;
    for_each_share(rows.offsets, rows.size, tasks_for(entries, kMostTasks), threads, [&](Range share) {
      for (int64_t r = share.begin; r < share.end; ++r) leaves[r] = in_rows[r] && partners(r) < least;
    });
    changed = false;
    for (int64_t r = 0; r < rows.size; ++r) {
      if (!leaves[r]) continue;
      in_rows[r] = 0;
      for (int64_t j = rows.offsets[r]; j < rows.offsets[r + 1]; ++j) --counts[rows.columns[j]];
      changed = true;
    }
  }
}

}  // namespace ialspp
