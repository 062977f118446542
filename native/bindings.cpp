// The only file that knows Python. Shapes are checked here, once a call, so that a wrong one is an
// exception and never a crash; everything else about the data is Python's to validate.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "csr.h"
#include "dispatch.h"
#include "factors.h"
#include "solvers/solvers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ialspp {
namespace {

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Maybe = std::optional<Array<const T>>;

// Python below 3.14 ends a daemon thread that asks for the GIL while the interpreter shuts down by
// unwinding its stack, which C++ answers with abort(). Such a thread sleeps here instead until the process
// is gone, as it does from 3.14 on.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

int64_t length(const auto& array, size_t axis = 0) { return static_cast<int64_t>(array.shape(axis)); }

void require(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

// None of n entries may be bad; the message says where the first one is.
void require_none(int64_t n, const auto& bad, const std::string& message) {
  const WithoutGil release;
  for (int64_t i = 0; i < n; ++i)
    if (bad(i)) throw std::invalid_argument(message + ", at position " + std::to_string(i));
}

void require_length(const std::string& name, int64_t got, int64_t wanted) {
  if (got != wanted)
    throw std::invalid_argument("length of " + name + " must be " + std::to_string(wanted) + ", got " +
                                std::to_string(got));
}

void require_in_range(const std::string& name, const Array<const int32_t>& values, int64_t end) {
  const int32_t* value = values.data();
  require_none(
      length(values), [=](int64_t i) { return value[i] < 0 || value[i] >= end; },
      name + " must be from 0 to " + std::to_string(end - 1));
}

template <class T>
const T* data_or_null(const Maybe<T>& array) {
  return array ? array->data() : nullptr;
}

template <class T, class... Shape>
auto new_array(Shape... shape) {
  size_t size = 1;
  ((size *= static_cast<size_t>(shape)), ...);
  T* data = new T[size];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(Shape)>, nb::c_contig>(
      data, {static_cast<size_t>(shape)...}, owner);
}

// Arrays of one side, checked when made, so that no index read later can point outside.
class BoundRows {
 public:
  BoundRows(Array<const int64_t> offsets, Array<const int32_t> columns, int64_t n_columns,
            Maybe<float> labels, Maybe<float> weights)
      : offsets_(offsets), columns_(columns), labels_(labels), weights_(weights) {
    const int64_t n = length(columns);
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

  // ranks: where each interaction stands in its column's own list; see residuals.h
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

Side side_of(const BoundRows& rows, const Matrix<float>& factors, const Array<const float>& lambda) {
  require_length("factors", length(factors), rows.rows().size);
  require_length("regularization", length(lambda), rows.rows().size);
  return {rows.rows(), factors.data(), lambda.data(), length(factors, 1)};
}

void require_other(const BoundRows& rows, const auto& factors, const Matrix<const float>& other) {
  require(factors.shape(1) >= 1, "factors must have at least one column");
  require_length("other", length(other), rows.n_columns());
  require(other.shape(1) == factors.shape(1), "both sides' factors must have the same width");
}

void require_gramian(const Matrix<const double>& gramian, int64_t dim, int64_t width) {
  require_length("gramian", length(gramian), dim);
  require_length("gramian's rows", length(gramian, 1), width);
}

std::pair<double, int64_t> as_pair(const Outcome& outcome) { return {outcome.observed, outcome.failed_row}; }

std::pair<double, int64_t> bound_solve_rows(const BoundRows& rows, Matrix<float> factors,
                                            Array<const float> lambda, Matrix<const float> other,
                                            Matrix<const double> gramian, float alpha0, bool want_loss,
                                            int threads) {
  const Side side = side_of(rows, factors, lambda);
  require_other(rows, factors, other);
  require_gramian(gramian, side.dim, side.dim);
  const WithoutGil release;
  const Block all(0, side.dim, side.dim, gramian.data(), side.dim, alpha0);
  return as_pair(solve_rows(kernels(), side, {other.data(), side.dim, side.dim}, all, want_loss, threads));
}

int64_t bound_update_block(const BoundRows& rows, Matrix<float> factors, Array<const float> lambda,
                           Matrix<const float> other, Matrix<const double> gramian, float alpha0,
                           int64_t begin, Array<float> residuals, int threads) {
  const Side side = side_of(rows, factors, lambda);
  require_other(rows, factors, other);
  const int64_t width = length(gramian, 1);
  require(begin >= 0 && width >= 1 && width <= side.dim && begin <= side.dim - width,
          "block outside the factors");
  require_gramian(gramian, side.dim, width);
  const Residuals cache = rows.residuals(residuals);
  const WithoutGil release;
  const AlignedFloats packed =
      pack_columns(other.data(), length(other), side.dim, begin, begin + width, threads);
  const Block block(begin, width, side.dim, gramian.data(), width, alpha0);
  return update_block(kernels(), side, {packed.data(), padded(width), width}, block, cache, threads)
      .failed_row;
}

std::pair<double, int64_t> bound_update_side(const BoundRows& rows, Matrix<float> factors,
                                             Array<const float> lambda, Matrix<const float> other,
                                             Matrix<const double> gramian, float alpha0, int64_t block_size,
                                             int threads) {
  const Side side = side_of(rows, factors, lambda);
  require_other(rows, factors, other);
  require_gramian(gramian, side.dim, side.dim);
  require(block_size >= 1, "block_size must be at least 1");
  const WithoutGil release;
  std::vector<Block> blocks;
  for (int64_t begin = 0; begin < side.dim; begin += block_size) {
    blocks.emplace_back(begin, std::min(block_size, side.dim - begin), side.dim, gramian.data() + begin,
                        side.dim, alpha0);
  }
  return as_pair(update_blocks_by_row(kernels(), side, {other.data(), side.dim, side.dim}, blocks, threads));
}

std::pair<double, int64_t> bound_improve_rows(const BoundRows& rows, Matrix<float> factors,
                                              Array<const float> lambda, Matrix<const float> other,
                                              Array<const float> spectrum, int64_t steps, float tolerance,
                                              int threads) {
  const Side side = side_of(rows, factors, lambda);
  require_other(rows, factors, other);
  require_length("spectrum", length(spectrum), side.dim);
  const WithoutGil release;
  return as_pair(improve_rows(kernels(), side, {other.data(), side.dim, side.dim}, spectrum.data(), steps,
                              tolerance, threads));
}

// Both sides in one call: a signal between the two would leave them in different bases.
void bound_rotate(Matrix<float> x, Matrix<float> y, Matrix<const double> q, int threads) {
  for (const auto& side : {x, y}) {
    require_length("q", length(q), length(side, 1));
    require_length("q's rows", length(q, 1), length(side, 1));
  }
  const WithoutGil release;
  rotate(kernels(), x.data(), length(x), length(x, 1), q.data(), threads);
  rotate(kernels(), y.data(), length(y), length(y, 1), q.data(), threads);
}

int64_t bound_update_coordinate(const BoundRows& rows, Matrix<float> factors, Array<const float> lambda,
                                Matrix<const float> other, Array<const float> gramian_column, float alpha0,
                                int64_t f, Array<float> residuals, int threads) {
  const Side side = side_of(rows, factors, lambda);
  require_other(rows, factors, other);
  require(f >= 0 && f < side.dim, "coordinate outside the factors");
  require_length("gramian_column", length(gramian_column), side.dim);
  const Residuals cache = rows.residuals(residuals);
  const WithoutGil release;
  std::vector<float> column(other.shape(0));
  for (size_t i = 0; i < column.size(); ++i) column[i] = other.data()[i * side.dim + f];
  return update_coordinate(kernels(), side, f, column.data(), gramian_column.data(), alpha0, cache, threads)
      .failed_row;
}

auto bound_predict(const BoundRows& rows, Matrix<const float> factors, Matrix<const float> other,
                   int threads) {
  require_length("factors", length(factors), rows.rows().size);
  require_other(rows, factors, other);
  auto out = new_array<float>(rows.size());
  const int64_t dim = length(factors, 1);
  {
    const WithoutGil release;
    const Side side{rows.rows(), const_cast<float*>(factors.data()), nullptr, dim};  // only read
    predict(kernels(), side, {other.data(), dim, dim}, out.data(), threads);
  }
  return out;
}

auto bound_gramian(Matrix<const float> x, int64_t begin, int64_t end, int threads) {
  const int64_t dim = length(x, 1);
  require(begin >= 0 && begin < end && end <= dim, "columns outside the factors");
  auto out = new_array<double>(dim, end - begin);
  {
    const WithoutGil release;
    gramian(kernels(), x.data(), length(x), dim, begin, end, out.data(), threads);
  }
  return out;
}

auto bound_scores(Matrix<const float> x, Matrix<const float> items, int threads) {
  require(x.shape(1) == items.shape(1), "both sides' factors must have the same width");
  auto out = new_array<float>(length(x), length(items));
  {
    const WithoutGil release;
    scores(kernels(), x.data(), length(x), items.data(), length(items), length(x, 1), out.data(), threads);
  }
  return out;
}

double bound_weighted_squared_norm(Matrix<const float> x, Array<const float> weights, int threads) {
  require_length("weights", length(weights), length(x));
  const WithoutGil release;
  return weighted_squared_norm(kernels(), x.data(), weights.data(), length(x), length(x, 1), threads);
}

double bound_squared_sum(Array<const float> x, int threads) {
  const WithoutGil release;
  return squared_sum_of(kernels(), x.data(), length(x), threads);
}

auto bound_group(Array<const int32_t> keys, Array<const int32_t> values, int64_t n_keys, bool want_order) {
  require(n_keys >= 0, "n_keys must not be negative");
  require_length("values", length(values), length(keys));
  require_in_range("keys", keys, n_keys);
  auto offsets = new_array<int64_t>(n_keys + 1);
  auto grouped = new_array<int32_t>(length(keys));
  auto order = new_array<int64_t>(want_order ? length(keys) : 0);
  {
    const WithoutGil release;
    group(keys.data(), values.data(), length(keys), n_keys, offsets.data(), grouped.data(),
          want_order ? order.data() : nullptr);
  }
  return std::tuple(offsets, grouped, order);
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

unsigned long main_thread = 0;

// Python runs signal handlers on its main thread only; any other need not ask, and at the end of the
// process must not.
bool signal_arrived() {
  if (PyThread_get_thread_ident() != main_thread) return false;
  const nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

}  // namespace
}  // namespace ialspp

NB_MODULE(_core, m) {
  using namespace ialspp;
  m.doc() = "The compiled core: one call updates one side of a factorisation.";
  main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  set_poll(signal_arrived);
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // a traceback kept to the end of the process is no leak of ours
#endif
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Interrupted&) {
      // signal_arrived() has set the Python error, KeyboardInterrupt as a rule
    }
  });

  nb::class_<BoundRows>(m, "Rows", "One side's interactions in CSR form.")
      .def(nb::init<Array<const int64_t>, Array<const int32_t>, int64_t, Maybe<float>, Maybe<float>>(),
           "offsets"_a, "columns"_a, "n_columns"_a, "labels"_a = nb::none(), "weights"_a = nb::none())
      .def("set_cache_order", &BoundRows::set_cache_order, "starts"_a, "ranks"_a,
           "Say where this side's interactions stand in the other side's order.")
      .def("__len__", [](const BoundRows& rows) { return rows.rows().size; });

  // noconvert where a call writes: a converted copy would be updated, and thrown away.
  m.def("solve_rows", bound_solve_rows, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "gramian"_a, "alpha0"_a, "want_loss"_a, "threads"_a,
        "iALS: solve every row exactly; (observed loss, first failed row or -1).");
  m.def("update_block", bound_update_block, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "gramian"_a, "alpha0"_a, "begin"_a, "residuals"_a.noconvert(), "threads"_a,
        "iALS++: one block of every row, residuals cached; first failed row or -1.");
  m.def("update_side", bound_update_side, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "gramian"_a, "alpha0"_a, "block_size"_a, "threads"_a,
        "iALS++: all blocks of every row; (observed loss, first failed row or -1).");
  m.def("update_coordinate", bound_update_coordinate, "rows"_a, "factors"_a.noconvert(), "regularization"_a,
        "other"_a, "gramian_column"_a, "alpha0"_a, "f"_a, "residuals"_a.noconvert(), "threads"_a,
        "iCD: one coordinate of every row, residuals cached; first failed row or -1.");
  m.def("improve_rows", bound_improve_rows, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "spectrum"_a, "steps"_a, "tolerance"_a, "threads"_a,
        "SpectralCG: conjugate gradients in every row; (observed loss, first failed row or -1).");
  m.def("rotate", bound_rotate, "x"_a.noconvert(), "y"_a.noconvert(), "q"_a, "threads"_a,
        "X = X Q and Y = Y Q, both or neither.");
  m.def("predict", bound_predict, "rows"_a, "factors"_a, "other"_a, "threads"_a,
        "sqrt(a) (<x,h> - y) for every interaction, in the rows' order.");
  m.def("gramian", bound_gramian, "x"_a, "begin"_a, "end"_a, "threads"_a, "X' X[:, begin:end].");
  m.def("scores", bound_scores, "x"_a, "items"_a, "threads"_a, "X Y'.");
  m.def("weighted_squared_norm", bound_weighted_squared_norm, "x"_a, "weights"_a, "threads"_a,
        "sum_r weights[r] |x_r|^2.");
  m.def("squared_sum", bound_squared_sum, "x"_a, "threads"_a, "sum_i x[i]^2.");
  m.def("group", bound_group, "keys"_a, "values"_a, "n_keys"_a, "want_order"_a,
        "(offsets of each key's run, the values run by run, where each was if wanted).");
  m.def("transpose", bound_transpose, "rows"_a,
        "(offsets, rows of each column, ascending, each entry's place in its row).");

  m.def("isa", [] { return std::string(kernels().name); }, "The instruction set in use.");
  m.def("available_isas", available_isas, "Instruction sets this machine can run, slowest first.");
  m.def("known_isas", known_isas, "Instruction sets this build has kernels for.");
  m.def("select_isa", select_isa, "name"_a, "Use another instruction set from now on.");
}
