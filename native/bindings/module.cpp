#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dispatch.h"
#include "modules.h"
#include "pool.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ialspp {
namespace {

unsigned long main_thread = 0;

// Python runs signal handlers on its main thread only. Any other thread need not check for signals, and while
// the process ends it must not.
bool signal_arrived() {
  if (PyThread_get_thread_ident() != main_thread) return false;
  const nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

}  // namespace
}  // namespace ialspp

NB_MODULE(_core, m) {
  using namespace ialspp;
  m.doc() = "The compiled core: one call updates one side of a factorisation, or ranks items for many users.";
  main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  set_poll(signal_arrived);
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // objects in a traceback that lives until the process ends are no leak
#endif
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Interrupted&) {
      // signal_arrived() has set the Python error, KeyboardInterrupt as a rule
    }
  });

  register_checksum(m);
  register_data(m);
  register_solvers(m);
  register_factors(m);
  register_ranking(m);
  register_regression(m);

  m.def("isa", [] { return std::string(kernels().name); }, "The instruction set in use.");
  m.def("available_isas", available_isas, "Instruction sets this machine can run, slowest first.");
  m.def("known_isas", known_isas, "Instruction sets this build has kernels for.");
  m.def("select_isa", select_isa, "name"_a, "Use another instruction set from now on.");
}
