// The solvers: each call updates one side of a factorisation, or one block or coordinate of it.
#include "solvers/solvers.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bound_rows.h"
#include "dispatch.h"
#include "factors.h"
#include "modules.h"
#include "products.h"

using namespace nb::literals;

namespace ialspp {
namespace {

constexpr int64_t kMostSteps = std::numeric_limits<int32_t>::max();
// Conjugate gradients need a step for each column, and a few more because of rounding. After this many there
// is only rounding error left, which a row without a tolerance would go on reducing for hours.
constexpr int64_t kMostStepsForEachColumn = 100;

// What the features of each row make of its vector; none without features
using Centres = std::optional<Matrix<const float>>;

Side side_of(const BoundRows& rows, const Matrix<float>& factors, const Array<const float>& lambda,
             const Centres& centres, float relaxation = 1) {
  require_length("factors", length(factors), rows.rows().size);
  require_length("regularization", length(lambda), rows.rows().size);
  require(relaxation > 0 && relaxation < 2, "relaxation must be between 0 and 2");
  if (centres) {
    require_length("centres", length(*centres), length(factors));
    require_length("centres' rows", length(*centres, 1), length(factors, 1));
  }
  return {rows.rows(),        factors.data(), lambda.data(),
          length(factors, 1), relaxation,     centres ? centres->data() : nullptr};
}

void require_other(const BoundRows& rows, const auto& factors, const auto& other) {
  require_columns("factors", factors);
  require_length("other", length(other), rows.n_columns());
  require(other.shape(1) == factors.shape(1), "both sides' factors must have the same width");
}

HalfColumns half_columns(const Kernels& chosen, const BoundRows& rows, const Matrix<float>& factors,
                         const Matrix<const uint16_t>& other, float unit) {
  require(chosen.to_half, "these kernels cannot read half precision");
  require_columns("factors", factors);
  require_length("other", length(other), rows.n_columns());
  require_length("other's rows", length(other, 1), padded(length(factors, 1)));
  return {reinterpret_cast<const Half*>(other.data()), length(other, 1), length(other, 1), unit};
}

void require_halves(const Kernels& chosen, const BoundRows& rows, const Matrix<float>& factors,
                    const Matrix<float>& other, float unit) {
  require(chosen.to_halves, "these kernels cannot read half precision");
  require_other(rows, factors, other);
  require_unit(unit);
  require(length(other, 1) % kPanel == 0, "rows in halves must be whole panels");
  require(other.data() != factors.data(), "the sides must not be the same array");
}

void require_gramian(const Matrix<const double>& gramian, int64_t dim, int64_t width) {
  require_length("gramian", length(gramian), dim);
  require_length("gramian's rows", length(gramian, 1), width);
}

std::pair<double, int64_t> as_pair(const Outcome& outcome) { return {outcome.observed, outcome.failed_row}; }

std::pair<double, int64_t> bound_solve_rows(const BoundRows& rows, Matrix<float> factors,
                                            Array<const float> lambda, Matrix<const float> other,
                                            Matrix<const double> gramian, float alpha0, bool want_loss,
                                            float relaxation, int threads, const Centres& centres) {
  const Side side = side_of(rows, factors, lambda, centres, relaxation);
  require_other(rows, factors, other);
  require_gramian(gramian, side.dim, side.dim);
  const WithoutGil release;
  const Block all(0, side.dim, side.dim, gramian.data(), side.dim, alpha0);
  return as_pair(solve_rows(kernels(), side, {other.data(), side.dim, side.dim}, all, want_loss, threads));
}

int64_t bound_update_block(const BoundRows& rows, Matrix<float> factors, Array<const float> lambda,
                           Matrix<const float> other, Matrix<const double> gramian, float alpha0,
                           int64_t begin, Array<float> residuals, float relaxation, int threads,
                           const Centres& centres) {
  const Side side = side_of(rows, factors, lambda, centres, relaxation);
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
                                             float relaxation, int threads, const Centres& centres) {
  const Side side = side_of(rows, factors, lambda, centres, relaxation);
  require_other(rows, factors, other);
  require_gramian(gramian, side.dim, side.dim);
  require(block_size >= 1, "block_size must be at least 1");
  const WithoutGil release;
  std::vector<Block> blocks;
  for (int64_t begin = 0; begin < side.dim; begin += block_size) {
    blocks.emplace_back(begin, std::min(block_size, side.dim - begin), side.dim, gramian.data() + begin,
                        side.dim, alpha0);
  }
  return as_pair(update_side(kernels(), side, {other.data(), side.dim, side.dim}, blocks, threads));
}

// What SpectralCG's rows are coupled by; none in the eigenbasis of the other side's Gramian
using Coupling = std::optional<Matrix<const double>>;

// What all calls of SpectralCG are given, checked
struct Improvement {
  Side side;
  const float* spectrum;
  const double* coupling;
  Descent descent;

