// `x[key] = value` of tensors, and what traces must know of it.
#include "Assignment.h"

#include "Define.h"
#include "Sizes.h"
#include "Tensors.h"

#include <algorithm>
#include <unordered_map>

#include "Style.h"
#include <weft/detail/indexing.h>
#include <weft/detail/staging.h>
#include <weft/dtype_info.h>

namespace weft::python {

namespace {

struct Bodies {
  std::vector<TracedBody *> open;
  std::unordered_map<PyObject *, std::uint64_t> created; ///< in which of them an object was
  std::uint64_t count = 0;
};

/// Of this thread. Objects that are gone stay in it: where another has the address it is as new.
Bodies &bodies() {
  thread_local Bodies bodies;
  return bodies;
}

/// Of all threads, under the lock of Python.
std::vector<Tensor> &kept() {
  static auto &kept = *new std::vector<Tensor>;
  return kept;
}

} // namespace

void keep_while_read(Tensor tensor) {
  if (!BorrowScope::any()) return;
  kept().push_back(std::move(tensor));
  BorrowScope::kept_ = true;
}

void drop_kept() {
  BorrowScope::kept_ = false;
  const std::vector<Tensor> gone = std::exchange(kept(), {});
}

int TracedBody::open_ = 0;

TracedBody::TracedBody(Kind kind, const char *name)
    : kind_(kind), name_(name), number_(++bodies().count) {
  bodies().open.push_back(this);
  ++open_;
}

TracedBody::~TracedBody() {
  for (Carried &each : carried_) *nb::inst_ptr<Tensor>(each.object) = std::move(each.before);
  --open_;
  Bodies &all = bodies();
  all.open.pop_back();
  if (all.open.empty()) all.created.clear();
}

void TracedBody::note_new(PyObject *object) {
  Bodies &all = bodies();
  if (!all.open.empty()) all.created[object] = all.open.back()->number_;
}

void TracedBody::begin_carrying() {
  Bodies &all = bodies();
  if (!all.open.empty()) all.open.back()->carries_ = all.open.back()->kind_ == Kind::branch;
}

void TracedBody::carry(PyObject *object) {
  Bodies &all = bodies();
  if (all.open.empty() || !all.open.back()->carries_) return;
  std::vector<Carried> &carried = all.open.back()->carried_;
  if (std::ranges::none_of(carried,
                           [&](const Carried &each) { return each.object.ptr() == object; }))
    carried.push_back({nb::borrow(object), tensor_in(object)});
}

void TracedBody::check(PyObject *object) {
  const Bodies &all = bodies();
  const auto found = all.created.find(object);
  const std::uint64_t created = found == all.created.end() ? 0 : found->second;
  for (std::size_t i = all.open.size(); i-- > 0;) {
    const TracedBody &body = *all.open[i];
    if (created >= body.number_) return;
    if (body.kind_ == Kind::function)
      throw StateError(
          std::string("x[...] = value in the traced function '") + body.name_ +
          "': x is a tensor from outside of it, which an assignment would change only while it is "
          "traced: keep a weft.Variable, pass x as an argument, or compute x.at[...].set(value)");
    if (std::ranges::none_of(body.carried_,
                             [&](const Carried &each) { return each.object.ptr() == object; }))
      throw StateError(
          std::string("x[...] = value in the body of ") + body.name_ +
          ", which is traced: x is a tensor from outside of the body, by a name that the construct "
          "does not carry: assign by a variable of the function that has it, or return "
          "x.at[...].set(value) from the body");
  }
}

void replace_tensor(PyObject *object, Tensor tensor) {
  if (TracedBody::any()) [[unlikely]]
    TracedBody::check(object);
  // What calls read, of other threads or around this one, is held for as long as they do.
  keep_while_read(std::exchange(*nb::inst_ptr<Tensor>(object), std::move(tensor)));
}

void assign_elements(PyObject *argument, Tensor tensor) {
  if (is_tensor(argument)) return replace_tensor(argument, std::move(tensor));
  if (PyObject_HasAttrString(argument, "__array_interface__") == 0)
    raise_type_error(
        std::string("x[...] = value: x is an argument of a traced function, and was given as a ") +
        Py_TYPE(argument)->tp_name +
        ", which cannot take the elements: give a tensor or an array of NumPy");
  if (PyObject_SetItem(argument, Py_Ellipsis, numpy_of(tensor).ptr()) != 0)
    throw nb::python_error();
}

namespace {

/// The value that elements of x are to have, in its dtype: one that promotes to it is converted.
Tensor value_for(const std::string &function, const Tensor &x, PyObject *value) {
  const DType dtype = x.dtype();
  Argument argument;
  const Place place{function.c_str(), "the value"};
  if (!argument.convert(value, place, dtype)) refuse_object(value, place);
  const Operand &operand = argument.operand();
  if (operand.weak()) {
    if (operand.weak_kind() > kind_of(dtype))
      throw DTypeError(function + ": the value is " +
                       std::string(detail::number_in_words(operand.weak_kind())) + ", and x " +
                       python_name(dtype) + ": convert x by x.astype first");
    return operand.materialize(dtype, function);
  }
  const Tensor tensor = operand.materialize();
  const DType given = tensor.dtype();
  if (given == dtype) return tensor;
  // Arrays of others are converted within their kind, as NumPy does by itself: its own are float64.
  const bool of_weft = is_computed(value) || is_tensor(value) || is_variable(value);
  if (!can_cast(given, dtype) && (of_weft || kind_of(given) != kind_of(dtype)))
    throw DTypeError(function + ": the value is " + python_name(given) + ", and x " +
                     python_name(dtype) + ": convert one of them by astype");
  return cast(tensor, dtype);
}

} // namespace

int assign_item(PyObject *self, PyObject *key, PyObject *value) {
  return guarded([&] {
    if (prints_as_tensorflow())
      raise_type_error("'" +
                       std::string(tensor_in(self).traced() ? "SymbolicTensor" : "EagerTensor") +
                       "' object does not support item assignment");
    if (value == nullptr) raise_type_error("del x[...]: tensors have no items to delete");
    if (TracedBody::any()) [[unlikely]]
      TracedBody::check(self);
    Tensor &x = *nb::inst_ptr<Tensor>(self);
    const Tensor items = value_for("x[...] = value", tensor_in(self), value);
    if (!BorrowScope::any())
      if (const auto basic = basic_key(key); basic && detail::assign_in_place(x, *basic, items))
        return 0;
    replace_tensor(self, replaced(Tensor(x), key, items));
    return 0;
  });
}

//===----------------------------------------------------------------------===//
// x.at[...]
//===----------------------------------------------------------------------===//

namespace {

/// `x.at[key].method(value)`, of indices that are in range: of an element that arrays of them name
/// several times with all of its values.
Tensor updated(nb::handle object, nb::handle key, nb::handle value, const std::string &method) {
  using Combine = Tensor (*)(const Operand &, const Operand &);
  struct Method {
    const char *name;
    Combine combine;
    ScatterReduction reduction;
  };
  static constexpr Method kMethods[] = {{"add", add, ScatterReduction::add},
                                        {"subtract", add, ScatterReduction::add},
                                        {"multiply", multiply, ScatterReduction::multiply},
                                        {"min", minimum, ScatterReduction::min},
                                        {"max", maximum, ScatterReduction::max}};
  const Tensor x = tensor_in(object.ptr());
  Tensor items = value_for("at[...]." + method, x, value.ptr());
  if (method == "set") return replaced(x, key.ptr(), items);
  if (method == "subtract") items = negate(items);
  for (const Method &each : kMethods) {
    if (method != each.name) continue;
    if (picks_by_array(key.ptr())) return combined(x, key.ptr(), items, each.reduction);
    return replaced(x, key.ptr(), each.combine(elements_at(x, key.ptr()), items));
  }
  throw InternalError("at[...]: there is no " + method);
}

nb::object put(nb::handle object, nb::handle value) {
  TracedBody::carry(object.ptr());
  replace_tensor(object.ptr(), tensor_in(value.ptr()));
  return nb::none();
}

} // namespace

void define_assignment(nb::module_ &module) {
  define<updated>(module, "internal_updated(x, key, value, method)");
  define(module, "internal_value_for(x, value, function)",
         [](nb::handle x, nb::handle value, const std::string &function) {
           return value_for(function, tensor_in(x.ptr()), value.ptr());
         });
  define<put>(module, "internal_put(object, value)");
  define(module, "internal_begin_carrying()", [] { TracedBody::begin_carrying(); });
}

} // namespace weft::python
