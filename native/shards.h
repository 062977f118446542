// Shards: fixed ranges of consecutive rows. Sums over rows are made shard by shard, and the shards' sums are
// added in pairs. The result has the same bits on any number of threads, and on any number of machines that
// have some of the shards each.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ialspp {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Shard s has the rows bounds[s] .. bounds[s + 1].
struct Shards {
  const int64_t* bounds;
  int64_t count;

  Range operator[](int64_t s) const { return {bounds[s], bounds[s + 1]}; }
};

// The sum of vectors that come one after the other, as a binary tree: the first 2^k of them are one node, and
// so are those that follow. Machines can thus add up their own shards before the nodes are added.
class PairwiseSum {
 public:
  explicit PairwiseSum(int64_t size) : size_(size) {}

  void add(std::vector<double> vector) {
    int64_t weight = 1;
    while (!nodes_.empty() && nodes_.back().second == weight) {
      add_to(nodes_.back().first, vector);
      vector = std::move(nodes_.back().first);
      nodes_.pop_back();
      weight *= 2;
    }
    nodes_.emplace_back(std::move(vector), weight);
  }

  // Zeros where no vector came
  std::vector<double> total() {
    if (nodes_.empty()) return std::vector<double>(size_, 0.0);
    while (nodes_.size() > 1) {
      const std::vector<double> last = std::move(nodes_.back().first);
      nodes_.pop_back();
      add_to(nodes_.back().first, last);
    }
    return std::move(nodes_.front().first);
  }

 private:
  static void add_to(std::vector<double>& sum, const std::vector<double>& other) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  }

  int64_t size_;
  std::vector<std::pair<std::vector<double>, int64_t>> nodes_;  // and how many vectors each is the sum of
};

}  // namespace ialspp
