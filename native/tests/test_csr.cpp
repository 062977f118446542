// Pairs to rows, and rows to columns
#include "../csr.h"
#include "check.h"

using namespace ialspp;

namespace {

const std::vector<int32_t> kRows{2, 0, 2, 4, 0, 2}, kColumns{1, 3, 0, 2, 3, 1};
const std::vector<double> kTimes{0, 1, 2, 3, 4, 5};

const std::vector<int64_t> kOffsets{0, 2, 2, 5};
const std::vector<int32_t> kEntries{1, 3, 3, 0, 1};
const std::vector<float> kLabels{10, 11, 12, 13, 14}, kWeights{20, 21, 22, 23, 24};
const Rows kMatrix{3, kOffsets.data(), kEntries.data(), kLabels.data(), kWeights.data()};

}  // namespace

TEST(pairs_are_sorted_and_repeated_ones_keep_their_order) {
  std::vector<int64_t> offsets(6), left(6);
  std::vector<int32_t> sorted(6);
  std::vector<double> times(6);
  offsets_of(kRows.data(), 6, {0, 5}, offsets.data(), 2);
  const Pairs pairs{6, kRows.data(), kColumns.data(), nullptr, nullptr, kTimes.data()};
  sort_pairs(pairs, {0, 5}, offsets.data(), {sorted.data(), nullptr, nullptr, times.data()}, 2);
  CHECK((offsets == std::vector<int64_t>{0, 2, 2, 5, 5, 6}));
  CHECK((sorted == std::vector<int32_t>{3, 3, 0, 1, 1, 2}));
  CHECK((times == std::vector<double>{1, 4, 2, 0, 5, 3}));
  bool first[6];
  mark_first(offsets.data(), 5, sorted.data(), first, left.data());
  CHECK((std::vector<bool>(first, first + 6) == std::vector<bool>{true, false, true, true, false, true}));
  CHECK((left == std::vector<int64_t>{0, 1, 1, 3, 3, 4}));
}

TEST(pairs_of_other_rows_are_left_out) {
  std::vector<int64_t> offsets(3);
  std::vector<int32_t> sorted(3);
  offsets_of(kRows.data(), 6, {2, 4}, offsets.data(), 1);
  CHECK((offsets == std::vector<int64_t>{0, 3, 3}));
  const Pairs pairs{6, kRows.data(), kColumns.data(), nullptr, nullptr, nullptr};
  sort_pairs(pairs, {2, 4}, offsets.data(), {sorted.data(), nullptr, nullptr, nullptr}, 1);
  CHECK((sorted == std::vector<int32_t>{0, 1, 1}));
}

TEST(a_transpose_has_every_entry_with_its_values_and_its_place) {
  std::vector<int64_t> offsets(5);
  std::vector<int32_t> transposed(5);
  std::vector<float> labels(5), weights(5);
  std::vector<uint32_t> ranks(5);
  offsets_of(kEntries.data(), 5, {0, 4}, offsets.data(), 1);
  transpose(kMatrix, {0, 4}, offsets.data(), transposed.data(), labels.data(), weights.data(), 2);
  transposed_ranks(kMatrix, {0, 4}, offsets.data(), ranks.data(), 2);
  CHECK((offsets == std::vector<int64_t>{0, 1, 3, 3, 5}));
  CHECK((transposed == std::vector<int32_t>{2, 0, 2, 0, 2}));
  CHECK((labels == std::vector<float>{13, 10, 14, 11, 12}));
  CHECK((weights == std::vector<float>{23, 20, 24, 21, 22}));
  CHECK((ranks == std::vector<uint32_t>{1, 0, 2, 1, 0}));
}

TEST(a_transpose_of_some_columns_has_their_entries_alone) {
  std::vector<int64_t> offsets(3);
  std::vector<int32_t> transposed(2);
  offsets_of(kEntries.data(), 5, {1, 3}, offsets.data(), 1);
  transpose(kMatrix, {1, 3}, offsets.data(), transposed.data(), nullptr, nullptr, 1);
  CHECK((offsets == std::vector<int64_t>{0, 2, 2}));
  CHECK((transposed == std::vector<int32_t>{0, 2}));
}

TEST(a_core_loses_a_row_with_the_column_that_it_needs) {
  uint8_t rows[3], columns[4];
  // Column 0 has one row. Without it, row 2 still has columns 1 and 3.
  find_core(kMatrix, 4, 2, 2, rows, columns, 1);
  CHECK((std::vector<int>(rows, rows + 3) == std::vector<int>{1, 0, 1}));
  CHECK((std::vector<int>(columns, columns + 4) == std::vector<int>{0, 1, 0, 1}));
  // Row 2 needs column 0, and nothing is left.
  find_core(kMatrix, 4, 3, 2, rows, columns, 2);
  CHECK((std::vector<int>(rows, rows + 3) == std::vector<int>{0, 0, 0}));
  CHECK((std::vector<int>(columns, columns + 4) == std::vector<int>{0, 0, 0, 0}));
}
