// The functions of weft.nn and of weft.metrics.
#include "Define.h"
#include "Networks.h"
#include "Sizes.h"

#include <array>
#include <memory>
#include <vector>

#include <weft/activations.h>
#include <weft/metrics.h>
#include <weft/nn/attention.h>
#include <weft/nn/functions.h>

namespace weft::python {

template <>
struct Words<nn::Causal> {
  static constexpr std::array words = {"no", "top_left", "bottom_right"};
};
template <>
struct Shown<random::Generator> : ShownAsNone<random::Generator> {};
static void read(random::Generator &target, nb::handle value, const Place &place, Given &) {
  if (!nb::isinstance<random::Generator>(value))
    throw DTypeError(place.text() + " is " + shown_value(value) +
                     ": a weft.random.Generator is wanted");
  target = nb::cast<const random::Generator &>(value);
}

namespace {

/// What `call` gives for operands, without the lock of Python if there is much to compute.
template <class Call, class... Values>
Tensor computed(const Signature &signature, const Call &call, Values... values) {
  constexpr std::size_t kCount = sizeof...(Values);
  PyObject *const given[] = {values.ptr()...};
  const Operands<kCount> operands(signature, given, 0);
  return unlocked(operands.size(), [&] {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return call(operands[I]...);
    }(std::make_index_sequence<kCount>());
  });
}

/// An operand among the parameters, of which messages say that it has no elements.
Arg operand(const char *name) { return Arg(name).none().as("TensorLike"); }

/// A function of each element.
template <Tensor (*function)(const Operand &)>
struct Elementwise {
  static inline const Signature *signature = nullptr;

