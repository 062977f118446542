// A row as two numbers in half precision for each of its own: x = unit (high + low / kLowUnits).
//
// `high` is x / unit rounded to 11 bits, and `low` is what rounding took away, rounded to 11 bits too. Their
// exponents are alike, so that `low` has room as far down as `high`. Together they have the 24 bits of single
// precision but one.
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

#ifdef IALSPP_HALF
constexpr float kLowUnits = 4096;      // rounding takes away 2^-11 of a number at most
constexpr float kLargestHigh = 32768;  // what a smaller number loses by rounding is in range, times kLowUnits

// n is a multiple of kPanel. Returns whether all numbers are in range.
bool to_halves(const float* x, int64_t n, float unit, Half* high, Half* low) {
  Vector largest{};
  for (int64_t c = 0; c < n; c += kLanes) {
    const Vector scaled = load(x + c) * (1 / unit);
    const Vector size = scaled < 0 ? -scaled : scaled;
    largest = size > largest ? size : largest;
    store(high + c, scaled);
    store(low + c, (scaled - load(high + c)) * kLowUnits);
  }
  bool fits = true;
  for (int i = 0; i < kLanes; ++i) fits = fits && largest[i] < kLargestHigh;
  return fits;
}

void from_halves(const Half* high, const Half* low, int64_t n, float unit, float* x) {
  for (int64_t c = 0; c < n; c += kLanes)
    store(x + c, (load(high + c) + load(low + c) * (1 / kLowUnits)) * unit);
}
#endif

}  // namespace
}  // namespace ialspp::IALSPP_ISA
