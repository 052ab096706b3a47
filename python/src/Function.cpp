// The class Function of Python: calls of traced functions, by the vectorcall protocol.
#include "Function.h"
#include "Assignment.h"
#include "Define.h"
#include "Results.h"
#include "Runs.h"
#include "Text.h"

#include <bit>
#include <memory>

#include "Interrupts.h"
#include "Parameters.h"
#include "Staging.h"
#include "Style.h"
#include <structmember.h>
#include <weft/detail/function_core.h>
#include <weft/detail/replica_scope.h>
#include <weft/detail/staging.h>
#include <weft/phase.h>

namespace weft::python {

namespace {

using detail::FunctionCore;

struct Object {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject *dict, *weak;
  PyObject *function;
  PyObject *specs; ///< of the input signature: a tuple of trees of TensorSpec; or null
  PyObject *kept;  ///< what its programs call back into: a list; or null
  FunctionCore *core;
  Parameters *parameters;
  bool autograph;
  std::uint32_t history; ///< which of the last calls were traced, the latest in the lowest bit
  std::uint32_t calls, warnings;
  bool runs_at_once;                         ///< as what it calls cannot be traced
  std::shared_ptr<FunctionCore::Trace> last; ///< of the last call, compiled
  CallablePointer slot;                      ///< which keeps what its traces hold of Python
};

PyTypeObject *function_type = nullptr;
bool run_eagerly = false;

Object *object_of(PyObject *self) { return reinterpret_cast<Object *>(self); }

/// A traced function as an argument of what nanobind binds.
struct FunctionHandle : nb::handle {
  static constexpr auto Name = nb::detail::const_name("weft.Function");

  using handle::handle;
  FunctionHandle(const nb::handle &of) : handle(of) {}

  static bool check_(nb::handle of) { return Py_TYPE(of.ptr()) == function_type; }
};
const char *name_of(const Object *self) { return self->core->options().name.c_str(); }
Callee callee_of(const Object *self) {
  return {name_of(self), self->function, self->parameters, self->specs};
}

/// Holds the tensors and variables of arguments, which a reader borrows, while other threads of
/// Python may change the containers that they are in.
class Holder {
public:
  explicit Holder(detail::ArgumentReader &reader) {
    tensors_.reserve(reader.tensors.size());
    for (detail::TensorImpl *impl : reader.tensors) {
      detail::retain(impl);
      tensors_.push_back(Tensor(impl));
    }
    variables_.reserve(reader.variables.size());
    for (detail::VariablePointer &variable : reader.variables) {
      variables_.push_back(*variable);
      variable = &variables_.back();
    }
  }
  Holder(const Holder &) = delete;
  Holder &operator=(const Holder &) = delete;

private:
  std::vector<Tensor> tensors_;
  std::vector<std::shared_ptr<VariableState>> variables_;
};

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

/// A tensor among the arguments of a function that is traced: the object that stands for it, and
/// which leaf of the arguments it is.
struct Input {
  nb::object object;
  std::uint32_t leaf;
};

/// One call until its result.
struct Call {
  explicit Call(Object *self) : self(self), walker(name_of(self)) {}

  Object *self;
  ArgumentWalker walker;
  Bound bound;
  std::shared_ptr<void> prototype;
  bool inside = false; ///< another trace
  bool traced = false;
  bool in_tree = false; ///< whether the arguments were read into a tree
  std::optional<Holder> held;
  std::string why; ///< what differs from the traces there are, where a warning is due