  static Tensor call(nb::handle x) { return computed(*signature, function, x); }
  static void define(nb::module_ &nn, const char *name, const char *documentation) {
    signature = new Signature(kept_words(std::string("nn.") + name), {{"x"}});
    python::define<call>(nn, name, operand("x"), documentation);
  }
};

void define_activations(nb::module_ &nn) {
  Elementwise<gelu>::define(nn, "gelu", R"(x times the standard normal distribution's share below x.

Example:
    >>> wf.nn.gelu([-1.0, 0.0, 2.0])
    tensor([-0.15865526,  0.        ,  1.9544997 ], shape=(3,), dtype=float32)
)");
  Elementwise<gelu_tanh>::define(nn, "gelu_tanh", R"(The approximation of gelu by tanh.

Example:
    >>> wf.nn.gelu_tanh([-1.0, 0.0, 2.0])
    tensor([-0.158808 ,  0.       ,  1.9545977], shape=(3,), dtype=float32)
)");
  Elementwise<silu>::define(nn, "silu", R"(x sigmoid(x), also called swish.

Example:
    >>> wf.nn.silu([-1.0, 0.0, 1.0])
    tensor([-0.26894143,  0.        ,  0.7310586 ], shape=(3,), dtype=float32)
)");
  Elementwise<sigmoid>::define(nn, "sigmoid", R"(1 / (1 + exp(-x)).

Example:
    >>> wf.nn.sigmoid([-1.0, 0.0, 1.0])
    tensor([0.26894143, 0.5       , 0.7310586 ], shape=(3,), dtype=float32)
)");
  Elementwise<softplus>::define(nn, "softplus", R"(log(1 + exp(x)), without overflow.

Example:
    >>> wf.nn.softplus([-1.0, 0.0, 1.0])
    tensor([0.3132617, 0.6931472, 1.3132617], shape=(3,), dtype=float32)
)");
  Elementwise<elu>::define(nn, "elu", R"(x, and exp(x) - 1 where x is not above 0.

Example:
    >>> wf.nn.elu([-1.0, 0.0, 2.0])
    tensor([-0.63212055,  0.        ,  2.        ], shape=(3,), dtype=float32)
)");
  Elementwise<selu>::define(nn, "selu", R"(elu, scaled so that layers keep mean 0 and variance 1.

Example:
    >>> wf.nn.selu([-1.0, 0.0, 2.0])
    tensor([-1.1113307,  0.       ,  2.101402 ], shape=(3,), dtype=float32)
)");
  Elementwise<leaky_relu>::define(nn, "leaky_relu", R"(x, and 0.2 x where x is below 0.

Example:
    >>> wf.nn.leaky_relu([-1.0, 0.0, 2.0])
    tensor([-0.2,  0. ,  2. ], shape=(3,), dtype=float32)
)");
  Elementwise<relu6>::define(nn, "relu6", R"(min(max(x, 0), 6).

Example:
    >>> wf.nn.relu6([-1.0, 3.0, 9.0])
    tensor([0., 3., 6.], shape=(3,), dtype=float32)
)");
  Elementwise<hard_sigmoid>::define(nn, "hard_sigmoid", R"(relu6(x + 3) / 6.

Example:
    >>> wf.nn.hard_sigmoid([-3.0, 0.0, 1.5])
    tensor([0.  , 0.5 , 0.75], shape=(3,), dtype=float32)
)");
  Elementwise<mish>::define(nn, "mish", R"(x tanh(softplus(x)).

Example:
    >>> wf.nn.mish([-1.0, 0.0, 2.0])
    tensor([-0.30340147,  0.        ,  1.943959  ], shape=(3,), dtype=float32)
)");
  Elementwise<softsign>::define(nn, "softsign", R"(x / (1 + |x|).

Example:
    >>> wf.nn.softsign([-1.0, 0.0, 3.0])
    tensor([-0.5 ,  0.  ,  0.75], shape=(3,), dtype=float32)
)");
}

void define_rows(nb::module_ &nn) {
  define(
      nn, "softmax",
      [](nb::handle x, std::int64_t axis) {
        static const Signature signature("nn.softmax", {{"x"}});
        return computed(signature, [&](const Operand &of) { return nn::softmax(of, axis); }, x);
      },
      operand("x"), Arg("axis") = -1, R"(exp(x) / sum(exp(x)) along an axis.

Example:
    >>> wf.nn.softmax([0.0, 0.0, 1.0])
    tensor([0.21194157, 0.21194157, 0.5761169 ], shape=(3,), dtype=float32)
)");
  define(
      nn, "log_softmax",
      [](nb::handle x, std::int64_t axis) {
        static const Signature signature("nn.log_softmax", {{"x"}});
        return computed(signature, [&](const Operand &of) { return nn::log_softmax(of, axis); }, x);
      },
      operand("x"), Arg("axis") = -1, R"(x - log(sum(exp(x))) along an axis.

Example:
    >>> wf.nn.log_softmax([0.0, 0.0])
    tensor([-0.6931472, -0.6931472], shape=(2,), dtype=float32)
)");
  define(
      nn, "one_hot",
      [](nb::handle labels, nb::handle classes, nb::handle dtype) {
        static const Signature signature("nn.one_hot", {{"labels"}});
        PyObject *const given[] = {labels.ptr()};
        const Operands<1> operands(signature, given, 0);
        const auto count = to<Size>(classes.ptr(), {"nn.one_hot", "classes"});
        DType kind = DType::f32;
        read_option(kind, dtype, {"one_hot", "dtype"});
        return nn::one_hot(operands[0], count, kind);
      },
      operand("labels"), Arg("classes").none().as("int | Tensor"),
      Arg("dtype").none().as("DTypeLike") = "float32",
      R"(1 where the last axis' position is the label, 0 elsewhere: (...) integers to (..., classes).

Example:
    >>> wf.nn.one_hot([0, 2], 3)
    tensor([[1., 0., 0.],
            [0., 0., 1.]], shape=(2, 3), dtype=float32)
)");
  define(
      nn, "dropout",
      [](nb::handle x, nb::handle rate, nb::handle given) {
        static const Signature signature("nn.dropout", {{"x"}});
        PyObject *const values[] = {x.ptr()};
        const Operands<1> operands(signature, values, 0);
        double share = 0;
        random::Generator generator = random::process_generator();
        read_option(share, rate, {"dropout", "rate"});
        if (is_tensor(given.ptr())) {
          const Tensor key = tensor_in(given.ptr());
          return unlocked(operands.size(), [&] { return nn::dropout(operands[0], share, key); });
        }
        if (!given.is_none()) read_option(generator, given, {"dropout", "generator"});
        return unlocked(operands.size(),
                        [&] { return nn::dropout(operands[0], share, generator); });
      },
      operand("x"), Arg("rate").none().as("float"), Arg("generator") = nb::none(),
      R"(x with each element 0 with the probability `rate`, and the others divided by 1 - rate,
by the numbers of a generator or of a key.

Example:
    >>> wf.nn.dropout(wf.ones(6), 0.5, wf.random.Generator(3))
    tensor([0., 2., 0., 0., 2., 0.], shape=(6,), dtype=float32)
)");
}

/// Layers that compute in floats of 16 bits, between `__enter__` and `__exit__`.
struct Policy {
  DType dtype;
  std::vector<std::shared_ptr<nn::MixedPrecision>> entered = {};
};

/// A dtype by its name here, "bf16", or any other.
DType dtype_of_policy(nb::handle policy) {
  if (PyUnicode_Check(policy.ptr()) != 0)
    for (int i = 0; i < kNumDTypes; ++i)
      if (PyUnicode_CompareWithASCIIString(
              policy.ptr(), std::string(name_of(static_cast<DType>(i))).c_str()) == 0)
        return static_cast<DType>(i);
  return to_dtype(policy.ptr(), {"mixed_precision", "dtype"});
}

void define_policy(nb::module_ &nn) {
  const auto type =
      ClassOf<Policy>(
          nn, "mixed_precision", nb::is_final(),
          "Within `with`, layers that are constructed compute in floats of 16 bits, 'bf16' or "
          "'f16': they round what they are called with and their weights to these, and give "
          "results of that dtype. Their variables stay float32, which optimizers update. "
          "Normalization computes its statistics in float32, and recurrent cells all they do. "
          "Small gradients of f16 need a `wf.optimizers.LossScale`."
          "\n\nExample:\n"
          "    >>> with wf.nn.mixed_precision('bf16'):\n"
          "    ...     layer = wf.nn.Dense(2)\n"
          "    >>> layer(wf.ones((1, 3))).dtype, layer.kernel.dtype\n"
          "    (weft.bfloat16, weft.float32)\n")
          .def(
              "__init__",
              [](Policy *self, nb::handle dtype) {
                const DType of = dtype_of_policy(dtype);
                static_cast<void>(nn::MixedPrecision(of)); // which refuses what is none
                new (self) Policy{of};
              },
              Arg("dtype").none().as("DTypeLike"))
          .def(
              "__enter__",
              [](nb::object self) {
                auto &policy = nb::cast<Policy &>(self);
                policy.entered.push_back(std::make_shared<nn::MixedPrecision>(policy.dtype));
                return self;
              },
              Returns{"Self"})
          .def("__exit__", [](Policy &self, const nb::args &) {
            if (!self.entered.empty()) self.entered.pop_back();
          });
  publish(nn, type);
}

void define_attention(nb::module_ &nn) {
  define(
      nn, "attention",
      [](nb::handle query, nb::handle key, nb::handle value, nb::handle mask,
         const nn::AttentionOptions &options) {
        static const Signature signature("nn.attention", {{"query"}, {"key"}, {"value"}});
        Tensor added;
        if (!mask.is_none()) { // whose numbers take the dtype of the operands
          Beside operands;
          for (const nb::handle each : {query, key, value}) operands.add(each.ptr());
          added = to_tensor(mask.ptr(), {"nn.attention", "mask"}, operands.dtype());
        }
        return computed(
            signature,
            [&](const Operand &q, const Operand &k, const Operand &v) {
              return nn::attention(q, k, v, added, options);
            },
            query, key, value);
      },
      operand("query"), operand("key"), operand("value"), Arg("mask") = nb::none(), keyword_only,
      R"(softmax(query key^T scale + mask) value, of rows (.., heads, length, depth). The matrix of weights is never whole in memory.

Example:
    >>> x = wf.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    >>> wf.nn.attention(x, x, wf.ones((1, 2, 3))).shape
    (1, 2, 3)
)");
  define(
      nn, "rotary",
      [](nb::handle x, bool interleaved, double base) {
        static const Signature signature("nn.rotary", {{"x"}});
        return computed(
            signature, [&](const Operand &of) { return nn::rotary(of, interleaved, base); }, x);
      },
      operand("x"), Arg("interleaved") = false, Arg("base") = 10000.0,
      R"(x (.., length, depth) with pairs of entries turned by their positions (Su et al. 2021).

Example:
    >>> wf.nn.rotary(wf.ones((2, 2)))
    tensor([[ 1.        ,  1.        ],
            [-0.30116868,  1.3817732 ]], shape=(2, 2), dtype=float32)
)");
  define(
      nn, "positional_encoding",
      [](std::int64_t length, std::int64_t size, double base, nb::handle dtype) {
        DType kind = DType::f32;
        read_option(kind, dtype, {"nn.positional_encoding", "dtype"});
        return nn::positional_encoding(length, size, base, kind);
      },
      Arg("length"), Arg("size"), Arg("base") = 10000.0,
      Arg("dtype").none().as("DTypeLike") = "float32",
      R"(Sines and cosines of positions (length, size) (Vaswani et al. 2017).

Example:
    >>> wf.nn.positional_encoding(2, 2)
    tensor([[0.        , 1.        ],
            [0.84147096, 0.5403023 ]], shape=(2, 2), dtype=float32)
)");
}

} // namespace

void define_network_functions() {
  nb::module_ nn = family("nn"), metrics = family("metrics");
  define_rows(nn);
  define_activations(nn);
  define_attention(nn);
  define_policy(nn);

  define(
      metrics, "accuracy",
      [](nb::handle labels, nb::handle scores) {
        static const Signature signature("metrics.accuracy", {{"labels"}, {"scores"}});
        PyObject *const given[] = {labels.ptr(), scores.ptr()};
        const Operands<2> operands(signature, given, 2);
        return metrics::accuracy(operands[0], operands[1]);
      },
      operand("labels"), operand("scores"),
      R"(Share of rows of scores (..., classes) whose largest entry is at the label (...).

Example:
    >>> wf.metrics.accuracy([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    tensor(0.5, shape=(), dtype=float32)
)");
}

} // namespace weft::python
