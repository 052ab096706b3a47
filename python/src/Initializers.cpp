// Initializers: the functions of weft.nn.initializers, and what layers read as one.
#include "Bound.h"
#include "Text.h"

#include <algorithm>

#include <weft/nn/initializers.h>

namespace weft::python {

namespace {

using Numbers = std::vector<double>;

/// A function that makes an initializer, by its name.
struct InitializerRow {
  std::string name;
  std::vector<const char *> parameters;
  Numbers defaults;
  VariableInitializer (*make)(const Numbers &);
};
std::vector<InitializerRow> &initializer_rows() {
  static auto &rows = *new std::vector<InitializerRow>;
  return rows;
}

/// An initializer of Python, which whoever keeps the link keeps.
VariableInitializer linked(const std::shared_ptr<Link> &link) {
  return [link](const Shape &shape, DType dtype, const std::optional<std::uint64_t> &) {
    const Locked locked;
    if (link->object == nullptr)
      throw StateError("an initializer of Python has gone with the layer that it was given to");
    nb::list sizes;
    for (const std::int64_t size : shape) sizes.append(size);
    const nb::object made = nb::borrow(link->object)(nb::tuple(sizes), wrap(dtype));
    return to_tensor_of(made.ptr(), dtype, {"initializer", "what it gives"});
  };
}

} // namespace

Initializer initializer_named(const std::string &name, const Numbers &numbers, const Place &place) {
  std::vector<const char *> names;
  for (const InitializerRow &row : initializer_rows()) {
    names.push_back(row.name.c_str());
    if (name != row.name) continue;
    Numbers all = numbers;
    for (std::size_t i = all.size(); i < row.defaults.size(); ++i) all.push_back(row.defaults[i]);
    return {name, all, row.make(all)};
  }
  const std::string near = nearest(name, names);
  std::string said;
  if (near.empty())
    for (const char *each : names)
      said += (said.empty() ? ": there are " : ", ") + std::string(each);
  else said = "; did you mean '" + near + "'?";
  throw ValueError(place.text() + " is '" + name + "', which names no initializer" + said);
}

/// One by a name of the library, or of TensorFlow where weft.tf is imported.
nb::object initializer_by_name(const std::string &name, const Place &place) {
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  if (std::ranges::find(initializer_rows(), name, &InitializerRow::name) ==
          initializer_rows().end() &&
      modules.contains("weft.tf"))
    if (nb::object found =
            nb::module_::import_("weft.tf._functions").attr("keras_initializer")(name.c_str());
        !found.is_none())
      return found;
  return nb::cast(initializer_named(name, {}, place));
}

void read(VariableInitializer &target, nb::handle value, const Place &place, Given &given) {
  if (value.is_none()) return;
  if (nb::isinstance<Initializer>(value)) {
    target = nb::cast<const Initializer &>(value).draw;
  } else if (PyUnicode_Check(value.ptr()) != 0) {
    read(target, initializer_by_name(text_of(value), place), place, given);
  } else if (PyCallable_Check(value.ptr()) != 0) {
    auto link = std::make_shared<Link>(value.ptr());
    target = linked(link);
    given.links.push_back(std::move(link));
  } else {
    throw DTypeError(
        place.text() + " is " + shown_value(value) +
        ": the name of an initializer, or a function of a shape and a dtype is wanted");
  }
}

namespace {

/// A function of weft.nn.initializers: its arguments are numbers.
template <auto make, class... Args>
struct InitializerFunction {
  static inline const RowTable<Args...> *table = nullptr;

