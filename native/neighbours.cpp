#include "neighbours.h"

namespace ialspp {
namespace {

// A piece of this many floats (64 KB) stays in the second-level cache while tiles pass over it.
constexpr int64_t kPieceFloats = 16384;
constexpr int64_t kMostRows = 512;

int64_t piece_rows_for(int64_t width) {
  return std::clamp(kPieceFloats / width, int64_t{64}, kMostRows) / kPanel * kPanel;
}

int64_t whole(int64_t rows) { return padded(rows); }  // kernels read rows in whole vectors

// A line more than the rows take: panels a power of two apart would share their cache sets.
int64_t panel_stride(int64_t rows) { return (whole(rows) + 1) * kPanel; }

}  // namespace

void Chunks::spread(const float* x, float* out) const {
  for (int64_t c = 0; c < columns.width; c += chunk) {
    const int64_t end = std::min(c + chunk, columns.width);
    float* target = out + panel_of(c) * kPanel;
    std::copy(x + c, x + end, target);
    std::fill(target + end - c, target + padded(end - c), 0.0f);
  }
}

int64_t Neighbours::floats(int64_t size, const Chunks& chunks) {
  const int64_t rows = piece_rows_for(chunks.width());
  return chunks.panels() * (size / rows * panel_stride(rows) + panel_stride(size % rows));
}

Neighbours::Neighbours(const Kernels& kernels, const Chunks& chunks, const History& history, float* memory,
                       int team)
    : kernels_(kernels),
      chunks_(chunks),
      history_(history),
      piece_rows_(piece_rows_for(chunks.width())),
      memory_(memory),
      team_(team) {}

Slab Neighbours::piece(int64_t begin, int64_t end) {
  const int64_t panels = chunks_.panels(), stride = panel_stride(end - begin);
  float* place = memory_ ? memory_ + begin / piece_rows_ * panels * panel_stride(piece_rows_)
                         : scratch(panels * stride, Scratch::piece);
  const Slab slab{place, stride, panels, end - begin};
  if (memory_ && end <= gathered_) return slab;
  const Columns& all = chunks_.columns;
  for (int64_t c = 0; c < all.width; c += chunks_.chunk) {
    const int64_t width = std::min(chunks_.chunk, all.width - c);
    kernels_.gather(history_.slice(begin, end), {all.data + c, all.stride, width},
                    slab.columns(chunks_.panel_of(c), panels_for(width)));
  }
  if (memory_) gathered_ = end;
  return slab;
}

template <class Visit>
void Neighbours::for_each_piece(Range part, const Visit& visit) {
  for (int64_t j = part.begin; j < part.end; j += piece_rows_)
    visit(piece(j, std::min(j + piece_rows_, part.end)), j);
}

void Neighbours::add_normal_equations(Panels b, const float* residual, float* system) {
  const int64_t hessian = b.width() * b.width();
  const int64_t floats = hessian + b.width();
  sum_in_segments(size(), team_, floats, system, [&](int64_t begin, int64_t end, float* sums) {
    for_each_piece({begin, end}, [&](const Slab& s, int64_t j) {
      kernels_.add_outer(s.columns(b.first, b.count), sums);
      kernels_.add_scaled(s.columns(b.first, b.count), residual + j, sums + hessian);
    });
  });
}

void Neighbours::add_products(Panels b, const float* x, float sign, float* residual) {
  in_segments(size(), team_, [&](int64_t, int64_t begin, int64_t end) {
    for_each_piece({begin, end}, [&](const Slab& s, int64_t j) {
      kernels_.add_dots(s.columns(b.first, b.count), x, sign, residual + j);
    });
  });
}

}  // namespace ialspp
