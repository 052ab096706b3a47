// Traced functions with their first argument: what methods of instances are.
#include <algorithm>
#include <array>

#include "Function.h"
#include "Kinds.h"
#include <structmember.h>
#include <weft/detail/inline_vector.h>

namespace weft::python {

namespace {

/// A traced function with its first argument: what `instance.step` is.
struct BoundObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject *function, *self;
};
BoundObject *bound_of(PyObject *object) { return reinterpret_cast<BoundObject *>(object); }

PyObject *call_bound(PyObject *callable, PyObject *const *args, std::size_t flags,
                     PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    BoundObject *bound = bound_of(callable);
    const auto given = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    const auto words =
        static_cast<std::size_t>(keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords));
    detail::InlineVector<PyObject *, 16> all;
    all.push_back(bound->self);
    for (std::size_t i = 0; i < given + words; ++i) all.push_back(args[i]);
    return call_function(bound->function, all.data(), given + 1, keywords);
  });
}

int traverse_bound(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(bound_of(object)->function);
  Py_VISIT(bound_of(object)->self);
  return 0;
}
int clear_bound(PyObject *object) {
  Py_CLEAR(bound_of(object)->function);
  Py_CLEAR(bound_of(object)->self);
  return 0;
}
void deallocate_bound(PyObject *object) {
  PyObject_GC_UnTrack(object);
  clear_bound(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

/// Attributes of the function; methods that take its arguments have the first one already.
PyObject *bound_attribute(PyObject *object, PyObject *name) {
  if (PyObject *own = PyObject_GenericGetAttr(object, name); own != nullptr) return own;
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return nullptr;
  PyErr_Clear();
  return guarded([&]() -> PyObject * {
    nb::object attribute = checked(PyObject_GetAttr(bound_of(object)->function, name));
    static constexpr std::array asking = {"explain", "ir", "report", "get_concrete_function"};
    const bool asks = std::ranges::any_of(asking, [&](const char *word) {
      return PyUnicode_CompareWithASCIIString(name, word) == 0;
    });
    if (!asks) return attribute.release().ptr();
    return nb::object(nb::module_::import_("functools")
                          .attr("partial")(attribute, nb::handle(bound_of(object)->self)))
        .release()
        .ptr();
  });
}

PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, vectorcall), READONLY, nullptr},
    {"__func__", T_OBJECT_EX, offsetof(BoundObject, function), READONLY, nullptr},
    {"__self__", T_OBJECT_EX, offsetof(BoundObject, self), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot bound_slots[] = {
    {Py_tp_doc,
     const_cast<char *>("A traced function with its first argument: what `instance.step` is."
                        "\n\nExample:\n"
                        "    >>> class Counter:\n"
                        "    ...     @wf.function\n"
                        "    ...     def plus(self, x):\n"
                        "    ...         return x + 1\n"
                        "    >>> type(Counter().plus)\n"
                        "    <class 'weft.BoundFunction'>\n"
                        "    >>> Counter().plus(wf.tensor(1))\n"
                        "    tensor(2, shape=(), dtype=int32)\n")},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate_bound)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse_bound)},
    {Py_tp_clear, reinterpret_cast<void *>(clear_bound)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_getattro, reinterpret_cast<void *>(bound_attribute)},
    {Py_tp_members, bound_members},
    {0, nullptr}};
PyType_Spec bound_spec{"weft.BoundFunction", sizeof(BoundObject), 0,
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                           Py_TPFLAGS_DISALLOW_INSTANTIATION,
                       bound_slots};

} // namespace

PyObject *get_bound(PyObject *function, PyObject *self, PyObject *) {
  if (self == nullptr || self == Py_None) return Py_NewRef(function);
  return guarded([&]() -> PyObject * {
    PyObject *made = PyType_GenericAlloc(bound_type, 0);
    if (made == nullptr) throw nb::python_error();
    BoundObject *bound = bound_of(made);
    bound->vectorcall = call_bound;
    bound->function = Py_NewRef(function);
    bound->self = Py_NewRef(self);
    return made;
  });
}

std::pair<PyObject *, PyObject *> parts_of_bound(PyObject *bound) {
  return {bound_of(bound)->function, bound_of(bound)->self};
}

void define_bound_functions(nb::module_ &module) {
  const nb::object bound = checked(PyType_FromSpec(&bound_spec)); // the module keeps it
  bound_type = reinterpret_cast<PyTypeObject *>(bound.ptr());
  module.attr("BoundFunction") = bound;
}

} // namespace weft::python
