// Learning rates that follow from the number of updates.
#include "Define.h"
#include "Networks.h"

#include <nanobind/stl/vector.h>
#include <weft/schedules.h>

namespace weft::python {

namespace {

using optimizers::Schedule;

/// A schedule, and the call that makes it, for its text and for pickles.
struct ScheduleObject {
  using Initialized = void; // see Initialized.h
  Schedule rate;
  nb::object text;
};

/// The argument that is a schedule, or None.
struct ScheduleArgument {
  nb::object object = nb::none();
  operator Schedule() const { return schedule_of(object); }
};

} // namespace

static void read(ScheduleArgument &target, nb::handle value, const Place &place, Given &) {
  if (!value.is_none() && !nb::isinstance<ScheduleObject>(value))
    raise_type_error(place.text() + " is a " + Py_TYPE(value.ptr())->tp_name +
                     ": a schedule of weft.schedules is wanted");
  target.object = nb::borrow(value);
}

template <>
struct Shown<ScheduleArgument> {
  static std::string type() { return "Schedule | None"; }
  static std::string value(const ScheduleArgument &) { return "None"; }
};

namespace {

/// Adds what arguments are in Python: each, or each member of options.
template <class T>
void append(nb::list &values, const T &argument) {
  if constexpr (HasOptions<T>)
    std::apply([&](const auto &...each) { (append(values, argument.*each.member), ...); },
               weft_options(static_cast<const T *>(nullptr)));
  else if constexpr (std::is_same_v<T, ScheduleArgument>) values.append(argument.object);
  else values.append(nb::cast(argument));
}

/// A function that gives a schedule, in Python.
template <auto make, class... Args>
struct ScheduleFunction {
  static inline RowTable<Args...> *table = nullptr;

