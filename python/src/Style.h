// Whose printed forms objects have: Weft's own, which are NumPy's, or TensorFlow's for programs
// that are written against weft.tf.
#pragma once

#include "Binding.h"

namespace weft::python {

/// Whether TensorFlow's forms are chosen, for the whole process: set_printoptions(style='tf').
bool prints_as_tensorflow();

/// Chooses 'numpy' or 'tf'. Throws ValueError for another word.
void set_style(const std::string &style);

/// What the function of weft.tf._forms of that name gives for an object.
nb::object form_of(const char *name, nb::handle object);

/// A shape as the style has it: a tuple, or a TensorShape, which is one. Takes a tuple over.
nb::object shape_in_style(nb::object tuple);
/// "cpu:0", or "/job:localhost/replica:0/task:0/device:CPU:0".
std::string device_text(Device device);
/// "w", or "w:0".
std::string variable_name(const std::string &name);

/// Names the tensors that stand for the arguments of a function while it is traced, for messages
/// and their printed form: `x`, or `x_1` for the second of an argument.
class ArgumentNames {
public:
  ArgumentNames() = default;
  ArgumentNames(const ArgumentNames &) = delete;
  ArgumentNames &operator=(const ArgumentNames &) = delete;
  ~ArgumentNames();

  /// Of the tensors in an argument, which may be any object.
  void add(const std::string &name, nb::handle argument);

private:
  void visit(const std::string &name, PyObject *argument, int depth);

  std::size_t count_ = 0; ///< of tensors in the present argument
  std::vector<std::pair<const void *, std::uint32_t>> named_;
};

/// "x:0" of a traced tensor.
std::string traced_name(const Tensor &tensor);

void define_styles(nb::module_ &module);

} // namespace weft::python
