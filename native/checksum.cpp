#include "checksum.h"

#if defined(__x86_64__) || defined(_M_X64)
#define IALSPP_X86 1
#include <immintrin.h>
#endif

namespace ialspp {
namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // P without x^32, the lowest bit first

// The state after some bytes, a bit at a time: for the few that are left
uint32_t after_each(uint32_t state, const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    state ^= data[i];
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ (state & 1 ? kPolynomial : 0);
  }
  return state;
}

#ifdef IALSPP_X86
#define IALSPP_FOLDING __attribute__((target("pclmul"))) inline

constexpr size_t kLane = 16, kLanes = 4;

IALSPP_FOLDING __m128i load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

// What `lane` is when moved onto `next`. factors: x^n and x^(n + 64) modulo P, the lowest bit first.
IALSPP_FOLDING __m128i folded(__m128i lane, __m128i factors, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// Folds all whole lanes of at least four; returns how many bytes those are, and the bytes that they become.
IALSPP_FOLDING size_t fold(uint32_t state, const uint8_t* data, size_t size, uint8_t* rest) {
  const __m128i by_lanes = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);  // n = 512
  const __m128i by_lane = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);   // n = 128
  __m128i lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = load(data + i * kLane);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(state)));
  size_t done = kLanes * kLane;
  for (; size - done >= kLanes * kLane; done += kLanes * kLane)
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = folded(lanes[i], by_lanes, load(data + done + i * kLane));
  __m128i all = lanes[0];
  for (size_t i = 1; i < kLanes; ++i) all = folded(all, by_lane, lanes[i]);
  for (; size - done >= kLane; done += kLane) all = folded(all, by_lane, load(data + done));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), all);
  return done;
}
#endif

}  // namespace

uint32_t crc32(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t state = ~crc;
#ifdef IALSPP_X86
  if (size >= kLanes * kLane) {
    uint8_t rest[kLane];
    const size_t done = fold(state, data, size, rest);
    state = after_each(0, rest, kLane);
    data += done;
    size -= done;
  }
#endif
  return ~after_each(state, data, size);
}

}  // namespace ialspp