  void read(PyObject *const *args, std::size_t given, PyObject *keywords) {
    const Callee callee = callee_of(self);
    bind(callee, args, given, keywords, bound);
    if (self->specs != nullptr) [[unlikely]]
      convert_to_specs(callee, bound);
    walk(callee, bound, walker);
    if (walker.stopped()) [[unlikely]]
      read_tree();
    else read_replicas();
  }
  /// Before the function is traced with the arguments: what it gets is what was read.
  void read_tree() {
    if (std::exchange(in_tree, true)) return;
    walker.begin_tree();
    walk(callee_of(self), bound, walker);
    read_replicas();
  }
  /// Replicas have traces apart, which draw and reduce as one of so many does.
  void read_replicas() {
    if (const std::int64_t count = weft::detail::ReplicaScope::current(); count != 0) [[unlikely]]
      walker.reader.literal("one of " + std::to_string(count) + " replicas");
  }
  /// Before the lock of Python is given up.
  void hold() {
    if (!held && !in_tree) held.emplace(walker.reader);
  }
  std::vector<Tensor> trace(std::span<const Tensor> inputs,
                            std::span<const detail::VariablePointer> variables);
  FunctionCore::Tracee tracee() {
    return
        [this](std::span<const Tensor> inputs, std::span<const detail::VariablePointer> variables) {
          return trace(inputs, variables);
        };
  }
  nb::object run_python(std::span<const Tensor> inputs,
                        std::span<const detail::VariablePointer> variables,
                        std::vector<Input> &objects) const;
};

/// "argument 0" as the user calls it: "argument 'x'".
std::string with_names(const Object *self, std::string text) {
  constexpr std::string_view word = "argument ";
  const std::vector<nb::object> &names = self->parameters->names;
  std::string made;
  std::size_t from = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, from)) {
    std::size_t end = at + word.size();
    std::size_t number = 0;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
      number = number * 10 + static_cast<std::size_t>(text[end++] - '0');
    made += text.substr(from, at - from) + std::string(word);
    if (number < names.size()) made += std::string("'") + text_of(names[number]) + "'";
    else
      made += number == names.size() && self->parameters->more ? "'*" + self->parameters->rest + "'"
                                                               : "'**kwargs'";
    from = end;
  }
  return with_dtypes(made + text.substr(from));
}

nb::object Call::run_python(std::span<const Tensor> inputs,
                            std::span<const detail::VariablePointer> variables,
                            std::vector<Input> &objects) const {
  const std::vector<nb::object> &names = self->parameters->names;
  nb::list positional;
  nb::dict named;
  ArgumentNames known;
  std::size_t argument = 0, leaf = 0, input = 0;
  const auto next_leaf = [&](const Tree::Node &node) -> nb::object {
    const nb::object &own = walker.leaves[leaf++];
    if (node.kind == Kind::tensor) {
      nb::object object = checked(wrap(inputs[input++]));
      objects.push_back({object, static_cast<std::uint32_t>(leaf - 1)});
      return object;
    }
    const auto &of = walker.reader.variables;
    for (std::size_t i = 0; i < of.size(); ++i)
      if (variable_in(own.ptr()).state() == *of[i]) return checked(wrap(Variable(*variables[i])));
    return own;
  };
  const auto next = [&] { return Tree::build(walker.tree.root.entries[argument++], next_leaf); };
  for (std::size_t i = 0; i < bound.count; ++i) {
    const nb::object value = next();
    known.add(text_of(names[i]), value);
    if (i < self->parameters->positional) positional.append(value);
    else named[names[i]] = value;
  }
  for (std::size_t i = 0; i < bound.rest.size(); ++i) positional.append(next());
  for (const auto &[word, value] : bound.words) named[nb::handle(word)] = next();
  return call_tracing(nb::handle(self->function), nb::tuple(positional), named, self->autograph);
}

/// The functions that this thread traces, the innermost last.
thread_local std::vector<Object *> being_traced;

class BeingTraced {
public:
  explicit BeingTraced(Object *self) { being_traced.push_back(self); }
  ~BeingTraced() { being_traced.pop_back(); }
  BeingTraced(const BeingTraced &) = delete;
  BeingTraced &operator=(const BeingTraced &) = delete;
};

/// A result as the maker of the function wants it: what its attribute _weft_results gives for it.
nb::object in_form(const Object *self, nb::object result) {
  const nb::object form = nb::borrow(
      self->dict == nullptr ? nullptr : PyDict_GetItemString(self->dict, "_weft_results"));
  return form.is_valid() ? form(result) : result;
}

