// One vector register of the instruction set this file is being compiled for.
//
// Every file under kernels/ is compiled once for each instruction set, inside a namespace of that name, with
// internal linkage. None of them uses templates of the standard library: the linker might keep the AVX-512
// copy of one for all, also for a machine without AVX.
#pragma once

#include <cstdint>

#include "../types.h"

#if !defined(IALSPP_ISA) || !defined(IALSPP_VECTOR_BYTES) || !defined(IALSPP_TILE_ROWS)
#error "kernels are compiled by CMake, once per instruction set"
#endif

namespace ialspp::IALSPP_ISA {
namespace {

constexpr int kLanes = IALSPP_VECTOR_BYTES / 4;
constexpr int kVectors = static_cast<int>(kPanel) / kLanes;  // registers that hold a panel's row

// Rows of a tile, which has kTileRows * kVectors accumulators. Two FMA ports times four cycles of latency
// need at least eight in flight. AVX2 has registers for twelve, AVX-512 and NEON for sixteen.
constexpr int kTileRows = IALSPP_TILE_ROWS;

typedef float Vector __attribute__((vector_size(IALSPP_VECTOR_BYTES)));
typedef float UnalignedVector __attribute__((vector_size(IALSPP_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t Lanes __attribute__((vector_size(IALSPP_VECTOR_BYTES)));

inline Vector load(const float* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
inline void store(float* p, Vector v) { *reinterpret_cast<UnalignedVector*>(p) = v; }

// lane i of the result: lane index[i] of a and b laid end to end
#if defined(__clang__)
inline Vector pick(Vector a, Vector b, Lanes index) {
  Vector out;
  for (int i = 0; i < kLanes; ++i) out[i] = index[i] < kLanes ? a[index[i]] : b[index[i] - kLanes];
  return out;
}
#else
inline Vector pick(Vector a, Vector b, Lanes index) { return __builtin_shuffle(a, b, index); }
#endif

struct Sum {
  Vector operator()(Vector a, Vector b) const { return a + b; }
};

struct Maximum {
  Vector operator()(Vector a, Vector b) const { return a > b ? a : b; }
};

// Adds up (or combines otherwise) neighbouring groups of `width` lanes of a and b, and interleaves the
// results. Applied with width 1, 2, 4, ... to pairs, pairs of pairs, ..., it leaves the sum of input vector i
// in lane i.
template <int width, class Combine>
inline Vector combine_neighbours(Vector a, Vector b, Combine combine) {
  Lanes low, high;
  for (int i = 0; i < kLanes; ++i) {
    const int within = i % width, group = i / width;
    const int start = (group / 2) * 2 * width + (group % 2) * kLanes;
    low[i] = start + within;
    high[i] = start + width + within;
  }
  return combine(pick(a, b, low), pick(a, b, high));
}

// lane i of the result is the sum (or another combination) of all lanes of v[i]; v has kLanes vectors and is
// overwritten
template <int width = 1, class Combine = Sum>
inline Vector sum_each(Vector* v, Combine combine = {}) {
  if constexpr (width == kLanes) {
    return v[0];
  } else {
    for (int i = 0; i < kLanes / (2 * width); ++i)
      v[i] = combine_neighbours<width>(v[2 * i], v[2 * i + 1], combine);
    return sum_each<2 * width>(v, combine);
  }
}

// In every run of 2 * width lanes: the first halves of a and b go beside each other into a, the second halves
// into b
template <int width>
inline void exchange(Vector& a, Vector& b) {
  Lanes first, second;
  for (int i = 0; i < kLanes; ++i) {
    const int within = i % (2 * width), start = i - within;
    first[i] = within < width ? start + within : kLanes + start + within - width;
    second[i] = first[i] + width;
  }
  const Vector low = pick(a, b, first);
  b = pick(a, b, second);
  a = low;
}

// Transposes the square matrix whose rows are kLanes vectors
template <int width = 1>
inline void transpose(Vector* v) {
  if constexpr (width < kLanes) {
    for (int i = 0; i < kLanes; ++i)
      if ((i & width) == 0) exchange<width>(v[i], v[i + width]);
    transpose<2 * width>(v);
  }
}

inline Vector square_root(Vector v) {
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}

inline float sum(Vector v) {
  float total = 0;
  for (int i = 0; i < kLanes; ++i) total += v[i];
  return total;
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
