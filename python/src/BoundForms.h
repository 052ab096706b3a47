// The parameters of functions that nanobind binds, as their signatures say them.
#pragma once

#include "Binding.h"

#include <string>
#include <vector>

namespace weft::python {

/// A parameter of a bound function.
struct BoundParameter {
  enum class Kind { unnamed, named, by_keyword, all_others, all_keywords };

  Kind kind;
  std::string name;          ///< what nanobind calls it, "arg0", if it is unnamed
  std::string type;          ///< "object | None"
  std::string default_value; ///< as Python writes it; empty if it must be given
};

/// The parameters besides self in an item of `__nb_signature__`.
std::vector<BoundParameter> parameters_of(nb::handle signature, bool has_self);

/// "shape, low=0.0, *, seed=None"
std::string text_of(const std::vector<BoundParameter> &parameters);

/// Whether a value may be of a type by its text in a signature: true too for types that are not
/// known here. Integers are not asked whether they fit.
bool may_be(nb::handle value, std::string_view type);

/// What is wanted for a type by its text: "an integer, or None".
std::string wanted_for(std::string_view type);

/// Whether integers are among the values of a type, which have a range.
bool takes_integers(std::string_view type);

/// Whether a module of that name is of the package.
bool is_of_package(std::string_view module);

/// "weft.GradientTape" for a class or function of the package, as users write it; empty for those
/// inside.
std::string public_name(nb::handle object);

} // namespace weft::python