std::vector<Tensor> Call::trace(std::span<const Tensor> inputs,
                                std::span<const detail::VariablePointer> variables) {
  const Locked locked;
  const BeingTraced scope(self);
  traced = true;
  if (!inside && why.empty() && std::popcount(self->history & 0x3ffU) >= 4)
    why = self->core->explain(walker.reader);
  if (inputs.size() != walker.reader.tensors.size() || !in_tree)
    throw InternalError(std::string(name_of(self)) + " is traced with other arguments");
  const TracedBody body(TracedBody::Kind::function, name_of(self));
  std::vector<Input> objects;
  const nb::object result = in_form(self, run_python(inputs, variables, objects));
  std::vector<Tensor> tensors;
  auto made = std::make_shared<Prototype>(name_of(self), result.ptr(), walker.numbered, self->slot,
                                          tensors);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Tensor &now = tensor_in(objects[i].object.ptr());
    if (now.impl() == inputs[i].impl()) continue;
    made->assigned.push_back(objects[i].leaf);
    tensors.push_back(now);
  }
  prototype = std::move(made);
  return tensors;
}

void warn_of_traces(Call &call) {
  Object *self = call.self;
  const int traced = std::popcount(self->history & 0x3ffU);
  if (call.why.empty() || traced < 5 || self->warnings >= 2) return;
  ++self->warnings;
  const std::string text =
      std::to_string(traced) + " of the last " + std::to_string(std::min(self->calls, 10U)) +
      " calls of " + name_of(self) +
      " were traced anew, the latest because: " + with_names(self, call.why) +
      ". Pass numbers that change as tensors, make traced functions and lambdas outside of loops, "
      "or give an input_signature.";
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Prototype &prototype_of(const FunctionCore::Trace &trace) {
  return *static_cast<Prototype *>(FunctionCore::prototype(trace).get());
}

/// Reads the objects that a call gives new values to, where a trace assigns items of arguments.
/// Throws StateError, before anything runs, where one of them is also another argument: the trace
/// has two values for one object.
void read_assigned(const FunctionCore::Trace &trace, Call &call) {
  const std::vector<std::uint32_t> &assigned = prototype_of(trace).assigned;
  if (assigned.empty()) [[likely]]
    return;
  call.read_tree();
  for (const std::uint32_t leaf : assigned) {
    const PyObject *object = call.walker.given[leaf].ptr();
    const auto same = [&](const nb::object &other) { return other.ptr() == object; };
    if (std::ranges::count_if(call.walker.given, same) > 1)
      throw StateError(std::string(name_of(call.self)) +
                       ": the function assigns items of an argument that is given twice: give a "
                       "copy in one of its places");
  }
}

PyObject *result_of(const FunctionCore::Trace &trace, const Call &call,
                    std::vector<Tensor> tensors) {
  const auto &variables = call.walker.reader.variables;
  const std::vector<std::uint32_t> &assigned = prototype_of(trace).assigned;
  if (!assigned.empty()) [[unlikely]] {
    const std::size_t first = tensors.size() - assigned.size();
    for (std::size_t i = 0; i < assigned.size(); ++i)
      assign_elements(call.walker.given[assigned[i]].ptr(), std::move(tensors[first + i]));
    tensors.resize(first);
  }
  return prototype_of(trace).fill(std::move(tensors), FunctionCore::stand_ins(trace),
                                  {variables.data(), variables.size()});
}

bool keeps_lock(const FunctionCore::Trace &trace) {
  Prototype &prototype = prototype_of(trace);
  if (prototype.is_short < 0) prototype.is_short = detail::is_short(trace) ? 1 : 0;
  return prototype.is_short != 0;
}

/// A call while a trace or a tape records.
PyObject *call_recorded(Call &call, PyObject *const *args, std::size_t flags, PyObject *keywords) {
  Object *self = call.self;
  const std::source_location nowhere;
  const auto given = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  if (FunctionCore::calls_are_recorded()) {
    call.inside = true;
    call.read(args, given, keywords);
    call.read_tree();
    const auto trace =
        self->core->find_inside(nowhere, call.walker.reader, call.tracee(), call.prototype);
    if (self->kept != nullptr) keep_while_traced(nb::borrow(self->kept));
    read_assigned(*trace, call);
    return result_of(*trace, call, self->core->call(nowhere, *trace, call.walker.reader));
  }
  if (FunctionCore::calls_are_entries()) {
    call.read(args, given, keywords);
    call.read_tree();
    std::shared_ptr<FunctionCore::Trace> trace;
    std::optional<std::vector<Tensor>> tensors;
    {
      const Interruptible signals;
      const Unlocked others_run(true);
      trace = self->core->find_taped(nowhere, call.walker.reader, call.tracee(), call.prototype);
      read_assigned(*trace, call); // the tree was read with the lock of Python
      // A derivative by an argument is by what it holds after the assignments to it, of which the
      // tape has to see each.
      if (prototype_of(*trace).assigned.empty())
        tensors = self->core->run_taped(nowhere, *trace, call.walker.reader);
    }
    if (tensors) return result_of(*trace, call, *std::move(tensors));
  }
  const FunctionCore::Inlined here(*self->core);
  if (!detail::is_staged())
    return in_form(self,
                   checked(PyObject_Vectorcall(self->function, args,
                                               flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET, keywords)))
        .release()
        .ptr();
  nb::list positional;
  nb::dict named;
  for (std::size_t i = 0; i < given; ++i) positional.append(nb::handle(args[i]));
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_GET_SIZE(keywords); ++k)
    named[nb::handle(PyTuple_GET_ITEM(keywords, k))] =
        nb::handle(args[given + static_cast<std::size_t>(k)]);
  return in_form(self, call_tracing(nb::handle(self->function), nb::tuple(positional), named,
                                    self->autograph))
      .release()
      .ptr();
}

