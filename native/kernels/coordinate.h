// iCD's inner loops (Algorithm 2, lines 8-16), which are scalar as the algorithm is. With s_j = sqrt(a_j)
// h_jf and the cached residual r_j = sqrt(a_j) (prediction - y_j):
//
//   gradient += sum_j r_j s_j      hessian += sum_j s_j^2      then      r_j -= step * s_j
#pragma once

#include "vector.h"

namespace ialspp::IALSPP_ISA {
namespace {

template <bool weighted>
inline float coordinate(const History& history, const float* other, int64_t j) {
  const float h = other[history.columns[j]];
  return weighted ? __builtin_sqrtf(history.weights[j]) * h : h;
}

template <bool weighted>
void sums_over(const History& history, const float* other, const float* residual, double* gradient,
               double* hessian) {
  float g = 0, a = 0;
  for (int64_t j = 0; j < history.size; ++j) {
    const float s = coordinate<weighted>(history, other, j);
    g += residual[j] * s;
    a += s * s;
  }
  *gradient += g;
  *hessian += a;
}

void coordinate_sums(const History& history, const float* other, const float* residual, double* gradient,
                     double* hessian) {
  if (history.weights)
    sums_over<true>(history, other, residual, gradient, hessian);
  else
    sums_over<false>(history, other, residual, gradient, hessian);
}

template <bool weighted>
void advance_over(const History& history, const float* other, float step, float* residual) {
  for (int64_t j = 0; j < history.size; ++j) residual[j] -= step * coordinate<weighted>(history, other, j);
}

void coordinate_advance(const History& history, const float* other, float step, float* residual) {
  if (history.weights)
    advance_over<true>(history, other, step, residual);
  else
    advance_over<false>(history, other, step, residual);
}

float dot(const float* x, const float* y, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void add_row(const float* x, float scale, int64_t n, float* sum) {
  for (int64_t i = 0; i < n; ++i) sum[i] += scale * x[i];
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
