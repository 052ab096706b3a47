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
  auto type = ClassOf<LayerObject, Visitable>(
      module, "Layer", nb::type_slots(config_slots), nb::is_weak_referenceable(),
      "What all layers of the library are."
      "\n\nExample:\n"
      "    >>> layer = wf.nn.Dense(2)\n"
      "    >>> isinstance(layer, wf.nn.Layer), layer.built\n"
      "    (True, False)\n"
      "    >>> sorted(layer.build((None, 3)).named_variables())\n"
      "    ['bias', 'kernel']\n");
  type.attr("__module__") = "weft.nn";
  define_config(type);
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
      .def("__repr__", [](nb::handle_t<LayerObject> self) {
        const auto &layer = nb::cast<const LayerObject &>(self);
        nb::list words;
        for (const auto &[name, value] : items_of(layer.arguments.ptr()))
          words.append(nb::str("{}={!r}").format(name, value));
        return nb::str("{}({})").format(nb::object(self.type().attr("__name__")),
                                        nb::str(", ").attr("join")(words));
      });
}

void define_dense() {
  layer<nn::Dense>(
      "Dense",
      "activation(x @ kernel + bias), of x (..., inputs) to (..., units).\n\n"
      "The number of inputs follows from the first call, or from input_shape in a Sequential. An "
      "activation is a name ('relu', 'gelu', ..), or a function of a tensor.",
      "    >>> layer = wf.nn.Dense(2, 'relu', kernel_initializer='ones')\n"
      "    >>> layer(wf.tensor([[1.0, 2.0, 3.0]]))\n"
      "    tensor([[6., 6.]], shape=(1, 2), dtype=float32)\n"
      "    >>> layer.kernel.shape\n"
      "    (3, 2)\n",
      required<std::int64_t>("units"), options<nn::DenseOptions>({.positional = 4}));
}

template <class L>
void convolution(const char *name, const char *documentation, const char *example) {
  layer<L>(
      name, documentation, example, required<std::int64_t>("filters"),
      required<nn::PerAxis>("kernel_size"),
      options<nn::ConvOptions>({.positional = 2, .renamed = {{"dilations", "dilation_rate"}}}));
}

/// The options of depthwise and separable convolutions.
ArgumentRow<nn::DepthwiseConvOptions> depthwise_options() {
  return options<nn::DepthwiseConvOptions>(
      {.positional = 3,
       .renamed = {{"dilations", "dilation_rate"}, {"multiplier", "depth_multiplier"}}});
}

template <int Rank>
void depthwise_convolution(const char *name, const char *example) {
  layer<nn::DepthwiseConv<Rank>>(name, "A convolution of each channel by itself.", example,
                                 required<nn::PerAxis>("kernel_size"), depthwise_options());
}

