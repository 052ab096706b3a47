// The class GradientTape of Python, with gradients in the structure of their sources.
#include "Define.h"
#include "Parts.h"
#include "Pullbacks.h"
#include "Structures.h"
#include "Tapes.h"
#include "Text.h"

#include <memory>

#include <weft/gradient_tape.h>

namespace weft::python {

namespace {

/// A tape, which records from `with` to its end.
struct Tape {
  using Initialized = void; // see Initialized.h
  explicit Tape(const TapeOptions &given) : options(given) {}

  TapeOptions options;
  TapePullbacks pullbacks; // longer than the tape, whose ops refer to them
  std::unique_ptr<GradientTape> tape = nullptr;
  bool records = false;

  GradientTape &entered(const char *what) const {
    if (tape == nullptr)
      throw StateError(std::string("GradientTape: ") + what +
                       " before the tape was entered: write `with weft.GradientTape() as tape:`");
    return *tape;
  }
};

/// No recording between its `__enter__` and `__exit__`.
struct Pause {
  nb::object tape;
  std::unique_ptr<GradientTape::Pause> pause = nullptr;
};

/// None within a structure stays empty; instead of one it is none.
void refuse_none(nb::handle structure, const char *what) {
  if (structure.is_none())
    throw DTypeError(std::string(what) + " is None: tensors and variables are wanted, or lists, "
                                         "tuples and dicts of them");
}

/// The sources of derivatives; those of a model are its trainable variables, in a list.
nb::object listed(nb::handle sources) {
  if (!is_model(sources.ptr())) return nb::borrow(sources);
  return trainable_variables(sources);
}

Structure structure_of(nb::handle object, const char *what) {
  refuse_none(object, what);
  return {object.ptr(), what};
}

/// Those of a structure, which must stay.
std::vector<GradientSource> sources_in(const Structure &structure) {
  std::vector<GradientSource> list;
  for (const nb::object &leaf : structure.leaves())
    if (is_variable(leaf.ptr())) list.emplace_back(variable_in(leaf.ptr()));
    else list.emplace_back(tensor_in(leaf.ptr()));
  return list;
}

/// The targets of derivatives, of which a variable is one as the tape would have read it.
std::vector<Tensor> targets_in(GradientTape &tape, const Structure &structure) {
  std::vector<Tensor> list;
  for (const nb::object &leaf : structure.leaves())
    list.push_back(is_variable(leaf.ptr()) ? tape.read(variable_in(leaf.ptr()))
                                           : tensor_in(leaf.ptr()));
  return list;
}

Unconnected unconnected_of(nb::handle word) {
  const nb::object text =
      nb::hasattr(word, "value") ? nb::object(word.attr("value")) : nb::borrow(word);
  if (text.is_none() || text.equal(nb::str("none"))) return Unconnected::none;
  if (text.equal(nb::str("zero"))) return Unconnected::zero;
  throw ValueError(std::string("GradientTape: unconnected_gradients is ") + shown_value(word) +
                   ": it is 'none' or 'zero'");
}

nb::object wrapped(const Tensor &tensor) {
  return tensor.defined() ? checked(wrap(tensor)) : nb::none();
}

//===----------------------------------------------------------------------===//
// The tape
//===----------------------------------------------------------------------===//

nb::object enter(nb::handle_t<Tape> self) {
  Tape &tape = nb::cast<Tape &>(self);
  if (tape.tape != nullptr)
    throw StateError(
        "GradientTape: the tape was entered already: it records once, so make another");
  tape.tape = std::make_unique<GradientTape>(tape.options);
  tape.records = true;
  tape.pullbacks.record(true);
  return nb::borrow(self);
}

void leave(Tape &tape, const nb::args &) {
  if (!tape.records) return;
  tape.records = false;
  tape.pullbacks.record(false);
  tape.tape->stop();
}

nb::object gradient(Tape &tape, nb::handle target, nb::handle by_what, nb::handle output_gradients,
                    nb::handle unconnected) {
  GradientTape &of = tape.entered("gradient was called");
  GradientOptions options{.unconnected = unconnected_of(unconnected)};
  std::vector<Tensor> targets = targets_in(of, structure_of(target, "gradient: target"));
  if (!output_gradients.is_none()) {
    const bool one = is_leaf(target.ptr());
    const nb::object list =
        one ? nb::object(nb::make_tuple(output_gradients)) : nb::borrow(output_gradients);
    const Place place{"gradient", "output_gradients"};
    if (!PyList_Check(list.ptr()) && !PyTuple_Check(list.ptr())) {
      options.output_gradients = to_tensors(list.ptr(), place);
    } else { // a number takes the dtype of its target
      for (const nb::handle each : entries_of(list.ptr())) {
        const std::size_t i = options.output_gradients.size();
        const bool has_target = i < targets.size() && targets[i].defined();
        options.output_gradients.push_back(to_tensor(
            each.ptr(), place,
            has_target ? std::optional(detail::type_of(targets[i]).dtype) : std::nullopt));
      }
    }
  }
  const Structure sources = structure_of(listed(by_what), "gradient: sources");
  const std::vector<Tensor> gradients =
      of.gradient(GradientTargets(std::move(targets)), sources_in(sources), options);
  std::size_t next = 0;
  return sources.rebuilt([&] { return wrapped(gradients[next++]); });
}

nb::object jacobian(Tape &tape, nb::handle target, nb::handle by_what, nb::handle unconnected,
                    bool vectorize) {
  GradientTape &of = tape.entered("jacobian was called");
  const Structure sources = structure_of(listed(by_what), "jacobian: sources");
  const std::vector<GradientSource> by = sources_in(sources);
  const Tensor y = is_variable(target.ptr()) ? of.read(variable_in(target.ptr()))
                                             : to_tensor(target.ptr(), {"jacobian", "target"});
  const std::vector<Tensor> found =
      of.jacobian(y, by, {.unconnected = unconnected_of(unconnected), .vectorize = vectorize});
  std::size_t next = 0;
  return sources.rebuilt([&] { return wrapped(found[next++]); });
}

Tensor batch_jacobian(Tape &tape, nb::handle target, nb::handle source) {
  const Structure sources = structure_of(source, "batch_jacobian: source");
  const std::vector<GradientSource> by = sources_in(sources);
  if (by.size() != 1)
    throw ValueError("batch_jacobian: one source is wanted, not " + std::to_string(by.size()));
  return tape.entered("batch_jacobian was called")
      .batch_jacobian(to_tensor(target.ptr(), {"batch_jacobian", "target"}), by[0]);
}

void watch(Tape &tape, nb::handle structure) {
  GradientTape &of = tape.entered("watch was called");
  const Structure sources = structure_of(listed(structure), "watch: what is watched");
  for (const GradientSource &source : sources_in(sources)) of.watch(source);
}

nb::tuple watched(Tape &tape) {
  nb::list list;
  for (const Variable &variable : tape.entered("watched_variables was called").watched_variables())
    list.append(checked(wrap(variable)));
  return nb::tuple(list);
}

/// What a tape calls may lead back to it.
int traverse_tape(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const Pullback *each : nb::inst_ptr<Tape>(self)->pullbacks.all) Py_VISIT(each->object);
  return 0;
}

int clear_tape(PyObject *self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Tape>(self)->pullbacks.clear();
  return 0;
}

PyType_Slot tape_slots[] = {{Py_tp_traverse, reinterpret_cast<void *>(traverse_tape)},
                            {Py_tp_clear, reinterpret_cast<void *>(clear_tape)},
                            {0, nullptr}};

} // namespace

