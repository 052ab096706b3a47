// The class of data sets of Python, and its iterators.
#pragma once

#include "Data.h"

#include <mutex>

namespace weft::python {

/// A pass that Python goes through. Threads of Python that share it alternate.
struct DataIterator {
  using Initialized = void; // see Initialized.h
  DataIterator(std::shared_ptr<data::detail::Pass> started, std::vector<nb::object> objects)
      : held(std::move(objects)), pass(std::move(started)) {}
  ~DataIterator();
  DataIterator(const DataIterator &) = delete;
  DataIterator &operator=(const DataIterator &) = delete;

  nb::object next();

  std::vector<nb::object> held; ///< whose functions the stages call
  std::mutex mutex;
  std::shared_ptr<data::detail::Pass> pass;
};

/// An object of Python that keeps a function for stages, which have its slot.
nb::object keeper_of(nb::object function);

nb::object zip(const nb::args &datasets);
nb::object concatenate(const nb::args &datasets);

/// Defines weft.data.Dataset and the class of its iterators.
void define_dataset(nb::module_ &module, nb::module_ &data);

} // namespace weft::python