/// The trace of a call, made if there is none.
std::shared_ptr<FunctionCore::Trace> find(Call &call) {
  call.read_tree();
  const Interruptible signals; // the compiler looks for them between passes
  const Unlocked others_run(true);
  return call.self->core->find({}, call.walker.reader, call.tracee(), call.prototype);
}

} // namespace

void keep_while_traced(const nb::object &object) {
  for (Object *self : being_traced) {
    if (self->kept == object.ptr()) continue;
    if (self->kept == nullptr) self->kept = checked(PyList_New(0)).release().ptr();
    bool there = false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->kept); ++i)
      there = there || PyList_GET_ITEM(self->kept, i) == object.ptr();
    if (!there && PyList_Append(self->kept, object.ptr()) != 0) throw nb::python_error();
  }
}

namespace {

PyObject *call_traced(Object *self, PyObject *const *args, std::size_t flags, PyObject *keywords) {
  Call call(self);
  if (FunctionCore::recording()) [[unlikely]]
    return call_recorded(call, args, flags, keywords);
  call.read(args, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), keywords);
  const detail::ArgumentReader &arguments = call.walker.reader;
  // Other threads, and finalizers of Python, may put another trace in its place meanwhile.
  std::shared_ptr<FunctionCore::Trace> trace = self->last;
  if (arguments.undefined >= 0 || !trace || !detail::serves(*trace, arguments))
    self->last = trace = find(call);
  read_assigned(*trace, call);
  self->history = self->history << 1 | static_cast<std::uint32_t>(call.traced);
  ++self->calls;
  if (call.traced) [[unlikely]]
    warn_of_traces(call);
  if (keeps_lock(*trace)) return result_of(*trace, call, self->core->run({}, *trace, arguments));
  call.hold();
  std::vector<Tensor> tensors;
  {
    const Interruptible signals;
    const Unlocked others_run(true);
    tensors = self->core->run({}, *trace, arguments);
  }
  return result_of(*trace, call, std::move(tensors));
}

PyObject *run_at_once(Object *self, PyObject *const *args, std::size_t flags, PyObject *keywords) {
  return in_form(self, checked(PyObject_Vectorcall(self->function, args, flags, keywords)))
      .release()
      .ptr();
}

/// Whether it says that what is traced has to run at once: replicas of one process take turns, in
/// which no trace can wait.
bool asks_to_run_at_once(const nb::python_error &error) {
  return nb::hasattr(error.value(), "_weft_runs_at_once");
}

} // namespace

PyObject *call_function(PyObject *callable, PyObject *const *args, std::size_t flags,
                        PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    Object *self = object_of(callable);
    if (self->function == nullptr) raise_type_error("a traced function was called after its end");
    const nb::object alive = nb::borrow(callable);
    if ((run_eagerly || self->runs_at_once) && !detail::is_tracing()) [[unlikely]]
      return run_at_once(self, args, flags, keywords);
    try {
      return call_traced(self, args, flags, keywords);
    } catch (const nb::python_error &error) {
      if (detail::is_tracing() || !asks_to_run_at_once(error)) throw;
    }
    self->runs_at_once = true;
    return run_at_once(self, args, flags, keywords);
  });
}