  Improvement(const BoundRows& rows, const Matrix<float>& factors, const Array<const float>& lambda,
              const Array<const float>& diagonal, const Coupling& off_diagonal, int64_t steps,
              float tolerance, float relaxation, const Centres& centres)
      : side(side_of(rows, factors, lambda, centres, relaxation)),
        spectrum(diagonal.data()),
        coupling(off_diagonal ? off_diagonal->data() : nullptr) {
    require_length("spectrum", length(diagonal), side.dim);
    if (off_diagonal) {
      require_length("coupling", length(*off_diagonal), side.dim);
      require_length("coupling's rows", length(*off_diagonal, 1), side.dim);
    }
    require_between("steps", steps, 0, kMostSteps);
    descent = {std::min(steps, kMostStepsForEachColumn * side.dim), tolerance};
  }

  template <class Number>
  std::pair<double, int64_t> of(const Kernels& chosen, const ColumnsOf<Number>& other, int threads) const {
    return as_pair(improve_rows(chosen, side, other, spectrum, coupling, descent, threads));
  }
};

std::pair<double, int64_t> bound_improve_rows(const BoundRows& rows, Matrix<float> factors,
                                              Array<const float> lambda, Matrix<const float> other,
                                              Array<const float> spectrum, const Coupling& coupling,
                                              int64_t steps, float tolerance, float relaxation, int threads,
                                              const Centres& centres) {
  require_other(rows, factors, other);
  const Improvement improvement(rows, factors, lambda, spectrum, coupling, steps, tolerance, relaxation,
                                centres);
  const int64_t dim = length(other, 1);
  const WithoutGil release;
  return improvement.of(kernels(), Columns{other.data(), dim, dim}, threads);
}

std::pair<double, int64_t> bound_improve_rows_by_half(const BoundRows& rows, Matrix<float> factors,
                                                      Array<const float> lambda, Matrix<const uint16_t> other,
                                                      float unit, Array<const float> spectrum,
                                                      const Coupling& coupling, int64_t steps,
                                                      float tolerance, float relaxation, int threads,
                                                      const Centres& centres) {
  const Kernels& chosen = kernels();  // once: another thread may choose others
  const HalfColumns copy = half_columns(chosen, rows, factors, other, unit);
  const Improvement improvement(rows, factors, lambda, spectrum, coupling, steps, tolerance, relaxation,
                                centres);
  const WithoutGil release;
  return improvement.of(chosen, copy, threads);
}

std::optional<std::pair<double, int64_t>> bound_improve_rows_in_halves(
    const BoundRows& rows, Matrix<float> factors, Array<const float> lambda, Matrix<float> other, float unit,
    Array<const float> spectrum, const Coupling& coupling, int64_t steps, float tolerance, float relaxation,
    int threads, const Centres& centres) {
  const Kernels& chosen = kernels();
  require_halves(chosen, rows, factors, other, unit);
  const Improvement improvement(rows, factors, lambda, spectrum, coupling, steps, tolerance, relaxation,
                                centres);
  const WithoutGil release;
  const InHalves halves(chosen, other.data(), length(other), length(other, 1), unit, threads);
  if (!halves.fits()) return std::nullopt;
  return improvement.of(chosen, halves.columns(), threads);
}

int64_t bound_update_coordinate(const BoundRows& rows, Matrix<float> factors, Array<const float> lambda,
                                Matrix<const float> other, Array<const float> gramian_column, float alpha0,
                                int64_t f, Array<float> residuals, int threads, const Centres& centres) {
  const Side side = side_of(rows, factors, lambda, centres);
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

void bound_multiply_rows(const BoundRows& rows, Matrix<float> out, Array<const float> row_scales,
                         Matrix<const float> x, Array<const float> column_scales, int threads) {
  require_length("row_scales", length(row_scales), rows.rows().size);
  require_length("column_scales", length(column_scales), rows.n_columns());
  require_length("out", length(out), rows.rows().size);
  require_other(rows, out, x);
  const WithoutGil release;
  const int64_t dim = length(x, 1);
  multiply_rows(kernels(), rows.rows(), row_scales.data(), column_scales.data(), Columns{x.data(), dim, dim},
                dim, out.data(), threads);
}

void bound_multiply_rows_by_half(const BoundRows& rows, Matrix<float> out, Array<const float> row_scales,
                                 Matrix<const uint16_t> x, float unit, Array<const float> column_scales,
                                 int threads) {
  require_length("row_scales", length(row_scales), rows.rows().size);
  require_length("column_scales", length(column_scales), rows.n_columns());
  require_length("out", length(out), rows.rows().size);
  const Kernels& chosen = kernels();
  const HalfColumns copy = half_columns(chosen, rows, out, x, unit);
  const WithoutGil release;
  multiply_rows(chosen, rows.rows(), row_scales.data(), column_scales.data(), copy, length(out, 1),
                out.data(), threads);
}

bool bound_multiply_rows_in_halves(const BoundRows& rows, Matrix<float> out, Array<const float> row_scales,
                                   Matrix<float> x, float unit, Array<const float> column_scales,
                                   int threads) {
  require_length("row_scales", length(row_scales), rows.rows().size);
  require_length("column_scales", length(column_scales), rows.n_columns());
  require_length("out", length(out), rows.rows().size);
  const Kernels& chosen = kernels();
  require_halves(chosen, rows, out, x, unit);
  const WithoutGil release;
  const InHalves halves(chosen, x.data(), length(x), length(x, 1), unit, threads);
  if (!halves.fits()) return false;
  multiply_rows(chosen, rows.rows(), row_scales.data(), column_scales.data(), halves.columns(),
                length(out, 1), out.data(), threads);
  return true;
}

auto bound_absolute_row_sums(const BoundRows& rows, int threads) {
  auto out = new_array<double>(rows.rows().size);
  {
    const WithoutGil release;
    absolute_row_sums(rows.rows(), out.data(), threads);
  }
  return out;
}

auto bound_residuals(const BoundRows& rows, Matrix<const float> factors, Matrix<const float> other,
                     int threads) {
  require_length("factors", length(factors), rows.rows().size);
  require_other(rows, factors, other);
  auto out = new_array<float>(rows.size());
  const int64_t dim = length(factors, 1);
  {
    const WithoutGil release;
    const Side side{rows.rows(), const_cast<float*>(factors.data()), nullptr, dim};  // only read
    compute_residuals(kernels(), side, {other.data(), dim, dim}, out.data(), threads);
  }
  return out;
}

}  // namespace

void register_solvers(nb::module_& m) {
  // noconvert where a call writes: it would update a converted copy, which is thrown away.
  m.def("solve_rows", bound_solve_rows, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "gramian"_a, "alpha0"_a, "want_loss"_a, "relaxation"_a, "threads"_a, "centres"_a = nb::none(),
        "iALS: solve every row exactly; (observed loss, first failed row or -1).");
  m.def("update_block", bound_update_block, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "gramian"_a, "alpha0"_a, "begin"_a, "residuals"_a.noconvert(), "relaxation"_a, "threads"_a,
        "centres"_a = nb::none(),
        "iALS++ by block: update one block of every row, and the cached residuals; first failed row or -1.");
  m.def("update_side", bound_update_side, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
        "gramian"_a, "alpha0"_a, "block_size"_a, "relaxation"_a, "threads"_a, "centres"_a = nb::none(),
        "iALS++ by side: update all blocks of every row; (observed loss, first failed row or -1).");
  m.def("update_coordinate", bound_update_coordinate, "rows"_a, "factors"_a.noconvert(), "regularization"_a,
        "other"_a, "gramian_column"_a, "alpha0"_a, "f"_a, "residuals"_a.noconvert(), "threads"_a,
        "centres"_a = nb::none(),
        "iCD: update one coordinate of every row, and the cached residuals; first failed row or -1.");
  m.def(
      "improve_rows", bound_improve_rows, "rows"_a, "factors"_a.noconvert(), "regularization"_a, "other"_a,
      "spectrum"_a, "coupling"_a.none(), "steps"_a, "tolerance"_a, "relaxation"_a, "threads"_a,
      "centres"_a = nb::none(),
      "SpectralCG: take steps of conjugate gradients in every row; (observed loss, first failed row or -1).");
  m.def("improve_rows_by_half", bound_improve_rows_by_half, "rows"_a, "factors"_a.noconvert(),
        "regularization"_a, "other"_a.noconvert(), "unit"_a, "spectrum"_a, "coupling"_a.none(), "steps"_a,
        "tolerance"_a, "relaxation"_a, "threads"_a, "centres"_a = nb::none(),
        "improve_rows with the other side as a copy that copy_to_half made.");
  m.def("improve_rows_in_halves", bound_improve_rows_in_halves, "rows"_a, "factors"_a.noconvert(),
        "regularization"_a, "other"_a.noconvert(), "unit"_a, "spectrum"_a, "coupling"_a.none(), "steps"_a,
        "tolerance"_a, "relaxation"_a, "threads"_a, "centres"_a = nb::none(),
        "improve_rows with the other side in halves meanwhile, in place; None where it does not fit them.");
  m.def("multiply_rows", bound_multiply_rows, "rows"_a, "out"_a.noconvert(), "row_scales"_a, "x"_a,
        "column_scales"_a, "threads"_a,
        "out_r = row_scales_r sum_j a_j y_j column_scales_j x_j over the interactions j of row r.");
  m.def("multiply_rows_by_half", bound_multiply_rows_by_half, "rows"_a, "out"_a.noconvert(), "row_scales"_a,
        "x"_a.noconvert(), "unit"_a, "column_scales"_a, "threads"_a,
        "multiply_rows with x as a copy that copy_to_half made.");
  m.def("multiply_rows_in_halves", bound_multiply_rows_in_halves, "rows"_a, "out"_a.noconvert(),
        "row_scales"_a, "x"_a.noconvert(), "unit"_a, "column_scales"_a, "threads"_a,
        "multiply_rows with x in halves meanwhile, in place; False where it does not fit them.");
  m.def("absolute_row_sums", bound_absolute_row_sums, "rows"_a, "threads"_a,
        "sum_j |a_j y_j| over the interactions j of every row.");
  m.def("residuals", bound_residuals, "rows"_a, "factors"_a, "other"_a, "threads"_a,
        "sqrt(a) (<x,h> - y) for every interaction, in the rows' order.");
}

}  // namespace ialspp
