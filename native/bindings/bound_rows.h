// CSR rows that Python hands over.
#pragma once

#include "arrays.h"
#include "residuals.h"
#include "rows.h"

namespace ialspp {

// The arrays of one side. They are checked once, here, so that no index read later can point outside.
class BoundRows {
 public:
  BoundRows(Array<const int64_t> offsets, Array<const int32_t> columns, int64_t n_columns,
            Maybe<float> labels, Maybe<float> weights)
      : offsets_(offsets), columns_(columns), labels_(labels), weights_(weights) {
    const int64_t n = length(columns);
    require(n_columns >= 0, "n_columns must not be negative");
    require(length(offsets) >= 1, "offsets must not be empty");
    const int64_t rows = length(offsets) - 1;
    require(offsets.data()[0] == 0 && offsets.data()[rows] == n,
            "offsets must run from 0 to the number of columns");
    const int64_t* offset = offsets.data();
    require_none(rows, [=](int64_t r) { return offset[r] > offset[r + 1]; }, "offsets must not decrease");
    require_in_range("columns", columns, n_columns);
    if (labels) require_length("labels", length(*labels), n);
    if (weights) require_length("weights", length(*weights), n);
    rows_ = {rows, offsets.data(), columns.data(), data_or_null(labels), data_or_null(weights)};
    n_columns_ = n_columns;
  }

  // starts: where each column's own row begins in the cache; ranks: the place of each interaction in that
  // row. See residuals.h.
  void set_cache_order(Array<const int64_t> starts, Array<const uint32_t> ranks) {
    require_length("starts", length(starts), n_columns_ + 1);
    require_length("ranks", length(ranks), size());
    require(starts.data()[0] == 0 && starts.data()[n_columns_] == size(),
            "starts must run from 0 to the number of interactions");
    const int64_t* start = starts.data();
    require_none(n_columns_, [=](int64_t c) { return start[c] > start[c + 1]; }, "starts must not decrease");
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

  Residuals residuals(Array<float> data) const {
    require_length("residuals", length(data), size());
    return {data.data(), data_or_null(starts_), data_or_null(ranks_)};
  }

 private:
  Array<const int64_t> offsets_;
  Array<const int32_t> columns_;
  Maybe<float> labels_, weights_;
  Maybe<int64_t> starts_;
  Maybe<uint32_t> ranks_;
  Rows rows_;
  int64_t n_columns_;
};

}  // namespace ialspp
