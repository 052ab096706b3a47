// What a callable is called with: its parameters, the arguments of a call in their places, and
// those converted as an input signature says.
#pragma once

#include "ArgumentWalker.h"

namespace weft::python {

/// What a callable is called with.
struct Parameters {
  std::vector<nb::object> names;    ///< by position, then those by keyword only
  std::vector<nb::object> defaults; ///< null where there is none
  std::size_t positional = 0, positional_only = 0;
  bool more = true;          ///< *args
  std::string rest = "args"; ///< the name of *args
  bool words = true;         ///< **kwargs

  /// Whether the arguments of a call are the parameters as they are.
  bool plain(std::size_t given, PyObject *keywords) const {
    return keywords == nullptr && given == positional && names.size() == positional && !more &&
           !words;
  }
};

/// Those of a function of Python, or of a method without its self; of anything else whatever comes.
Parameters parameters_of(PyObject *callable);

/// Who is called.
struct Callee {
  const char *name; ///< for messages
  PyObject *function;
  const Parameters *parameters;
  PyObject *specs; ///< of the input signature: a tuple of trees of TensorSpec; or null
};

/// The arguments of a call in their places; all but converted ones are borrowed.
struct Bound {
  PyObject *const *values = nullptr; ///< of the parameters
  std::size_t count = 0;
  std::span<PyObject *const> rest = {};                      ///< of *args
  std::vector<std::pair<PyObject *, PyObject *>> words = {}; ///< of **kwargs, sorted
  std::vector<PyObject *> placed = {};
  std::vector<nb::object> converted = {};
  std::vector<PyObject *> converted_rest = {};
};

/// Puts the arguments of a call in their places. Throws TypeError, in Python's words.
void bind(const Callee &self, PyObject *const *args, std::size_t given, PyObject *keywords,
          Bound &bound);
/// Makes tensors of what the input signature has specs for.
void convert_to_specs(const Callee &self, Bound &bound);
/// Reads the arguments.
void walk(const Callee &self, const Bound &bound, ArgumentWalker &walker);

} // namespace weft::python
