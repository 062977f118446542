// Pairs to rows, and rows to columns
#include "../csr.h"
#include "check.h"

using namespace ialspp;

TEST(pairs_are_sorted_and_repeated_ones_keep_their_order) {
  const std::vector<int32_t> rows{2, 0, 2, 4, 0, 2}, columns{1, 3, 0, 2, 3, 1};
  std::vector<int64_t> offsets(6), order(6), left(6);
  std::vector<int32_t> sorted(6);
  sort_pairs(rows.data(), columns.data(), 6, 5, 4, offsets.data(), sorted.data(), order.data());
  CHECK((offsets == std::vector<int64_t>{0, 2, 2, 5, 5, 6}));
  CHECK((sorted == std::vector<int32_t>{3, 3, 0, 1, 1, 2}));
  CHECK((order == std::vector<int64_t>{1, 4, 2, 0, 5, 3}));
  bool first[6];
  mark_first(offsets.data(), 5, sorted.data(), first, left.data());
  CHECK((std::vector<bool>(first, first + 6) == std::vector<bool>{true, false, true, true, false, true}));
  CHECK((left == std::vector<int64_t>{0, 1, 1, 3, 3, 4}));
}

TEST(a_transpose_has_every_entry_with_its_values_and_its_place) {
  const std::vector<int64_t> offsets{0, 2, 2, 5};
  const std::vector<int32_t> columns{1, 3, 3, 0, 1};
  const std::vector<float> labels{10, 11, 12, 13, 14}, weights{20, 21, 22, 23, 24};
  const Rows rows{3, offsets.data(), columns.data(), labels.data(), weights.data()};
  std::vector<int64_t> column_offsets(5);
  std::vector<int32_t> transposed(5);
  std::vector<float> its_labels(5), its_weights(5);
  std::vector<uint32_t> ranks(5);
  transpose(rows, 4, column_offsets.data(), transposed.data(), its_labels.data(), its_weights.data());
  transposed_ranks(rows, 4, ranks.data());
  CHECK((column_offsets == std::vector<int64_t>{0, 1, 3, 3, 5}));
  CHECK((transposed == std::vector<int32_t>{2, 0, 2, 0, 2}));
  CHECK((its_labels == std::vector<float>{13, 10, 14, 11, 12}));
  CHECK((its_weights == std::vector<float>{23, 20, 24, 21, 22}));
  CHECK((ranks == std::vector<uint32_t>{1, 0, 2, 1, 0}));
}
