// The class Variable of Python.
#include "Define.h"
#include "Restores.h"
#include "Staging.h"
#include "Style.h"
#include "Tensors.h"
#include "Text.h"

#include <unordered_map>

namespace weft::python {

namespace {

/// The objects that stand for variables; a variable has one, as long as it lives. Under the lock of
/// Python.
std::unordered_map<VariableState *, PyObject *> &objects() {
  static auto &objects = *new std::unordered_map<VariableState *, PyObject *>;
  return objects;
}

/// What an object of the class Variable holds.
struct Bound {
  using Initialized = void; // see Initialized.h
  explicit Bound(Variable of, PyObject *self) : variable(std::move(of)) {
    objects()[variable.state().get()] = self;
    forget_restored(variable.state().get());
  }
  ~Bound() { objects().erase(variable.state().get()); }
  Bound(const Bound &) = delete;
  Bound &operator=(const Bound &) = delete;

  /// The variable, whose value may be one that was restored before it was attached.
  const Variable &used() const {
    restore_if_attached(variable);
    return variable;
  }

  Variable variable;
};

/// Throws ShapeError unless a value has the shape that a call gives besides.
void check_shape(const Tensor &value, PyObject *given) {
  if (PySequence_Check(given) == 0 || PyUnicode_Check(given))
    throw DTypeError(std::string("Variable: shape is of type ") + Py_TYPE(given)->tp_name +
                     ": a list of sizes is wanted");
  const Shape shape = shape_of_spec(given, {"Variable", "shape"});
  if (shape.is_static() && shape == weft::detail::type_of(value).shape) return;
  throw ShapeError("Variable: initial_value has the shape " + weft::to_string(value.shape()) +
                   ", but shape is " + text_of(nb::repr(nb::handle(given))) +
                   ": a variable keeps the shape of its first value, and no size of it is open");
}

int initialize(PyObject *self, PyObject *args, PyObject *keywords) {
  return guarded([&] {
    static const char *names[] = {"initial_value", "trainable", "name", "dtype", "shape", nullptr};
    PyObject *initial = nullptr, *dtype = nullptr, *shape = nullptr;
    PyObject *trainable = Py_True;
    const char *name = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O|OzO$O:weft.Variable",
                                    const_cast<char **>(names), &initial, &trainable, &name, &dtype,
                                    &shape) == 0)
      return -1;
    if (nb::inst_ready(self))
      throw StateError("a variable was initialized already: give it a new value by assign");
    // A name or a dtype in its place would be lost.
    if (PyBool_Check(trainable) == 0 && PyLong_Check(trainable) == 0 && trainable != Py_None)
      raise_type_error(std::string("weft.Variable: trainable is of type ") +
                       Py_TYPE(trainable)->tp_name +
                       ": True or False is wanted; write name= and dtype= in front of those");
    const nb::object called = PyCallable_Check(initial) != 0 ? checked(PyObject_CallNoArgs(initial))
                                                             : nb::borrow(initial);
    const Place place{"Variable", "initial_value"};
    const std::optional<DType> wanted = to_optional_dtype(dtype, {"Variable", "dtype"});
    const Tensor value = to_tensor_of(called.ptr(), wanted, place);
    if (shape != nullptr && shape != Py_None) check_shape(value, shape);
    new (nb::inst_ptr<Bound>(self))
        Bound(Variable(value, name == nullptr ? "" : name, PyObject_IsTrue(trainable) != 0), self);
    nb::inst_mark_ready(self);
    return 0;
  });
}

/// Arrays and lists take the variable's dtype, where nothing of their kind is lost by it.
template <const Variable &(Variable::*change)(const Operand &) const>
PyObject *changed(PyObject *self, PyObject *value, const char *function) {
  const Variable &variable = variable_in(self);
  const Place place{function, "value"};
  const DType dtype = variable.dtype();
  Argument argument;
  if (!argument.convert(value, place, dtype)) refuse_object(value, place);
  const Operand &operand = argument.operand();
  const bool converts = !is_tensor(value) && !is_variable(value) && !operand.weak() &&
                        operand.dtype() != dtype && kind_of(operand.dtype()) <= kind_of(dtype);
  if (converts) (variable.*change)(operand.materialize().astype(dtype));
  else (variable.*change)(operand);
  return Py_NewRef(self);
}

