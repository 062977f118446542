// CRC-32, as zlib and the files of ialspp have it, several times as fast as zlib computes it.
//
// Bytes are the coefficients of a polynomial over GF(2), the lowest bit first, and the CRC is its remainder
// modulo P(x) of degree 32. Moving 16 bytes a x^64 + b forward by n bits multiplies them by x^n, and
//
//   (a x^64 + b) x^n  =  a x^(n + 64) + b x^n  =  a (x^(n + 64) mod P) + b (x^n mod P)     modulo P
//
// so two products without carries fold them into the 16 bytes that are n bits further on. Four lanes are
// folded at a time, then the lanes into one. The 16 bytes that are left have the CRC of all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ialspp {

// The CRC-32 of `size` more bytes after those whose CRC-32 is `crc`. The machine must have products without
// carries: `has_carryless_products` of dispatch.h.
uint32_t crc32(uint32_t crc, const uint8_t* data, size_t size);

}  // namespace ialspp
