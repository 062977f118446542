// What every binding needs: numpy arrays as arguments and results, checks that throw, and a way to release
// the GIL. A binding checks once a call that everything it reads and writes is inside its array, so that a
// wrong argument is an exception and never a crash. Python validates everything else about the data. As with
// numpy itself, no other thread may write to an array of indices while a call reads it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "types.h"

namespace nb = nanobind;

namespace ialspp {

// numpy also makes arrays that start in the middle of a number. They are no argument for any function here.
template <class T, size_t dimensions>
struct Argument : nb::ndarray<nb::numpy, T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu> {
  using Any = nb::ndarray<nb::numpy, T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

  Argument() = default;
  explicit Argument(const Any& any) : Any(any) {}

  bool is_aligned() const { return reinterpret_cast<uintptr_t>(this->data()) % alignof(T) == 0; }
};

template <class T>
using Array = Argument<T, 1>;
template <class T>
using Matrix = Argument<T, 2>;
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

inline void require_between(const std::string& name, int64_t got, int64_t least, int64_t most) {
  if (got < least || got > most)
    throw std::invalid_argument(name + " must be from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", got " + std::to_string(got));
}

// Row numbers have 32 bits, and loops run over whole panels of rows.
constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max() / kPanel * kPanel;
inline void require_rows(const std::string& name, int64_t rows) { require_between(name, rows, 0, kMostRows); }

// Of numbers in half precision. Dividing by a power of two, and multiplying by it again, changes no bit.
inline void require_unit(float unit) {
  int exponent;
  const bool is_power = std::frexp(unit, &exponent) == 0.5f;
  require(is_power && std::isfinite(1 / unit), "unit must be a power of two, as must be 1 / unit");
}

// Without this, a matrix without columns could have so many rows that a loop over them never ends.
inline void require_columns(const std::string& name, const auto& matrix) {
  if (matrix.shape(1) < 1) throw std::invalid_argument(name + " must have at least one column");
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

// Memory for a result, of which Python becomes the owner
template <class T>
struct NewMemory {
  T* data;
  nb::capsule owner;

  explicit NewMemory(size_t size)
      : data(new T[size]), owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }) {}
};

template <class T, class... Shape>
auto new_array(Shape... shape) {
  size_t size = 1;
  for (const auto length : {static_cast<size_t>(shape)...}) {
    if (length && size > std::numeric_limits<size_t>::max() / length) throw std::bad_array_new_length();
    size *= length;
  }
  const NewMemory<T> memory(size);
  return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(Shape)>, nb::c_contig>(
      memory.data, {static_cast<size_t>(shape)...}, memory.owner);
}

// A result that Python cannot write to, and that `Rows` keeps without a copy for that reason (bound_rows.h).
// It is filled through `data`.
template <class T>
struct Constant {
  T* data;
  nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig> array;
};

template <class T>
Constant<T> new_constant(int64_t size) {
  const NewMemory<T> memory(static_cast<size_t>(size));
  return {memory.data, {memory.data, {static_cast<size_t>(size)}, memory.owner}};
}

}  // namespace ialspp

template <class T, size_t dimensions>
struct nanobind::detail::type_caster<ialspp::Argument<T, dimensions>> {
  using Given = ialspp::Argument<T, dimensions>;
  using Any = make_caster<typename Given::Any>;
  NB_TYPE_CASTER(Given, Any::Name)

  bool from_python(handle object, auto flags, cleanup_list* cleanup) noexcept {
    Any any;
    if (!any.from_python(object, flags, cleanup)) return false;
    value = Given(any.value);
    return value.is_aligned();
  }
};