PyObject *assign(PyObject *self, PyObject *value) {
  return guarded([&] { return changed<&Variable::assign>(self, value, "assign"); });
}
PyObject *assign_add(PyObject *self, PyObject *value) {
  return guarded([&] { return changed<&Variable::assign_add>(self, value, "assign_add"); });
}
PyObject *assign_sub(PyObject *self, PyObject *value) {
  return guarded([&] { return changed<&Variable::assign_sub>(self, value, "assign_sub"); });
}

/// `v += x` would put a tensor in the variable's place.
PyObject *refuse_in_place(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    throw StateError("an operator with = would replace the variable by a tensor: write "
                     "v.assign_add(x), v.assign_sub(x) "
                     "or v.assign(...)");
  });
}

int refuse_assignment(PyObject *, PyObject *, PyObject *) {
  PyErr_SetString(
      PyExc_TypeError,
      "the elements of a variable are not assigned one by one: write v.assign(...), with "
      "weft.scatter_add or weft.update_slice of its value");
  return -1;
}

Py_ssize_t length(PyObject *self) {
  return guarded([&] { return PyObject_Length(checked(wrap(variable_in(self).value())).ptr()); });
}
PyObject *iterate(PyObject *self) {
  return guarded([&] { return PyObject_GetIter(checked(wrap(variable_in(self).value())).ptr()); });
}

PyMethodDef variable_methods[] = {
    {"assign", assign, METH_O,
     "assign($self, value)\n--\n\nGives it a new value of its shape; a number stands for all "
     "elements. Gives the variable."
     "\n\nExample:\n"
     "    >>> v = wf.Variable([1.0, 2.0], name='v')\n"
     "    >>> v.assign(0)\n"
     "    <weft.Variable 'v' [0., 0.], shape=(2,), dtype=float32>\n"},
    {"assign_add", assign_add, METH_O,
     "assign_add($self, value)\n--\n\nAdds to it. Gives the variable."
     "\n\nExample:\n"
     "    >>> v = wf.Variable([1.0, 2.0], name='v')\n"
     "    >>> v.assign_add([0.5, 0.5])\n"
     "    <weft.Variable 'v' [1.5, 2.5], shape=(2,), dtype=float32>\n"},
    {"assign_sub", assign_sub, METH_O,
     "assign_sub($self, value)\n--\n\nSubtracts from it. Gives the variable."
     "\n\nExample:\n"
     "    >>> v = wf.Variable([1.0, 2.0], name='v')\n"
     "    >>> v.assign_sub(0.1 * v)\n"
     "    <weft.Variable 'v' [0.9, 1.8], shape=(2,), dtype=float32>\n"},
};

std::string variable_text(const Variable &variable) {
  if (variable.ranks() > 1) // the text of one rank alone asks nothing of others
    return "<weft.Variable '" + variable.name() + "' cut over " + std::to_string(variable.ranks()) +
           " ranks, shape=" + weft::to_string(variable.shape()) +
           ", dtype=" + with_dtypes(name_of(variable.dtype())) + ">";
  if (prints_as_tensorflow()) return text_of(form_of("variable_repr", nb::steal(wrap(variable))));
  const Tensor value = variable.value();
  std::string text = repr_of(value);
  constexpr std::string_view open = "tensor(";
  if (text.starts_with(open)) text = text.substr(open.size());
  return "<weft.Variable '" + variable.name() + "' " + text.substr(0, text.size() - 1) + ">";
}

std::vector<PyType_Slot> &slots() {
  static std::vector<PyType_Slot> &slots = *new std::vector<PyType_Slot>([] {
    std::vector<PyType_Slot> list(operator_slots, operator_slots + operator_slot_count);
    const auto add = [&](int id, auto *function) {
      list.push_back({id, reinterpret_cast<void *>(function)});
    };
    add(Py_tp_init, initialize);
    add(Py_mp_subscript, subscript);
    add(Py_mp_length, length);
    add(Py_tp_iter, iterate);
    add(Py_mp_ass_subscript, refuse_assignment);
    for (const int id : {Py_nb_inplace_add, Py_nb_inplace_subtract, Py_nb_inplace_multiply,
                         Py_nb_inplace_true_divide})
      add(id, refuse_in_place);
    list.push_back({0, nullptr});
    return list;
  }());
  return slots;
}

} // namespace

