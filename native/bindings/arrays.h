// What every binding needs: numpy arrays as arguments and results, checks that throw, and a way to release
// the GIL. Bindings check shapes once a call, so that a wrong one is an exception and never a crash. Python
// validates everything else about the data.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace nb = nanobind;

namespace ialspp {

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Maybe = std::optional<Array<const T>>;

// Releases the GIL, and takes it again at the end. While the interpreter shuts down, Python below 3.14 ends a
// daemon thread that wants the GIL by unwinding its stack, which C++ answers with abort(). Such a thread
// sleeps here instead until the process is gone, as it does from 3.14 on.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

inline int64_t length(const auto& array, size_t axis = 0) { return static_cast<int64_t>(array.shape(axis)); }

inline void require(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

// Throws if any of n entries is bad. The message says where the first one is.
inline void require_none(int64_t n, const auto& bad, const std::string& message) {
  const WithoutGil release;
  for (int64_t i = 0; i < n; ++i)
    if (bad(i)) throw std::invalid_argument(message + ", at position " + std::to_string(i));
}

inline void require_length(const std::string& name, int64_t got, int64_t wanted) {
  if (got != wanted)
    throw std::invalid_argument("length of " + name + " must be " + std::to_string(wanted) + ", got " +
                                std::to_string(got));
}

inline void require_in_range(const std::string& name, const Array<const int32_t>& values, int64_t end) {
  const int32_t* value = values.data();
  require_none(
      length(values), [=](int64_t i) { return value[i] < 0 || value[i] >= end; },
      name + " must be from 0 to " + std::to_string(end - 1));
}

template <class T>
const T* data_or_null(const Maybe<T>& array) {
  return array ? array->data() : nullptr;
}

template <class T, class... Shape>
auto new_array(Shape... shape) {
  size_t size = 1;
  ((size *= static_cast<size_t>(shape)), ...);
  T* data = new T[size];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(Shape)>, nb::c_contig>(
      data, {static_cast<size_t>(shape)...}, owner);
}

}  // namespace ialspp
