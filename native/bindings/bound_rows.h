// CSR rows that Python hands over.
#pragma once

#include "bound_shards.h"
#include "kept.h"
#include "residuals.h"
#include "rows.h"

namespace ialspp {

// The arrays of one side. They are checked once, here, and cannot change afterwards, so that no index read
// later can point outside.
class BoundRows {
 public:
  BoundRows(Kept<int64_t> offsets, Kept<int32_t> columns, int64_t n_columns, Maybe<float> labels,
            Maybe<float> weights, Maybe<int64_t> shards)
      : offsets_(offsets.settled()),
        columns_(columns.settled()),
        labels_(labels),
        weights_(weights),
        n_columns_(n_columns) {
    require_rows("n_columns", n_columns);
    require_offsets("offsets", offsets_, "interactions", size());
    const int64_t rows = length(offsets_) - 1;
    require_rows("the number of rows", rows);
    require_in_range("columns", columns_, n_columns);
    if (labels) require_length("labels", length(*labels), size());
    if (weights) require_length("weights", length(*weights), size());
    bounds_ = bounds_of(shards, rows);
    rows_ = {rows,
             offsets_.data(),
             columns_.data(),
             data_or_null(labels),
             data_or_null(weights),
             shards_of(bounds_)};
  }

  // starts: where each column's own row begins in the cache; ranks: the place of each interaction in that
  // row. See residuals.h.
  void set_cache_order(Kept<int64_t> kept_starts, Kept<uint32_t> kept_ranks) {
    require(!has_cache_order(),
            "the cache order is set already");  // a call on another thread may be using it
    const Array<const int64_t> starts = kept_starts.settled();
    const Array<const uint32_t> ranks = kept_ranks.settled();
    require_length("starts", length(starts), n_columns_ + 1);
    require_length("ranks", length(ranks), size());
    require_offsets("starts", starts, "interactions", size());
    const int64_t* start = starts.data();
    const auto outside = [&](int64_t j) {
      const int32_t column = rows_.columns[j];
      return start[column] + ranks.data()[j] >= start[column + 1];
    };
    require_none(size(), outside, "ranks must stay inside their column's list");
    starts_ = starts;
    ranks_ = ranks;
  }

  bool has_cache_order() const { return starts_.has_value(); }

  const Rows& rows() const { return rows_; }
  int64_t size() const { return length(columns_); }
  int64_t n_columns() const { return n_columns_; }

  void require_ascending(const std::string& name) const {
    require_none(
        rows_.size, [&](int64_t r) { return falls(r); }, name + "'s columns must ascend in every row");
  }

  bool ascends() const {
    const WithoutGil release;
    for (int64_t r = 0; r < rows_.size; ++r)
      if (falls(r)) return false;
    return true;
  }

  Residuals residuals(Array<float> data) const {
    require_length("residuals", length(data), size());
    return {data.data(), data_or_null(starts_), data_or_null(ranks_)};
  }

 private:
  // Whether the columns of a row do not strictly ascend
  bool falls(int64_t r) const {
    const int32_t *begin = rows_.columns + rows_.offsets[r], *end = rows_.columns + rows_.offsets[r + 1];
    return std::adjacent_find(begin, end, std::greater_equal<>()) != end;
  }

  Array<const int64_t> offsets_;
  Array<const int32_t> columns_;
  Maybe<float> labels_, weights_;
  Maybe<int64_t> starts_;
  Maybe<uint32_t> ranks_;
  std::vector<int64_t> bounds_;  // of the shards
  Rows rows_;
  int64_t n_columns_;
};

}  // namespace ialspp