  static PyObject *call(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    return guarded([&] {
      const auto [given, words] = collected(args, count, keywords);
      const auto arguments = table->read(given.ptr(), words.ptr());
      nb::list values;
      std::apply([&](const Args &...each) { (append(values, each), ...); }, arguments);
      Schedule rate = std::apply([](const Args &...each) { return make(each..., {}); }, arguments);
      return nb::cast(ScheduleObject{std::move(rate),
                                     nb::make_tuple(table->parameters.said(), nb::tuple(values))})
          .release()
          .ptr();
    });
  }
};

/// Defines a function of weft.schedules, of a row for each argument.
template <auto make, class... Args>
void schedule(const char *name, const char *documentation, const char *example,
              const ArgumentRow<Args> &...rows) {
  using Function = ScheduleFunction<make, Args...>;
  Function::table = new RowTable<Args...>(std::string("weft.schedules.") + name, rows...);
  Function::table->parameters.title = name;
  define_function("schedules", name,
                  Function::table->parameters.documented(name, documentation, example),
                  Function::call);
}

/// A learning rate that falls when a loss no longer does, as Python has it.
void define_plateau() {
  using optimizers::ReduceOnPlateau;
  using Options = optimizers::Plateau;
  static const auto &table =
      *new RowTable<double, Options>("weft.schedules.ReduceOnPlateau", required<double>("rate"),
                                     options<Options>({.positional = 6}));
  const std::string text = table.parameters.documented(
      "ReduceOnPlateau",
      "A learning rate that falls when a loss no longer does: hand `rate` to an optimizer, and "
      "call `update` with what is watched after each epoch.",
      "    >>> plateau = wf.schedules.ReduceOnPlateau(0.1, factor=0.5, patience=2)\n"
      "    >>> [plateau.update(loss) for loss in (1.0, 1.0, 1.0)]\n"
      "    [False, False, True]\n"
      "    >>> plateau.rate.value()\n"
      "    tensor(0.05, shape=(), dtype=float64)\n");
  auto type = ClassOf<ReduceOnPlateau>(family("schedules"), "ReduceOnPlateau",
                                       nb::is_weak_referenceable(), text.c_str());
  add_to_family("schedules", "ReduceOnPlateau", type);
  type.def("__init__",
           [](ReduceOnPlateau *self, const nb::args &args, const nb::kwargs &keywords) {
             const auto [rate, options] = table.read(args.ptr(), keywords.ptr());
             new (self) ReduceOnPlateau(rate, options);
           })
      .def_prop_ro(
          "rate", [](const ReduceOnPlateau &self) { return checked(wrap(self.rate())); },
          "The variable that an optimizer takes as its learning rate.")
      .def(
          "update",
          [](ReduceOnPlateau &self, nb::handle watched) {
            double value = 0;
            Given given;
            read(value, watched, {"update", "watched"}, given);
            return self.update(value);
          },
          Arg("watched").none(), "Whether the rate has been lowered.")
      .def("__reduce__",
           [](nb::handle_t<ReduceOnPlateau> object) {
             const auto &self = nb::cast<const ReduceOnPlateau &>(object);
             const Options &options = self.options();
             const ReduceOnPlateau::Progress &at = self.progress();
             nb::list values;
             values.append(0.0);
             append(values, options);
             return nb::make_tuple(nb::module_::import_("weft._copies").attr("unpickled_plateau"),
                                   nb::make_tuple(object.type(), nb::tuple(values),
                                                  checked(wrap(self.rate())), at.best, at.waited,
                                                  at.cooling),
                                   nb::getattr(object, "__dict__", nb::none()));
           })
      .def("_go_on(rate, best, waited, cooling)",
           [](ReduceOnPlateau &self, nb::handle rate, double best, std::int64_t waited,
              std::int64_t cooling) {
             self =
                 ReduceOnPlateau(variable_in(rate.ptr()), self.options(), {best, waited, cooling});
           })
      .attr("__module__") = "weft.schedules";
}

} // namespace

Schedule schedule_of(nb::handle object) {
  return nb::isinstance<ScheduleObject>(object) ? nb::cast<const ScheduleObject &>(object).rate
                                                : nullptr;
}

void define_schedules(nb::module_ &module) {
  ClassOf<ScheduleObject>(module, "Schedule", nb::is_weak_referenceable(),
                          "A learning rate that follows from the number of updates so far."
                          "\n\nExample:\n"
                          "    >>> rate = wf.schedules.cosine_decay(0.1, 100)\n"
                          "    >>> isinstance(rate, wf.schedules.Schedule)\n"
                          "    True\n"
                          "    >>> rate(0)\n"
                          "    tensor(0.1, shape=(), dtype=float64)\n")
      .def(
          "__call__",
          [](const ScheduleObject &self, nb::handle step) {
            return self.rate(to_tensor(step.ptr(), {"schedule", "step"}));
          },
          Arg("step").none(), "The rate after that number of updates, a float64 scalar.")
      .def("__repr__",
           [](const ScheduleObject &self) {
             nb::list words;
             for (const nb::handle value : self.text[1]) words.append(nb::repr(value));
             return nb::str("{}({})").format(nb::object(self.text[0]),
                                             nb::str(", ").attr("join")(words));
           })
      .def("__reduce__",
           [](const ScheduleObject &self) {
             return nb::make_tuple(nb::module_::import_("weft._arguments").attr("made_by"),
                                   nb::make_tuple("weft.schedules", nb::object(self.text[0]),
                                                  nb::object(self.text[1])));
           })
      .attr("__module__") = "weft.schedules";
  namespace o = optimizers;
  schedule<o::exponential_decay>(
      "exponential_decay",
      "initial * rate^(step / steps); with `staircase` it changes at multiples of `steps` only.\n\n"
      "Raises:\n    ValueError: if steps < 1 or a number is not finite",
      "    >>> wf.schedules.exponential_decay(0.1, steps=10, rate=0.5)(20)\n"
      "    tensor(0.025, shape=(), dtype=float64)\n",
      required<double>("initial"), options<o::ExponentialDecay>({.positional = 3, .required = 2}));
  schedule<o::cosine_decay>(
      "cosine_decay",
      "Half a cosine from `initial` down to alpha times that (Loshchilov & Hutter 2017), behind a "
      "straight line over `warmup` updates from `initial` to `target`, if there is one, from where "
      "the cosine starts then.\n\n"
      "Raises:\n    ValueError: if steps < 1, warmup < 0 or a number is not finite",
      "    >>> rate = wf.schedules.cosine_decay(0.1, steps=100)\n"
      "    >>> [float(rate(step)) for step in (0, 50, 100)]\n"
      "    [0.1, 0.05, 0.0]\n",
      required<double>("initial"), options<o::CosineDecay>({.positional = 4, .required = 1}));
  schedule<o::warmup>(
      "warmup",
      "From 0 to `rate` in a straight line over `steps` updates, then what `after` says of the "
      "updates behind them; without it, `rate`.\n\nRaises:\n    ValueError: if steps < 1",
      "    >>> rate = wf.schedules.warmup(0.5, steps=10)\n"
      "    >>> [float(rate(step)) for step in (5, 10, 15)]\n"
      "    [0.25, 0.5, 0.5]\n",
      required<double>("rate"), required<std::int64_t>("steps"),
      positional("after", ScheduleArgument()));
  schedule<o::piecewise_constant>(
      "piecewise_constant",
      "values[i] up to and including step boundaries[i], the last value after the last.\n\n"
      "Raises:\n    ValueError: unless boundaries ascend and there is one value more than there "
      "are of them",
      "    >>> rate = wf.schedules.piecewise_constant([10, 20], [1.0, 0.5, 0.25])\n"
      "    >>> [float(rate(step)) for step in (10, 11, 21)]\n"
      "    [1.0, 0.5, 0.25]\n",
      required<std::vector<std::int64_t>>("boundaries"), required<std::vector<double>>("values"));
  schedule<o::polynomial_decay>(
      "polynomial_decay",
      "(initial - end) (1 - step / steps)^power + end, and `end` from there on.",
      "    >>> wf.schedules.polynomial_decay(1.0, steps=10, end=0.0)(5)\n"
      "    tensor(0.5, shape=(), dtype=float64)\n",
      required<double>("initial"), options<o::PolynomialDecay>({.positional = 3, .required = 1}));
  schedule<o::inverse_time_decay>(
      "inverse_time_decay", "initial / (1 + rate step / steps).",
      "    >>> wf.schedules.inverse_time_decay(0.1, steps=10, rate=1.0)(10)\n"
      "    tensor(0.05, shape=(), dtype=float64)\n",
      required<double>("initial"), options<o::InverseTimeDecay>({.positional = 2, .required = 2}));
  schedule<o::one_cycle>(
      "one_cycle",
      "Up to `largest` and down again by half cosines (Smith & Topin 2018): from largest / "
      "start_divisor over the share `rising` of the steps, down to the first rate by "
      "final_divisor.",
      "    >>> rate = wf.schedules.one_cycle(0.1, steps=100)\n"
      "    >>> [round(float(rate(step)), 3) for step in (0, 30, 100)]\n"
      "    [0.004, 0.1, 0.0]\n",
      required<double>("largest"), options<o::OneCycle>({.positional = 4, .required = 1}));
  define_plateau();
}

} // namespace weft::python