const Variable &variable_in(PyObject *object) {
  if (!nb::inst_ready(object)) [[unlikely]]
    refuse_half_made(object);
  return nb::inst_ptr<Bound>(object)->used();
}

PyObject *wrap(const Variable &variable) {
  if (const auto found = objects().find(variable.state().get()); found != objects().end())
    return Py_NewRef(found->second);
  nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject *>(variable_type)));
  new (nb::inst_ptr<Bound>(object)) Bound(variable, object.ptr());
  nb::inst_mark_ready(object);
  return object.release().ptr();
}

void define_variables(nb::module_ &module) {
  auto type =
      ClassOf<Bound>(module, "Variable", nb::is_final(), nb::is_weak_referenceable(),
                     nb::type_slots(slots().data()),
                     "A named tensor that can be given new values of the same dtype and shape.\n\n"
                     "Variable(initial_value, trainable=True, name=None, dtype=None)"
                     "\n\nExample:\n"
                     "    >>> v = wf.Variable([1.0, 2.0], name='v')\n"
                     "    >>> v.assign_add([0.5, 0.5])\n"
                     "    <weft.Variable 'v' [1.5, 2.5], shape=(2,), dtype=float32>\n"
                     "    >>> v * 2\n"
                     "    tensor([3., 5.], shape=(2,), dtype=float32)\n");
  variable_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  type.def_prop_ro(
          "name", [](const Bound &self) { return variable_name(self.variable.name()); },
          "What messages, summaries and the IR call it.")
      .def_prop_ro(
          "trainable", [](const Bound &self) { return self.variable.trainable(); },
          "Whether tapes watch it by themselves, and optimizers of a model update it.")
      .def_prop_ro(
          "dtype", [](const Bound &self) { return wrap(self.variable.dtype()); },
          "The dtype of the elements, which stays.")
      .def_prop_ro(
          "shape",
          [](const Bound &self) {
            const Shape shape = self.variable.shape();
            nb::list sizes;
            for (const std::int64_t size : shape) sizes.append(size);
            return shape_in_style(nb::tuple(sizes));
          },
          "The sizes of the axes, which stay.")
      .def_prop_ro(
          "ndim", [](const Bound &self) { return self.variable.shape().size(); },
          "The number of axes.")
      .def_prop_ro(
          "size", [](const Bound &self) { return self.used().value().size(); },
          "The number of elements.")
      .def_prop_ro(
          "device", [](const Bound &self) { return device_text(self.used().value().device()); },
          "Where the elements are, as a text.")
      .def(
          "value", [](const Bound &self) { return self.used().value(); },
          "The present value, as tapes see it read."
          "\n\nExample:\n"
          "    >>> wf.Variable([1.0, 2.0]).value()\n"
          "    tensor([1., 2.], shape=(2,), dtype=float32)\n")
      .def(
          "read_value", [](const Bound &self) { return self.used().value(); }, "As `value`.")
      .def(
          "numpy", [](const Bound &self) { return numpy_of(self.used().value()); },
          "A copy of the value as an array of NumPy.")
      .def(
          "__array__",
          [](const Bound &self, nb::handle dtype, nb::handle copy) {
            return array_of_tensor(self.used().value(), dtype, copy);
          },
          Arg("dtype") = nb::none(), Arg("copy") = nb::none())
      .def("__reversed__", [](const Bound &self) { return iterate_back(self.used().value()); })
      .def("__repr__", [](const Bound &self) { return variable_text(self.used()); })
      .def("__format__(specification)",
           [](const Bound &self, const char *specification) {
             return *specification == 0 ? variable_text(self.used())
                                        : formatted(self.used().value(), specification);
           })
      .def("__copy__", [](const Bound &self) { return nb::steal(wrap(self.used().clone())); })
      .def("__deepcopy__(memo)",
           [](const Bound &self, nb::dict memo) { return nb::steal(wrap(self.used().clone())); })
      .def("__reduce__", [](nb::handle_t<Bound> self) {
        const Variable &variable = variable_in(self.ptr());
        return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject *>(variable_type)),
                              nb::make_tuple(nb::steal(wrap(variable.value())),
                                             variable.trainable(), variable.name()));
      });
  for (PyMethodDef &row : variable_methods)
    nb::setattr(type, row.ml_name, checked(PyDescr_NewMethod(variable_type, &row)));
  type.attr("__array_priority__") = nb::int_(1000);
}

} // namespace weft::python
