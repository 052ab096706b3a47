// Objects of Python in signatures, by numbers: who they are, or what they are equal to.
#pragma once

#include "Binding.h"

namespace weft::python {

/// The number of an object, by who it is, that has one: 0 otherwise. A number is never used again,
/// so that a new object at the address of a dead one is another. Runs no code of Python.
std::uint64_t known_number(PyObject *object);

/// Objects that have their numbers as long as this, or another of its kind, is there: those that
/// take no weak reference, and keys of dicts, which count by `==`. It does not hold the objects:
/// whoever has this has the `references` as well, in sight of Python's collector. With the lock of
/// Python.
class HeldObjects {
public:
  HeldObjects() = default;
  HeldObjects(const HeldObjects &other);
  HeldObjects(HeldObjects &&other) noexcept : objects_(std::move(other.objects_)) {}
  HeldObjects &operator=(HeldObjects other) noexcept {
    objects_.swap(other.objects_);
    return *this;
  }
  ~HeldObjects();

  /// The number of an object by who it is; of a value of Python's own that takes no weak reference,
  /// such as a range or a date, by that.
  std::uint64_t number_of(PyObject *object);
  /// The number of an object by its type and value; 0 for one that has no hash.
  std::uint64_t by_value(PyObject *object);
  void add(const HeldObjects &others);
  /// What must be held meanwhile, as a new list.
  nb::list references() const;
  /// Lets the numbers stay for good: there is no Python any more.
  void abandon() { objects_.clear(); }

private:
  std::uint64_t hold(PyObject *object, bool by_value);

  std::vector<PyObject *> objects_; ///< borrowed
};

void define_identities(nb::module_ &module);

} // namespace weft::python
