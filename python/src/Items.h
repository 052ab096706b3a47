// Elements of data sets as trees of Python.
#pragma once

#include "Foreign.h"

#include <weft/data/pipeline.h>

namespace weft::python {

using data::detail::Item;

/// What an element is besides its tensors: null is a tensor, or a tuple of several.
using FormPointer = std::shared_ptr<const data::detail::Form>;

/// Takes elements apart; the Callable of the slot keeps their objects of Python. One that gives
/// many of one structure keeps it. With the lock of Python.
class ItemReader {
public:
  ItemReader(const char *function, CallablePointer slot)
      : function_(function), slot_(std::move(slot)) {}
  /// Numbers, arrays and lists of them become tensors; text, bytes, None and objects stay what they
  /// are. Throws TypeError for a set.
  Item read(PyObject *element, Sharing sharing = Sharing::copy);

private:
  const char *function_;
  CallablePointer slot_;
  FormPointer last_;
};

/// An element put together, with the lock of Python.
nb::object object_of(const Item &item);
/// A tree with these objects in the places of the tensors.
nb::object filled(const data::detail::Form *form, std::span<const nb::object> leaves);

/// Calls a function with an element; one that is a plain tuple is its arguments.
nb::object call_with_item(const nb::object &function, const Item &item,
                          const nb::dict &keywords = {});

/// The text of a line, or the bytes of a record, as C++ makes them.
struct Record {
  std::string bytes;
  WEFT_FIELDS(Record, bytes)
};

} // namespace weft::python
