// Vectors as whole numbers of 8 bits, and bounds of their dot products. A vector v is coded as v = s q + e:
// a scale s, whole numbers q, and a rest e. For x = s p + e and y = t q + f,
//
//   <x,y> = s t <p,q> + <s p, f> + <e, y>  <=  s t <p,q> + |s p| |f| + |e| |y|
//
// <p,q> takes a quarter of the memory and of the instructions of <x,y>, and the lengths on the right are
// computed once a vector. ranking.h says what rounding adds.
#pragma once

#include "matrix.h"

namespace ialspp::IALSPP_ISA {
namespace {

typedef uint8_t Bytes __attribute__((vector_size(IALSPP_VECTOR_BYTES)));
typedef uint8_t UnalignedBytes __attribute__((vector_size(IALSPP_VECTOR_BYTES), aligned(1), may_alias));
typedef int32_t UnalignedInteger __attribute__((aligned(1), may_alias));

inline Bytes load_bytes(const uint8_t* p) { return *reinterpret_cast<const UnalignedBytes*>(p); }

// The four bytes at p in every lane
inline Bytes load_quad(const int8_t* p) {
  return (Bytes)(Lanes{} + *reinterpret_cast<const UnalignedInteger*>(p));
}

// Each lane of the result: sum + the eight products of its bytes in y0 and x0, and in y1 and x1. y has no
// signs, x is from -kLevels to kLevels. Without VNNI products are added in 16 bits, four at a time:
// 4 * 255 * 31 < 2^15.
#if defined(__AVX512VNNI__) && IALSPP_VECTOR_BYTES == 64
constexpr int kLevels = 127;
inline Lanes add_products(Lanes sum, Bytes y0, Bytes x0, Bytes y1, Bytes x1) {
  sum = (Lanes)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)y0, (__m512i)x0);
  return (Lanes)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)y1, (__m512i)x1);
}
#elif defined(__AVX512BW__) && IALSPP_VECTOR_BYTES == 64
constexpr int kLevels = 31;
inline Lanes add_products(Lanes sum, Bytes y0, Bytes x0, Bytes y1, Bytes x1) {
  const __m512i pairs = _mm512_add_epi16(_mm512_maddubs_epi16((__m512i)y0, (__m512i)x0),
                                         _mm512_maddubs_epi16((__m512i)y1, (__m512i)x1));
  return sum + (Lanes)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
#elif defined(__AVX2__) && IALSPP_VECTOR_BYTES == 32
constexpr int kLevels = 31;
inline Lanes add_products(Lanes sum, Bytes y0, Bytes x0, Bytes y1, Bytes x1) {
  const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16((__m256i)y0, (__m256i)x0),
                                         _mm256_maddubs_epi16((__m256i)y1, (__m256i)x1));
  return sum + (Lanes)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
#else
constexpr int kLevels = 127;
inline Lanes add_products(Lanes sum, Bytes y0, Bytes x0, Bytes y1, Bytes x1) {
  for (int i = 0; i < IALSPP_VECTOR_BYTES; ++i)
    sum[i / 4] += y0[i] * static_cast<int8_t>(x0[i]) + y1[i] * static_cast<int8_t>(x1[i]);
  return sum;
}
#endif

// Without an instruction for products of 8 bits, products of floats are faster. AVX-512's width has bounds on
// any machine, for tests.
constexpr bool kHasBounds = IALSPP_VECTOR_BYTES >= 32;

// Codes n numbers. Vectors that are not finite or hardly differ from zero get zeros, and are all rest.
Coded encode(const float* v, int64_t n, int levels, int8_t* codes) {
  float largest = 0;
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float size = v[i] < 0 ? -v[i] : v[i];
    largest = size > largest ? size : largest;
    squares += static_cast<double>(v[i]) * v[i];
  }
  const double length = __builtin_sqrt(squares);
  const bool has_codes = largest >= kSmallestCoded && length <= kLongestCoded;
  const float scale = has_codes ? largest / static_cast<float>(levels) : 0.0f;
  const float per_level = has_codes ? static_cast<float>(levels) / largest : 0.0f;
  double rest = 0;
  int32_t sum = 0, coded = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float steps = has_codes ? v[i] * per_level : 0.0f;
    const auto code = static_cast<int32_t>(steps + (steps < 0 ? -0.5f : 0.5f));  // largest: exactly `levels`
    const double error = v[i] - static_cast<double>(scale) * code;
    rest += error * error;
    coded += code * code;
    sum += code;
    codes[i] = static_cast<int8_t>(code);
  }
  return {scale, length, scale * __builtin_sqrt(coded), __builtin_sqrt(rest), sum};
}

