// S, the matrix with one row for each interaction of a row u: s_j = sqrt(a_j) h_j, the neighbour j of u on
// the fixed side, scaled by the root of the interaction's weight. Newton steps are made of sums over S.
// Scaling while gathering makes weights free everywhere else.
//
// S is made piece by piece. Where it is kept, each piece is gathered once, on the first pass. Otherwise every
// pass gathers it anew. The threads of a team share the sums of a long row, segment by segment (rows.h).
#pragma once

#include "kernels.h"
#include "rows.h"
#include "workspace.h"

namespace ialspp {

// Consecutive panels of S
struct Panels {
  int64_t first, count;
  int64_t width() const { return count * kPanel; }
};

// The columns of the fixed side that S has. Each block of them starts a panel of its own, so that blocks of
// any width are whole panels.
struct PaddedColumns {
  Columns columns;
  int64_t block;  // all columns where a block fills its panels: there is nothing to pad between two

  explicit PaddedColumns(const Columns& all) : columns(all), block(all.width) {}
  PaddedColumns(const Columns& all, int64_t block_size)
      : columns(all), block(block_size % kPanel == 0 ? all.width : block_size) {}

  Panels panels() const { return {0, panel_of(columns.width)}; }
  int64_t width() const { return panels().width(); }
  // the panel that starts with column c, which is the first of a block or a panel
  int64_t panel_of(int64_t c) const { return c / block * panels_for(block) + panels_for(c % block); }
  // out = x, a vector of columns.width numbers, in the layout of S: zeros in the padding
  void spread(const float* x, float* out) const;
};

class Neighbours {
 public:
  // keep: where S stays until that Workspace ends, or null where S is not kept
  Neighbours(const Kernels& kernels, const PaddedColumns& columns, const History& history, Workspace* keep,
             int team);

  int64_t size() const { return history_.size; }

  // Over the panels B of S. A, g and x have the padded width of B.
  // A += S_B'S_B, g += S_B'r; system: A panel-major, then g
  void add_normal_equations(Panels b, const float* residual, float* system);
  // r += sign S_B x
  void add_products(Panels b, const float* x, float sign, float* residual);

 private:
  template <class Visit>
  void for_each_piece(Range part, const Visit& visit);
  Slab kept_piece(int64_t begin, int64_t end);
  Slab gathered(int64_t begin, int64_t end, float* memory) const;
  Slab slab(int64_t begin, int64_t end, float* memory) const;

  const Kernels& kernels_;
  const PaddedColumns columns_;
  const History history_;
  const int64_t piece_rows_;
  float* const kept_;   // all of S, or null
  int64_t n_kept_ = 0;  // rows of it that have been gathered
  const int team_;
};

}  // namespace ialspp
