// Data on its way in: ids to numbers, pairs to rows.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

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

auto bound_sort_pairs(Array<const int32_t> rows, Array<const int32_t> columns, int64_t n_rows,
                      int64_t n_columns, bool want_order) {
  require(n_rows >= 0 && n_columns >= 0, "n_rows and n_columns must not be negative");
  require_length("columns", length(columns), length(rows));
  require_in_range("rows", rows, n_rows);
  require_in_range("columns", columns, n_columns);
  auto offsets = new_array<int64_t>(n_rows + 1);
  auto sorted = new_array<int32_t>(length(rows));
  auto order = new_array<int64_t>(want_order ? length(rows) : 0);
  {
    const WithoutGil release;
    sort_pairs(rows.data(), columns.data(), length(rows), n_rows, n_columns, offsets.data(), sorted.data(),
               want_order ? order.data() : nullptr);
  }
  return std::tuple(offsets, sorted, order);
}

auto bound_mark_first(const BoundRows& rows) {
  auto first = new_array<bool>(rows.size());
  auto left = new_array<int64_t>(rows.rows().size + 1);
  {
    const WithoutGil release;
    mark_first(rows.rows().offsets, rows.rows().size, rows.rows().columns, first.data(), left.data());
  }
  return std::tuple(first, left);
}

auto bound_transpose(const BoundRows& rows) {
  auto offsets = new_array<int64_t>(rows.n_columns() + 1);
  auto columns = new_array<int32_t>(rows.size());
  auto places = new_array<uint32_t>(rows.size());
  {
    const WithoutGil release;
    transpose(rows.rows().offsets, rows.rows().size, rows.rows().columns, rows.n_columns(), offsets.data(),
              columns.data(), places.data());
  }
  return std::tuple(offsets, columns, places);
}

// `column` is what a data frame's column gives for __arrow_c_stream__().
auto bound_encode(Dictionary& dictionary, nb::capsule column) {
  require(std::string_view(column.name() ? column.name() : "") == "arrow_array_stream",
          "an Arrow stream is required");
  auto* stream = static_cast<arrow::Stream*>(column.data());
  require(stream->release, "an Arrow stream can be read once only");
  std::vector<int32_t> numbers;
  // With the GIL held: it also guards the dictionary against a second thread.
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
      .def(nb::init<Array<const int64_t>, Array<const int32_t>, int64_t, Maybe<float>, Maybe<float>>(),
           "offsets"_a, "columns"_a, "n_columns"_a, "labels"_a = nb::none(), "weights"_a = nb::none())
      .def("set_cache_order", &BoundRows::set_cache_order, "starts"_a, "ranks"_a,
           "Say where this side's interactions stand in the other side's order.")
      .def("__len__", [](const BoundRows& rows) { return rows.rows().size; });
  nb::class_<Dictionary>(m, "Dictionary", "Text to numbers, in the order of first sight.")
      .def(nb::init<>())
      .def("encode", bound_encode, "column"_a,
           "The number of each text of an Arrow stream; -1 where missing.")
      .def("texts", bound_texts, "All texts so far, in the order of their numbers.")
      .def("__len__", &Dictionary::size);
  m.def("sort_pairs", bound_sort_pairs, "rows"_a, "columns"_a, "n_rows"_a, "n_columns"_a, "want_order"_a,
        "(offsets of each row, its columns ascending, where each pair was if wanted).");
  m.def("mark_first", bound_mark_first, "rows"_a,
        "(whether each entry is the first of its column in its row, the offsets of those that are).");
  m.def("transpose", bound_transpose, "rows"_a,
        "(offsets, rows of each column, ascending, each entry's place in its row).");
}

}  // namespace ialspp
