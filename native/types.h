// The shapes that the core passes around: plain pointers and sizes. None of them owns memory.
#pragma once

#include <cstdint>

namespace ialspp {

// Columns are handled sixteen at a time: that is one cache line of floats, one AVX-512 register, two AVX
// registers, or four of SSE or NEON. Sixteen such columns of consecutive rows are a panel.
constexpr int64_t kPanel = 16;

constexpr int64_t panels_for(int64_t width) { return (width + kPanel - 1) / kPanel; }
constexpr int64_t padded(int64_t width) { return panels_for(width) * kPanel; }

// The interactions of one row, or consecutive ones among them. Absent labels and weights are 1.
struct History {
  const int32_t* columns;  // which rows of the other side
  const float* labels;     // y, or null
  const float* weights;    // a, or null
  int64_t size;
  int64_t following = 0;  // entries of `columns` that come after these, for prefetching
  bool cached = false;    // whether the neighbours have just been read, so that there is nothing to prefetch

  History slice(int64_t begin, int64_t end) const {
    return {columns + begin,
            labels ? labels + begin : nullptr,
            weights ? weights + begin : nullptr,
            end - begin,
            following + size - end,
            cached};
  }
};

// A number in half precision (IEEE 754 binary16), as its bits
enum class Half : uint16_t {};
constexpr float kLargestHalf = 65504;

// Some columns of a row-major matrix: row j is `width` numbers from data + j * stride on, each times `unit`.
template <class Number>
struct ColumnsOf {
  const Number* data;
  int64_t stride;
  int64_t width;
  float unit = 1;

  const Number* row(int64_t j) const { return data + j * stride; }
};
using Columns = ColumnsOf<float>;
using HalfColumns = ColumnsOf<Half>;  // the width is a multiple of kPanel; the unit is a power of two

// Rows packed panel by panel, so that a tile of the Hessian streams through contiguous memory. Row j of panel
// p is the sixteen floats at data + p * panel_stride + j * kPanel. Padding columns are zero.
struct Slab {
  float* data;
  int64_t panel_stride;
  int64_t panels;
  int64_t rows;

  float* at(int64_t panel, int64_t row) const { return data + panel * panel_stride + row * kPanel; }
  Slab columns(int64_t first, int64_t count) const { return {at(first, 0), panel_stride, count, rows}; }
};

constexpr float kSmallestCoded = 1e-30f;  // the largest number of a vector that has codes: 1 / s is finite
constexpr double kLongestCoded = 1e19;    // a vector: the product of two such lengths is finite
constexpr int64_t kCodesTogether = 8;     // codes of a vector are padded to a multiple with zeros
constexpr int64_t kMostCodes = 1 << 16;   // of a vector, so that sums of their products fit 32 bits

// A vector v as v = s q + e, with whole numbers q of 8 bits (kernels/codes.h)
struct Coded {
  float scale;                        // s
  double length, coded_length, rest;  // |v|, |s q|, |e|
  int32_t sum;                        // of q

  bool is_short() const { return length <= kLongestCoded; }  // not NaN either
};

// What a user adds to the bound of each score
struct UserTerms {
  int32_t offset;  // -128 times the sum of the codes: items' codes have 128 added
  float scale, per_rest, per_length, least;
};

struct CodedUsers {
  const int8_t* codes;  // size x depth
  const UserTerms* terms;
  int64_t size, depth;
};

// Items' codes as panels: four codes of one item after another, of sixteen items, then their next four codes
struct CodedPanels {
  const uint8_t* codes;
  const float *scales, *lengths, *rests;  // of each item
};

}  // namespace ialspp
