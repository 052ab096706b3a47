// Random tensors in Python: generators, and functions without one.
#include "Arguments.h"
#include "Define.h"
#include "Sizes.h"
#include "Text.h"

#include <weft/random.h>

namespace weft::python {

namespace {

std::optional<std::uint64_t> to_seed(nb::handle seed) {
  if (seed.is_none()) return std::nullopt;
  const nb::object index = nb::steal(PyNumber_Index(seed.ptr()));
  const unsigned long long value = index.is_valid() ? PyLong_AsUnsignedLongLong(index.ptr()) : 0;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw ValueError(std::string("random: seed is ") + shown_value(seed) +
                     ": an integer from 0 to 2^64 - 1 is wanted");
  }
  return value;
}

/// An undefined tensor for none.
Tensor key_of(nb::handle key) {
  return key.is_none() ? Tensor() : to_tensor(key.ptr(), {"random", "key"}, DType::u64);
}

random::Extent extent_of(nb::handle shape) { return to<Sizes>(shape.ptr(), {"random", "shape"}); }

DType dtype_of_argument(nb::handle dtype) { return to_dtype(dtype.ptr(), {"random", "dtype"}); }

double number(nb::handle value, const char *name) {
  double number = 0;
  Given given;
  read(number, value, {"random", name}, given);
  return number;
}

std::int64_t integer(nb::handle value, const char *name) {
  return to_integer(value.ptr(), {"random", name});
}

Size size(nb::handle value, const char *name) { return to<Size>(value.ptr(), {"random", name}); }

Tensor probability_of(nb::handle probability) {
  return to_tensor(probability.ptr(), {"random.bernoulli", "probability"});
}

void define_functions(nb::module_ &module) {
  const auto seed = Arg("seed").as("int | None") = nb::none();
  const auto key = Arg("key").as("Tensor | None") = nb::none();
  const auto dtype = Arg("dtype").none().as("DTypeLike") = "float32";
  define(
      module, "random_uniform",
      [](nb::handle shape, nb::handle low, nb::handle high, nb::handle dtype, nb::handle seed,
         nb::handle key) {
        return random::uniform(extent_of(shape), {.seed = to_seed(seed),
                                                  .low = number(low, "low"),
                                                  .high = number(high, "high"),
                                                  .dtype = dtype_of_argument(dtype),
                                                  .key = key_of(key)});
      },
      Arg("shape").none().as("Sizes"), Arg("low").none().as("float") = 0.,
      Arg("high").none().as("float") = 1., keyword_only, dtype, seed, key,
      "Numbers of [low, high)."
      "\n\nExample:\n"
      "    >>> wf.random.uniform((3,), seed=1)\n"
      "    tensor([0.89025915, 0.8946847 , 0.5857259 ], shape=(3,), dtype=float32)\n");
  define(
      module, "random_normal",
      [](nb::handle shape, nb::handle mean, nb::handle stddev, nb::handle dtype, nb::handle seed,
         nb::handle key) {
        return random::normal(extent_of(shape), {.seed = to_seed(seed),
                                                 .mean = number(mean, "mean"),
                                                 .stddev = number(stddev, "stddev"),
                                                 .dtype = dtype_of_argument(dtype),
                                                 .key = key_of(key)});
      },
      Arg("shape").none().as("Sizes"), Arg("mean").none().as("float") = 0.,
      Arg("stddev").none().as("float") = 1., keyword_only, dtype, seed, key,
      "Normally distributed numbers."
      "\n\nExample:\n"
      "    >>> wf.random.normal((3,), seed=1)\n"
      "    tensor([ 2.0710104 , -0.13058937,  0.225828  ], shape=(3,), dtype=float32)\n");
  define(
      module, "random_truncated_normal",
      [](nb::handle shape, nb::handle mean, nb::handle stddev, nb::handle dtype, nb::handle seed,
         nb::handle key) {
        return random::truncated_normal(extent_of(shape), {.seed = to_seed(seed),
                                                           .mean = number(mean, "mean"),
                                                           .stddev = number(stddev, "stddev"),
                                                           .dtype = dtype_of_argument(dtype),
                                                           .key = key_of(key)});
      },
      Arg("shape").none().as("Sizes"), Arg("mean").none().as("float") = 0.,
      Arg("stddev").none().as("float") = 1., keyword_only, dtype, seed, key,
      "Normally distributed numbers within two standard deviations of the mean."
      "\n\nExample:\n"
      "    >>> bool(wf.max(wf.abs(wf.random.truncated_normal((100,), seed=1))) <= 2)\n"
      "    True\n");
  define(
      module, "random_bernoulli",
      [](nb::handle shape, nb::handle probability, nb::handle seed, nb::handle key) {
        return random::bernoulli(extent_of(shape), probability_of(probability),
                                 {.seed = to_seed(seed), .key = key_of(key)});
      },
      Arg("shape").none().as("Sizes"), Arg("probability").none().as("TensorLike"), keyword_only,
      seed, key,
      "Bools that are true with the probability, which broadcasts to the shape."
      "\n\nExample:\n"
      "    >>> wf.random.bernoulli((4,), 0.5, seed=3)\n"
      "    tensor([False,  True, False, False], shape=(4,), dtype=bool)\n");
  define(
      module, "random_categorical",
      [](nb::handle logits, nb::handle axis, nb::handle shape, nb::handle seed, nb::handle key) {
        random::CategoricalOptions options{
            .seed = to_seed(seed), .axis = integer(axis, "axis"), .key = key_of(key)};
        if (!shape.is_none())
          options.shape = to<Sizes>(shape.ptr(), {"random.categorical", "shape"});
        return random::categorical(to_tensor(logits.ptr(), {"random.categorical", "logits"}),
                                   options);
      },
      Arg("logits").none().as("TensorLike"), Arg("axis").none().as("int") = -1,
      Arg("shape").none().as("Sizes | None") = nb::none(), keyword_only, seed, key,
      "Positions along an axis of logits, each as likely as softmax says: of their shape without "
      "the axis, or of `shape`, of which that is the end."
      "\n\nExample:\n"
      "    >>> wf.random.categorical([[0., -wf.inf], [-wf.inf, 0.]], seed=1)\n"
      "    tensor([0, 1], shape=(2,), dtype=int64)\n");
  define(
      module, "random_randint",
      [](nb::handle shape, nb::handle low, nb::handle high, nb::handle dtype, nb::handle seed,
         nb::handle key) {
        return random::randint(
            extent_of(shape), integer(low, "low"), integer(high, "high"),
            {.seed = to_seed(seed), .dtype = dtype_of_argument(dtype), .key = key_of(key)});
      },
      Arg("shape").none().as("Sizes"), Arg("low").none().as("int"), Arg("high").none().as("int"),
      keyword_only, Arg("dtype").none().as("DTypeLike") = "int64", seed, key,
      "Integers of [low, high)."
      "\n\nExample:\n"
      "    >>> wf.random.randint((5,), 0, 10, seed=1)\n"
      "    tensor([8, 5, 6, 4, 2], shape=(5,), dtype=int64)\n");
  define(
      module, "random_key", [](nb::handle seed) { return random::key(to_seed(seed).value_or(0)); },
      Arg("seed").as("int"),
      "The key of a seed, a tensor of two numbers, uint64."
      "\n\nA key is a value: what is drawn with `key=` is a function of it, the same eager, in "
      "traced "
      "functions, in loops and under `vmap`, and changes no state. It is used once: for one draw, "
      "or "
      "to be made into others by `split` and `fold_in`."
      "\n\nExample:\n"
      "    >>> wf.random.key(7)\n"
      "    tensor([7, 0], shape=(2,), dtype=uint64)\n"
      "    >>> first, second = wf.random.split(wf.random.key(7))\n"
      "    >>> bool(wf.all(wf.random.normal((3,), key=first) == wf.random.normal((3,), "
      "key=first)))\n"
      "    True\n");
  define(
      module, "random_permutation",
      [](nb::handle n, nb::handle dtype, nb::handle seed, nb::handle key) {
        return random::permutation(
            size(n, "n"),
            {.seed = to_seed(seed), .dtype = dtype_of_argument(dtype), .key = key_of(key)});
      },
      Arg("n").none().as("int | Tensor"), keyword_only,
      Arg("dtype").none().as("DTypeLike") = "int64", seed, key,
      "The numbers 0 to n - 1 in an order of which all are equally likely."
      "\n\nExample:\n"
      "    >>> wf.random.permutation(5, seed=1)\n"
      "    tensor([3, 1, 0, 2, 4], shape=(5,), dtype=int64)\n");
  define(
      module, "set_seed", [](nb::handle seed) { random::set_seed(to_seed(seed).value_or(0)); },
      Arg("seed").as("int | None"),
      "Starts the numbers of calls without a seed or generator of their own anew."
      "\n\nExample:\n"
      "    >>> wf.random.set_seed(7)\n"
      "    >>> first = wf.random.uniform((3,))\n"
      "    >>> wf.random.set_seed(7)\n"
      "    >>> bool(wf.all(wf.random.uniform((3,)) == first))\n"
      "    True\n");
}

} // namespace

