// What the sources of the module share: tensors as Python objects, conversions, errors, calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "Initialized.h"
#include "Signature.h"
#include "Staying.h"

#include <weft/detail/binding.h>
#include <weft/ops.h>
#include <weft/variable.h>

namespace weft::python {

namespace nb = nanobind;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Makes the classes of errors in the module.
void define_errors(nb::module_ &module);

/// Sets the Python error for the C++ exception that is in flight; only inside a `catch`.
void set_error() noexcept;

/// A TypeError of Python itself: an argument that no function takes.
[[noreturn]] void raise_type_error(const std::string &message);

/// What `body` gives, or null with the error set: nothing may be thrown into the interpreter.
template <class Body>
auto guarded(const Body &body) noexcept -> decltype(body()) {
  stay_when_python_ends();
  try {
    return body();
  } catch (...) {
    set_error();
    if constexpr (std::is_pointer_v<decltype(body())>) return nullptr;
    else return static_cast<decltype(body())>(-1);
  }
}

/// Throws what Python has set if `object` is null.
inline nb::object checked(PyObject *object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

/// The line of Python that is running, outside of the package: "train.py" and 41, or "" and 0.
std::pair<std::string, int> line_of_user();

/// The folder of the package, with a slash behind it.
std::string package_folder();

/// An OperatorNotAllowedInGraphError: a traced tensor where Python wants a value.
[[noreturn]] void raise_not_allowed(const std::string &message);

/// A SymbolicTensorError: an attribute that a traced tensor does not have.
[[noreturn]] void raise_no_attribute(const std::string &message);

/// The name among `names` that is nearest to a wrong one; empty if none is near.
std::string nearest(std::string_view wrong, std::span<const char *const> names);

//===----------------------------------------------------------------------===//
// Tensors, variables and dtypes as Python objects
//===----------------------------------------------------------------------===//

inline PyTypeObject *tensor_type = nullptr;
inline PyTypeObject *variable_type = nullptr;

inline bool is_tensor(PyObject *object) { return Py_TYPE(object) == tensor_type; }
inline bool is_variable(PyObject *object) { return Py_TYPE(object) == variable_type; }

/// The tensor in an object of that type. Throws TypeError for one that was never made.
const Tensor &tensor_in(PyObject *object);
/// The variable in an object of that type.
const Variable &variable_in(PyObject *object);

/// A new object for a tensor.
PyObject *wrap(Tensor tensor);
/// The object that stands for a variable; the same one as long as it lives.
PyObject *wrap(const Variable &variable);

void define_dtypes(nb::module_ &module);
nb::object wrap(DType dtype);
/// "float32", as Python spells it.
const char *python_name(DType dtype);
/// Whether it is a format that NumPy has only with ml_dtypes.
inline bool numpy_lacks(DType dtype) { return dtype == DType::bf16 || is_storage(dtype); }
/// "bool, int32, int64, float32 and float64".
std::string dtypes_in_words();

void define_tensors(nb::module_ &module);
void define_printing(nb::module_ &module);
void define_creation(nb::module_ &module);
void define_ops(nb::module_ &module);
void define_windows(nb::module_ &module);
void define_random(nb::module_ &module);
void define_variables(nb::module_ &module);
void define_tapes(nb::module_ &module);
void define_custom_gradients(nb::module_ &module);
void define_print(nb::module_ &module);
void define_derivatives(nb::module_ &module);
void define_dlpack(nb::module_ &module);

//===----------------------------------------------------------------------===//
// Conversion of what Python hands over
//===----------------------------------------------------------------------===//

/// The argument that is converted, for messages.
struct Place {
  const char *function;
  const char *argument;

  std::string text() const { return std::string(function) + ": " + argument; }
};

/// A dtype of any spelling: weft.float32, 'float32', 'f32', float, numpy.float32, numpy.dtype.
DType to_dtype(PyObject *object, const Place &place);
/// None is the default.
std::optional<DType> to_optional_dtype(PyObject *object, const Place &place);

std::int64_t to_integer(PyObject *object, const Place &place);
double to_number(PyObject *object, const Place &place);
/// One integer, or a sequence of them, of which None stands for `unknown` sizes only in shapes.
Ints to_integers(PyObject *object, const Place &place);
/// The same of an argument that may be either. Throws DTypeError, also for a tensor of a trace.
Ints to_integer_list(PyObject *object, const Place &place);
/// The axes in reverse order for None.
Ints to_permutation(PyObject *object, const Operand &x, const Place &place);

template <class T>
T to(PyObject *object, const Place &place) {
  if constexpr (std::is_same_v<T, bool>) {
    const int truth = PyObject_IsTrue(object);
    if (truth < 0) throw nb::python_error();
    return truth != 0;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return to_integer(object, place);
  } else if constexpr (std::is_same_v<T, double>) {
    return to_number(object, place);
  } else if constexpr (std::is_same_v<T, DType>) {
    return to_dtype(object, place);
  } else if constexpr (std::is_same_v<T, Axes>) {
    return object == Py_None ? Axes() : Axes(to_integer_list(object, place));
  } else {
    return to_integers(object, place);
  }
}

/// The argument, or what stands for one that is not given.
template <class T>
T given(PyObject *object, T otherwise, const Place &place) {
  return object == nullptr ? std::move(otherwise) : to<T>(object, place);
}

/// How elements may be shared with what they are made of.
enum class Sharing {
  copy,        ///< never
  if_possible, ///< where no conversion is needed
  only,        ///< a ValueError where one is
};

/// A tensor of anything that has elements: a tensor, variable, number, nested sequence, buffer,
/// DLPack or `__array__`. Numbers take the dtype `hint` if they can without loss of kind. What is
/// new is uncommitted, as suits arguments.
Tensor to_tensor(PyObject *object, const Place &place, std::optional<DType> hint = std::nullopt,
                 Sharing sharing = Sharing::copy);
/// What is to be cast to a dtype: numbers of Python by one rounding, that of the cast.
Tensor to_tensor_for_cast(PyObject *object, DType dtype, const Place &place);
/// The same, converted to a dtype.
Tensor to_tensor_of(PyObject *object, std::optional<DType> dtype, const Place &place,
                    Sharing sharing = Sharing::copy);
/// Of a sequence, or of the slices of a tensor along its first axis.
std::vector<Tensor> to_tensors(PyObject *object, const Place &place);

/// The tensor of a buffer (NumPy's arrays among them); undefined for what has none.
Tensor tensor_of_buffer(PyObject *object, const Place &place, Sharing sharing);
/// The tensor of what speaks DLPack; undefined for what does not.
Tensor tensor_of_dlpack(PyObject *object, const Place &place, Sharing sharing);

/// The dtype that numbers of Python, and lists of them alone, take beside other arguments: what
/// those that have a dtype of their own (tensors, variables, arrays, also in lists) promote to.
class Beside {
public:
  explicit Beside(std::optional<DType> strong = std::nullopt) {
    if (strong) strong_.add(*strong);
  }
  /// Counts an argument, or what is in a list.
  void add(PyObject *object) { add(object, 0); }
  /// Nothing where all are numbers. Of a numpy.float64, which is a float of Python, it is f64.
  std::optional<DType> dtype() const {
    return strong_.empty() && wide_ ? std::optional(DType::f64) : strong_.common();
  }
  /// The same of one object.
  static std::optional<DType> of(PyObject *object) {
    Beside one;
    one.add(object);
    return one.dtype();
  }

private:
  void add(PyObject *object, int depth);

  DTypeJoin strong_;
  bool wide_ = false; ///< there is a numpy.float64
};

/// Keeps a tensor that its object has no more while calls read it which other threads, or code of
/// Python that they run, may not take it from.
void keep_while_read(Tensor tensor);
/// Lets go of what was kept.
void drop_kept();

/// While one lives operands of calls may be read that their objects do not hold any more. With the
/// lock of Python.
class BorrowScope {
public:
  BorrowScope() { ++count_; }
  ~BorrowScope() {
    if (--count_ == 0 && kept_) [[unlikely]]
      drop_kept();
  }
  BorrowScope(const BorrowScope &) = delete;
  BorrowScope &operator=(const BorrowScope &) = delete;

  static bool any() { return count_ != 0; }

private:
  friend void keep_while_read(Tensor tensor);
  friend void drop_kept();

  static inline int count_ = 0; ///< of all threads
  static inline bool kept_ = false;
};

/// One argument of an op: a tensor or a weak number.
class Argument {
public:
  /// False for an object that is nothing an op takes: nothing is set then. Throws for one that is
  /// nearly that.
  bool convert(PyObject *object, const Place &place, std::optional<DType> hint);
  const Operand &operand() const { return *operand_; }
  std::int64_t size() const { return operand_->impl() == nullptr ? 1 : operand_->impl()->size; }

private:
  void set(Tensor tensor) {
    owned_ = std::move(tensor);
    operand_.emplace(owned_);
  }
  /// What was made of something that has no device.
  void set_made(Tensor tensor) { set(detail::uncommitted(std::move(tensor))); }

  BorrowScope borrow_; ///< the operand borrows the tensor of an object
  Tensor owned_;
  std::optional<Operand> operand_;
};

/// Throws TypeError for an object that has no elements.
[[noreturn]] void refuse_object(PyObject *object, const Place &place);

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The first operands of a call. From operand `promoted` on they take a common dtype: numbers and
/// lists of numbers are weak beside tensors there.
template <std::size_t N>
class Operands {
public:
  /// `own` are the dtypes of operands that admit one alone.
  Operands(const Signature &signature, PyObject *const *values, std::size_t promoted,
           const std::array<std::optional<DType>, N> &own = {}, unsigned apart = 0) {
    Beside beside;
    if (N > 1)
      for (std::size_t i = promoted; i < N; ++i)
        if ((apart >> i & 1) == 0) beside.add(values[i]);
    const std::optional<DType> hint = beside.dtype();
    for (std::size_t i = 0; i < N; ++i) {
      const Place place{signature.name, signature.names[i]};
      if (!arguments_[i].convert(values[i], place,
                                 i < promoted || (apart >> i & 1) != 0 ? own[i] : hint))
        refuse_object(values[i], place);
    }
  }
  const Operand &operator[](std::size_t i) const { return arguments_[i].operand(); }
  /// Of the largest.
  std::int64_t size() const {
    std::int64_t most = 0;
    for (const Argument &argument : arguments_) most = std::max(most, argument.size());
    return most;
  }

private:
  std::array<Argument, N> arguments_;
};

std::int64_t size_of_all(std::span<const Tensor> tensors);

/// Lets other threads of Python run meanwhile.
class Unlocked {
public:
  explicit Unlocked(bool worth) {
    if (!worth) return;
    borrow_.emplace();
    state_ = PyEval_SaveThread();
  }
  ~Unlocked() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;

private:
  std::optional<BorrowScope> borrow_;
  PyThreadState *state_ = nullptr;
};

/// What `body` gives, which touches nothing of Python; without its lock if it works on many
/// elements: giving it up and taking it back costs some 40 ns.
template <class Body>
auto unlocked(std::int64_t elements, const Body &body) {
  constexpr std::int64_t kMany = 8192;
  const Unlocked scope(elements >= kMany);
  return body();
}

/// What a function of C++ gives, as an object of Python.
inline PyObject *given_back(Tensor tensor) { return wrap(std::move(tensor)); }
inline PyObject *given_back(nb::object object) { return object.release().ptr(); }

/// A function by its signature and what it does with the values of its parameters, null where one
/// is not given.
template <const Signature &signature, auto call>
PyObject *fast_call(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    Values values(signature.names.size());
    signature.bind_or_refuse(args, static_cast<std::size_t>(count), keywords, values.data());
    return given_back(call(values.data()));
  });
}

/// The row of a function in a table of functions.
template <const Signature &signature, auto call>
PyMethodDef method(const char *documentation) {
  documented_signatures().push_back(&signature);
  return {signature.name, reinterpret_cast<PyCFunction>(fast_call<signature, call>),
          METH_FASTCALL | METH_KEYWORDS, signature.documented(documentation)};
}

/// Adds the functions of a table, which lives for ever, to the module as functions of weft;
/// "linalg.qr" as one of weft.linalg.
void add_functions(nb::module_ &module, PyMethodDef *table);

} // namespace weft::python
