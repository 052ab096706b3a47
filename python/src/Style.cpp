// Printed forms in the style of the process, and the names of tensors while a function is traced.
#include "Style.h"
#include "Define.h"

#include <map>

#include <weft/detail/tensor_impl.h>

namespace weft::python {

namespace {

/// The module weft.tf._forms and its class TensorShape where they are chosen. Dropped at the end.
PyObject *forms = nullptr;
PyTypeObject *shape_type = nullptr;

void drop_forms() {
  Py_CLEAR(forms);
  PyObject *type = reinterpret_cast<PyObject *>(std::exchange(shape_type, nullptr));
  Py_XDECREF(type);
}

/// Of the traced tensors that stand for arguments, by trace and value. Under the lock of Python.
std::map<std::pair<const void *, std::uint32_t>, std::string> &names() {
  static auto &names = *new std::map<std::pair<const void *, std::uint32_t>, std::string>;
  return names;
}

} // namespace

void set_style(const std::string &style) {
  if (style != "numpy" && style != "tf")
    throw ValueError("set_printoptions: style is '" + style + "': it is 'numpy' or 'tf'");
  nb::object module, type;
  if (style == "tf") {
    module = nb::module_::import_("weft.tf._forms"); // which chooses this style by itself
    type = module.attr("TensorShape");
  }
  drop_forms();
  shape_type = reinterpret_cast<PyTypeObject *>(type.release().ptr());
  forms = module.release().ptr();
}

bool prints_as_tensorflow() { return forms != nullptr; }

nb::object form_of(const char *name, nb::handle object) {
  const nb::object function = checked(PyObject_GetAttrString(forms, name));
  return checked(PyObject_CallOneArg(function.ptr(), object.ptr()));
}

nb::object shape_in_style(nb::object tuple) {
  if (shape_type == nullptr) return tuple;
  const Py_ssize_t rank = PyTuple_GET_SIZE(tuple.ptr());
  nb::object shape = checked(shape_type->tp_alloc(shape_type, rank));
  for (Py_ssize_t i = 0; i < rank; ++i)
    PyTuple_SET_ITEM(shape.ptr(), i, Py_NewRef(PyTuple_GET_ITEM(tuple.ptr(), i)));
  return shape;
}

std::string device_text(Device device) {
  if (forms == nullptr) return weft::to_string(device);
  return std::string("/job:localhost/replica:0/task:0/device:") +
         (device.kind == DeviceKind::cpu ? "CPU:" : "GPU:") + std::to_string(device.index);
}

std::string variable_name(const std::string &name) {
  if (forms == nullptr) return name;
  // Those without a name of their own are "variable_7" here.
  const bool unnamed =
      name.starts_with("variable_") && name.find_first_not_of("0123456789", 9) == std::string::npos;
  return (unnamed ? "Variable" : name) + ":0";
}

//===----------------------------------------------------------------------===//
// Names of traced tensors
//===----------------------------------------------------------------------===//

void ArgumentNames::add(const std::string &name, nb::handle argument) {
  count_ = 0;
  visit(name, argument.ptr(), 0);
}

void ArgumentNames::visit(const std::string &name, PyObject *argument, int depth) {
  constexpr int kDeepest = 16;
  if (is_tensor(argument)) {
    const Tensor &tensor = tensor_in(argument);
    if (!tensor.traced()) return;
    const std::pair key(tensor.impl()->base, tensor.impl()->trace_value);
    std::string full = count_ == 0 ? name : name + "_" + std::to_string(count_);
    ++count_;
    if (names().emplace(key, std::move(full)).second) named_.push_back(key);
  } else if (PyDict_Check(argument) != 0 && depth < kDeepest) {
    PyObject *word = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(argument, &at, &word, &value) != 0) visit(name, value, depth + 1);
  } else if ((PyList_Check(argument) != 0 || PyTuple_Check(argument) != 0) && depth < kDeepest) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(argument); ++i)
      visit(name, PySequence_Fast_GET_ITEM(argument, i), depth + 1);
  }
}

ArgumentNames::~ArgumentNames() {
  for (const auto &key : named_) names().erase(key);
}

std::string traced_name(const Tensor &tensor) {
  const std::uint32_t value = tensor.impl()->trace_value;
  const auto found = names().find({tensor.impl()->base, value});
  return (found != names().end() ? found->second : "value_" + std::to_string(value)) + ":0";
}

void define_styles(nb::module_ &module) {
  define(module, "internal_traced_name(tensor)",
         [](nb::handle tensor) { return nb::str(traced_name(tensor_in(tensor.ptr())).c_str()); });
  define(module, "internal_shape(sizes)",
         [](nb::tuple sizes) { return shape_in_style(std::move(sizes)); });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(drop_forms));
}

} // namespace weft::python
