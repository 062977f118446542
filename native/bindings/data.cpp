// How data comes in: ids become numbers, pairs become rows.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "arrow.h"
#include "bound_rows.h"
#include "csr.h"
#include "dictionary.h"
#include "modules.h"

using namespace nb::literals;

namespace ialspp {
namespace {

template <class Place>
auto sorted_pairs(const Array<const int32_t>& rows, const Array<const int32_t>& columns, int64_t n_rows,
                  int64_t n_columns, bool want_order) {
  const auto offsets = new_constant<int64_t>(n_rows + 1);
  const auto sorted = new_constant<int32_t>(length(rows));
  const auto order = new_array<Place>(want_order ? length(rows) : 0);
  {
    const WithoutGil release;
    sort_pairs(rows.data(), columns.data(), length(rows), n_rows, n_columns, offsets.data, sorted.data,
               want_order ? order.data() : nullptr);
  }
  return std::tuple(offsets.array, sorted.array, nb::object(nb::cast(order)));
}

auto bound_sort_pairs(Array<const int32_t> rows, Array<const int32_t> columns, int64_t n_rows,
                      int64_t n_columns, bool want_order) {
  require_rows("n_rows", n_rows);
  require_rows("n_columns", n_columns);
  require_length("columns", length(columns), length(rows));
  require_in_range("rows", rows, n_rows);
  require_in_range("columns", columns, n_columns);
  // 32 bits wherever they suffice: half the bytes to write at random.
  if (length(rows) <= std::numeric_limits<uint32_t>::max())
    return sorted_pairs<uint32_t>(rows, columns, n_rows, n_columns, want_order);
  return sorted_pairs<int64_t>(rows, columns, n_rows, n_columns, want_order);
}

template <class Value, class Place>
auto bound_gather(Array<const Value> values, Array<const Place> order) {
  const Place* place = order.data();
  const int64_t n = length(values);
  require_none(
      length(order), [=](int64_t i) { return place[i] < 0 || static_cast<int64_t>(place[i]) >= n; },
      "order must be from 0 to " + std::to_string(n - 1));
  auto out = new_array<Value>(length(order));
  {
    const WithoutGil release;
    gather(values.data(), order.data(), length(order), out.data());
  }
  return out;
}

// The bytes of numpy's bool may be others than 0 and 1: those of a view of integers are.
auto bound_sum_runs(Array<const float> values, Array<const bool> first) {
  const auto* starts = reinterpret_cast<const uint8_t*>(first.data());
  require_length("first", length(first), length(values));
  require(length(values) == 0 || starts[0], "a run must start at the first value");
  auto out = new_array<float>(length(first) - std::count(starts, starts + length(first), 0));
  {
    const WithoutGil release;
    sum_runs(values.data(), starts, length(values), out.data());
  }
  return out;
}

auto bound_mark_first(const BoundRows& rows) {
  auto first = new_array<bool>(rows.size());
  const auto left = new_constant<int64_t>(rows.rows().size + 1);
  {
    const WithoutGil release;
    mark_first(rows.rows().offsets, rows.rows().size, rows.rows().columns, first.data(), left.data);
  }
  return std::tuple(first, left.array);
}

// An array for values of the transpose, or none where the rows have none
auto array_like(const float* values, int64_t size) {
  return values ? std::optional(new_array<float>(size)) : std::nullopt;
}

auto bound_transpose(const BoundRows& bound) {
  const Rows& rows = bound.rows();
  const auto offsets = new_constant<int64_t>(bound.n_columns() + 1);
  const auto columns = new_constant<int32_t>(bound.size());
  auto labels = array_like(rows.labels, bound.size()), weights = array_like(rows.weights, bound.size());
  {
    const WithoutGil release;
    transpose(rows, bound.n_columns(), offsets.data, columns.data, labels ? labels->data() : nullptr,
              weights ? weights->data() : nullptr);
  }
  return std::tuple(offsets.array, columns.array, labels, weights);
}

auto bound_transposed_ranks(const BoundRows& bound) {
  const auto ranks = new_constant<uint32_t>(bound.size());
  {
    const WithoutGil release;
    transposed_ranks(bound.rows(), bound.n_columns(), ranks.data);
  }
  return ranks.array;
}

// `column` is what a data frame's column gives for __arrow_c_stream__().
auto bound_encode(Dictionary& dictionary, nb::capsule column) {
  require(std::string_view(column.name() ? column.name() : "") == "arrow_array_stream",
          "an Arrow stream is required");
  auto* stream = static_cast<arrow::Stream*>(column.data());
  require(stream->release, "an Arrow stream can be read once only");
  std::vector<int32_t> numbers;
  // The GIL is held here, since it also guards the dictionary against a second thread.
  arrow::for_each_chunk(*stream, [&](int64_t n, const auto& text) {
    numbers.resize(numbers.size() + n);
    dictionary.encode(n, text, numbers.data() + numbers.size() - n);
  });
  auto out = new_array<int32_t>(static_cast<int64_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), out.data());
  return out;
}

nb::typed<nb::list, nb::str> bound_texts(const Dictionary& dictionary) {
  nb::typed<nb::list, nb::str> texts;
  for (int64_t number = 0; number < dictionary.size(); ++number)
    texts.append(nb::str(dictionary[number].data(), dictionary[number].size()));
  return texts;
}

}  // namespace

