#include "neighbours.h"

namespace ialspp {
namespace {

// A piece of this many floats (64 KB) stays in the second-level cache while tiles pass over it.
constexpr int64_t kPieceFloats = 16384;
constexpr int64_t kFewestPieceRows = 64, kMostPieceRows = 512;

int64_t piece_rows_for(int64_t width) {
  return std::clamp(kPieceFloats / width, kFewestPieceRows, kMostPieceRows) / kPanel * kPanel;
}

// Kernels read rows in whole vectors, so there is room for whole ones. One line more than that, since panels
// a power of two apart would share their cache sets.
int64_t panel_stride(int64_t rows) { return (padded(rows) + 1) * kPanel; }

int64_t floats_for(int64_t size, const PaddedColumns& columns) {
  const int64_t rows = piece_rows_for(columns.width());
  return columns.panels().count * (size / rows * panel_stride(rows) + panel_stride(size % rows));
}

}  // namespace

void PaddedColumns::spread(const float* x, float* out) const {
  for (int64_t c = 0; c < columns.width; c += block) {
    const int64_t end = std::min(c + block, columns.width);
    float* target = out + panel_of(c) * kPanel;
    std::copy(x + c, x + end, target);
    std::fill(target + end - c, target + padded(end - c), 0.0f);
  }
}

Neighbours::Neighbours(const Kernels& kernels, const PaddedColumns& columns, const History& history,
                       Workspace* keep, int team)
    : kernels_(kernels),
      columns_(columns),
      history_(history),
      piece_rows_(piece_rows_for(columns.width())),
      kept_(keep ? keep->floats(floats_for(history.size, columns)) : nullptr),
      team_(team) {}

Slab Neighbours::slab(int64_t begin, int64_t end, float* memory) const {
  return {memory, panel_stride(end - begin), columns_.panels().count, end - begin};
}

Slab Neighbours::gathered(int64_t begin, int64_t end, float* memory) const {
  const Slab piece = slab(begin, end, memory);
  const Columns& all = columns_.columns;
  for (int64_t c = 0; c < all.width; c += columns_.block) {
    const int64_t width = std::min(columns_.block, all.width - c);
    kernels_.gather(history_.slice(begin, end), {all.data + c, all.stride, width},
                    piece.columns(columns_.panel_of(c), panels_for(width)));
  }
  return piece;
}

Slab Neighbours::kept_piece(int64_t begin, int64_t end) {
  float* memory = kept_ + begin / piece_rows_ * columns_.panels().count * panel_stride(piece_rows_);
  if (end <= n_kept_) return slab(begin, end, memory);
  n_kept_ = end;
  return gathered(begin, end, memory);
}

template <class Visit>
void Neighbours::for_each_piece(Range part, const Visit& visit) {
  const auto in_pieces = [&](const auto& piece) {
    for (int64_t j = part.begin; j < part.end; j += piece_rows_)
      visit(piece(j, std::min(j + piece_rows_, part.end)), j);
  };
  if (kept_) return in_pieces([&](int64_t begin, int64_t end) { return kept_piece(begin, end); });
  Workspace work;
  float* memory = work.floats(columns_.panels().count * panel_stride(std::min(part.size(), piece_rows_)));
  in_pieces([&](int64_t begin, int64_t end) { return gathered(begin, end, memory); });
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