void define_random(nb::module_ &module) {
  define_functions(module);
  // What pickles of generators name.
  define(module, "internal_generator(state)",
         [](nb::handle state) { return random::Generator(variable_in(state.ptr())); });
  using random::Generator;
  ClassOf<Generator>(
      module, "Generator", nb::is_final(), nb::is_weak_referenceable(),
      "A stream of random numbers that continues from call to call, the same for a seed on every "
      "machine. Its state is a variable, so that saving variables saves it."
      "\n\nExample:\n"
      "    >>> generator = wf.random.Generator(7)\n"
      "    >>> first = generator.normal((3,))\n"
      "    >>> generator.reset(7)\n"
      "    >>> bool(wf.all(generator.normal((3,)) == first))\n"
      "    True\n")
      .def(
          "__init__",
          [](Generator *self, nb::handle seed, nb::handle name) {
            std::string text;
            Given given;
            read(text, name, {"Generator", "name"}, given);
            new (self) Generator(to_seed(seed).value_or(0), text);
          },
          Arg("seed").as("int | None") = 0, Arg("name").as("str") = "generator")
      .def_prop_ro(
          "state", [](const Generator &self) { return nb::steal(wrap(self.state())); },
          Returns{"Variable"}, "Seed and number of draws.")
      .def("__deepcopy__(memo)",
           [](const Generator &self, nb::handle memo) {
             const nb::object state = nb::steal(wrap(self.state()));
             const nb::object copy = nb::module_::import_("copy").attr("deepcopy")(state, memo);
             return Generator(variable_in(copy.ptr()));
           })
      .def("__reduce__",
           [](const Generator &self) {
             return nb::make_tuple(nb::module_::import_("weft._arguments").attr("made_by"),
                                   nb::make_tuple("weft._weft", "internal_generator",
                                                  nb::make_tuple(nb::steal(wrap(self.state())))));
           })
      .def(
          "key", [](const Generator &self) { return self.key(); },
          "A key for draws that are functions of it; the generator moves on.")
      .def(
          "reset",
          [](const Generator &self, nb::handle seed) { self.reset(to_seed(seed).value_or(0)); },
          Arg("seed").as("int | None"), "Starts the stream of that seed anew.")
      .def(
          "uniform",
          [](const Generator &self, nb::handle shape, nb::handle low, nb::handle high,
             nb::handle dtype) {
            return self.uniform(extent_of(shape), {number(low, "low"), number(high, "high"),
                                                   dtype_of_argument(dtype)});
          },
          Arg("shape").none().as("Sizes"), Arg("low").none().as("float") = 0.,
          Arg("high").none().as("float") = 1., keyword_only,
          Arg("dtype").none().as("DTypeLike") = "float32", "Numbers of [low, high).")
      .def(
          "normal",
          [](const Generator &self, nb::handle shape, nb::handle mean, nb::handle stddev,
             nb::handle dtype) {
            return self.normal(extent_of(shape), {number(mean, "mean"), number(stddev, "stddev"),
                                                  dtype_of_argument(dtype)});
          },
          Arg("shape").none().as("Sizes"), Arg("mean").none().as("float") = 0.,
          Arg("stddev").none().as("float") = 1., keyword_only,
          Arg("dtype").none().as("DTypeLike") = "float32", "Normally distributed numbers.")
      .def(
          "truncated_normal",
          [](const Generator &self, nb::handle shape, nb::handle mean, nb::handle stddev,
             nb::handle dtype) {
            return self.truncated_normal(
                extent_of(shape),
                {number(mean, "mean"), number(stddev, "stddev"), dtype_of_argument(dtype)});
          },
          Arg("shape").none().as("Sizes"), Arg("mean").none().as("float") = 0.,
          Arg("stddev").none().as("float") = 1., keyword_only,
          Arg("dtype").none().as("DTypeLike") = "float32",
          "Normally distributed numbers within two standard deviations of the mean.")
      .def(
          "bernoulli",
          [](const Generator &self, nb::handle shape, nb::handle probability) {
            return self.bernoulli(extent_of(shape), probability_of(probability));
          },
          Arg("shape").none().as("Sizes"), Arg("probability").none().as("TensorLike"),
          "Bools that are true with the probability.")
      .def(
          "categorical",
          [](const Generator &self, nb::handle logits, nb::handle axis, nb::handle shape) {
            std::optional<Sizes> sizes;
            if (!shape.is_none()) sizes = to<Sizes>(shape.ptr(), {"random.categorical", "shape"});
            return self.categorical(to_tensor(logits.ptr(), {"random.categorical", "logits"}),
                                    integer(axis, "axis"), sizes);
          },
          Arg("logits").none().as("TensorLike"), Arg("axis").none().as("int") = -1,
          Arg("shape").none().as("Sizes | None") = nb::none(),
          "Positions along an axis of logits, each as likely as softmax says: of their shape "
          "without the axis, or of `shape`, of which that is the end.")
      .def(
          "randint",
          [](const Generator &self, nb::handle shape, nb::handle low, nb::handle high,
             nb::handle dtype) {
            return self.randint(extent_of(shape), integer(low, "low"), integer(high, "high"),
                                dtype_of_argument(dtype));
          },
          Arg("shape").none().as("Sizes"), Arg("low").none().as("int"),
          Arg("high").none().as("int"), keyword_only, Arg("dtype").none().as("DTypeLike") = "int64",
          "Integers of [low, high).")
      .def(
          "permutation",
          [](const Generator &self, nb::handle n, nb::handle dtype) {
            return self.permutation(size(n, "n"), dtype_of_argument(dtype));
          },
          Arg("n").none().as("int | Tensor"), keyword_only,
          Arg("dtype").none().as("DTypeLike") = "int64",
          "The numbers 0 to n - 1 in an order of which all are equally likely.")
      .def(
          "shuffle",
          [](const Generator &self, nb::handle x) {
            return self.shuffle(to_tensor(x.ptr(), {"shuffle", "x"}));
          },
          Arg("x").none().as("TensorLike"),
          "x with its slices along the first axis in a random order.");
}

} // namespace weft::python