void register_data(nb::module_& m) {
  nb::class_<BoundRows>(m, "Rows", "One side's interactions in CSR form.")
      .def(nb::init<Kept<int64_t>, Kept<int32_t>, int64_t, Maybe<float>, Maybe<float>>(), "offsets"_a,
           "columns"_a, "n_columns"_a, "labels"_a = nb::none(), "weights"_a = nb::none())
      .def("set_cache_order", &BoundRows::set_cache_order, "starts"_a, "ranks"_a,
           "Say where this side's interactions are in the other side's order, which the residuals have.")
      .def_prop_ro("has_cache_order", &BoundRows::has_cache_order, "Whether `set_cache_order` was called.")
      .def("__len__", [](const BoundRows& rows) { return rows.rows().size; });
  nb::class_<Dictionary>(m, "Dictionary", "Numbers texts in the order in which they are first seen.")
      .def(nb::init<>())
      .def("encode", bound_encode, "column"_a,
           "The number of each text of an Arrow stream; -1 where missing.")
      .def("texts", bound_texts, "All texts so far, in the order of their numbers.")
      .def("__len__", &Dictionary::size);
  m.def("sort_pairs", bound_sort_pairs, "rows"_a, "columns"_a, "n_rows"_a, "n_columns"_a, "want_order"_a,
        "Sort pairs: (offsets of each row, its columns ascending, where each pair was if wanted).");
  m.def("gather_floats", bound_gather<float, uint32_t>, "values"_a, "order"_a.noconvert(), "values[order].");
  m.def("gather_floats", bound_gather<float, int64_t>, "values"_a, "order"_a.noconvert());
  m.def("gather_doubles", bound_gather<double, uint32_t>, "values"_a, "order"_a.noconvert(),
        "values[order].");
  m.def("gather_doubles", bound_gather<double, int64_t>, "values"_a, "order"_a.noconvert());
  m.def("sum_runs", bound_sum_runs, "values"_a, "first"_a,
        "Sum runs of values; `first` marks where each run starts.");
  m.def("mark_first", bound_mark_first, "rows"_a,
        "(whether each entry is the first of its column in its row, the offsets of those that are).");
  m.def("transpose", bound_transpose, "rows"_a,
        "The transpose as (offsets, rows of each column, ascending, labels, weights).");
  m.def("transposed_ranks", bound_transposed_ranks, "rows"_a,
        "For each entry of the transpose its place in the row that it came from.");
}

}  // namespace ialspp
