// `x[key] = value` of tensors: the object takes the updated tensor, and whoever else holds the old
// one keeps it. Traced code may assign to items of what it knows to be updated behind it.
#pragma once

#include "Binding.h"

#include <cstdint>
#include <vector>

namespace weft::python {

/// `x[key] = value`, and `del x[key]`, which is a TypeError.
int assign_item(PyObject *self, PyObject *key, PyObject *value);

/// Gives an object another tensor of the same type, as an assignment of items does. Throws
/// StateError where a trace could not undo or repeat that.
void replace_tensor(PyObject *object, Tensor tensor);

/// Gives an argument of a function the elements that the function left in it: a tensor as above, an
/// array of NumPy by a copy. Throws TypeError for another object.
void assign_elements(PyObject *argument, Tensor tensor);

/// A body that is being traced on this thread. Objects of tensors that are created meanwhile are
/// its own, whose items it may assign. With the lock of Python.
class TracedBody {
public:
  enum class Kind : std::uint8_t {
    function, ///< of a traced function, whose arguments it gets as objects of its own
    branch,   ///< one of control flow that a tensor decides, run any number of times
  };
  /// `name` is for messages: of the function, or of the construct.
  TracedBody(Kind kind, const char *name);
  /// Gives objects that were carried the tensors that they had before.
  ~TracedBody();
  TracedBody(const TracedBody &) = delete;
  TracedBody &operator=(const TracedBody &) = delete;

  /// Whether some thread traces a body: then new objects are noted.
  static bool any() { return open_ != 0; }
  static void note_new(PyObject *object);
  /// From now on the innermost body carries what it is told to: who traces it has a state of which
  /// these objects are a part.
  static void begin_carrying();
  /// The innermost body may assign to items of this object, which has the value that is carried
  /// while the body is traced, and then the one that it had before.
  static void carry(PyObject *object);
  /// Throws StateError unless this thread's bodies may change the object.
  static void check(PyObject *object);

private:
  static int open_; ///< of all threads

  const Kind kind_;
  const char *const name_;
  const std::uint64_t number_; ///< of bodies of this thread: one that begins later has a larger one
  bool carries_ = false;
  struct Carried {
    nb::object object;
    Tensor before;
  };
  std::vector<Carried> carried_;
};

void define_assignment(nb::module_ &module);

} // namespace weft::python
