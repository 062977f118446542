// The table of kernels of one instruction set. CMake compiles this file once for each.
#include "../kernels.h"

#include "cholesky.h"
#include "codes.h"
#include "coordinate.h"
#include "halves.h"
#include "history.h"
#include "lanes.h"
#include "matrix.h"
#include "passes.h"
#include "scores.h"

#define IALSPP_TEXT_(x) #x
#define IALSPP_TEXT(x) IALSPP_TEXT_(x)

namespace ialspp::IALSPP_ISA {

extern const Kernels kKernels;
const Kernels kKernels = {
    .name = IALSPP_TEXT(IALSPP_ISA),
    .gather = gather,
    .add_outer = add_outer,
    .add_scaled = add_scaled,
    .add_dots = add_dots,
    .single = {add_predictions<float>, add_gradient<float>, add_normal<float>, add_weighted<float>},
#ifdef IALSPP_HALF
    .half = {add_predictions<Half>, add_gradient<Half>, add_normal<Half>, add_weighted<Half>},
    .to_half = to_half,
    .to_halves = to_halves,
    .from_halves = from_halves,
#else
    .half = {},
    .to_half = nullptr,
    .to_halves = nullptr,
    .from_halves = nullptr,
#endif
    .precondition = precondition,
    .add_diagonal = add_diagonal,
    .weighted_dot = weighted_dot,
    .next_direction = next_direction,
    .multiply = multiply,
    .add_cross = add_cross,
    .add_squares = add_squares,
    .squared_norm = squared_norm,
    .levels = kLevels,
    .encode = encode,
    .upper_bounds = kHasBounds ? upper_bounds : nullptr,
    .gather_panels = gather_panels,
    .count = count,
    .panel_maxima = panel_maxima,
    .collect = collect,
    .solve = solve,
    .coordinate_sums = coordinate_sums,
    .coordinate_advance = coordinate_advance,
    .dot = dot,
    .add_row = add_row,
};

}  // namespace ialspp::IALSPP_ISA
