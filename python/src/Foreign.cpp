// The way from threads of C++ into Python, which is closed before Python ends.
#include "Foreign.h"
#include "Define.h"
#include "Text.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace weft::python {

namespace {

constexpr std::string_view kEnding = "Python is ending, and calls no function of it any more";

std::thread::id ending;           // the thread that ends Python
std::atomic<bool> closed = false; // before Python ends, when `ending` is known
std::atomic<int> inside = 0;      // threads that have its lock by Entered, or wait for it

void forget_other_threads() { inside = 0; }

/// Returns when no thread of C++ is in Python any more.
void close_door() {
  ending = std::this_thread::get_id();
  closed = true;
  // Threads that Python leaves behind keep what they hold.
  if (leaves_threads()) nb::set_leak_warnings(false);
  const Unlocked others_run(true);
  while (inside > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int traverse_callable(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto *callable = nb::inst_ptr<Callable>(self);
  Py_VISIT(callable->function.ptr());
  for (const Kept *each : callable->slot->kept) Py_VISIT(each->object);
  return 0;
}

int clear_callable(PyObject *self) {
  if (!nb::inst_ready(self)) return 0;
  auto *callable = nb::inst_ptr<Callable>(self);
  const nb::object dropped = std::move(callable->function);
  close_slot(*callable->slot);
  return 0;
}

PyType_Slot callable_slots[] = {{Py_tp_traverse, reinterpret_cast<void *>(traverse_callable)},
                                {Py_tp_clear, reinterpret_cast<void *>(clear_callable)},
                                {0, nullptr}};

} // namespace

Entered::Entered() {
  stay_when_python_ends();
  ++inside;
  if (closed && PyGILState_Check() == 0) {
    --inside;
    throw StateError(std::string(kEnding));
  }
  state_ = PyGILState_Ensure();
}

bool leaves_threads() {
  return nb::cast<int>(nb::module_::import_("threading").attr("active_count")()) > 1;
}

void stay_if_refused(const Error &error) {
  if (!closed || std::this_thread::get_id() == ending || !error.message().ends_with(kEnding))
    return;
  const Unlocked others_run(true);
  while (true) pause();
}

Entered::~Entered() {
  PyGILState_Release(state_);
  --inside;
}

void drop(PyObject *object) noexcept {
  try {
    const Entered entered;
    Py_XDECREF(object);
  } catch (const StateError &) { // it goes with the process
    return;
  }
}

std::shared_ptr<PyObject> keep(nb::object object) { return {object.release().ptr(), drop}; }

void close_slot(CallableSlot &slot) {
  slot.function = nullptr;
  std::vector<nb::object> dropped;
  for (Kept *each : std::exchange(slot.kept, {}))
    dropped.push_back(nb::steal(std::exchange(each->object, nullptr)));
}

Callable::Callable(nb::object called) : function(std::move(called)) {
  slot->function = function.ptr();
}
Callable::~Callable() { close_slot(*slot); }

CallablePointer slot_of(nb::handle callable) { return nb::cast<Callable &>(callable).slot; }

nb::object function_in(const CallableSlot &slot) {
  if (slot.function == nullptr)
    throw StateError("the function of Python that is called here was collected, as nothing held "
                     "the data set that it belongs to");
  return nb::borrow(slot.function);
}

KeptPointer keep_in(const CallablePointer &slot, nb::object object) {
  auto kept = std::make_unique<Kept>(object.ptr());
  slot->kept.insert(kept.get());
  object.release(); // now the slot's
  return {kept.release(), [slot](Kept *which) {
            try {
              const Entered entered;
              slot->kept.erase(which);
              Py_XDECREF(which->object);
              delete which;
            } catch (const StateError &) { // it goes with the process
              return;
            }
          }};
}

nb::object object_in(const Kept &kept) {
  if (kept.object == nullptr)
    throw StateError("an object of Python that an element of a data set has was collected, as "
                     "nothing held the data set that it is from");
  return nb::borrow(kept.object);
}

KeptError::KeptError(const CallablePointer &slot, const nb::python_error &error)
    : value_(keep_in(slot, nb::borrow(error.value()))) {
  if (error.traceback().is_valid())
    PyException_SetTraceback(error.value().ptr(), error.traceback().ptr());
}

void KeptError::add_note(const std::string &note) noexcept {
  try {
    const Entered entered;
    object_in(*value_).attr("add_note")(shown_text(note));
  } catch (...) { // one without a place is an error all the same
    return;
  }
}

void KeptError::restore() const noexcept {
  try {
    PyObject *value = object_in(*value_).release().ptr();
    PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject *>(Py_TYPE(value))), value,
                  PyException_GetTraceback(value));
  } catch (...) {
    set_error();
  }
}

void define_foreign(nb::module_ &module) {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, forget_other_threads); });
  ClassOf<Callable>(module, "internal_Callable", nb::is_final(), nb::type_slots(callable_slots));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(close_door));
}

} // namespace weft::python
