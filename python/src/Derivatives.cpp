// What derivatives of functions and `vmap` are made of: sources, tangents, batches.
#include "Define.h"
#include "Tapes.h"
#include "Text.h"

#include <nanobind/stl/vector.h>
#include <weft/autodiff.h>
#include <weft/detail/batching.h>
#include <weft/detail/derivative_mark.h>

namespace weft::python {

namespace {

/// Something that is at work between `__enter__` and `__exit__`.
template <class Work>
struct Within {
  std::unique_ptr<Work> work = nullptr;

  Work &running() const {
    if (work == nullptr) throw StateError("this is of use within its `with` only");
    return *work;
  }
};

using Tangents = Within<detail::Pushforward>;

struct Members : Within<detail::Batch> {
  using Initialized = void; // see Initialized.h
  const char *name = "vmap";
  std::vector<Tensor> mapped = {};
};

struct Mark : Within<detail::DerivativeMark> {
  using Initialized = void; // see Initialized.h
  std::string name = {};
};

/// The tensor or variable in whose place the function gets this one, which the tape watches.
nb::object own(const std::string &name, GradientTape &tape, nb::handle source) {
  detail::SourceCollector collector(name.c_str(), &tape);
  if (is_variable(source.ptr())) {
    Variable variable = variable_in(source.ptr());
    collector.variable(variable);
    return nb::borrow(source);
  }
  Tensor tensor = to_tensor(source.ptr(), {name.c_str(), "an argument"});
  collector.tensor(tensor);
  return checked(wrap(std::move(tensor)));
}

nb::object seed(Tangents &tangents, nb::handle primal, nb::handle tangent) {
  // A number takes the dtype of the primal.
  const auto of = [&](DType dtype) {
    return std::vector{to_tensor(tangent.ptr(), {"jvp", "a tangent"}, dtype)};
  };
  if (is_variable(primal.ptr())) {
    Variable variable = variable_in(primal.ptr());
    tangents.running().seed(variable, of(variable.dtype()));
    return nb::borrow(primal);
  }
  Tensor tensor = to_tensor(primal.ptr(), {"jvp", "a primal"});
  tangents.running().seed(tensor, of(detail::type_of(tensor).dtype));
  return checked(wrap(std::move(tensor)));
}

} // namespace

void define_derivatives(nb::module_ &module) {
  define(module, "internal_own(name, tape, source)",
         [](const std::string &name, nb::handle tape, nb::handle source) {
           return own(name, tape_in(tape), source);
         });
  define(module, "internal_check_loss(name, loss)", [](const std::string &name, nb::handle loss) {
    if (!is_tensor(loss.ptr()) && !is_variable(loss.ptr()))
      raise_type_error(name + ": the function must give a floating scalar, but it gave a " +
                       Py_TYPE(loss.ptr())->tp_name);
    detail::check_loss(name.c_str(), to_tensor(loss.ptr(), {name.c_str(), "the loss"}));
  });
  define(module, "internal_pull(tape, targets, cotangents, sources)",
         [](nb::handle tape, nb::handle targets, nb::handle cotangents, nb::handle sources) {
           std::vector<Tensor> of, given;
           for (const nb::handle x : targets) of.push_back(to_tensor(x.ptr(), {"vjp", "a result"}));
           for (std::size_t i = 0; const nb::handle x : cotangents) {
             const std::optional<DType> dtype =
                 i < of.size() ? std::optional(of[i++].dtype()) : std::nullopt;
             given.push_back(to_tensor(x.ptr(), {"vjp", "a cotangent"}, dtype));
           }
           std::vector<GradientSource> by;
           for (const nb::handle x : sources) {
             if (is_variable(x.ptr())) by.emplace_back(variable_in(x.ptr()));
             else by.emplace_back(tensor_in(x.ptr()));
           }
           nb::list made;
           for (const Tensor &x : detail::pull_back(tape_in(tape), of, std::move(given), by))
             made.append(checked(wrap(x)));
           return made;
         });
  define(module, "internal_to_front(argument, axis)", [](nb::handle argument, std::int64_t axis) {
    return checked(
        wrap(detail::to_front(to_tensor(argument.ptr(), {"vmap", "an argument"}), axis)));
  });
  define(module, "internal_from_front(result, axis)", [](nb::handle result, std::int64_t axis) {
    return checked(wrap(detail::from_front(to_tensor(result.ptr(), {"vmap", "a result"}), axis)));
  });
  ClassOf<Tangents>(module, "internal_Tangents")
      .def(nb::init<>())
      .def("__enter__",
           [](nb::object self) {
             if (!nb::inst_ready(self)) refuse_half_made(self.ptr());
             nb::cast<Tangents &>(self).work = std::make_unique<detail::Pushforward>();
             return self;
           })
      .def("__exit__", [](Tangents &self, const nb::args &) { self.work.reset(); })
      .def<seed>("seed(primal, tangent)")
      .def("of(value)", [](Tangents &self, nb::handle value) -> nb::object {
        const Tensor tangent =
            self.running().tangent_of(to_tensor(value.ptr(), {"jvp", "a result"}));
        return tangent.defined() ? checked(wrap(tangent)) : nb::none();
      });
  ClassOf<Mark>(module, "internal_DerivativeMark")
      .def("__init__(name)",
           [](Mark *self, std::string name) { (new (self) Mark)->name = std::move(name); })
      .def("__enter__",
           [](nb::object self) {
             auto &mark = nb::cast<Mark &>(self);
             mark.work = std::make_unique<detail::DerivativeMark>(mark.name.c_str());
             return self;
           })
      .def("__exit__", [](Mark &self, const nb::args &) { self.work.reset(); });
  ClassOf<Members>(module, "internal_Members")
      .def("__init__(mapped)",
           [](Members *self, nb::handle mapped) {
             (new (self) Members)->mapped = to_tensors(mapped.ptr(), {"vmap", "the arguments"});
           })
      .def("__enter__",
           [](nb::object self) {
             auto &members = nb::cast<Members &>(self);
             members.work = std::make_unique<detail::Batch>(members.name, members.mapped);
             return self;
           })
      .def("__exit__", [](Members &self, const nb::args &) { self.work.reset(); })
      .def("one(members)",
           [](Members &self, nb::handle members) {
             return checked(
                 wrap(self.running().one(to_tensor(members.ptr(), {"vmap", "an argument"}))));
           })
      .def("all(value)", [](Members &self, nb::handle value) {
        return checked(wrap(self.running().all(to_tensor(value.ptr(), {"vmap", "a result"}))));
      });
}

} // namespace weft::python
