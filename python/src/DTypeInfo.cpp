// What programs ask of dtypes, by the array API's names: finfo, iinfo, isdtype, result_type,
// can_cast.
#include "DTypeInfo.h"
#include "Define.h"
#include "Text.h"

#include <sstream>

#include <weft/detail/binding.h>
#include <weft/dtype_info.h>

namespace weft::python {

namespace {

/// The dtype that is named, or that a tensor or an array has.
DType dtype_of_any(nb::handle object, const Place &place) {
  if (is_tensor(object.ptr())) return detail::type_of(tensor_in(object.ptr())).dtype;
  if (is_variable(object.ptr())) return variable_in(object.ptr()).dtype();
  if (PyType_Check(object.ptr()) == 0 && nb::hasattr(object, "__array__") &&
      nb::hasattr(object, "dtype"))
    return to_dtype(nb::object(object.attr("dtype")).ptr(), place);
  return to_dtype(object.ptr(), place);
}

FloatInfo finfo_of(nb::handle type) { return finfo(dtype_of_any(type, {"finfo", "type"})); }
IntegerInfo iinfo_of(nb::handle type) { return iinfo(dtype_of_any(type, {"iinfo", "type"})); }

bool is_of_kind(nb::handle dtype, nb::handle kind) {
  const DType given = to_dtype(dtype.ptr(), {"isdtype", "dtype"});
  if (PyTuple_Check(kind.ptr()) != 0) {
    for (const nb::handle each : kind)
      if (is_of_kind(dtype, each)) return true;
    return false;
  }
  const bool is_kind =
      PyUnicode_Check(kind.ptr()) != 0 && !parse_dtype(text_of(kind)) && text_of(kind) != "bool";
  if (is_kind)
    for (int i = 0; i < kNumDTypes; ++i)
      if (text_of(kind) == python_name(static_cast<DType>(i))) return i == static_cast<int>(given);
  if (PyUnicode_Check(kind.ptr()) != 0) return isdtype(given, text_of(kind));
  return given == to_dtype(kind.ptr(), {"isdtype", "kind"});
}

/// Of tensors, arrays, dtypes and numbers of Python, which are weak.
nb::object result_type_of(const nb::args &arrays_and_dtypes) {
  std::vector<DType> strong;
  std::optional<DTypeKind> weak;
  for (const nb::handle each : arrays_and_dtypes) {
    PyObject *const object = each.ptr();
    const bool number = PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object) ||
                        PyComplex_Check(object);
    if (!number) {
      strong.push_back(dtype_of_any(each, {"result_type", "an argument"}));
      continue;
    }
    const DTypeKind kind = PyBool_Check(object)    ? DTypeKind::boolean
                           : PyLong_Check(object)  ? DTypeKind::integer
                           : PyFloat_Check(object) ? DTypeKind::floating
                                                   : DTypeKind::complex;
    weak = weak ? std::max(*weak, kind) : kind;
  }
  if (strong.empty() && !weak) return wrap(result_type({}));
  const DType alone = !weak                         ? DType::boolean
                      : *weak == DTypeKind::boolean ? DType::boolean
                      : *weak == DTypeKind::integer ? DType::i32
                      : *weak == DTypeKind::complex ? DType::c64
                                                    : DType::f32;
  if (strong.empty()) return wrap(alone);
  const DType result = result_type(strong);
  return wrap(weak && *weak > kind_of(result) ? result_type({result, alone}) : result);
}

bool casts(nb::handle from, nb::handle to) {
  return can_cast(dtype_of_any(from, {"can_cast", "from_"}),
                  to_dtype(to.ptr(), {"can_cast", "to"}));
}

template <class Info>
std::string shown(const char *name, const Info &info) {
  std::ostringstream out;
  out << name << "(dtype=" << python_name(info.dtype) << ", bits=" << info.bits << ')';
  return out.str();
}

} // namespace

