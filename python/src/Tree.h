// Trees of Python: what arguments and results of traced functions are made of, taken apart into
// words and tensors, and put together again.
#pragma once

#include "Binding.h"

#include <weft/detail/signature.h>

namespace weft::python {

/// What an object is as part of a tree.
enum class Kind : std::uint8_t {
  tensor,
  variable,
  none,
  number,  ///< bool, int, float or complex, exactly
  text,    ///< str
  bytes,   ///< bytes
  list,    ///< its entries
  tuple,   ///< its entries
  named,   ///< a namedtuple
  dict,    ///< its values, in the order of the sorted keys
  mapping, ///< a subclass of dict
  record,  ///< an instance of a dataclass or of a class of attrs: its fields
  slice,   ///< start, stop and step
  array,   ///< anything else that has elements: it counts as a tensor
  method,  ///< a bound method: its function and its self
  object,  ///< anything else: it counts by identity
  refused, ///< a set, which has no order
};
Kind kind_of(PyObject *object);

/// The type of a traced function with its first argument.
inline PyTypeObject *bound_type = nullptr;

/// The keys of a dict in sorted order, and what they are in a signature.
struct DictShape {
  std::vector<PyObject *> keys;      ///< as they were inserted; owned
  std::vector<std::uint32_t> sorted; ///< the numbers of the keys in order
  std::vector<std::uint64_t> words;  ///< of the sorted keys
  std::vector<std::uint32_t> ends;   ///< of each one's words
};
/// That of a dict. It lives until the next call. Throws TypeError for keys that have no order.
const DictShape &shape_of_dict(PyObject *dict);

/// The names of the fields of a dataclass or of a class of attrs.
nb::object field_names(PyObject *record);

/// Reads arguments: the words of their signature, their tensors and variables.
class ArgumentWalker {
public:
  explicit ArgumentWalker(const char *function) : function_(function) {}

  void walk(PyObject *object) {
    if (is_tensor(object)) reader.tensor(*nb::inst_ptr<Tensor>(object));
    else walk_other(object, 0);
  }
  /// Begins a parameter of that name, for messages.
  void begin(PyObject *parameter) { parameter_ = parameter; }

  detail::ArgumentReader reader;

private:
  void walk_other(PyObject *object, int depth);
  void walk_dict(PyObject *dict, int depth);
  void walk_record(PyObject *object, int depth);
  void walk_items(PyObject *const *items, std::size_t count, int depth);
  void number(PyObject *object);
  void text(PyObject *object);
  void identity(PyObject *object);
  void array(PyObject *object);
  [[noreturn]] void refuse(PyObject *object, const char *why) const;

  const char *function_;
  PyObject *parameter_ = nullptr;
  std::vector<Tensor> arrays_; ///< of arguments that are none; the reader borrows them
};

/// Collects the tensors of a result.
class ResultWalker {
public:
  explicit ResultWalker(const char *function) : function_(function) {}
  void walk(PyObject *object, int depth = 0);

  std::vector<Tensor> tensors;
  bool variables = false; ///< whether there are some

private:
  const char *function_;
};

/// Stands for a variable of a result until its trace is made, which must see whether somebody else
/// keeps it.
struct Returned {
  std::weak_ptr<VariableState> state;
  std::string function, name;
};

/// A copy of a tree with other tensors, in the order of the walkers, and other variables.
class TreeFiller {
public:
  TreeFiller(std::span<const Tensor> tensors, std::span<const detail::VariablePointer> from,
             std::span<const detail::VariablePointer> to)
      : tensors_(tensors), from_(from), to_(to) {}
  /// Throws StateError for a variable that was made in vain.
  nb::object fill(PyObject *object);

  /// Whether tensors stay as they are.
  bool variables_only = false;
  /// If given, the function in whose results `Returned` stands for variables.
  const char *loosened_by = nullptr;

private:
  nb::object fill_variable(PyObject *object) const;
  nb::object fill_dict(PyObject *dict);
  nb::object fill_record(PyObject *object);

  std::span<const Tensor> tensors_;
  std::span<const detail::VariablePointer> from_, to_;
  std::size_t next_ = 0;
};

} // namespace weft::python
