// Functions of Python with gradients of their own.
#include "Define.h"
#include "Pullbacks.h"
#include "Structures.h"
#include "Text.h"

#include <memory>

#include "Elements.h"
#include <weft/custom_gradient.h>
#include <weft/detail/derivative_mark.h>

namespace weft::python {

namespace {

/// The gradients that a function gives for cotangents: a tensor or None for each of `count`
/// operands. It may give one for each argument instead, with None for `others`, the numbers of
/// those that are no tensors.
std::vector<Tensor> pulled(const Pullback &pull, std::span<const Tensor> cotangents,
                           std::size_t count, const std::vector<std::size_t> &others) {
  const Locked lock;
  nb::list arguments;
  for (const Tensor &cotangent : cotangents)
    arguments.append(cotangent.defined() ? checked(wrap(cotangent)) : nb::none());
  const nb::object given = pull.get()(*nb::tuple(arguments));
  const bool many = PyTuple_Check(given.ptr()) || PyList_Check(given.ptr());
  const nb::object list = many ? given : nb::object(nb::make_tuple(given));
  std::vector<Tensor> gradients;
  for (const nb::handle gradient : list) {
    const Place place{"custom_gradient", "a gradient"};
    gradients.push_back(gradient.is_none() ? Tensor() : to_tensor(gradient.ptr(), place));
  }
  if (!others.empty() && gradients.size() == count + others.size())
    for (auto other = others.rbegin(); other != others.rend(); ++other)
      gradients.erase(gradients.begin() + static_cast<std::ptrdiff_t>(*other));
  if (gradients.size() != count)
    throw ValueError("custom_gradient: the gradient function gave " +
                     std::to_string(gradients.size()) + " gradients, and there are " +
                     std::to_string(count) + " tensors and variables to give them for");
  return gradients;
}

/// A tensor is handed over as an object of its own, whose items the function may assign: the
/// operand stays what it was. A number or another object is handed over as it is.
nb::object with_values(PyObject *argument) {
  if (is_variable(argument)) return checked(wrap(variable_in(argument).value()));
  return is_tensor(argument) ? checked(wrap(tensor_in(argument))) : nb::borrow(argument);
}

nb::object call(nb::object function, const nb::tuple &given, const nb::dict &keywords,
                const nb::tuple &variables) {
  detail::Body pullback;
  std::vector<Tensor> operands;
  std::vector<std::size_t> others;
  nb::list arguments;
  for (const nb::handle argument : given) {
    const nb::object value = with_values(argument.ptr());
    if (is_tensor(value.ptr())) operands.push_back(tensor_in(value.ptr()));
    else others.push_back(nb::len(arguments));
    arguments.append(value);
  }
  std::vector<Variable> read;
  for (const nb::handle variable : variables) {
    if (!is_variable(variable.ptr()))
      throw DTypeError(std::string("custom_gradient: variables holds an object of type ") +
                       Py_TYPE(variable.ptr())->tp_name);
    read.push_back(variable_in(variable.ptr()));
  }
  detail::read_variables(read, operands);
  const std::string name = text_of(nb::getattr(function, "__name__", nb::str("custom_gradient")));
  nb::object made;
  detail::run_reading(name, read, [&] {
    const detail::DerivativeMark lifted(nullptr);
    made = function(*nb::tuple(arguments), **keywords);
  });
  if (!PyTuple_Check(made.ptr()) || PyTuple_GET_SIZE(made.ptr()) != 2 ||
      PyCallable_Check(PyTuple_GET_ITEM(made.ptr(), 1)) == 0)
    throw DTypeError("custom_gradient: " + name + " gave an object of type " +
                     Py_TYPE(made.ptr())->tp_name + ": it returns (value, gradient function)");
  const nb::object value = made[0];
  const Structure structure(value.ptr(), "custom_gradient: the value");
  const std::vector<Tensor> results = structure.tensors();
  const std::shared_ptr<const Pullback> pull = keep_pullback(made[1]);
  const std::size_t count = operands.size();
  pullback = [pull, count, others = std::move(others)](std::span<const Tensor> cotangents) {
    return pulled(*pull, cotangents, count, others);
  };
  const std::vector<Tensor> attached = detail::attach(name, operands, results, pullback, false);
  std::size_t next = 0;
  return structure.rebuilt([&] { return checked(wrap(attached[next++])); });
}

/// The arguments of a call that is run again: some of them come anew as tensors.
struct Rerun {
  std::shared_ptr<const Pullback> call; ///< the function, its arguments, and those by keywords
  std::vector<std::size_t> places;      ///< of tensors and variables among the arguments

  nb::object operator()(std::span<const Tensor> tensors) const {
    const nb::object called = call->get(), function = called[0], keywords = called[2];
    nb::list given;
    for (const nb::handle argument : nb::object(called[1])) given.append(argument);
    for (std::size_t i = 0; i < places.size(); ++i) given[places[i]] = checked(wrap(tensors[i]));
    return function(*nb::tuple(given), **nb::borrow<nb::dict>(keywords));
  }
};

nb::object recompute(nb::object function, const nb::tuple &given, const nb::dict &keywords) {
  Rerun rerun{.call = keep_pullback(nb::make_tuple(function, given, keywords)), .places = {}};
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const nb::object value = with_values(nb::handle(given[i]).ptr());
    if (!is_tensor(value.ptr())) continue;
    operands.push_back(tensor_in(value.ptr()));
    rerun.places.push_back(i);
  }
  std::optional<Structure> structure; // of the first run, which ends before this frame does
  const auto first = std::make_shared<std::optional<Structure> *>(&structure);
  const detail::Body body = [rerun = std::move(rerun),
                             first](std::span<const Tensor> tensors) -> std::vector<Tensor> {
    const Locked lock;
    Structure given(rerun(tensors).ptr(), "recompute: what the function gave");
    std::vector<Tensor> results = given.tensors();
    if (auto *to = std::exchange(*first, nullptr)) to->emplace(std::move(given));
    return results;
  };
  const std::vector<Tensor> results =
      detail::run_recomputed("recompute", body, std::move(operands));
  std::size_t next = 0;
  return structure.value().rebuilt([&] { return checked(wrap(results[next++])); });
}

} // namespace

void define_custom_gradients(nb::module_ &module) {
  define<call>(
      module, "custom_gradient_call(function, args, kwargs, variables)",
      "Calls a function that returns (value, gradient function), for weft.custom_gradient.");
  define<recompute>(module, "recompute_call(function, args, kwargs)",
                    "Calls a function whose gradient runs it again, for weft.recompute.");
}

} // namespace weft::python
