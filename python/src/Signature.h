// The parameters of functions, and the one way in which the arguments of a call are bound to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

namespace weft::python {

/// A parameter of a function.
struct Param {
  /// "*" before those that are given by keyword alone, "*xs" for all that are given by position
  const char *name;
  const char *stub = "Any";        ///< its type in stubs
  const char *otherwise = nullptr; ///< its default as Python writes it; null if it must be given

  constexpr Param(const char *name, const char *stub = "Any", const char *otherwise = nullptr)
      : name(name), stub(stub), otherwise(otherwise) {}
};

/// What the arguments of a call are bound to: the names of parameters, of which `positional` may be
/// given by position, and `required`, the first, must be given.
struct Names {
  std::span<const char *const> list;
  std::size_t positional, required;
  bool others = false;   ///< there is a `*args` besides
  bool keywords = false; ///< there is a `**kwargs` besides
};

/// Throws the TypeError of a call that does not bind, which names the nearest of a wrong keyword.
/// \param function what users call, "weft.nn.Dense"
/// \param given how many are given by position
/// \param words the keywords of the others
[[noreturn]] void refuse_call(const std::string &function, const Names &names, std::size_t given,
                              const std::vector<PyObject *> &words);

/// The parameters of a function that is called by the fast protocol. It lives for ever.
class Signature {
public:
  /// \param result the type of what it gives in stubs
  Signature(const char *name, std::initializer_list<Param> params, const char *result = "Tensor");
  /// Of parameters without types and defaults.
  Signature(const char *name, std::initializer_list<const char *> names, std::size_t count,
            std::size_t positional, std::size_t required);
  Signature(const char *name, std::vector<Param> params, const char *result);

  /// The values of the parameters, null where one is not given; false if the call does not bind.
  bool bind(PyObject *const *args, std::size_t given, PyObject *keywords, PyObject **values) const {
    const std::size_t count = names.size();
    if (given > positional && !others) [[unlikely]]
      return false;
    const std::size_t taken = std::min(given, positional);
    for (std::size_t i = 0; i < count; ++i) values[i] = i < taken ? args[i] : nullptr;
    if (keywords != nullptr && !bind_keywords(args + given, keywords, values)) return false;
    for (std::size_t i = given; i < required; ++i)
      if (values[i] == nullptr) [[unlikely]]
        return false;
    return true;
  }
  /// The same; throws TypeError.
  void bind_or_refuse(PyObject *const *args, std::size_t given, PyObject *keywords,
                      PyObject **values) const {
    if (!bind(args, given, keywords, values)) [[unlikely]]
      refuse("weft." + std::string(name), args, given, keywords);
  }
  /// Throws the TypeError of a call that does not bind.
  [[noreturn]] void refuse(const std::string &function, PyObject *const *args, std::size_t given,
                           PyObject *words) const;
  /// The number of a parameter by its name.
  std::optional<std::size_t> find(PyObject *word) const;

  /// "(x, axis=None, *, keepdims=False)"
  std::string text() const;
  /// "(x: TensorLike, axis: Axes = None) -> Tensor", as stubs have it; `self` goes first.
  std::string stub(const char *self = nullptr) const;
  /// A docstring as Python wants it of its functions: behind the text of the signature.
  const char *documented(const char *documentation, const char *self = nullptr) const;
  /// What was given to `documented`.
  const char *documentation() const { return documentation_; }

  const char *name;
  std::vector<const char *> names;
  std::vector<Param> params; ///< of the same order
  const char *result;
  std::size_t positional = 0, required = 0;
  bool others = false, keywords = false; ///< as in Names
  Param rest{"args"};                    ///< the others

private:
  bool bind_keywords(PyObject *const *given, PyObject *words, PyObject **values) const;
  Names view() const { return {names, positional, required, others, keywords}; }

  mutable const char *documentation_ = "";
  mutable std::vector<PyObject *> interned_; ///< the names, from the first keyword on
};

/// The signatures of functions of the module that have types, in the order of their rows.
std::vector<const Signature *> &documented_signatures();

/// Room for the values of the arguments of a call.
class Values {
public:
  explicit Values(std::size_t count) {
    if (count > kFew) [[unlikely]]
      many_ = std::make_unique<PyObject *[]>(count);
  }
  PyObject **data() { return many_ ? many_.get() : few_; }

private:
  static constexpr std::size_t kFew = 12;

  PyObject *few_[kFew]; // NOLINT: bind writes them
  std::unique_ptr<PyObject *[]> many_;
};

/// Binds the arguments of a call by tuple and dict, null where one is not given. Throws TypeError.
/// \param function as users write it, "weft.nn.Dense"
void bind_arguments(const char *function, std::span<const char *const> names,
                    std::size_t positional, std::size_t required, PyObject *args,
                    PyObject *keywords, PyObject **values);

} // namespace weft::python
