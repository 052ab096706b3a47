// Functions of Python that C++ calls from any thread, and objects that it drops there.
#pragma once

#include "Binding.h"

#include <exception>
#include <memory>
#include <unordered_set>

#include <weft/data/pipeline.h>

namespace weft::python {

/// The lock of Python, taken by a thread of whatever kind. Throws StateError once Python is ending:
/// such a thread would never get it. (The end of Python waits for those that have it.)
class Entered {
public:
  Entered();
  ~Entered();
  Entered(const Entered &) = delete;
  Entered &operator=(const Entered &) = delete;

private:
  PyGILState_STATE state_;
};

/// Whether there are other threads of Python than this one, which is about to end it: they go on
/// until they next want its lock.
bool leaves_threads();

/// Does not return, with the lock released, if the error is what Entered throws as Python is
/// ending, and this is a thread that Python leaves behind: nobody is there for its error.
void stay_if_refused(const Error &error);

/// Drops a reference, wherever that is; while Python ends it is left alone.
void drop(PyObject *object) noexcept;

/// A reference that C++ keeps, out of sight of Python's collector: not for what may lead back.
std::shared_ptr<PyObject> keep(nb::object object);

/// A reference that a Callable has for C++: null once it was collected with that.
struct Kept {
  PyObject *object;
};
using KeptPointer = std::shared_ptr<const Kept>;

/// Where a callable is found as long as its Callable lives, and what else that keeps; under the
/// lock of Python.
struct CallableSlot {
  PyObject *function = nullptr; ///< borrowed
  std::unordered_set<Kept *> kept = {};
};
using CallablePointer = std::shared_ptr<CallableSlot>;
/// Drops what the slot keeps, when nothing is found there any more. With the lock held.
void close_slot(CallableSlot &slot);

/// An object of Python that keeps a callable for C++, and what that makes, in sight of the
/// collector: C++ has the slot alone, so that whoever holds the callable may be collected with what
/// it leads to.
struct Callable {
  using Initialized = void; // see Initialized.h
  explicit Callable(nb::object function);
  ~Callable();
  Callable(const Callable &) = delete;
  Callable &operator=(const Callable &) = delete;

  nb::object function;
  CallablePointer slot = std::make_shared<CallableSlot>();
};
/// The slot of a Callable.
CallablePointer slot_of(nb::handle callable);
/// The callable, with the lock held. Throws StateError if it is gone.
nb::object function_in(const CallableSlot &slot);

/// A reference that C++ drops and the Callable of this slot has, with the lock held.
KeptPointer keep_in(const CallablePointer &slot, nb::object object);
/// The object, with the lock held. Throws StateError if it is gone.
nb::object object_in(const Kept &kept);

/// An error of Python that waits in a data set until its loop comes to it, in sight of the
/// collector: it leads to the function that raised it, and may lead to the loop.
class KeptError final : public std::exception, public data::detail::ForeignError {
public:
  /// With the lock held, as are the others unless they say so.
  KeptError(const CallablePointer &slot, const nb::python_error &error);
  const char *what() const noexcept override { return "an error of Python"; }
  /// Takes the lock.
  void add_note(const std::string &note) noexcept override;
  /// Makes it the error of this thread; StateError if it is gone.
  void restore() const noexcept;

private:
  KeptPointer value_;
};

/// The slots of a bound class with a member `held`, a vector of objects of Python, which the
/// collector sees.
template <class Holder>
int traverse_held(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    for (const nb::object &each : nb::inst_ptr<Holder>(self)->held) Py_VISIT(each.ptr());
  return 0;
}
template <class Holder>
int clear_held(PyObject *self) {
  std::vector<nb::object> dropped;
  if (nb::inst_ready(self)) dropped.swap(nb::inst_ptr<Holder>(self)->held);
  return 0;
}
template <class Holder>
inline PyType_Slot held_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void *>(traverse_held<Holder>)},
    {Py_tp_clear, reinterpret_cast<void *>(clear_held<Holder>)},
    {0, nullptr}};

/// What `body` gives, with the lock of Python.
template <class Body>
auto in_python(const Body &body) {
  const Entered entered;
  return body();
}

/// What `body` gives, without the lock of Python if this thread has it. (While Python ends it
/// stays: no thread waits for it then.)
template <class Body>
auto without_lock(const Body &body) {
  const Unlocked others_run(Py_IsInitialized() != 0 && PyGILState_Check() != 0);
  return body();
}

void define_foreign(nb::module_ &module);

} // namespace weft::python
