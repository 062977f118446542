// How data comes in: ids become numbers, pairs become rows.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "arrow.h"
#include "bound_rows.h"
#include "csr.h"
#include "dictionary.h"
#include "integers.h"
#include "modules.h"

using namespace nb::literals;

namespace ialspp {
namespace {

// A range of rows or columns that a call is about: from `begin` to `end`, or to the last where that is None
Range checked_range(int64_t begin, std::optional<int64_t> end, int64_t n) {
  const Range range{begin, end.value_or(n)};
  require_between("begin", range.begin, 0, n);
  require_between("end", range.end, range.begin, n);
  return range;
}

// An array for values of the result, or none where the arguments have none
template <class Value>
auto array_like(const Value* values, int64_t size) {
  return values ? std::optional(new_array<Value>(size)) : std::nullopt;
}

template <class Result>
auto* data_of(const std::optional<Result>& array) {
  return array ? array->data() : nullptr;
}

auto bound_sort_pairs(Array<const int32_t> rows, Array<const int32_t> columns, int64_t n_rows,
                      int64_t n_columns, Maybe<float> labels, Maybe<float> weights, Maybe<double> times,
                      int64_t begin, std::optional<int64_t> end, int threads) {
  require_rows("n_rows", n_rows);
  require_rows("n_columns", n_columns);
  require_length("columns", length(columns), length(rows));
  if (labels) require_length("labels", length(*labels), length(rows));
  if (weights) require_length("weights", length(*weights), length(rows));
  if (times) require_length("times", length(*times), length(rows));
  require_in_range("rows", rows, n_rows);
  require_in_range("columns", columns, n_columns);
  const Range range = checked_range(begin, end, n_rows);
  const Pairs pairs{length(rows),         rows.data(),           columns.data(),
                    data_or_null(labels), data_or_null(weights), data_or_null(times)};
  const auto offsets = new_constant<int64_t>(range.size() + 1);
  {
    const WithoutGil release;
    offsets_of(pairs.rows, pairs.size, range, offsets.data, threads);
  }
  const int64_t size = offsets.data[range.size()];
  const auto sorted = new_constant<int32_t>(size);
  auto its_labels = array_like(pairs.labels, size), its_weights = array_like(pairs.weights, size);
  auto its_times = array_like(pairs.times, size);
  {
    const WithoutGil release;
    sort_pairs(pairs, range, offsets.data,
               {sorted.data, data_of(its_labels), data_of(its_weights), data_of(its_times)}, threads);
  }
  return std::tuple(offsets.array, sorted.array, its_labels, its_weights, its_times);
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

Constant<int64_t> column_offsets(const BoundRows& bound, Range range, int threads) {
  const auto offsets = new_constant<int64_t>(range.size() + 1);
  const WithoutGil release;
  offsets_of(bound.rows().columns, bound.size(), range, offsets.data, threads);
  return offsets;
}

auto bound_transpose(const BoundRows& bound, int64_t begin, std::optional<int64_t> end, int threads) {
  const Rows& rows = bound.rows();
  const Range range = checked_range(begin, end, bound.n_columns());
  const auto offsets = column_offsets(bound, range, threads);
  const int64_t size = offsets.data[range.size()];
  const auto columns = new_constant<int32_t>(size);
  auto labels = array_like(rows.labels, size), weights = array_like(rows.weights, size);
  {
    const WithoutGil release;
    transpose(rows, range, offsets.data, columns.data, data_of(labels), data_of(weights), threads);
  }
  return std::tuple(offsets.array, columns.array, labels, weights);
}

auto bound_transposed_ranks(const BoundRows& bound, int threads) {
  const Range all{0, bound.n_columns()};
  const auto offsets = column_offsets(bound, all, threads);
  const auto ranks = new_constant<uint32_t>(bound.size());
  {
    const WithoutGil release;
    transposed_ranks(bound.rows(), all, offsets.data, ranks.data, threads);
  }
  return ranks.array;
}

auto bound_offsets_of(Array<const int32_t> keys, int64_t n, int threads) {
  require_rows("n", n);
  require_in_range("keys", keys, n);
  const auto offsets = new_constant<int64_t>(n + 1);
  {
    const WithoutGil release;
    offsets_of(keys.data(), length(keys), {0, n}, offsets.data, threads);
  }
  return offsets.array;
}

auto bound_find_core(const BoundRows& bound, int64_t least, int64_t column_least, int threads) {
  auto in_rows = new_array<uint8_t>(bound.rows().size), in_columns = new_array<uint8_t>(bound.n_columns());
  {
    const WithoutGil release;
    find_core(bound.rows(), bound.n_columns(), least, column_least, in_rows.data(), in_columns.data(),
              threads);
  }
  return std::tuple(in_rows, in_columns);
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

template <class T>
auto as_array(const std::vector<T>& values) {
  auto out = new_array<T>(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

auto bound_integers(const Dictionary& dictionary) {
  const auto found = dictionary.integers();
  return found ? std::optional(as_array(*found)) : std::nullopt;
}

// The texts in ascending order, as Arrow has them
auto bound_sorted(const Dictionary& dictionary) {
  const std::vector<int32_t> order = dictionary.order();
  auto offsets = new_array<int64_t>(dictionary.size() + 1);
  auto characters = new_array<uint8_t>(dictionary.bytes());
  offsets.data()[0] = 0;
  for (int64_t i = 0; i < dictionary.size(); ++i) {
    const std::string_view text = dictionary[order[i]];
    std::copy(text.begin(), text.end(), characters.data() + offsets.data()[i]);
    offsets.data()[i + 1] = offsets.data()[i] + static_cast<int64_t>(text.size());
  }
  return std::tuple(as_array(order), offsets, characters);
}

auto bound_encode_integers(IntegerDictionary& dictionary, Array<const int64_t> keys) {
  auto out = new_array<int32_t>(length(keys));
  dictionary.encode(length(keys), keys.data(), out.data());  // the GIL guards the dictionary, here too
  return out;
}

auto bound_keys(const IntegerDictionary& dictionary) {
  auto keys = new_array<int64_t>(dictionary.size());
  dictionary.copy_keys(keys.data());
  return keys;
}

}  // namespace

void register_data(nb::module_& m) {
  nb::class_<BoundRows>(m, "Rows", "One side's interactions in CSR form.")
      .def(nb::init<Kept<int64_t>, Kept<int32_t>, int64_t, Maybe<float>, Maybe<float>, Maybe<int64_t>>(),
           "offsets"_a, "columns"_a, "n_columns"_a, "labels"_a = nb::none(), "weights"_a = nb::none(),
           "shards"_a = nb::none())
      .def("set_cache_order", &BoundRows::set_cache_order, "starts"_a, "ranks"_a,
           "Say where this side's interactions are in the other side's order, which the residuals have.")
      .def_prop_ro("has_cache_order", &BoundRows::has_cache_order, "Whether `set_cache_order` was called.")
      .def("ascends", &BoundRows::ascends, "Whether the columns of every row strictly ascend.")
      .def("__len__", [](const BoundRows& rows) { return rows.rows().size; });
  nb::class_<Dictionary>(m, "Dictionary", "Numbers texts in the order in which they are first seen.")
      .def(nb::init<>())
      .def("encode", bound_encode, "column"_a,
           "The number of each text of an Arrow stream; -1 where missing.")
      .def("sorted", bound_sorted,
           "The texts in ascending order: (the number of each, where each starts, the UTF-8 of all).")
      .def("integers", bound_integers,
           "The texts as integers of 64 bits, in the order of their numbers; None if one is not written so.")
      .def("__len__", &Dictionary::size);
  nb::class_<IntegerDictionary>(m, "IntegerDictionary",
                                "Numbers integers in the order in which they are first seen.")
      .def(nb::init<>())
      .def("encode", bound_encode_integers, "keys"_a, "The number of each integer.")
      .def("keys", bound_keys, "All integers so far, in the order of their numbers.")
      .def("__len__", &IntegerDictionary::size);
  m.def("sort_pairs", bound_sort_pairs, "rows"_a, "columns"_a, "n_rows"_a, "n_columns"_a,
        "labels"_a = nb::none(), "weights"_a = nb::none(), "times"_a = nb::none(), "begin"_a = 0,
        "end"_a = nb::none(), "threads"_a = 1,
        "Sort the pairs of rows begin .. end: (offsets of each row, its columns ascending, labels, weights, "
        "times); equal pairs keep their order.");
  m.def("sum_runs", bound_sum_runs, "values"_a, "first"_a,
        "Sum runs of values; `first` marks where each run starts.");
  m.def("mark_first", bound_mark_first, "rows"_a,
        "(whether each entry is the first of its column in its row, the offsets of those that are).");
  m.def("transpose", bound_transpose, "rows"_a, "begin"_a = 0, "end"_a = nb::none(), "threads"_a = 1,
        "Columns begin .. end of the transpose: (offsets, rows of each column, ascending, labels, weights).");
  m.def("transposed_ranks", bound_transposed_ranks, "rows"_a, "threads"_a = 1,
        "For each entry of the transpose its place in the row that it came from.");
  m.def("offsets_of", bound_offsets_of, "keys"_a, "n"_a, "threads"_a = 1,
        "Where the run of each of n keys starts when they are sorted, and where the last ends.");
  m.def("find_core", bound_find_core, "rows"_a, "least"_a, "column_least"_a, "threads"_a = 1,
        "The k-core: (1 for each row that is in it, else 0; the same for columns).");
}

}  // namespace ialspp