// A tile of products, and from them the bounds of `rows` users and `panels` panels of items
constexpr int kCodedRows = kVectors == 1 ? 12 : 4;

template <int rows, int panels>
void bounds_tile(const CodedUsers& users, int64_t first, const CodedPanels& items, int64_t panel, float* out,
                 int64_t out_stride) {
  constexpr int vectors = panels * kVectors;
  const int64_t depth = users.depth, at = panel * kPanel;
  const UserTerms* user = users.terms + first;
  const int8_t* x = users.codes + first * depth;
  const uint8_t* y = items.codes + at * depth;
  Lanes sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums[r][v] = Lanes{} + user[r].offset;
  for (int64_t c = 0; c < depth; c += kCodesTogether) {
    Bytes low[vectors], high[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const uint8_t* quad = y + (v / kVectors * depth + c) * kPanel + v % kVectors * IALSPP_VECTOR_BYTES;
      low[v] = load_bytes(quad);
      high[v] = load_bytes(quad + 4 * kPanel);
      if (v % kVectors == 0) {  // the same part of the next panels, which come from a distant cache
        __builtin_prefetch(quad + panels * depth * kPanel);
        __builtin_prefetch(quad + panels * depth * kPanel + 4 * kPanel);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const Bytes low_x = load_quad(x + r * depth + c), high_x = load_quad(x + r * depth + c + 4);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = add_products(sums[r][v], low[v], low_x, high[v], high_x);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) {
    const Vector scales = load(items.scales + at + v * kLanes),
                 lengths = load(items.lengths + at + v * kLanes), rests = load(items.rests + at + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const Vector products = __builtin_convertvector(sums[r][v], Vector) * scales;
      store(out + r * out_stride + v * kLanes, user[r].scale * products + user[r].least +
                                                   user[r].per_rest * rests + user[r].per_length * lengths);
    }
  }
}

// out (users x 16 n_panels, its rows out_stride apart): a number that the score does not exceed, for each
// user and item of the panels from `first_panel` on
void upper_bounds(const CodedUsers& users, const CodedPanels& items, int64_t first_panel, int64_t n_panels,
                  float* out, int64_t out_stride) {
  const int64_t tiles = (users.size + kCodedRows - 1) / kCodedRows;
  for (int64_t p = 0; p < n_panels; p += kPanelsBeside)
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t r = users.size * t / tiles, end = users.size * (t + 1) / tiles;
      with_rows<kCodedRows>(end - r, [&]<int n>() {
        float* target = out + r * out_stride + p * kPanel;
        if (p + kPanelsBeside <= n_panels)
          bounds_tile<n, kPanelsBeside>(users, r, items, first_panel + p, target, out_stride);
        else
          bounds_tile<n, 1>(users, r, items, first_panel + p, target, out_stride);
      });
    }
}

// Panels of some rows of Y (its rows `dim` long), as `multiply` reads them: sixteen rows beside each other.
// The last panel is filled up with the first row.
void gather_panels(const float* y, int64_t dim, const int32_t* rows, int64_t n, float* panels) {
  for (int64_t first = 0; first < padded(n); first += kLanes) {
    const float* row[kLanes];
    for (int i = 0; i < kLanes; ++i) row[i] = y + dim * rows[first + i < n ? first + i : 0];
    for (int64_t next = first + kLanes; next < n && next < first + 2 * kLanes; ++next)
      for (int64_t c = 0; c < dim; c += kPanel) __builtin_prefetch(y + dim * rows[next] + c);
    float* panel = panels + first / kPanel * dim * kPanel + first % kPanel;
    for_each_vector(dim, [&](const auto& part) {
      Vector v[kLanes];
      for (int i = 0; i < kLanes; ++i) v[i] = part.load(row[i]);
      transpose(v);
      const int64_t count = dim - part.begin < kLanes ? dim - part.begin : kLanes;
      for (int64_t i = 0; i < count; ++i) store(panel + (part.begin + i) * kPanel, v[i]);
    });
  }
}

}  // namespace
}  // namespace ialspp::IALSPP_ISA