void define_dtype_info(nb::module_ &module) {
  ClassOf<FloatInfo>(module, "_FloatInfo", nb::is_final(), "The numbers of a floating dtype.")
      .def("__repr__", [](const FloatInfo &self) { return shown("finfo", self); })
      .def_prop_ro(
          "dtype", [](const FloatInfo &self) { return wrap(self.dtype); }, Returns{"DType"},
          "The dtype.")
      .def_prop_ro(
          "bits", [](const FloatInfo &self) { return self.bits; }, "Of an element.")
      .def_prop_ro(
          "eps", [](const FloatInfo &self) { return self.eps; },
          "From 1 to the next larger number.")
      .def_prop_ro(
          "max", [](const FloatInfo &self) { return self.max; }, "The largest finite number.")
      .def_prop_ro(
          "min", [](const FloatInfo &self) { return self.min; }, "The smallest finite number.")
      .def_prop_ro(
          "smallest_normal", [](const FloatInfo &self) { return self.smallest_normal; },
          "The smallest number above 0 with all bits of the significand.");
  ClassOf<IntegerInfo>(module, "_IntegerInfo", nb::is_final(), "The numbers of an integer dtype.")
      .def("__repr__", [](const IntegerInfo &self) { return shown("iinfo", self); })
      .def_prop_ro(
          "dtype", [](const IntegerInfo &self) { return wrap(self.dtype); }, Returns{"DType"},
          "The dtype.")
      .def_prop_ro(
          "bits", [](const IntegerInfo &self) { return self.bits; }, "Of an element.")
      .def_prop_ro(
          "max", [](const IntegerInfo &self) { return self.max; }, "The largest number.")
      .def_prop_ro("min", [](const IntegerInfo &self) { return self.min; }, "The smallest number.");
  define<finfo_of>(module, "finfo",
                   "The limits of a floating dtype, or of that of a tensor: `bits`, `eps`, `max`, "
                   "`min` and `smallest_normal`, numbers of Python, and `dtype`."
                   "\n\nExample:\n"
                   "    >>> wf.finfo(wf.float32).bits, wf.finfo(wf.float64).eps\n"
                   "    (32, 2.220446049250313e-16)\n\n"
                   "Raises:\n"
                   "    DTypeError: for a dtype that is not floating\n",
                   Arg("type").none().as("DTypeLike | Tensor"), Returns{"_FloatInfo"});
  define<iinfo_of>(module, "iinfo",
                   "The limits of an integer dtype, or of that of a tensor: `bits`, `max` and "
                   "`min`, numbers of Python, and `dtype`."
                   "\n\nExample:\n"
                   "    >>> wf.iinfo('int32').max\n"
                   "    2147483647\n\n"
                   "Raises:\n"
                   "    DTypeError: for a dtype that is no integer\n",
                   Arg("type").none().as("DTypeLike | Tensor"), Returns{"_IntegerInfo"});
  define<is_of_kind>(
      module, "isdtype",
      "Whether a dtype is of a kind: 'bool', 'signed integer', 'unsigned integer', 'integral', "
      "'real floating', 'complex floating' or 'numeric'; or is that dtype; or is one of a tuple of "
      "these."
      "\n\nExample:\n"
      "    >>> wf.isdtype(wf.int32, 'integral'), wf.isdtype(wf.int32, (wf.int64, 'real "
      "floating'))\n"
      "    (True, False)\n\n"
      "Raises:\n"
      "    ValueError: for another name\n",
      Arg("dtype").none().as("DTypeLike"),
      Arg("kind").none().as("DTypeLike | str | tuple[DTypeLike | str, ...]"));
  define<result_type_of>(
      module, "result_type(*arrays_and_dtypes)",
      "The dtype that these take together as operands: tensors, arrays, dtypes, and numbers of "
      "Python, which are weak."
      "\n\nExample:\n"
      "    >>> wf.result_type(wf.int32, wf.float32), wf.result_type(wf.ones(2), 1)\n"
      "    (weft.float32, weft.float32)\n\n"
      "Raises:\n"
      "    ValueError: for none at all\n",
      Returns{"DType"});
  define<casts>(module, "can_cast",
                "Whether promotion takes a dtype, or that of a tensor, to another."
                "\n\nExample:\n"
                "    >>> wf.can_cast(wf.int32, wf.int64), wf.can_cast(wf.float64, wf.float32)\n"
                "    (True, False)\n",
                Arg("from_").none().as("DTypeLike | Tensor"), Arg("to").none().as("DTypeLike"));
}

} // namespace weft::python
