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

optimizers::Schedule schedule_in(nb::handle object) {
  if (object.is_none()) return nullptr;
  if (!nb::isinstance<ScheduleObject>(object))
    raise_type_error(std::string("warmup: after is a ") + Py_TYPE(object.ptr())->tp_name +
                     ": a schedule of weft.schedules is wanted");
  return nb::cast<const ScheduleObject &>(object).rate;
}

/// Reads one argument of a function of weft.schedules. Gives it as what it was read as.
template <class T>
nb::object read_argument(T &target, nb::handle value, const char *function, const char *name) {
  Given given;
  read(target, value, {function, name}, given);
  return nb::cast(target);
}

/// An argument that is a member of options.
template <class Options>
struct Field {
  const char *name;
  nb::object (*read)(Options &options, nb::handle value, const char *function, const char *name);
};
template <auto member, class Options>
constexpr Field<Options> field(const char *name) {
  return {name, [](Options &options, nb::handle value, const char *function, const char *of) {
            return read_argument(options.*member, value, function, of);
          }};
}

ScheduleObject made(const char *name, const nb::object &arguments, Schedule rate) {
  return {std::move(rate), nb::make_tuple(name, arguments)};
}

/// Adds "schedules_cosine_decay", which weft.schedules calls with all arguments by position: a
/// number and the members of options.
template <class Options>
void define_schedule(nb::module_ &module, const char *name, const char *first,
                     Schedule (*make)(double, const Options &, std::source_location),
                     std::vector<Field<Options>> fields) {
  module.def((std::string("schedules_") + name).c_str(),
             [name, first, make, fields = std::move(fields)](const nb::args &args) {
               double number = 0;
               Options options{};
               nb::list values;
               values.append(read_argument(number, args[0], name, first));
               for (std::size_t i = 0; i < fields.size(); ++i)
                 values.append(fields[i].read(options, args[i + 1], name, fields[i].name));
               return made(name, nb::tuple(values), make(number, options, {}));
             });
}

/// A learning rate that falls when a loss no longer does, as Python has it.
void define_plateau(nb::module_ &module) {
  using optimizers::ReduceOnPlateau;
  using Options = optimizers::Plateau;
  using Arguments = std::tuple<double, Options>;
  const auto member = [](const char *name, auto Options::*of) {
    return Parameter<Arguments>{
        name, [of](Arguments &all, nb::handle value, const Place &place, Given &given) {
          read(std::get<Options>(all).*of, value, place, given);
        }};
  };
  static const auto &parameters = *new ParameterTable<Arguments>{
      "weft.schedules.ReduceOnPlateau",
      {{"rate", [](Arguments &all, nb::handle value, const Place &place,
                   Given &given) { read(std::get<double>(all), value, place, given); }},
       member("factor", &Options::factor),
       member("patience", &Options::patience),
       member("min_delta", &Options::min_delta),
       member("cooldown", &Options::cooldown),
       member("min_rate", &Options::min_rate),
       member("largest_is_best", &Options::largest_is_best)},
      7,
      1};
  ClassOf<ReduceOnPlateau>(
      module, "ReduceOnPlateau", nb::is_weak_referenceable(),
      "A learning rate that falls when a loss no longer does: hand `rate` to an optimizer, and "
      "call "
      "`update` with what is watched after each epoch.\n\nReduceOnPlateau(rate, factor=0.1, "
      "patience=10, min_delta=0.0001, cooldown=0, min_rate=0.0, largest_is_best=False)"
      "\n\nExample:\n"
      "    >>> plateau = wf.schedules.ReduceOnPlateau(0.1, factor=0.5, patience=2)\n"
      "    >>> [plateau.update(loss) for loss in (1.0, 1.0, 1.0)]\n"
      "    [False, False, True]\n"
      "    >>> plateau.rate.value()\n"
      "    tensor(0.05, shape=(), dtype=float64)\n")
      .def("__init__",
           [](ReduceOnPlateau *self, const nb::args &args, const nb::kwargs &keywords) {
             Arguments all;
             Given given;
             parameters.read_call(args.ptr(), keywords.ptr(), all, given);
             new (self) ReduceOnPlateau(std::get<double>(all), std::get<Options>(all));
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
             const nb::object made_of =
                 nb::make_tuple(0.0, options.factor, options.patience, options.min_delta,
                                options.cooldown, options.min_rate, options.largest_is_best);
             return nb::make_tuple(nb::module_::import_("weft._copies").attr("unpickled_plateau"),
                                   nb::make_tuple(object.type(), made_of,
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
  define_schedule<o::ExponentialDecay>(
      module, "exponential_decay", "initial", o::exponential_decay,
      {field<&o::ExponentialDecay::steps, o::ExponentialDecay>("steps"),
       field<&o::ExponentialDecay::rate, o::ExponentialDecay>("rate"),
       field<&o::ExponentialDecay::staircase, o::ExponentialDecay>("staircase")});
  define_schedule<o::CosineDecay>(module, "cosine_decay", "initial", o::cosine_decay,
                                  {field<&o::CosineDecay::steps, o::CosineDecay>("steps"),
                                   field<&o::CosineDecay::alpha, o::CosineDecay>("alpha"),
                                   field<&o::CosineDecay::warmup, o::CosineDecay>("warmup"),
                                   field<&o::CosineDecay::target, o::CosineDecay>("target")});
  define_schedule<o::PolynomialDecay>(
      module, "polynomial_decay", "initial", o::polynomial_decay,
      {field<&o::PolynomialDecay::steps, o::PolynomialDecay>("steps"),
       field<&o::PolynomialDecay::end, o::PolynomialDecay>("end"),
       field<&o::PolynomialDecay::power, o::PolynomialDecay>("power")});
  define_schedule<o::InverseTimeDecay>(
      module, "inverse_time_decay", "initial", o::inverse_time_decay,
      {field<&o::InverseTimeDecay::steps, o::InverseTimeDecay>("steps"),
       field<&o::InverseTimeDecay::rate, o::InverseTimeDecay>("rate")});
  define_schedule<o::OneCycle>(module, "one_cycle", "largest", o::one_cycle,
                               {field<&o::OneCycle::steps, o::OneCycle>("steps"),
                                field<&o::OneCycle::rising, o::OneCycle>("rising"),
                                field<&o::OneCycle::start_divisor, o::OneCycle>("start_divisor"),
                                field<&o::OneCycle::final_divisor, o::OneCycle>("final_divisor")});
  define(
      module, "schedules_warmup",
      [](nb::handle rate, nb::handle steps, nb::handle after) {
        double number = 0;
        std::int64_t count = 0;
        const nb::object first = read_argument(number, rate, "warmup", "rate"),
                         second = read_argument(count, steps, "warmup", "steps");
        return made("warmup", nb::make_tuple(first, second, after),
                    o::warmup(number, count, schedule_in(after)));
      },
      Arg("rate").none(), Arg("steps").none(), Arg("after").none());
  define(module, "schedules_piecewise_constant(boundaries, values)",
         [](nb::handle boundaries, nb::handle values) {
           Ints steps;
           std::vector<double> rates;
           Given given;
           read(steps, boundaries, {"piecewise_constant", "boundaries"}, given);
           read(rates, values, {"piecewise_constant", "values"}, given);
           const std::vector<std::int64_t> list(steps.begin(), steps.end());
           return made("piecewise_constant", nb::make_tuple(nb::cast(list), nb::cast(rates)),
                       o::piecewise_constant(list, rates));
         });
  define_plateau(module);
}

} // namespace weft::python
