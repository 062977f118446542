// The parts of the Python module. No code outside this folder knows Python.
#pragma once

#include <nanobind/nanobind.h>

namespace ialspp {

void register_checksum(nanobind::module_& m);
void register_data(nanobind::module_& m);
void register_factors(nanobind::module_& m);
void register_ranking(nanobind::module_& m);
void register_regression(nanobind::module_& m);
void register_solvers(nanobind::module_& m);

}  // namespace ialspp