namespace {

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// A method that takes the arguments of the function: `ask(call)`.
template <class Ask>
nb::object asked(FunctionHandle self, const nb::args &args, const nb::kwargs &keywords,
                 const Ask &ask) {
  Call call(object_of(self.ptr()));
  std::vector<PyObject *> values;
  for (const nb::handle value : args) values.push_back(value.ptr());
  nb::list names;
  for (const auto [name, value] : keywords) {
    names.append(name);
    values.push_back(value.ptr());
  }
  const nb::tuple words(names);
  call.read(values.data(), args.size(), nb::len(words) == 0 ? nullptr : words.ptr());
  return ask(call);
}

nb::object explain(FunctionHandle self, nb::args args, nb::kwargs keywords) {
  return asked(self, args, keywords, [](Call &call) {
    const std::string text = call.self->core->explain(call.walker.reader);
    return nb::str(with_names(call.self, text).c_str());
  });
}

nb::object ir(FunctionHandle self, nb::args args, nb::kwargs keywords) {
  std::string phase = "simplify";
  if (keywords.contains("phase")) {
    phase = text_of(nb::handle(keywords["phase"]));
    PyDict_DelItemString(keywords.ptr(), "phase");
  }
  return asked(self, args, keywords, [&](Call &call) -> nb::object {
    std::string text;
    const Phase at = phase_named(phase);
    call.read_tree();
    {
      const Interruptible signals;
      const Unlocked others_run(true);
      text = call.self->core->ir(call.walker.reader, call.tracee(), at);
    }
    return nb::str(text.data(), text.size());
  });
}

nb::object report(FunctionHandle self, nb::args args, nb::kwargs keywords) {
  return asked(self, args, keywords, [](Call &call) -> nb::object {
    const auto trace = find(call);
    const CompileReport &report = call.self->core->report(*trace);
    nb::dict phases, made;
    for (const CompileReport::PhaseTime &phase : report.phases)
      phases[phase.phase.c_str()] = phase.milliseconds;
    made["trace_ms"] = report.trace_ms;
    made["total_ms"] = report.total_ms;
    made["phases_ms"] = phases;
    made["traced_ops"] = report.traced_ops;
    made["arena_bytes"] = report.arena_bytes;
    return made;
  });
}

nb::object trace_now(FunctionHandle self, nb::args args, nb::kwargs keywords) {
  return asked(self, args, keywords, [](Call &call) -> nb::object {
    static_cast<void>(find(call));
    return nb::none();
  });
}

} // namespace

Graph graph_of(nb::handle function, const nb::args &args, const nb::kwargs &keywords) {
  if (Py_TYPE(function.ptr()) != function_type)
    raise_type_error(std::string("graph: a traced function of wf.function is wanted, not a ") +
                     Py_TYPE(function.ptr())->tp_name);
  Graph graph;
  asked(function, args, keywords, [&](Call &call) -> nb::object {
    call.read_tree();
    const Unlocked others_run(true);
    graph = call.self->core->graph(call.walker.reader, call.tracee());
    return {};
  });
  return graph;
}

