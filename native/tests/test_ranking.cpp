// Rankings against sorting, text against a standard map.
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "../dictionary.h"
#include "../ranking.h"
#include "check.h"
#include "tables.h"

namespace {

using namespace ialspp;

// Scores that are small whole numbers: exact on every instruction set, and often equal.
std::vector<float> whole_numbers(int64_t n, unsigned seed) {
  std::vector<float> values = normals(n, seed);
  for (float& value : values) value = std::round(3 * value);
  return values;
}

// Item rows by score, best first, equal ones by row; what is hidden left out.
std::vector<int32_t> sorted_items(const std::vector<double>& scores, const std::vector<bool>& hidden) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!hidden[i]) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  return order;
}

void check_ranking(const Kernels& kernels, int64_t users, int64_t n_items, int64_t dim, int64_t k,
                   int threads) {
  const std::vector<float> x = whole_numbers(users * dim, 1), y = whole_numbers(n_items * dim, 2);
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  for (int64_t u = 0; u < users; ++u) {  // every third item from a place of its own
    for (int64_t i = u % 5; i < n_items; i += 3) columns.push_back(static_cast<int32_t>(i));
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  const Rows some{users, offsets.data(), columns.data(), nullptr, nullptr};
  std::vector<int32_t> items(users * k);
  std::vector<float> scores(users * k);
  std::vector<Standing> standings(columns.size());
  const PackedItems packed(kernels, y.data(), n_items, dim, threads);
  // the same items once hidden and once wanted: a hidden item has no place
  rank(kernels, x.data(), users, packed, {.hidden = &some}, nullptr,
       {k, 0, items.data(), scores.data(), nullptr}, threads);
  rank(kernels, x.data(), users, packed, {}, &some, {0, n_items, nullptr, nullptr, standings.data()},
       threads);
  // as candidates, without every fourth item and without a stretch of more than one chunk
  std::vector<uint8_t> eligible(n_items);
  for (int64_t i = 0; i < n_items; ++i) eligible[i] = i % 4 != 0 && (i < 2000 || i >= 4200);
  std::vector<int32_t> filtered(users * k);
  std::vector<float> filtered_scores(users * k);
  rank(kernels, x.data(), users, packed, {.candidates = &some, .eligible = eligible.data()}, nullptr,
       {k, 0, filtered.data(), filtered_scores.data(), nullptr}, threads);
  for (int64_t u = 0; u < users; ++u) {
    std::vector<double> exact(n_items, 0.0);
    for (int64_t i = 0; i < n_items; ++i)
      for (int64_t f = 0; f < dim; ++f) exact[i] += x[u * dim + f] * y[i * dim + f];
    std::vector<bool> hidden(n_items, false);
    for (int64_t j = offsets[u]; j < offsets[u + 1]; ++j) hidden[columns[j]] = true;
    const std::vector<int32_t> wanted = sorted_items(exact, hidden);
    for (int64_t place = 0; place < k; ++place) {
      const bool there = place < static_cast<int64_t>(wanted.size());
      CHECK(items[u * k + place] == (there ? wanted[place] : -1));
      if (there) CHECK(scores[u * k + place] == exact[wanted[place]]);
    }
    for (int64_t i = 0; i < n_items; ++i) hidden[i] = !(hidden[i] && eligible[i]);
    const std::vector<int32_t> left = sorted_items(exact, hidden);
    for (int64_t place = 0; place < k; ++place)
      CHECK(filtered[u * k + place] == (place < static_cast<int64_t>(left.size()) ? left[place] : -1));
    const std::vector<int32_t> all = sorted_items(exact, std::vector<bool>(n_items, false));
    for (int64_t j = offsets[u]; j < offsets[u + 1]; ++j) {
      const Standing& s = standings[j];
      CHECK(all[s.above + s.before] == columns[j]);
      CHECK(s.above ==
            std::count_if(exact.begin(), exact.end(), [&](double e) { return e > exact[columns[j]]; }));
      CHECK(s.equal == std::count(exact.begin(), exact.end(), exact[columns[j]]) - 1);
    }
  }
}

}  // namespace

TEST(rankings_are_what_sorting_gives) {
  for (const Kernels* table : every_table())
    for (const int64_t n_items : {1, 15, 16, 17, 700, 3000})
      for (const int64_t k : {1, 10, 100})
        check_ranking(*table, 50, n_items, n_items % 2 ? 3 : 1, std::min(k, n_items), 3);
}

TEST(text_is_numbered_in_the_order_of_first_sight) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; ++i) texts.push_back(std::string(i % 23, 'x') + std::to_string(i * 7919 % 5003));
  texts[7] = "";
  Dictionary dictionary;
  std::vector<int32_t> numbers(texts.size());
  const auto text = [&](int64_t i) { return i == 5 ? std::string_view() : std::string_view(texts[i]); };
  dictionary.encode(100, text, numbers.data());
  dictionary.encode(
      static_cast<int64_t>(texts.size()) - 100, [&](int64_t i) { return text(i + 100); },
      numbers.data() + 100);
  std::unordered_map<std::string, int32_t> reference;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i == 5) {
      CHECK(numbers[i] == -1);
      continue;
    }
    const auto [found, added] = reference.emplace(texts[i], static_cast<int32_t>(reference.size()));
    CHECK(numbers[i] == found->second);
    CHECK(dictionary[numbers[i]] == texts[i]);
  }
  CHECK(dictionary.size() == static_cast<int64_t>(reference.size()));
}
