// The layers of weft.nn but the recurrent ones and attention.
#include "Layers.h"
#include "Define.h"
#include "Snapshots.h"
#include "Style.h"
#include "Text.h"

#include <weft/nn/dense.h>
#include <weft/nn/dropout.h>
#include <weft/nn/embedding.h>
#include <weft/nn/normalization.h>
#include <weft/nn/pooling.h>
#include <weft/nn/shaping.h>

namespace weft::python {

//===----------------------------------------------------------------------===//
// What all layers have
//===----------------------------------------------------------------------===//

PyObject *result_of(const LayerObject &layer, Tensor result) {
  PyObject *wrapped = wrap(std::move(result));
  if (!layer.activation.is_valid()) [[likely]]
    return wrapped;
  const nb::object held = checked(wrapped);
  return checked(PyObject_CallOneArg(layer.activation.ptr(), held.ptr())).release().ptr();
}

Tensor tensor_argument(PyObject *object, const char *layer, const char *argument) {
  return is_tensor(object) ? tensor_in(object) : to_tensor(object, {layer, argument});
}

Tensor input_argument(const LayerObject &layer, PyObject *object, const char *name) {
  Tensor x = tensor_argument(object, name, "x");
  if (x.dtype() == DType::f64 && prints_as_tensorflow() &&
      PyDict_GetItemString(layer.arguments.ptr(), "dtype") == nullptr)
    return x.astype(DType::f32);
  return x;
}

Tensor optional_tensor(PyObject *object, const char *layer, const char *argument) {
  if (object == nullptr || object == Py_None) return {};
  return tensor_argument(object, layer, argument);
}

namespace {

//===----------------------------------------------------------------------===//
// The classes
//===----------------------------------------------------------------------===//

void define_base(nb::module_ &module) {
  const auto known = [](LayerObject &self) {
    const nn::LayerName *name = name_of(self);
    return name == nullptr ? std::string() : std::string(name->text());
  };
  auto type =
      ClassOf<LayerObject, Visitable>(module, "Layer", nb::is_weak_referenceable(),
                                      "What all layers of the library are."
                                      "\n\nExample:\n"
                                      "    >>> layer = wf.nn.Dense(2)\n"
                                      "    >>> isinstance(layer, wf.nn.Layer), layer.built\n"
                                      "    (True, False)\n"
                                      "    >>> sorted(layer.build((None, 3)).named_variables())\n"
                                      "    ['bias', 'kernel']\n");
  type.attr("__module__") = "weft.nn";
  type.def_prop_ro("name", known,
                   "The name it was given, else its path in the model that it was first seen in, "
                   "else its kind.")
      .def_prop_ro("activation",
                   [](const LayerObject &self) -> nb::object {
                     if (self.activation.is_valid()) return self.activation;
                     return self.arguments.attr("get")("activation");
                   })
      .def_prop_ro("input_shape",
                   [](const LayerObject &self) -> nb::object {
                     return self.input_shape.is_valid() ? self.input_shape : nb::none();
                   })
      .def(
          "get_config",
          [](const LayerObject &self) { return checked(PyDict_Copy(self.arguments.ptr())); },
          "The arguments by which it was made.")
      .def("__repr__", [](nb::handle_t<LayerObject> self) {
        const auto &layer = nb::cast<const LayerObject &>(self);
        nb::list words;
        for (const auto &[name, value] : items_of(layer.arguments.ptr()))
          words.append(nb::str("{}={!r}").format(name, value));
        return nb::str("{}({})").format(nb::object(self.type().attr("__name__")),
                                        nb::str(", ").attr("join")(words));
      });
}

void define_dense(nb::module_ &module) {
  using O = nn::DenseOptions;
  using C = LayerClass<nn::Dense, std::int64_t, O>;
  auto type = C::define(
      module, "weft.nn.Dense", {},
      {argument<0, C>("units"), member<1, C>("activation", &O::activation),
       member<1, C>("use_bias", &O::use_bias),
       member<1, C>("kernel_initializer", &O::kernel_initializer),
       member<1, C>("bias_initializer", &O::bias_initializer), member<1, C>("dtype", &O::dtype),
       member<1, C>("seed", &O::seed), member<1, C>("name", &O::name)},
      5, 1,
      "activation(x @ kernel + bias), of x (..., inputs) to (..., units).\n\n"
      "Dense(units, activation=None, use_bias=True, kernel_initializer='glorot_uniform', "
      "bias_initializer='zeros', *, dtype='float32', seed=None, name=None, input_shape=None)\n\n"
      "The number of inputs follows from the first call, or from input_shape in a Sequential. An "
      "activation is a name ('relu', 'gelu', ..), or a function of a tensor."
      "\n\nExample:\n"
      "    >>> layer = wf.nn.Dense(2, 'relu', kernel_initializer='ones')\n"
      "    >>> layer(wf.tensor([[1.0, 2.0, 3.0]]))\n"
      "    tensor([[6., 6.]], shape=(1, 2), dtype=float32)\n"
      "    >>> layer.kernel.shape\n"
      "    (3, 2)\n");
  variable(type, "kernel", &nn::Dense::kernel);
  variable(type, "bias", &nn::Dense::bias);
}

template <class L>
void define_convolution(nb::module_ &module, const char *name, const char *documentation,
                        const char *example) {
  using O = nn::ConvOptions;
  using C = LayerClass<L, std::int64_t, nn::PerAxis, O>;
  auto type = C::define(module, name, {1, nn::PerAxis(1), O()},
                        {argument<0, C>("filters"), argument<1, C>("kernel_size"),
                         member<2, C>("strides", &O::strides), member<2, C>("padding", &O::padding),
                         member<2, C>("activation", &O::activation),
                         member<2, C>("dilation_rate", &O::dilations),
                         member<2, C>("groups", &O::groups), member<2, C>("use_bias", &O::use_bias),
                         member<2, C>("kernel_initializer", &O::kernel_initializer),
                         member<2, C>("bias_initializer", &O::bias_initializer),
                         member<2, C>("dtype", &O::dtype), member<2, C>("name", &O::name)},
                        4, 2, with_example(documentation, example).c_str());
  variable(type, "kernel", &L::kernel);
  variable(type, "bias", &L::bias);
}

template <class C>
std::vector<typename C::Parameter> depthwise_options() {
  using O = nn::DepthwiseConvOptions;
  constexpr std::size_t at = std::tuple_size_v<typename C::Arguments> - 1;
  return {member<at, C>("strides", &O::strides),
          member<at, C>("padding", &O::padding),
          member<at, C>("depth_multiplier", &O::multiplier),
          member<at, C>("activation", &O::activation),
          member<at, C>("dilation_rate", &O::dilations),
          member<at, C>("use_bias", &O::use_bias),
          member<at, C>("kernel_initializer", &O::kernel_initializer),
          member<at, C>("bias_initializer", &O::bias_initializer),
          member<at, C>("dtype", &O::dtype),
          member<at, C>("name", &O::name)};
}

template <int Rank>
void define_depthwise(nb::module_ &module, const char *name, const char *example) {
  using L = nn::DepthwiseConv<Rank>;
  using C = LayerClass<L, nn::PerAxis, nn::DepthwiseConvOptions>;
  auto parameters = depthwise_options<C>();
  parameters.insert(parameters.begin(), argument<0, C>("kernel_size"));
  auto type = C::define(
      module, name, {nn::PerAxis(1), {}}, std::move(parameters), 4, 1,
      with_example("A convolution of each channel by itself.\n\n(kernel_size, strides=1, "
                   "padding='valid', depth_multiplier=1, *, activation=None, "
                   "dilation_rate=1, use_bias=True, kernel_initializer='glorot_uniform', "
                   "bias_initializer='zeros', dtype='float32', name=None, input_shape=None)",
                   example)
          .c_str());
  variable(type, "kernel", &L::kernel);
  variable(type, "bias", &L::bias);
}

template <int Rank>
void define_separable(nb::module_ &module, const char *name, const char *example) {
  using L = nn::SeparableConv<Rank>;
  using C = LayerClass<L, std::int64_t, nn::PerAxis, nn::DepthwiseConvOptions>;
  auto parameters = depthwise_options<C>();
  parameters.insert(parameters.begin(), argument<1, C>("kernel_size"));
  parameters.insert(parameters.begin(), argument<0, C>("filters"));
  auto type = C::define(
      module, name, {1, nn::PerAxis(1), {}}, std::move(parameters), 5, 2,
      with_example("A convolution of each channel by itself, then one of size 1 that mixes "
                   "the channels (Chollet 2017).\n\n(filters, kernel_size, strides=1, "
                   "padding='valid', depth_multiplier=1, *, activation=None, "
                   "dilation_rate=1, use_bias=True, kernel_initializer='glorot_uniform', "
                   "bias_initializer='zeros', dtype='float32', name=None, input_shape=None)",
                   example)
          .c_str());
  const auto words = [](const MadeObject &self, std::initializer_list<const char *> names,
                        const char *part) {
    nb::dict chosen = arguments_named(self, names);
    if (PyDict_GetItemString(self.arguments.ptr(), "name") != nullptr &&
        !self.arguments["name"].is_none())
      chosen["name"] = self.arguments["name"] + nb::str(part);
    return chosen;
  };
  inner(type, "depthwise", &L::depthwise, [words](const LayerOf<L> &self) {
    nb::dict chosen = words(self,
                            {"kernel_size", "strides", "padding", "depth_multiplier",
                             "dilation_rate", "kernel_initializer", "dtype"},
                            ".depthwise");
    chosen["use_bias"] = false;
    return chosen;
  });
  inner(type, "pointwise", &L::pointwise, [words](const LayerOf<L> &self) {
    nb::dict chosen = words(
        self,
        {"filters", "activation", "use_bias", "kernel_initializer", "bias_initializer", "dtype"},
        ".pointwise");
    chosen["kernel_size"] = 1;
    return chosen;
  });
}

void define_convolutions(nb::module_ &module) {
  constexpr const char *plain =
      "activation(convolution(x, kernel) + bias), of x (batch, spatial axes.., channels).\n\n"
      "(filters, kernel_size, strides=1, padding='valid', *, activation=None, dilation_rate=1, "
      "groups=1, use_bias=True, kernel_initializer='glorot_uniform', bias_initializer='zeros', "
      "dtype='float32', name=None, input_shape=None)\n\n"
      "Sizes are an integer for all axes or one for each; padding is 'valid', 'same', 'causal' or "
      "pairs of integers. The channels follow from the first call, or from input_shape in a "
      "Sequential.";
  define_convolution<nn::Conv1D>(
      module, "weft.nn.Conv1D", plain,
      "    >>> wf.nn.Conv1D(1, 2, kernel_initializer='ones')(wf.arange(4.0).reshape(1, 4, 1))[0, "
      ":, 0]\n"
      "    tensor([1., 3., 5.], shape=(3,), dtype=float32)\n");
  define_convolution<nn::Conv2D>(
      module, "weft.nn.Conv2D", plain,
      "    >>> wf.nn.Conv2D(16, 3, activation='relu')(wf.ones((2, 28, 28, 1))).shape\n"
      "    (2, 26, 26, 16)\n");
  define_convolution<nn::Conv3D>(
      module, "weft.nn.Conv3D", plain,
      "    >>> wf.nn.Conv3D(4, 3, padding='same')(wf.ones((1, 5, 5, 5, 2))).shape\n"
      "    (1, 5, 5, 5, 4)\n");
  constexpr const char *transposed =
      "The transpose of a convolution, which makes images larger by the strides. Arguments are "
      "those of convolutions, without groups.\n\n(filters, kernel_size, strides=1, "
      "padding='valid', *, activation=None, dilation_rate=1, use_bias=True, "
      "kernel_initializer='glorot_uniform', bias_initializer='zeros', dtype='float32', name=None, "
      "input_shape=None)";
  define_convolution<nn::Conv1DTranspose>(
      module, "weft.nn.Conv1DTranspose", transposed,
      "    >>> wf.nn.Conv1DTranspose(8, 3, strides=2)(wf.ones((1, 4, 2))).shape\n"
      "    (1, 9, 8)\n");
  define_convolution<nn::Conv2DTranspose>(
      module, "weft.nn.Conv2DTranspose", transposed,
      "    >>> wf.nn.Conv2DTranspose(8, 3, strides=2)(wf.ones((1, 4, 4, 2))).shape\n"
      "    (1, 9, 9, 8)\n");
  define_convolution<nn::Conv3DTranspose>(
      module, "weft.nn.Conv3DTranspose", transposed,
      "    >>> wf.nn.Conv3DTranspose(4, 3, strides=2)(wf.ones((1, 4, 4, 4, 2))).shape\n"
      "    (1, 9, 9, 9, 4)\n");
  define_depthwise<1>(
      module, "weft.nn.DepthwiseConv1D",
      "    >>> wf.nn.DepthwiseConv1D(3, depth_multiplier=2)(wf.ones((1, 8, 4))).shape\n"
      "    (1, 6, 8)\n");
  define_depthwise<2>(
      module, "weft.nn.DepthwiseConv2D",
      "    >>> wf.nn.DepthwiseConv2D(3, padding='same')(wf.ones((1, 8, 8, 4))).shape\n"
      "    (1, 8, 8, 4)\n");
  define_separable<1>(module, "weft.nn.SeparableConv1D",
                      "    >>> wf.nn.SeparableConv1D(8, 3)(wf.ones((1, 8, 4))).shape\n"
                      "    (1, 6, 8)\n");
  define_separable<2>(
      module, "weft.nn.SeparableConv2D",
      "    >>> wf.nn.SeparableConv2D(8, 3, padding='same')(wf.ones((1, 8, 8, 4))).shape\n"
      "    (1, 8, 8, 8)\n");
}

template <class L>
void define_pooling(nb::module_ &module, const char *name, const char *documentation,
                    const char *example) {
  using O = nn::PoolingOptions;
  using C = LayerClass<L, nn::PerAxis, O>;
  C::define(module, name, {nn::PerAxis(2), O()},
            {argument<0, C>("pool_size"), member<1, C>("strides", &O::strides),
             member<1, C>("padding", &O::padding)},
            3, 0, with_example(documentation, example).c_str());
}

template <class L>
void define_global_pooling(nb::module_ &module, const char *name, const char *documentation,
                           const char *example) {
  using C = LayerClass<L, bool>;
  C::define(module, name, {false}, {argument<0, C>("keepdims")}, 0, 0,
            with_example(documentation, example).c_str());
}

void define_poolings(nb::module_ &module) {
  constexpr const char *max = "The largest element of each window of x (batch, spatial axes.., "
                              "channels).\n\n(pool_size=2, strides=None, padding='valid'); without "
                              "strides windows lie side by side.";
  constexpr const char *mean = "The mean of each window of x (batch, spatial axes.., channels), "
                               "whose padding is not counted.\n\n(pool_size=2, strides=None, "
                               "padding='valid')";
  define_pooling<nn::MaxPooling1D>(
      module, "weft.nn.MaxPooling1D", max,
      "    >>> wf.nn.MaxPooling1D(2)(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[[2., 3.],\n"
      "             [6., 7.]]], shape=(1, 2, 2), dtype=float32)\n");
  define_pooling<nn::MaxPooling2D>(
      module, "weft.nn.MaxPooling2D", max,
      "    >>> wf.nn.MaxPooling2D()(wf.arange(16.0).reshape(1, 4, 4, 1))[0, :, :, 0]\n"
      "    tensor([[ 5.,  7.],\n"
      "            [13., 15.]], shape=(2, 2), dtype=float32)\n");
  define_pooling<nn::MaxPooling3D>(module, "weft.nn.MaxPooling3D", max,
                                   "    >>> wf.nn.MaxPooling3D()(wf.ones((1, 4, 4, 4, 2))).shape\n"
                                   "    (1, 2, 2, 2, 2)\n");
  define_pooling<nn::AveragePooling1D>(
      module, "weft.nn.AveragePooling1D", mean,
      "    >>> wf.nn.AveragePooling1D(2)(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[[1., 2.],\n"
      "             [5., 6.]]], shape=(1, 2, 2), dtype=float32)\n");
  define_pooling<nn::AveragePooling2D>(
      module, "weft.nn.AveragePooling2D", mean,
      "    >>> wf.nn.AveragePooling2D()(wf.arange(16.0).reshape(1, 4, 4, 1))[0, :, :, 0]\n"
      "    tensor([[ 2.5,  4.5],\n"
      "            [10.5, 12.5]], shape=(2, 2), dtype=float32)\n");
  define_pooling<nn::AveragePooling3D>(
      module, "weft.nn.AveragePooling3D", mean,
      "    >>> wf.nn.AveragePooling3D()(wf.ones((1, 4, 4, 4, 2))).shape\n"
      "    (1, 2, 2, 2, 2)\n");
  constexpr const char *all =
      "The mean of each channel: (batch, spatial axes.., channels) to "
      "(batch, channels), or with keepdims=True with sizes of 1 between.\n\n(*, "
      "keepdims=False)";
  constexpr const char *most = "The largest element of each channel: (batch, spatial axes.., "
                               "channels) to (batch, channels).\n\n(*, keepdims=False)";
  define_global_pooling<nn::GlobalAveragePooling1D>(
      module, "weft.nn.GlobalAveragePooling1D", all,
      "    >>> wf.nn.GlobalAveragePooling1D()(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[3., 4.]], shape=(1, 2), dtype=float32)\n");
  define_global_pooling<nn::GlobalAveragePooling2D>(
      module, "weft.nn.GlobalAveragePooling2D", all,
      "    >>> wf.nn.GlobalAveragePooling2D()(wf.ones((2, 4, 4, 3))).shape\n"
      "    (2, 3)\n");
  define_global_pooling<nn::GlobalAveragePooling3D>(
      module, "weft.nn.GlobalAveragePooling3D", all,
      "    >>> wf.nn.GlobalAveragePooling3D(keepdims=True)(wf.ones((2, 4, 4, 4, 3))).shape\n"
      "    (2, 1, 1, 1, 3)\n");
  define_global_pooling<nn::GlobalMaxPooling1D>(
      module, "weft.nn.GlobalMaxPooling1D", most,
      "    >>> wf.nn.GlobalMaxPooling1D()(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[6., 7.]], shape=(1, 2), dtype=float32)\n");
  define_global_pooling<nn::GlobalMaxPooling2D>(
      module, "weft.nn.GlobalMaxPooling2D", most,
      "    >>> wf.nn.GlobalMaxPooling2D()(wf.ones((2, 4, 4, 3))).shape\n"
      "    (2, 3)\n");
  define_global_pooling<nn::GlobalMaxPooling3D>(
      module, "weft.nn.GlobalMaxPooling3D", most,
      "    >>> wf.nn.GlobalMaxPooling3D(keepdims=True)(wf.ones((2, 4, 4, 4, 3))).shape\n"
      "    (2, 1, 1, 1, 3)\n");
}

void define_norms(nb::module_ &module) {
  {
    using O = nn::BatchNormOptions;
    using C = LayerClass<nn::BatchNorm, O>;
    auto type =
        C::define(module, "weft.nn.BatchNorm", {},
                  {member<0, C>("momentum", &O::momentum), member<0, C>("epsilon", &O::epsilon),
                   member<0, C>("center", &O::center), member<0, C>("scale", &O::scale),
                   member<0, C>("unbiased", &O::unbiased), member<0, C>("dtype", &O::dtype),
                   member<0, C>("name", &O::name)},
                  0, 0,
                  "Each channel, the last axis, less its mean and by its deviation, times gamma "
                  "plus beta: those of the batch in training, else the moving ones, which follow "
                  "by momentum.\n\nBatchNorm(*, momentum=0.99, epsilon=0.001, center=True, "
                  "scale=True, unbiased=False, dtype='float32', name=None)"
                  "\n\nExample:\n"
                  "    >>> layer = wf.nn.BatchNorm()\n"
                  "    >>> wf.round(layer(wf.tensor([[1.0], [3.0]]), training=True), 2)\n"
                  "    tensor([[-1.],\n"
                  "            [ 1.]], shape=(2, 1), dtype=float32)\n");
    variable(type, "gamma", &nn::BatchNorm::gamma);
    variable(type, "beta", &nn::BatchNorm::beta);
    variable(type, "moving_mean", &nn::BatchNorm::moving_mean);
    variable(type, "moving_variance", &nn::BatchNorm::moving_variance);
  }
  {
    using O = nn::LayerNormOptions;
    using C = LayerClass<nn::LayerNorm, O>;
    auto type =
        C::define(module, "weft.nn.LayerNorm", {},
                  {member<0, C>("epsilon", &O::epsilon), member<0, C>("center", &O::center),
                   member<0, C>("scale", &O::scale), member<0, C>("dtype", &O::dtype),
                   member<0, C>("name", &O::name)},
                  0, 0,
                  "Each row along the last axis less its mean and by its deviation, times gamma "
                  "plus beta.\n\nLayerNorm(*, epsilon=0.001, center=True, scale=True, "
                  "dtype='float32', name=None)"
                  "\n\nExample:\n"
                  "    >>> wf.round(wf.nn.LayerNorm()(wf.tensor([[1.0, 3.0]])), 2)\n"
                  "    tensor([[-1.,  1.]], shape=(1, 2), dtype=float32)\n");
    variable(type, "gamma", &nn::LayerNorm::gamma);
    variable(type, "beta", &nn::LayerNorm::beta);
  }
  {
    using O = nn::RMSNormOptions;
    using C = LayerClass<nn::RMSNorm, O>;
    auto type = C::define(module, "weft.nn.RMSNorm", {},
                          {member<0, C>("epsilon", &O::epsilon), member<0, C>("dtype", &O::dtype),
                           member<0, C>("name", &O::name)},
                          0, 0,
                          "x / sqrt(mean(x^2) + epsilon) scale, of each row along the last axis."
                          "\n\nRMSNorm(*, epsilon=1e-06, dtype='float32', name=None)"
                          "\n\nExample:\n"
                          "    >>> wf.round(wf.nn.RMSNorm()(wf.tensor([[3.0, -3.0]])), 2)\n"
                          "    tensor([[ 1., -1.]], shape=(1, 2), dtype=float32)\n");
    variable(type, "scale", &nn::RMSNorm::scale);
  }
  {
    using O = nn::GroupNormOptions;
    using C = LayerClass<nn::GroupNorm, std::int64_t, O>;
    auto type =
        C::define(module, "weft.nn.GroupNorm", {32, O()},
                  {argument<0, C>("groups"), member<1, C>("epsilon", &O::epsilon),
                   member<1, C>("center", &O::center), member<1, C>("scale", &O::scale),
                   member<1, C>("dtype", &O::dtype), member<1, C>("name", &O::name)},
                  1, 0,
                  "As LayerNorm of each example and group of channels.\n\nGroupNorm(groups=32, *, "
                  "epsilon=0.001, center=True, scale=True, dtype='float32', name=None)"
                  "\n\nExample:\n"
                  "    >>> wf.round(wf.nn.GroupNorm(2)(wf.tensor([[1.0, 3.0, 5.0, 9.0]])), 2)\n"
                  "    tensor([[-1.,  1., -1.,  1.]], shape=(1, 4), dtype=float32)\n");
    variable(type, "gamma", &nn::GroupNorm::gamma);
    variable(type, "beta", &nn::GroupNorm::beta);
  }
}

/// Dropout, with a generator or a seed of its own.
struct OwnDropout {
  OwnDropout(double rate, const std::optional<std::uint64_t> &seed)
      : layer(seed ? nn::Dropout(rate, random::Generator(*seed, "dropout")) : nn::Dropout(rate)) {}