GradientTape &tape_in(nb::handle object) {
  return nb::cast<Tape &>(object).entered("it was asked for");
}

void define_tapes(nb::module_ &module) {
  ClassOf<Pause>(module, "_Pause", nb::is_final())
      .def("__enter__",
           [](Pause &self) {
             GradientTape &tape = nb::cast<Tape &>(self.tape).entered("stop_recording was called");
             // NOLINTNEXTLINE(modernize-make-unique): it cannot be moved
             self.pause.reset(new GradientTape::Pause(tape.stop_recording()));
           })
      .def("__exit__", [](Pause &self, const nb::args &) { self.pause.reset(); });
  ClassOf<Tape>(
      module, "GradientTape", nb::is_final(), nb::is_weak_referenceable(),
      nb::type_slots(tape_slots),
      "Records the ops of this thread within `with`, and gives derivatives of what they "
      "computed:\n\n"
      "    with wf.GradientTape() as tape:\n        loss = wf.mean(wf.square(x @ w - y))\n"
      "    dw = tape.gradient(loss, w)\n\n"
      "Trainable variables are watched when they are read, other tensors by `watch`. Tapes nest. A "
      "tape that is "
      "not persistent gives gradients once."
      "\n\nExample:\n"
      "    >>> w = wf.Variable([1.0, 2.0])\n"
      "    >>> with wf.GradientTape() as tape:\n"
      "    ...     loss = wf.sum(w * w)\n"
      "    >>> tape.gradient(loss, w)\n"
      "    tensor([2., 4.], shape=(2,), dtype=float32)\n")
      .def(
          "__init__",
          [](Tape *self, bool persistent, bool watch_accessed_variables) {
            new (self) Tape(
                {.persistent = persistent, .watch_accessed_variables = watch_accessed_variables});
          },
          Arg("persistent") = false, Arg("watch_accessed_variables") = true)
      .def<enter>("__enter__")
      .def<leave>("__exit__")
      .def<watch>("watch", Arg("tensor").none(),
                  "Watches a tensor, a variable, or all of a list, tuple or dict of them."
                  "\n\nExample:\n"
                  "    >>> x = wf.tensor(3.0)\n"
                  "    >>> with wf.GradientTape() as tape:\n"
                  "    ...     tape.watch(x)\n"
                  "    ...     y = x * x\n"
                  "    >>> tape.gradient(y, x)\n"
                  "    tensor(6.0, shape=(), dtype=float32)\n")
      .def<gradient>(
          "gradient", Arg("target").none(), Arg("sources").none(),
          Arg("output_gradients") = nb::none(), Arg("unconnected_gradients") = "none",
          "The derivatives of the sum of all elements of the target by each source, in the "
          "structure of the sources: a "
          "tensor or variable, or lists, tuples and dicts of them; by a model, a list of the "
          "gradients by its trainable variables. None where the target does not "
          "depend on a source, or "
          "zeros with unconnected_gradients='zero'."
          "\n\nExample:\n"
          "    >>> x = wf.Variable(3.0)\n"
          "    >>> with wf.GradientTape() as tape:\n"
          "    ...     y = x * x\n"
          "    >>> tape.gradient(y, {'x': x})\n"
          "    {'x': tensor(6.0, shape=(), dtype=float32)}\n")
      .def<jacobian>(
          "jacobian", Arg("target").none(), Arg("sources").none(),
          Arg("unconnected_gradients") = "none", Arg("vectorize") = true,
          "The derivatives of every element of the target by every element of each source, of "
          "shape target.shape + source.shape."
          "\n\nExample:\n"
          "    >>> x = wf.Variable([1.0, 2.0])\n"
          "    >>> with wf.GradientTape() as tape:\n"
          "    ...     y = x * x\n"
          "    >>> tape.jacobian(y, x)\n"
          "    tensor([[2., 0.],\n"
          "            [0., 4.]], shape=(2, 2), dtype=float32)\n")
      .def<batch_jacobian>(
          "batch_jacobian", Arg("target").none(), Arg("source").none(),
          "The jacobian of each member of a batch: of shape (b, y.., x..) for a target (b, y..) "
          "and a source (b, x..)."
          "\n\nExample:\n"
          "    >>> x = wf.Variable([[1.0, 2.0], [3.0, 4.0]])\n"
          "    >>> with wf.GradientTape() as tape:\n"
          "    ...     y = x * x\n"
          "    >>> tape.batch_jacobian(y, x).shape\n"
          "    (2, 2, 2)\n")
      .def(
          "stop_recording", [](nb::handle_t<Tape> self) { return Pause{nb::borrow(self)}; },
          "A context in which this tape does not record."
          "\n\nExample:\n"
          "    >>> x = wf.Variable(3.0)\n"
          "    >>> with wf.GradientTape() as tape:\n"
          "    ...     y = x * x\n"
          "    ...     with tape.stop_recording():\n"
          "    ...         size = wf.abs(y)\n"
          "    >>> tape.gradient(size, x) is None\n"
          "    True\n")
      .def(
          "reset", [](Tape &self) { self.entered("reset was called").reset(); },
          "Forgets what was watched and recorded and begins anew.")
      .def(
          "explain",
          [](Tape &self, nb::handle target, nb::handle source) {
            const Structure sources = structure_of(source, "explain: source");
            const std::vector<GradientSource> by = sources_in(sources);
            if (by.size() != 1)
              throw ValueError("explain: one source is wanted, not " + std::to_string(by.size()));
            const std::string text =
                self.entered("explain was called")
                    .explain(to_tensor(target.ptr(), {"explain", "target"}), by[0]);
            return kept_text(text);
          },
          Arg("target").none(), Arg("source").none(),
          "Why the gradient is what it is, in a sentence."
          "\n\nExample:\n"
          "    >>> x = wf.Variable(3.0, name='x')\n"
          "    >>> with wf.GradientTape() as tape:\n"
          "    ...     y = wf.stop_gradient(x) * 2\n"
          "    >>> tape.explain(y, x)\n"
          "    \"the path from the variable 'x' to the target breaks at stop_gradient: it stops "
          "gradients\"\n")
      .def<watched>("watched_variables",
                    "The variables that are watched, in the order that they were read.");
}

} // namespace weft::python