template <int Rank>
void separable_convolution(const char *name, const char *example) {
  using L = nn::SeparableConv<Rank>;
  auto type = layer<L>(name,
                       "A convolution of each channel by itself, then one of size 1 that mixes the "
                       "channels (Chollet 2017).",
                       example, required<std::int64_t>("filters"),
                       required<nn::PerAxis>("kernel_size"), depthwise_options());
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

void define_convolutions() {
  constexpr const char *plain =
      "activation(convolution(x, kernel) + bias), of x (batch, spatial axes.., channels).\n\n"
      "Sizes are an integer for all axes or one for each; padding is 'valid', 'same', 'causal' or "
      "pairs of integers. The channels follow from the first call, or from input_shape in a "
      "Sequential.";
  convolution<nn::Conv1D>(
      "Conv1D", plain,
      "    >>> wf.nn.Conv1D(1, 2, kernel_initializer='ones')(wf.arange(4.0).reshape(1, 4, 1))[0, "
      ":, 0]\n"
      "    tensor([1., 3., 5.], shape=(3,), dtype=float32)\n");
  convolution<nn::Conv2D>(
      "Conv2D", plain,
      "    >>> wf.nn.Conv2D(16, 3, activation='relu')(wf.ones((2, 28, 28, 1))).shape\n"
      "    (2, 26, 26, 16)\n");
  convolution<nn::Conv3D>(
      "Conv3D", plain,
      "    >>> wf.nn.Conv3D(4, 3, padding='same')(wf.ones((1, 5, 5, 5, 2))).shape\n"
      "    (1, 5, 5, 5, 4)\n");
  constexpr const char *transposed =
      "The transpose of a convolution, which makes images larger by the strides. Arguments are "
      "those of convolutions, of one group.";
  convolution<nn::Conv1DTranspose>(
      "Conv1DTranspose", transposed,
      "    >>> wf.nn.Conv1DTranspose(8, 3, strides=2)(wf.ones((1, 4, 2))).shape\n"
      "    (1, 9, 8)\n");
  convolution<nn::Conv2DTranspose>(
      "Conv2DTranspose", transposed,
      "    >>> wf.nn.Conv2DTranspose(8, 3, strides=2)(wf.ones((1, 4, 4, 2))).shape\n"
      "    (1, 9, 9, 8)\n");
  convolution<nn::Conv3DTranspose>(
      "Conv3DTranspose", transposed,
      "    >>> wf.nn.Conv3DTranspose(4, 3, strides=2)(wf.ones((1, 4, 4, 4, 2))).shape\n"
      "    (1, 9, 9, 9, 4)\n");
  depthwise_convolution<1>(
      "DepthwiseConv1D",
      "    >>> wf.nn.DepthwiseConv1D(3, depth_multiplier=2)(wf.ones((1, 8, 4))).shape\n"
      "    (1, 6, 8)\n");
  depthwise_convolution<2>(
      "DepthwiseConv2D",
      "    >>> wf.nn.DepthwiseConv2D(3, padding='same')(wf.ones((1, 8, 8, 4))).shape\n"
      "    (1, 8, 8, 4)\n");
  separable_convolution<1>("SeparableConv1D",
                           "    >>> wf.nn.SeparableConv1D(8, 3)(wf.ones((1, 8, 4))).shape\n"
                           "    (1, 6, 8)\n");
  separable_convolution<2>(
      "SeparableConv2D",
      "    >>> wf.nn.SeparableConv2D(8, 3, padding='same')(wf.ones((1, 8, 8, 4))).shape\n"
      "    (1, 8, 8, 8)\n");
}

template <class L>
void pooling(const char *name, const char *documentation, const char *example) {
  layer<L>(name, documentation, example, positional("pool_size", nn::PerAxis(2)),
           options<nn::PoolingOptions>({.positional = 2}));
}

template <class L>
void global_pooling(const char *name, const char *documentation, const char *example) {
  layer<L>(name, documentation, example, by_keyword("keepdims", false));
}

void define_poolings() {
  constexpr const char *max = "The largest element of each window of x (batch, spatial axes.., "
                              "channels).\n\nWithout strides windows lie side by side.";
  constexpr const char *mean = "The mean of each window of x (batch, spatial axes.., channels), "
                               "whose padding is not counted.";
  pooling<nn::MaxPooling1D>("MaxPooling1D", max,
                            "    >>> wf.nn.MaxPooling1D(2)(wf.arange(8.0).reshape(1, 4, 2))\n"
                            "    tensor([[[2., 3.],\n"
                            "             [6., 7.]]], shape=(1, 2, 2), dtype=float32)\n");
  pooling<nn::MaxPooling2D>(
      "MaxPooling2D", max,
      "    >>> wf.nn.MaxPooling2D()(wf.arange(16.0).reshape(1, 4, 4, 1))[0, :, :, 0]\n"
      "    tensor([[ 5.,  7.],\n"
      "            [13., 15.]], shape=(2, 2), dtype=float32)\n");
  pooling<nn::MaxPooling3D>("MaxPooling3D", max,
                            "    >>> wf.nn.MaxPooling3D()(wf.ones((1, 4, 4, 4, 2))).shape\n"
                            "    (1, 2, 2, 2, 2)\n");
  pooling<nn::AveragePooling1D>(
      "AveragePooling1D", mean,
      "    >>> wf.nn.AveragePooling1D(2)(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[[1., 2.],\n"
      "             [5., 6.]]], shape=(1, 2, 2), dtype=float32)\n");
  pooling<nn::AveragePooling2D>(
      "AveragePooling2D", mean,
      "    >>> wf.nn.AveragePooling2D()(wf.arange(16.0).reshape(1, 4, 4, 1))[0, :, :, 0]\n"
      "    tensor([[ 2.5,  4.5],\n"
      "            [10.5, 12.5]], shape=(2, 2), dtype=float32)\n");
  pooling<nn::AveragePooling3D>("AveragePooling3D", mean,
                                "    >>> wf.nn.AveragePooling3D()(wf.ones((1, 4, 4, 4, 2))).shape\n"
                                "    (1, 2, 2, 2, 2)\n");
  constexpr const char *all = "The mean of each channel: (batch, spatial axes.., channels) to "
                              "(batch, channels), or with keepdims=True with sizes of 1 between.";
  constexpr const char *most = "The largest element of each channel: (batch, spatial axes.., "
                               "channels) to (batch, channels).";
  global_pooling<nn::GlobalAveragePooling1D>(
      "GlobalAveragePooling1D", all,
      "    >>> wf.nn.GlobalAveragePooling1D()(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[3., 4.]], shape=(1, 2), dtype=float32)\n");
  global_pooling<nn::GlobalAveragePooling2D>(
      "GlobalAveragePooling2D", all,
      "    >>> wf.nn.GlobalAveragePooling2D()(wf.ones((2, 4, 4, 3))).shape\n"
      "    (2, 3)\n");
  global_pooling<nn::GlobalAveragePooling3D>(
      "GlobalAveragePooling3D", all,
      "    >>> wf.nn.GlobalAveragePooling3D(keepdims=True)(wf.ones((2, 4, 4, 4, 3))).shape\n"
      "    (2, 1, 1, 1, 3)\n");
  global_pooling<nn::GlobalMaxPooling1D>(
      "GlobalMaxPooling1D", most,
      "    >>> wf.nn.GlobalMaxPooling1D()(wf.arange(8.0).reshape(1, 4, 2))\n"
      "    tensor([[6., 7.]], shape=(1, 2), dtype=float32)\n");
  global_pooling<nn::GlobalMaxPooling2D>(
      "GlobalMaxPooling2D", most,
      "    >>> wf.nn.GlobalMaxPooling2D()(wf.ones((2, 4, 4, 3))).shape\n"
      "    (2, 3)\n");
  global_pooling<nn::GlobalMaxPooling3D>(
      "GlobalMaxPooling3D", most,
      "    >>> wf.nn.GlobalMaxPooling3D(keepdims=True)(wf.ones((2, 4, 4, 4, 3))).shape\n"
      "    (2, 1, 1, 1, 3)\n");
}

void define_norms() {
  layer<nn::BatchNorm>(
      "BatchNorm",
      "Each channel, the last axis, less its mean and by its deviation, times gamma plus beta: "
      "those of the batch in training, else the moving ones, which follow by momentum.",
      "    >>> layer = wf.nn.BatchNorm()\n"
      "    >>> wf.round(layer(wf.tensor([[1.0], [3.0]]), training=True), 2)\n"
      "    tensor([[-1.],\n"
      "            [ 1.]], shape=(2, 1), dtype=float32)\n",
      options<nn::BatchNormOptions>());
  layer<nn::LayerNorm>("LayerNorm",
                       "Each row along the last axis less its mean and by its deviation, times "
                       "gamma plus beta.",
                       "    >>> wf.round(wf.nn.LayerNorm()(wf.tensor([[1.0, 3.0]])), 2)\n"
                       "    tensor([[-1.,  1.]], shape=(1, 2), dtype=float32)\n",
                       options<nn::LayerNormOptions>());
  layer<nn::RMSNorm>("RMSNorm",
                     "x / sqrt(mean(x^2) + epsilon) scale, of each row along the last axis.",
                     "    >>> wf.round(wf.nn.RMSNorm()(wf.tensor([[3.0, -3.0]])), 2)\n"
                     "    tensor([[ 1., -1.]], shape=(1, 2), dtype=float32)\n",
                     options<nn::RMSNormOptions>());
  layer<nn::GroupNorm>(
      "GroupNorm", "As LayerNorm of each example and group of channels.",
      "    >>> wf.round(wf.nn.GroupNorm(2)(wf.tensor([[1.0, 3.0, 5.0, 9.0]])), 2)\n"
      "    tensor([[-1.,  1., -1.,  1.]], shape=(1, 4), dtype=float32)\n",
      positional("groups", std::int64_t{32}), options<nn::GroupNormOptions>());
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

void define_others() {
  layer<OwnDropout>(
      "Dropout",
      "Makes each element 0 with the probability `rate`, and divides the others by 1 - rate, in "
      "training: layer(x, training=True).",
      "    >>> layer = wf.nn.Dropout(0.5, seed=3)\n"
      "    >>> layer(wf.ones(6))\n"
      "    tensor([1., 1., 1., 1., 1., 1.], shape=(6,), dtype=float32)\n"
      "    >>> layer(wf.ones(6), training=True)\n"
      "    tensor([0., 2., 0., 0., 2., 0.], shape=(6,), dtype=float32)\n",
      required<double>("rate"), by_keyword("seed", std::optional<std::uint64_t>()));
  layer<nn::Embedding>(
      "Embedding", "The rows of a table that integers choose: (..) to (.., output_dim).",
      "    >>> wf.nn.Embedding(10, 3, 'ones')(wf.tensor([4, 7]))\n"
      "    tensor([[1., 1., 1.],\n"
      "            [1., 1., 1.]], shape=(2, 3), dtype=float32)\n",
      required<std::int64_t>("input_dim"), required<std::int64_t>("output_dim"),
      options<nn::EmbeddingOptions>(
          {.positional = 1, .renamed = {{"initializer", "embeddings_initializer"}}}));
  layer<nn::Flatten>("Flatten", "x (batch, a, b, ..) as (batch, a * b * ..).",
                     "    >>> wf.nn.Flatten()(wf.ones((2, 3, 4))).shape\n"
                     "    (2, 12)\n");
  layer<nn::Reshape>("Reshape",
                     "x (batch, ..) as (batch, target_shape..), of which one entry may be -1.",
                     "    >>> wf.nn.Reshape((2, -1))(wf.ones((5, 6))).shape\n"
                     "    (5, 2, 3)\n",
                     required<Ints>("target_shape"));
}

} // namespace

void define_layers(nb::module_ &module) {
  define_made(module);
  define_initializers(module);
  define_base(module);
  define_dense();
  define_convolutions();
  define_poolings();
  define_norms();
  define_others();
  define_recurrent_layers();
}

} // namespace weft::python