  Tensor operator()(const Tensor &x, const nn::CallOptions &options) const {
    return layer(x, options);
  }
  void weft_visit(StructureVisitor &visitor) {
    weft::detail::VirtualVisitor inner(visitor);
    visit_structure(layer, inner);
  }
  void weft_visit(StructureVisitor &visitor) const {
    weft::detail::VirtualVisitor inner(visitor);
    visit_structure(layer, inner);
  }

  nn::Dropout layer;
};

void define_others(nb::module_ &module) {
  {
    using C = LayerClass<OwnDropout, double, std::optional<std::uint64_t>>;
    C::define(module, "weft.nn.Dropout", {}, {argument<0, C>("rate"), argument<1, C>("seed")}, 1, 1,
              "Makes each element 0 with the probability `rate`, and divides the others by 1 - "
              "rate, in training: layer(x, training=True).\n\nDropout(rate, *, seed=None)"
              "\n\nExample:\n"
              "    >>> layer = wf.nn.Dropout(0.5, seed=3)\n"
              "    >>> layer(wf.ones(6))\n"
              "    tensor([1., 1., 1., 1., 1., 1.], shape=(6,), dtype=float32)\n"
              "    >>> layer(wf.ones(6), training=True)\n"
              "    tensor([0., 2., 0., 0., 2., 0.], shape=(6,), dtype=float32)\n");
  }
  {
    using O = nn::EmbeddingOptions;
    using C = LayerClass<nn::Embedding, std::int64_t, std::int64_t, O>;
    auto type = C::define(
        module, "weft.nn.Embedding", {},
        {argument<0, C>("input_dim"), argument<1, C>("output_dim"),
         member<2, C>("embeddings_initializer", &O::initializer), member<2, C>("dtype", &O::dtype),
         member<2, C>("name", &O::name)},
        3, 2,
        "The rows of a table that integers choose: (..) to (.., output_dim).\n\n"
        "Embedding(input_dim, output_dim, embeddings_initializer=uniform(-0.05, 0.05), *, "
        "dtype='float32', name=None)"
        "\n\nExample:\n"
        "    >>> wf.nn.Embedding(10, 3, 'ones')(wf.tensor([4, 7]))\n"
        "    tensor([[1., 1., 1.],\n"
        "            [1., 1., 1.]], shape=(2, 3), dtype=float32)\n");
    variable(type, "embeddings", &nn::Embedding::embeddings);
  }
  LayerClass<nn::Flatten>::define(
      module, "weft.nn.Flatten", {}, {}, 0, 0,
      "x (batch, a, b, ..) as (batch, a * b * ..).\n\nFlatten(*, input_shape=None)"
      "\n\nExample:\n"
      "    >>> wf.nn.Flatten()(wf.ones((2, 3, 4))).shape\n"
      "    (2, 12)\n");
  using C = LayerClass<nn::Reshape, Ints>;
  C::define(module, "weft.nn.Reshape", {}, {argument<0, C>("target_shape")}, 1, 1,
            "x (batch, ..) as (batch, target_shape..), of which one entry may be "
            "-1.\n\nReshape(target_shape, *, input_shape=None)"
            "\n\nExample:\n"
            "    >>> wf.nn.Reshape((2, -1))(wf.ones((5, 6))).shape\n"
            "    (5, 2, 3)\n");
}

} // namespace

void define_layers(nb::module_ &module) {
  define_made(module);
  define_initializers(module);
  define_base(module);
  define_dense(module);
  define_convolutions(module);
  define_poolings(module);
  define_norms(module);
  define_others(module);
  define_recurrent_layers(module);
}

} // namespace weft::python
