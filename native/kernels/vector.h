// One vector register of the instruction set this file is being compiled for.
//
// Every file under kernels/ is compiled once for each instruction set, inside a namespace of that name, with
// internal linkage. None of them uses templates of the standard library: the linker might keep the AVX-512
// copy of one for all, also for a machine without AVX.
#pragma once

#include <cstdint>

#include "../types.h"

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

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

// The first n numbers, n < kLanes, with zeros behind them; and back
inline Vector load_first(const float* p, int64_t n) {
#if defined(__AVX512F__) && IALSPP_VECTOR_BYTES == 64
  return (Vector)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1 << n) - 1), p);
#else
  Vector v{};
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}
inline void store_first(float* p, Vector v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
}

// Half precision, where the instruction set converts it
#if defined(__F16C__) && IALSPP_VECTOR_BYTES == 64
#define IALSPP_HALF 1
inline Vector load(const Half* p) {
  return (Vector)_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline void store(Half* p, Vector v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_maskz_cvtps_ph(0xffff, (__m512)v, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__) && IALSPP_VECTOR_BYTES == 32
#define IALSPP_HALF 1
inline Vector load(const Half* p) {
  return (Vector)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline void store(Half* p, Vector v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__ARM_NEON) && IALSPP_VECTOR_BYTES == 16
#define IALSPP_HALF 1
inline Vector load(const Half* p) {
  return (Vector)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<const uint16_t*>(p))));
}
inline void store(Half* p, Vector v) {
  vst1_u16(reinterpret_cast<uint16_t*>(p), vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
}
#endif

// Whether a comparison holds in any lane
#if defined(__AVX512F__) && IALSPP_VECTOR_BYTES == 64
inline bool any(Lanes holds) { return _mm512_test_epi32_mask((__m512i)holds, (__m512i)holds) != 0; }
#elif defined(__AVX2__) && IALSPP_VECTOR_BYTES == 32
inline bool any(Lanes holds) { return !_mm256_testz_si256((__m256i)holds, (__m256i)holds); }
#else
inline bool any(Lanes holds) {
  int32_t found = 0;
  for (int i = 0; i < kLanes; ++i) found |= holds[i];
  return found != 0;
}
#endif

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

// kLanes columns of a row, or those that are left at its end
struct WholeVector {
  int64_t begin;
  template <class Number>
  Vector load(const Number* row) const {
    return IALSPP_ISA::load(row + begin);
  }
  void store(Vector v, float* row) const { IALSPP_ISA::store(row + begin, v); }
};
struct PartOfVector {
  int64_t begin, size;
  Vector load(const float* row) const { return load_first(row + begin, size); }
  void store(Vector v, float* row) const { store_first(row + begin, v, size); }
#ifdef IALSPP_HALF
  Vector load(const Half* row) const { return IALSPP_ISA::load(row + begin); }  // padded: there is no part
#endif
};

// Calls use(WholeVector or PartOfVector) for all columns of rows of some width
template <class Use>
inline void for_each_vector(int64_t width, const Use& use) {
  int64_t c = 0;
  for (; c + kLanes <= width; c += kLanes) use(WholeVector{c});
  if (c < width) use(PartOfVector{c, width - c});
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
