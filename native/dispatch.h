// Chooses the kernels of this process: those of the machine's best instruction set, unless one is selected.
#pragma once

#include <string>
#include <vector>

#include "kernels.h"

namespace ialspp {

// Instruction sets that are compiled in and present on this machine, slowest first
std::vector<std::string> available_isas();

// All instruction sets that are compiled in, present or not
std::vector<std::string> known_isas();

// Uses the kernels of that name from now on. Throws std::invalid_argument where they are not available.
void select_isa(const std::string& name);

const Kernels& kernels();

// Whether this machine multiplies without carries, which checksums take
bool has_carryless_products();

}  // namespace ialspp
