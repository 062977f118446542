// Solves many small systems A x = g at once, one in each lane of the registers.
//
// A single system of 16 or 32 unknowns takes as long as its latencies: every pivot waits for the one before.
// For systems side by side the same Cholesky factorisation A = U'U is plain arithmetic on vectors, n^3/6 FMAs
// for kLanes systems.
#pragma once

#include "cholesky.h"

namespace ialspp::IALSPP_ISA {
namespace {

// U by rows, in the upper triangle; the diagonal keeps 1/u_kk. Columns are handled kLanes at a time, as they
// are loaded. Entries of such a group below the diagonal are never used.
template <int n>
struct Systems {
  Vector u[n][n];
  Vector g[n];
  Lanes sound;  // all bits set in the lanes where every pivot so far was good

  // Loads `count` systems, the i-th into lane i. The last one fills the lanes that are left.
  void load_from(const float* systems, int64_t stride, int64_t count) {
    const float* from[kLanes];
    for (int i = 0; i < kLanes; ++i) from[i] = systems + (i < count ? i : count - 1) * stride;
    const auto load_columns = [&](int64_t offset, Vector* v) {
      for (int i = 0; i < kLanes; ++i) v[i] = load(from[i] + offset);
      transpose(v);
    };
    for (int64_t c = 0; c < n; c += kLanes) {
      const int64_t panel = c / kPanel * n * kPanel + c % kPanel;
      for (int64_t r = 0; r < c + kLanes; ++r) load_columns(panel + r * kPanel, &u[r][c]);
      load_columns(n * n + c, g + c);
    }
  }

  // Row k of U is A's row k less what all earlier rows contribute, divided by the root of its pivot.
  void factor() {
    sound = Lanes{} - 1;
    for (int64_t k = 0; k < n; ++k) {
      const Vector original = u[k][k];
      const int64_t first = k / kLanes * kLanes;
      for (int64_t c = first; c < n; c += kLanes) subtract_earlier(k, c);
      const Vector pivot = u[k][k];
      sound &= (pivot > kPivotTolerance * original) & (pivot - pivot == 0.0f);
      const Vector inverse = 1.0f / square_root(pivot);
      for (int64_t c = first; c < n; ++c) u[k][c] *= inverse;
      u[k][k] = inverse;
    }
  }

  // columns c .. c + kLanes of row k  -=  sum_{m < k} u_mk u_mc
  void subtract_earlier(int64_t k, int64_t c) {
    Vector left[kLanes];
    for (int i = 0; i < kLanes; ++i) left[i] = u[k][c + i];
    for (int64_t m = 0; m < k; ++m) {
      const Vector scale = u[m][k];
      for (int i = 0; i < kLanes; ++i) left[i] -= scale * u[m][c + i];
    }
    for (int i = 0; i < kLanes; ++i) u[k][c + i] = left[i];
  }

  // Solves U'z = g, then Ux = z, in place
  void substitute() {
    for (int64_t k = 0; k < n; ++k) {
      g[k] *= u[k][k];
      for (int64_t c = k + 1; c < n; ++c) g[c] -= u[k][c] * g[k];
    }
    for (int64_t k = n - 1; k >= 0; --k) {
      g[k] *= u[k][k];
      for (int64_t r = 0; r < k; ++r) g[r] -= u[r][k] * g[k];
      sound &= g[k] - g[k] == 0.0f;
    }
  }

  void store_to(float* systems, int64_t stride, int64_t count, bool* solved) {
    for (int c = 0; c < n; c += kLanes) {
      transpose(g + c);
      for (int i = 0; i < count; ++i) store(systems + i * stride + n * n + c, g[c + i]);
    }
    for (int i = 0; i < count; ++i) solved[i] = sound[i] != 0;
  }
};

template <int n>
void solve_in_lanes(float* systems, int64_t stride, int64_t count, bool* solved) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t some = count - i < kLanes ? count - i : kLanes;
    Systems<n> lanes;
    lanes.load_from(systems + i * stride, stride, some);
    lanes.factor();
    lanes.substitute();
    lanes.store_to(systems + i * stride, stride, some, solved + i);
  }
}

// systems: each A panel-major (add_outer's layout), then g, which becomes x
void solve(float* systems, int64_t stride, int64_t count, int64_t n_panels, bool* solved) {
  if (n_panels == 1) return solve_in_lanes<16>(systems, stride, count, solved);
  if (n_panels == 2) return solve_in_lanes<32>(systems, stride, count, solved);
  const int64_t width = n_panels * kPanel;
  for (int64_t i = 0; i < count; ++i) {
    float* system = systems + i * stride;
    solved[i] = solve_one(system, n_panels, system + width * width);
  }
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