namespace {

//===----------------------------------------------------------------------===//
// The types
//===----------------------------------------------------------------------===//

/// The types of the tensors of specs, in the order of a call.
void add_types(nb::handle spec, std::vector<TensorType> &types) {
  if (nb::hasattr(spec, "_is_tensor_spec")) {
    const Place place{"input_signature", "a spec"};
    const DType dtype = to_dtype(nb::object(spec.attr("dtype")).ptr(), place);
    const nb::object shape = spec.attr("shape");
    types.push_back(shape.is_none() ? weft::spec(dtype, any_rank)
                                    : weft::spec(dtype, shape_of_spec(shape, place)));
  } else if (PyDict_Check(spec.ptr()) != 0) {
    const auto items = items_of(spec.ptr());
    std::vector<PyObject *> keys;
    for (const auto &[key, inner] : items) keys.push_back(key.ptr());
    for (const std::uint32_t i : shape_of_keys(keys)->sorted) add_types(items[i].second, types);
  } else if (PyList_Check(spec.ptr()) != 0 || PyTuple_Check(spec.ptr()) != 0) {
    for (const nb::handle inner : entries_of(spec.ptr())) add_types(inner, types);
  }
}

nb::object make_function(nb::object callable, const std::string &name, nb::object specs,
                         bool autograph, bool reduce_retracing, std::size_t max_traces,
                         const std::string &dump, const std::string &checkpoint,
                         const std::string &device, bool tf32) {
  if (PyCallable_Check(callable.ptr()) == 0)
    raise_type_error(std::string("function: a ") + Py_TYPE(callable.ptr())->tp_name +
                     " cannot be called, and so not traced");
  FunctionOptions options{.name = name,
                          .dump = dump,
                          .max_traces = max_traces,
                          .reduce_retracing = reduce_retracing,
                          .checkpoint = checkpoint,
                          .device = device.empty() ? Device() : parse_device(device),
                          .tf32 = tf32};
  if (!device.empty() && options.device == Device())
    throw ValueError("function: device is '" + device +
                     "', but a GPU is wanted: without one, calls run where their arguments are");
  if (!specs.is_none()) add_types(specs, options.signature);
  auto core = std::make_unique<FunctionCore>(std::move(options));
  auto parameters = std::make_unique<Parameters>(parameters_of(callable.ptr()));
  nb::object made = checked(PyType_GenericAlloc(function_type, 0));
  Object *self = object_of(made.ptr());
  new (&self->last) std::shared_ptr<FunctionCore::Trace>;
  new (&self->slot) CallablePointer(std::make_shared<CallableSlot>());
  self->vectorcall = call_function;
  self->function = callable.release().ptr();
  self->specs = specs.is_none() ? nullptr : specs.release().ptr();
  self->core = core.release();
  self->parameters = parameters.release();
  self->autograph = autograph;
  return made;
}

int traverse(PyObject *object, visitproc visit, void *arg) {
  Object *self = object_of(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->function);
  Py_VISIT(self->specs);
  Py_VISIT(self->kept);
  Py_VISIT(self->dict);
  if (self->parameters != nullptr)
    for (const nb::object &value : self->parameters->defaults) Py_VISIT(value.ptr());
  if (self->slot != nullptr)
    for (const Kept *each : self->slot->kept) Py_VISIT(each->object);
  return 0;
}

int clear(PyObject *object) {
  Object *self = object_of(object);
  Py_CLEAR(self->function);
  Py_CLEAR(self->specs);
  Py_CLEAR(self->kept);
  Py_CLEAR(self->dict);
  if (self->parameters != nullptr)
    for (nb::object &value : self->parameters->defaults) value.reset();
  if (self->slot != nullptr) close_slot(*self->slot);
  return 0;
}

void deallocate(PyObject *object) {
  Object *self = object_of(object);
  PyObject_GC_UnTrack(object);
  if (self->weak != nullptr) PyObject_ClearWeakRefs(object);
  clear(object);
  self->last.~shared_ptr();
  delete self->parameters;
  delete self->core;
  self->slot.~shared_ptr();
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

PyObject *repr(PyObject *object) {
  return PyUnicode_FromFormat("<weft.Function %s>", name_of(object_of(object)));
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Object, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Object, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weak), READONLY, nullptr},
    {"python_function", T_OBJECT_EX, offsetof(Object, function), READONLY,
     "The function as it was written."},
    {"__wrapped__", T_OBJECT_EX, offsetof(Object, function), READONLY, nullptr},
    {"input_signature", T_OBJECT, offsetof(Object, specs), READONLY,
     "The specs of the arguments, or None."},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("A traced function, as weft.function makes it."
                                   "\n\nExample:\n"
                                   "    >>> f = wf.function(lambda x: x * x)\n"
                                   "    >>> f(wf.tensor([1.0, 2.0]))\n"
                                   "    tensor([1., 4.], shape=(2,), dtype=float32)\n"
                                   "    >>> f.trace_count()\n"
                                   "    1\n")},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(get_bound)},
    {Py_tp_repr, reinterpret_cast<void *>(repr)},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {0, nullptr}};