  static PyObject *call(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    return guarded([&] {
      const auto [given, words] = collected(args, count, keywords);
      const auto arguments = table->read(given.ptr(), words.ptr());
      const Numbers numbers =
          std::apply([](const Args &...each) { return Numbers{each...}; }, arguments);
      return nb::cast(Initializer{table->parameters.said(), numbers, std::apply(make, arguments)})
          .release()
          .ptr();
    });
  }
};

template <auto make, class... Args>
void initializer(const char *name, const char *documentation, const char *example,
                 const ArgumentRow<Args> &...rows) {
  using Function = InitializerFunction<make, Args...>;
  auto *table = new RowTable<Args...>(std::string("weft.initializers.") + name, rows...);
  table->parameters.title = name;
  Function::table = table;
  define_function("initializers", name, table->parameters.documented(name, documentation, example),
                  Function::call);
  initializer_rows().push_back(
      {name, {rows.name...}, {rows.otherwise.value_or(0)...}, [](const Numbers &numbers) {
         return [&]<std::size_t... I>(std::index_sequence<I...>) {
           return make(static_cast<Args>(numbers[I])...);
         }(std::index_sequence_for<Args...>());
       }});
}

/// By what pickles name.
Initializer unpickled(nb::handle given_name, nb::handle given) {
  const std::string name = text_of(given_name);
  const auto &rows = initializer_rows();
  const auto row = std::ranges::find(rows, name, &InitializerRow::name);
  Numbers numbers;
  Given others;
  for (const nb::handle number : given) {
    const bool named = row != rows.end() && numbers.size() < row->parameters.size();
    const char *argument = named ? row->parameters[numbers.size()] : "a number";
    read(numbers.emplace_back(), number, {name.c_str(), argument}, others);
  }
  return initializer_named(name, numbers, {"initializer", "name"});
}

} // namespace

void define_initializers(nb::module_ &module) {
  ClassOf<Initializer>(module, "Initializer", nb::is_final(), nb::is_weak_referenceable(),
                       "Draws the first values of variables."
                       "\n\nExample:\n"
                       "    >>> draw = wf.nn.initializers.constant(0.5)\n"
                       "    >>> isinstance(draw, wf.nn.initializers.Initializer)\n"
                       "    True\n"
                       "    >>> draw((2,), wf.float32)\n"
                       "    tensor([0.5, 0.5], shape=(2,), dtype=float32)\n")
      .def(
          "__call__",
          [](const Initializer &self, nb::handle shape, nb::handle dtype, nb::handle seed) {
            const Place place{self.name.c_str(), "shape"};
            Given given;
            std::optional<std::uint64_t> number;
            read(number, seed, {self.name.c_str(), "seed"}, given);
            return self.draw(Shape(to_integers(shape.ptr(), place)), to_dtype(dtype.ptr(), place),
                             number);
          },
          Arg("shape").none(), Arg("dtype").none() = "float32", Arg("seed") = nb::none(),
          "Numbers of that shape; the same for a seed.")
      .def("__repr__",
           [](const Initializer &self) {
             nb::list words;
             for (const double number : self.numbers) words.append(nb::repr(nb::float_(number)));
             return nb::str("{}({})").format(kept_text(self.name),
                                             nb::str(", ").attr("join")(words));
           })
      .def("__reduce__",
           [](const Initializer &self) {
             nb::list numbers;
             for (const double number : self.numbers) numbers.append(number);
             return nb::make_tuple(
                 nb::module_::import_("weft._arguments").attr("made_by"),
                 nb::make_tuple("weft._weft", "internal_initializer",
                                nb::make_tuple(kept_text(self.name), nb::tuple(numbers))));
           })
      .attr("__module__") = "weft.initializers";
  define<unpickled>(module, "internal_initializer(name, numbers)");
  define(module, "internal_initializer_by_name(function, name)",
         [](const std::string &function, const std::string &name) {
           return initializer_by_name(name, {function.c_str(), "initializer"});
         });
  namespace of = nn::initializers;
  initializer<of::glorot_uniform>(
      "glorot_uniform", "Uniform within sqrt(6 / (inputs + outputs)) (Glorot & Bengio 2010).",
      "    >>> w = wf.nn.initializers.glorot_uniform()((100, 50), seed=1)\n"
      "    >>> bool(wf.max(wf.abs(w)) <= np.sqrt(6 / 150))\n"
      "    True\n");
  initializer<of::glorot_normal>(
      "glorot_normal", "Truncated normal of variance 2 / (inputs + outputs).",
      "    >>> w = wf.nn.initializers.glorot_normal()((1000, 500), seed=1)\n"
      "    >>> round(float(np.var(w)) * (1000 + 500), 1)\n"
      "    2.0\n");
  initializer<of::he_uniform>("he_uniform", "Uniform within sqrt(6 / inputs) (He et al. 2015).",
                              "    >>> w = wf.nn.initializers.he_uniform()((100, 50), seed=1)\n"
                              "    >>> bool(wf.max(wf.abs(w)) <= np.sqrt(6 / 100))\n"
                              "    True\n");
  initializer<of::he_normal>("he_normal", "Truncated normal of variance 2 / inputs.",
                             "    >>> w = wf.nn.initializers.he_normal()((1000, 500), seed=1)\n"
                             "    >>> round(float(np.var(w)) * 1000, 1)\n"
                             "    2.0\n");
  initializer<of::lecun_uniform>(
      "lecun_uniform", "Uniform within sqrt(3 / inputs) (LeCun et al. 1998).",
      "    >>> w = wf.nn.initializers.lecun_uniform()((100, 50), seed=1)\n"
      "    >>> bool(wf.max(wf.abs(w)) <= np.sqrt(3 / 100))\n"
      "    True\n");
  initializer<of::lecun_normal>(
      "lecun_normal", "Truncated normal of variance 1 / inputs.",
      "    >>> w = wf.nn.initializers.lecun_normal()((1000, 500), seed=1)\n"
      "    >>> round(float(np.var(w)) * 1000, 1)\n"
      "    1.0\n");
  initializer<of::orthogonal>(
      "orthogonal",
      "A matrix with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al. "
      "2014).",
      "    >>> w = wf.nn.initializers.orthogonal()((3, 2), seed=1)\n"
      "    >>> np.allclose(w.T @ w, np.eye(2), atol=1e-6)\n"
      "    True\n",
      positional("gain", 1.0));
  initializer<of::uniform>("uniform", "Uniform between two numbers.",
                           "    >>> w = wf.nn.initializers.uniform(-1, 1)((100, 50), seed=1)\n"
                           "    >>> bool(wf.all((w >= -1) & (w < 1)))\n"
                           "    True\n",
                           positional("low", -0.05), positional("high", 0.05));
  initializer<of::normal>("normal", "Normally distributed numbers.",
                          "    >>> w = wf.nn.initializers.normal(0.05)((100, 50), seed=1)\n"
                          "    >>> round(float(np.std(w)), 2)\n"
                          "    0.05\n",
                          positional("stddev", 0.05), positional("mean", 0.0));
  initializer<of::truncated_normal>(
      "truncated_normal", "Normally distributed numbers within two deviations of the mean.",
      "    >>> w = wf.nn.initializers.truncated_normal(0.05)((100, 50), seed=1)\n"
      "    >>> bool(wf.max(wf.abs(w)) <= 0.1)\n"
      "    True\n",
      positional("stddev", 0.05), positional("mean", 0.0));
  initializer<of::constant>("constant", "One number.",
                            "    >>> wf.nn.initializers.constant(0.1)((2,))\n"
                            "    tensor([0.1, 0.1], shape=(2,), dtype=float32)\n",
                            required<double>("value"));
  initializer<of::zeros>("zeros", "Zeros.",
                         "    >>> wf.nn.initializers.zeros()((2,))\n"
                         "    tensor([0., 0.], shape=(2,), dtype=float32)\n");
  initializer<of::ones>("ones", "Ones.",
                        "    >>> wf.nn.initializers.ones()((2,))\n"
                        "    tensor([1., 1.], shape=(2,), dtype=float32)\n");
}

} // namespace weft::python
