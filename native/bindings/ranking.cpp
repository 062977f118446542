// Items ranked by score
#include "ranking.h"

#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>

#include "bound_rows.h"
#include "dispatch.h"
#include "modules.h"

using namespace nb::literals;

namespace ialspp {
namespace {

const Rows* rows_or_null(const std::string& name, const BoundRows* rows, int64_t users, int64_t n_items) {
  if (!rows) return nullptr;
  require_length(name, rows->rows().size, users);
  require_length(name + "'s columns", rows->n_columns(), n_items);
  return &rows->rows();
}

const Rows* ascending_or_null(const std::string& name, const BoundRows* rows, int64_t users,
                              int64_t n_items) {
  if (rows) rows->require_ascending(name);
  return rows_or_null(name, rows, users, n_items);
}

// The items with the array that they are read from
struct BoundItems {
  Matrix<const float> vectors;
  PackedItems packed;
};

void pack(BoundItems* self, Matrix<const float> items, int threads) {
  require_rows("the number of items", length(items));
  require_columns("items", items);
  const WithoutGil release;
  new (self) BoundItems{items, {kernels(), items.data(), length(items), length(items, 1), threads}};
}

auto bound_rank(Matrix<const float> x, const BoundItems& bound, const BoundRows* hidden,
                const BoundRows* candidates, Maybe<uint8_t> eligible, const BoundRows* wanted, int64_t k,
                int64_t depth, int threads) {
  const PackedItems& items = bound.packed;
  const int64_t users = length(x), n_items = items.size;
  require(length(x, 1) == items.dim, "both sides' factors must have the same width");
  require(k >= 0 && k <= n_items, "k must be from 0 to the number of items");
  require(depth >= 0 && depth <= n_items, "depth must be from 0 to the number of items");
  if (eligible) require_length("eligible", length(*eligible), n_items);
  const Filter filter{ascending_or_null("hidden", hidden, users, n_items),
                      ascending_or_null("candidates", candidates, users, n_items), data_or_null(eligible)};
  const Rows* want = rows_or_null("wanted", wanted, users, n_items);
  static_assert(sizeof(Standing) == 3 * sizeof(int32_t));
  auto best = new_array<int32_t>(users, k);
  auto scores = new_array<float>(users, k);
  auto standings = new_array<int32_t>(wanted ? wanted->size() : 0, int64_t{3});
  {
    const WithoutGil release;
    const Ranking out{k, depth, best.data(), scores.data(), reinterpret_cast<Standing*>(standings.data())};
    if (!rank(kernels(), x.data(), users, items, filter, want, out, threads))
      throw std::overflow_error("a score overflows single precision");
  }
  return std::tuple(best, scores, standings);
}

}  // namespace

void register_ranking(nb::module_& m) {
  nb::class_<BoundItems>(m, "PackedItems",
                         "Items to be ranked: their array, which must not change, and a copy of a quarter of "
                         "its size.")
      .def("__init__", pack, "items"_a, "threads"_a);
  m.def(
      "rank", bound_rank, "x"_a, "items"_a, "hidden"_a.none(), "candidates"_a.none(), "eligible"_a.none(),
      "wanted"_a.none(), "k"_a, "depth"_a, "threads"_a,
      "(the k best items of each row of x, -1 where fewer are left; their scores; of each wanted item how "
      "many score higher, how many others equally, how many of those have a lower row, or depth, 0, 0 where "
      "depth or more score higher). A score beyond single precision is an OverflowError.");
}

}  // namespace ialspp
