// Which kernels this process uses: the best the machine has, or the one asked for.
#pragma once

#include <string>
#include <vector>

#include "kernels.h"

namespace ialspp {

// Instruction sets compiled in and present on this machine, slowest first.
std::vector<std::string> available_isas();

// Every name compiled in, present or not.
std::vector<std::string> known_isas();

// Use the kernels of that name from now on; throws std::invalid_argument where they can't be had.
void select_isa(const std::string& name);

const Kernels& kernels();

}  // namespace ialspp
