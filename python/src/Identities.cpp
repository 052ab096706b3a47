// Numbers of objects in signatures, and who has them for how long.
#include "Identities.h"

#include <unordered_map>

namespace weft::python {

namespace {

std::uint64_t next_number() {
  static std::uint64_t last = 0; // under the lock of Python
  return ++last;
}

/// Objects that can be referred to weakly.
class WeakNumbers {
public:
  static WeakNumbers &all() {
    static auto &numbers = *new WeakNumbers;
    return numbers;
  }

  std::uint64_t known(PyObject *object) const {
    const auto found = numbers_.find(object);
    if (found == numbers_.end()) return 0;
    return PyWeakref_GET_OBJECT(found->second.reference) == object ? found->second.number : 0;
  }

  /// 0 if the object cannot be referred to weakly.
  std::uint64_t number(PyObject *object) {
    if (const std::uint64_t number = known(object); number != 0) return number;
    static PyMethodDef row{"forget", forget, METH_O, nullptr};
    static PyObject *const callback = PyCFunction_New(&row, nullptr);
    PyObject *reference = PyWeakref_NewRef(object, callback);
    if (reference == nullptr) {
      PyErr_Clear();
      return 0;
    }
    drop(object);
    objects_[reference] = object;
    return (numbers_[object] = {reference, next_number()}).number;
  }

private:
  struct Entry {
    PyObject *reference;
    std::uint64_t number;
  };

  static PyObject *forget(PyObject *, PyObject *reference) {
    WeakNumbers &self = all();
    if (const auto found = self.objects_.find(reference); found != self.objects_.end())
      self.drop(found->second);
    Py_RETURN_NONE;
  }
  void drop(PyObject *object) {
    const auto found = numbers_.find(object);
    if (found == numbers_.end()) return;
    PyObject *reference = found->second.reference;
    numbers_.erase(found);
    objects_.erase(reference);
    Py_DECREF(reference);
  }

  std::unordered_map<PyObject *, Entry> numbers_;
  std::unordered_map<PyObject *, PyObject *> objects_; ///< by weak reference
};

struct HeldEntry {
  std::uint64_t number;
  std::size_t holds;
  bool by_value;
};
std::unordered_map<PyObject *, HeldEntry> &held_entries() {
  static auto &entries = *new std::unordered_map<PyObject *, HeldEntry>;
  return entries;
}

/// Pairs of a type and a value, to themselves: which object stands for all that are equal.
PyObject *values() {
  static PyObject *const table = PyDict_New();
  return table;
}

void release(PyObject *object) {
  const auto found = held_entries().find(object);
  if (found == held_entries().end() || --found->second.holds != 0) return;
  const bool by_value = found->second.by_value;
  held_entries().erase(found);
  if (!by_value) return;
  // The comparison may be the user's, and this is no time for its errors.
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const nb::object alive = nb::borrow(object); // by the table until here
  if (PyDict_DelItem(values(), object) != 0) PyErr_Clear();
  PyErr_Restore(type, value, traceback);
}

} // namespace

std::uint64_t known_number(PyObject *object) {
  if (const std::uint64_t number = WeakNumbers::all().known(object); number != 0) return number;
  const auto found = held_entries().find(object);
  return found == held_entries().end() ? 0 : found->second.number;
}

HeldObjects::HeldObjects(const HeldObjects &other) { add(other); }

HeldObjects::~HeldObjects() {
  for (PyObject *object : std::exchange(objects_, {})) release(object);
}

std::uint64_t HeldObjects::hold(PyObject *object, bool by_value) {
  const auto [entry, fresh] = held_entries().try_emplace(object);
  if (fresh) entry->second = {next_number(), 0, by_value};
  ++entry->second.holds;
  objects_.push_back(object);
  return entry->second.number;
}

std::uint64_t HeldObjects::number_of(PyObject *object) {
  if (const std::uint64_t number = WeakNumbers::all().number(object); number != 0) return number;
  // No class that is written in Python has that.
  if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_IMMUTABLETYPE))
    if (const std::uint64_t number = by_value(object); number != 0) return number;
  return hold(object, false);
}

std::uint64_t HeldObjects::by_value(PyObject *object) {
  const nb::object pair =
      nb::make_tuple(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))), nb::handle(object));
  PyObject *first = PyDict_SetDefault(values(), pair.ptr(), pair.ptr());
  if (first != nullptr) return hold(first, true);
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
  PyErr_Clear();
  return 0;
}

void HeldObjects::add(const HeldObjects &others) {
  for (PyObject *object : others.objects_) {
    ++held_entries().at(object).holds;
    objects_.push_back(object);
  }
}

nb::list HeldObjects::references() const {
  nb::list list;
  for (PyObject *object : objects_) list.append(nb::handle(object));
  return list;
}

void define_identities(nb::module_ &) {
  // Values that a trace of a function of theirs still names would keep whole modules when Python
  // ends. From here on they count by identity.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    for (auto &[object, entry] : held_entries()) entry.by_value = false;
    PyDict_Clear(values());
  }));
}

} // namespace weft::python
