// Sums and products over whole factor matrices.
#include "factors.h"

#include "bound_shards.h"
#include "dispatch.h"
#include "modules.h"

using namespace nb::literals;

namespace ialspp {
namespace {

constexpr int64_t kShards = 16;  // of sums for which Python gives none

void require_square(const std::string& name, const Matrix<const double>& matrix, const std::string& side,
                    const Matrix<float>& factors) {
  require_columns(side, factors);
  require_length(name, length(matrix), length(factors, 1));
  require_length(name + "'s rows", length(matrix, 1), length(factors, 1));
}

// Changes both sides in one call, since a signal between two calls would leave the sides in different bases.
void bound_transform_both(Matrix<float> x, Matrix<const double> p, Matrix<float> y, Matrix<const double> q,
                          int threads) {
  require_square("p", p, "x", x);
  require_square("q", q, "y", y);
  const WithoutGil release;
  transform(kernels(), x.data(), length(x), length(x, 1), p.data(), threads);
  transform(kernels(), y.data(), length(y), length(y, 1), q.data(), threads);
}

void bound_transform(Matrix<float> x, Matrix<const double> q, int threads) {
  require_square("q", q, "x", x);
  const WithoutGil release;
  transform(kernels(), x.data(), length(x), length(x, 1), q.data(), threads);
}

auto bound_gramian(Matrix<const float> x, int64_t begin, int64_t end, int threads,
                   const Maybe<int64_t>& shards) {
  const int64_t dim = length(x, 1);
  require(begin >= 0 && begin < end && end <= dim, "columns outside the factors");
  const std::vector<int64_t> bounds = bounds_of(shards, length(x), kShards);
  auto out = new_array<double>(dim, end - begin);
  {
    const WithoutGil release;
    gramian(kernels(), x.data(), shards_of(bounds), dim, begin, end, out.data(), threads);
  }
  return out;
}

bool bound_copy_to_half(Matrix<const float> x, float unit, Matrix<uint16_t> out, int threads) {
  const Kernels& chosen = kernels();  // once: another thread may choose others
  require(chosen.to_half, "these kernels cannot write half precision");
  require_columns("x", x);
  require_length("out", length(out), length(x));
  require_length("out's rows", length(out, 1), padded(length(x, 1)));
  const WithoutGil release;
  return copy_to_half(chosen, x.data(), length(x), length(x, 1), unit, reinterpret_cast<Half*>(out.data()),
                      threads);
}

bool bound_round_to_halves(Matrix<float> x, float unit, int threads) {
  const Kernels& chosen = kernels();
  require(chosen.to_halves, "these kernels cannot read half precision");
  require_unit(unit);
  require_columns("x", x);
  require(length(x, 1) % kPanel == 0, "rows in halves must be whole panels");
  const WithoutGil release;
  return round_to_halves(chosen, x.data(), length(x), length(x, 1), unit, threads);
}

auto bound_weighted_column_squares(Matrix<const float> x, Array<const float> weights, int threads,
                                   const Maybe<int64_t>& shards) {
  require_columns("x", x);
  require_length("weights", length(weights), length(x));
  const std::vector<int64_t> bounds = bounds_of(shards, length(x), kShards);
  auto out = new_array<double>(length(x, 1));
  {
    const WithoutGil release;
    weighted_column_squares(kernels(), x.data(), weights.data(), shards_of(bounds), length(x, 1), out.data(),
                            threads);
  }
  return out;
}

int64_t bound_padded(int64_t width) {
  require_between("width", width, 0, std::numeric_limits<int64_t>::max() - kPanel);
  return padded(width);
}

double bound_squared_sum(Array<const float> x, int threads) {
  const WithoutGil release;
  return squared_sum_of(kernels(), x.data(), length(x), threads);
}

}  // namespace

void register_factors(nb::module_& m) {
  m.def("transform_both", bound_transform_both, "x"_a.noconvert(), "p"_a, "y"_a.noconvert(), "q"_a,
        "threads"_a, "X = X P and Y = Y Q in place, both or neither.");
  m.def("transform", bound_transform, "x"_a.noconvert(), "q"_a, "threads"_a, "X = X Q in place.");
  m.def("padded", bound_padded, "width"_a, "The width of a copy's rows.");
  m.def("has_half", [] { return kernels().to_half != nullptr; }, "Whether kernels can read half precision.");
  m.def("copy_to_half", bound_copy_to_half, "x"_a, "unit"_a, "out"_a.noconvert(), "threads"_a,
        "out = X / unit in half precision, as bits; False where a number is beyond its range.");
  m.def("round_to_halves", bound_round_to_halves, "x"_a.noconvert(), "unit"_a, "threads"_a,
        "Round every row to what its halves can say; False where a number is beyond the range.");
  m.def("gramian", bound_gramian, "x"_a, "begin"_a, "end"_a, "threads"_a, "shards"_a = nb::none(),
        "X' X[:, begin:end], summed over shards of rows: where each begins, and where the last one ends.");
  m.def("weighted_column_squares", bound_weighted_column_squares, "x"_a, "weights"_a, "threads"_a,
        "shards"_a = nb::none(), "sum_r weights[r] x_rf^2 for every column f.");
  m.def("squared_sum", bound_squared_sum, "x"_a, "threads"_a, "sum_i x[i]^2.");
}

}  // namespace ialspp
