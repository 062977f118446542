// Arrays of indices that outlast the call in which they were checked. Nobody may change them afterwards.
#pragma once

#include <algorithm>
#include <typeinfo>

#include "arrays.h"

namespace ialspp {

// Whether nobody can write to the memory of a numpy array: neither the array itself nor any array that it is
// a view of is writeable, nor the object whose memory they show (a mapped file, bytes).
inline bool is_constant(nb::handle array) {
  const nb::object type = nb::module_::import_("numpy").attr("ndarray");
  if (!nb::isinstance(array, type)) return false;
  nb::object owner = nb::borrow(array);
  while (nb::isinstance(owner, type)) {
    if (nb::cast<bool>(owner.attr("flags").attr("writeable"))) return false;
    owner = owner.attr("base");
  }
  if (owner.is_none()) return true;
  Py_buffer memory;
  if (PyObject_GetBuffer(owner.ptr(), &memory, PyBUF_SIMPLE)) throw nb::python_error();
  const bool constant = memory.readonly;
  PyBuffer_Release(&memory);
  return constant;
}

// The caller's own memory where it is constant, else a copy. A caller that makes an array writeable again
// after it was handed over, or kept a writeable view of it, has lied.
template <class T>
struct Kept {
  Array<const T> array;
  bool constant;

  Array<const T> settled() const {
    if (constant) return array;
    const Constant<T> copy = new_constant<T>(length(array));
    std::copy_n(array.data(), length(array), copy.data);
    return Array<const T>(typename Array<const T>::Any(copy.array));
  }
};

}  // namespace ialspp

template <class T>
struct nanobind::detail::type_caster<ialspp::Kept<T>> {
  using Array = make_caster<ialspp::Array<const T>>;
  NB_TYPE_CASTER(ialspp::Kept<T>, Array::Name)

  bool from_python(handle object, auto flags, cleanup_list* cleanup) noexcept {
    Array array;
    if (!array.from_python(object, flags, cleanup)) return false;
    value = {array.value, false};
    try {
      value.constant = ialspp::is_constant(object);
    } catch (python_error&) {   // an object like no array of numpy's: a copy will do
    } catch (std::bad_cast&) {  // the same
    }
    return true;
  }
};