PyType_Spec type_spec{"weft.Function", sizeof(Object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};

std::size_t trace_count(FunctionHandle self) { return object_of(self.ptr())->core->trace_count(); }

/// A context whose ops run at once, unseen by traces and tapes.
struct Lifted {
  using Initialized = void; // see Initialized.h
  Lifted() = default;
  Lifted(const Lifted &) = delete;
  Lifted &operator=(const Lifted &) = delete;

  std::vector<std::unique_ptr<detail::EagerScope>> scopes;
};

} // namespace

void define_functions(nb::module_ &module) {
  // The module keeps them.
  const nb::object type = checked(PyType_FromSpec(&type_spec));
  function_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  module.attr("Function") = type;
  define_bound_functions(module);
  define_method<explain>(
      function_type, "explain",
      "Whether a call with these arguments would find a trace, and if not, what differs. "
      "Runs nothing."
      "\n\nExample:\n"
      "    >>> f = wf.function(lambda x: x + 1)\n"
      "    >>> f.explain(wf.ones(2))\n"
      "    '<lambda>: miss: there is no trace yet'\n");
  define_method<ir>(function_type, "ir",
                    "The text of a phase for these arguments, by the keyword `phase`: 'trace', "
                    "'simplify', 'linalg', 'llvm', 'object' (assembly) or 'ptx' (the kernels for a "
                    "GPU). Runs nothing."
                    "\n\nExample:\n"
                    "    >>> f = wf.function(lambda x: x + 1, name='f')\n"
                    "    >>> print(f.ir(wf.ones(2)))\n"
                    "    module attributes {weft.interruptible} {\n"
                    "      func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
                    "        %0 = weft.constant dense<1.000000e+00> : tensor<f32>\n"
                    "        %1 = weft.add %arg0, %0 : tensor<2xf32>, tensor<f32>\n"
                    "        return %1 : tensor<2xf32>\n"
                    "      }\n"
                    "    }\n");
  define_method<report>(function_type, "report",
                        "Times and sizes of the trace for these arguments, made if there is none."
                        "\n\nExample:\n"
                        "    >>> f = wf.function(lambda x: x + 1)\n"
                        "    >>> sorted(f.report(wf.ones(2)))\n"
                        "    ['arena_bytes', 'phases_ms', 'total_ms', 'trace_ms', 'traced_ops']\n");
  define_method<trace_now>(function_type, "_trace",
                           "Makes the trace for these arguments, if there is none.");
  define_method<trace_count>(function_type, "trace_count",
                             "How many traces there are."
                             "\n\nExample:\n"
                             "    >>> f = wf.function(lambda x: x + 1)\n"
                             "    >>> y, z = f(wf.ones(2)), f(wf.zeros(2))\n"
                             "    >>> f.trace_count()\n"
                             "    1\n");
  define<make_function>(module, "internal_make_function", Arg("function"), Arg("name"),
                        Arg("specs").none(), Arg("autograph"), Arg("reduce_retracing"),
                        Arg("max_traces"), Arg("dump"), Arg("checkpoint"), Arg("device"),
                        Arg("tf32"));
  define(module, "internal_bind_signature(function)", [](FunctionHandle self) {
    Object *object = object_of(self.ptr());
    if (object->specs == nullptr) return;
    const nb::object specs = nb::make_tuple(nb::none()) + nb::steal(object->specs);
    object->specs = nb::object(specs).release().ptr();
  });
  define(module, "internal_eagerly(function)", [](nb::handle function) {
    nb::object result;
    detail::run_eagerly([&] { result = checked(PyObject_CallNoArgs(function.ptr())); });
    return result;
  });
  ClassOf<Lifted>(module, "internal_Lifted", nb::is_final())
      .def(nb::init<>())
      .def("__enter__",
           [](Lifted &self) { self.scopes.push_back(std::make_unique<detail::EagerScope>()); })
      .def("__exit__", [](Lifted &self, const nb::args &) {
        if (!self.scopes.empty()) self.scopes.pop_back();
      });
  define(module, "internal_run_functions_eagerly(eagerly)",
         [](bool eagerly) { run_eagerly = eagerly; });
  define(module, "internal_functions_run_eagerly", [] { return run_eagerly; });
}

} // namespace weft::python
