// S, a matrix with one row per interaction of a row u: s_j = sqrt(a_j) h_j, the neighbours of u on the fixed
// side scaled by the root of their weights, and the sums over it that Newton steps are made of. Scaling while
// gathering makes weights free everywhere else.
//
// S is made piece by piece. Given memory for all of it, each piece is gathered once, on the first pass, and
// kept; otherwise every pass gathers it anew. A long row's sums are taken in segments (rows.h), which the
// threads of a team share.
#pragma once

#include "kernels.h"
#include "memory.h"
#include "rows.h"

namespace ialspp {

// Which columns of the fixed side S has. Every `chunk` of them starts a panel of its own, so that blocks of
// any width are whole panels.
struct Chunks {
  Columns columns;
  int64_t chunk;

  explicit Chunks(const Columns& all) : columns(all), chunk(all.width) {}
  Chunks(const Columns& all, int64_t block) : columns(all), chunk(block % kPanel == 0 ? all.width : block) {}

  int64_t panels() const { return panel_of(columns.width); }
  int64_t width() const { return panels() * kPanel; }
  // the panel where column c, the first of a chunk or panel, is found
  int64_t panel_of(int64_t c) const { return c / chunk * panels_for(chunk) + panels_for(c % chunk); }
  // a vector of columns.width numbers in the layout of S, zeros in the padding
  void spread(const float* x, float* out) const;
};

class Neighbours {
 public:
  static int64_t floats(int64_t size, const Chunks& chunks);

  // memory: floats(history.size, chunks) to keep S, or null
  Neighbours(const Kernels& kernels, const Chunks& chunks, const History& history, float* memory, int team);

  int64_t size() const { return history_.size; }

  // Over some panels B of S; x, hessian and gradient have these panels' padded width.
  struct Panels {
    int64_t first, count;
    int64_t width() const { return count * kPanel; }
  };
  // A += S_B'S_B, g += S_B'r; system: A panel-major, then g
  void add_normal_equations(Panels b, const float* residual, float* system);
  // r += sign S_B x
  void add_products(Panels b, const float* x, float sign, float* residual);

 private:
  template <class Visit>
  void for_each_piece(Range part, const Visit& visit);
  Slab piece(int64_t begin, int64_t end);

  const Kernels& kernels_;
  const Chunks chunks_;
  const History history_;
  const int64_t piece_rows_;
  float* const memory_;
  const int team_;
  int64_t gathered_ = 0;  // of what is kept
};

}  // namespace ialspp
