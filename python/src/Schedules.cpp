// Learning rates that follow from the number of updates.
#include "Networks.h"

#include <nanobind/stl/vector.h>
#include <weft/schedules.h>

namespace weft::python {

namespace {

using optimizers::Schedule;

/// A schedule, and the call that makes it, for its text and for pickles.
struct ScheduleObject {
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

/// A learning rate that falls when a loss no longer does, as Python has it.
void define_plateau(nb::module_ &module) {
  using optimizers::ReduceOnPlateau;
  nb::class_<ReduceOnPlateau>(
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
      .def(
          "__init__",
          [](ReduceOnPlateau *self, double rate, double factor, std::int64_t patience,
             double min_delta, std::int64_t cooldown, double min_rate, bool largest_is_best) {
            new (self) ReduceOnPlateau(rate, {.factor = factor,
                                              .patience = patience,
                                              .min_delta = min_delta,
                                              .cooldown = cooldown,
                                              .min_rate = min_rate,
                                              .largest_is_best = largest_is_best});
          },
          nb::arg("rate"), nb::arg("factor") = 0.1, nb::arg("patience") = 10,
          nb::arg("min_delta") = 1e-4, nb::arg("cooldown") = 0, nb::arg("min_rate") = 0.,
          nb::arg("largest_is_best") = false)
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
          nb::arg("watched"), "Whether the rate has been lowered.")
      .attr("__module__") = "weft.schedules";
}

} // namespace

Schedule schedule_of(nb::handle object) {
  return nb::isinstance<ScheduleObject>(object) ? nb::cast<const ScheduleObject &>(object).rate
                                                : nullptr;
}

void define_schedules(nb::module_ &module) {
  nb::class_<ScheduleObject>(module, "Schedule", nb::is_weak_referenceable(),
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
          nb::arg("step"), "The rate after that number of updates, a float64 scalar.")
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
  const auto made = [](const char *name, const nb::object &arguments, Schedule rate) {
    return ScheduleObject{std::move(rate), nb::make_tuple(name, arguments)};
  };
  module.def("schedules_exponential",
             [made](double initial, std::int64_t steps, double rate, bool staircase) {
               return made("exponential_decay", nb::make_tuple(initial, steps, rate, staircase),
                           optimizers::exponential_decay(
                               initial, {.steps = steps, .rate = rate, .staircase = staircase}));
             });
  module.def("schedules_cosine", [made](double initial, std::int64_t steps, double alpha,
                                        std::int64_t warmup, double target) {
    return made("cosine_decay", nb::make_tuple(initial, steps, alpha, warmup, target),
                optimizers::cosine_decay(
                    initial, {.steps = steps, .alpha = alpha, .warmup = warmup, .target = target}));
  });
  module.def(
      "schedules_warmup",
      [made](double rate, std::int64_t steps, nb::handle after) {
        return made("warmup", nb::make_tuple(rate, steps, after),
                    optimizers::warmup(rate, steps, schedule_in(after)));
      },
      nb::arg("rate"), nb::arg("steps"), nb::arg("after").none());
  module.def("schedules_piecewise", [made](std::vector<std::int64_t> boundaries,
                                           std::vector<double> values) {
    return made("piecewise_constant", nb::make_tuple(nb::cast(boundaries), nb::cast(values)),
                optimizers::piecewise_constant(boundaries, values));
  });
  module.def(
      "schedules_polynomial", [made](double initial, std::int64_t steps, double end, double power) {
        return made(
            "polynomial_decay", nb::make_tuple(initial, steps, end, power),
            optimizers::polynomial_decay(initial, {.steps = steps, .end = end, .power = power}));
      });
  module.def("schedules_inverse_time", [made](double initial, std::int64_t steps, double rate) {
    return made("inverse_time_decay", nb::make_tuple(initial, steps, rate),
                optimizers::inverse_time_decay(initial, {.steps = steps, .rate = rate}));
  });
  module.def("schedules_one_cycle", [made](double largest, std::int64_t steps, double rising,
                                           double start_divisor, double final_divisor) {
    return made("one_cycle", nb::make_tuple(largest, steps, rising, start_divisor, final_divisor),
                optimizers::one_cycle(largest, {.steps = steps,
                                                .rising = rising,
                                                .start_divisor = start_divisor,
                                                .final_divisor = final_divisor}));
  });
  define_plateau(module);
}

} // namespace weft::python
