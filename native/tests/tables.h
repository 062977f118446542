// The kernels to test: those of every instruction set of this machine, and AVX-512's width for any machine
#pragma once

#include <string>
#include <vector>

#include "../dispatch.h"

namespace ialspp::wide {
extern const Kernels kKernels;
}

inline std::vector<const ialspp::Kernels*> every_table() {
  std::vector<const ialspp::Kernels*> tables{&ialspp::wide::kKernels};
  for (const std::string& name : ialspp::available_isas()) {
    ialspp::select_isa(name);
    tables.push_back(&ialspp::kernels());
  }
  return tables;
}
