// Convolution, pooling and images of other sizes as functions of Python.
#include "Arguments.h"
#include "Snapshots.h"
#include "Text.h"

#include <weft/windows.h>

namespace weft::python {

Padding to_padding(PyObject *object, const char *function) {
  const Place place{function, "padding"};
  if (object == nullptr) return Padding::valid;
  if (PyUnicode_Check(object)) {
    const std::string text = text_of(nb::handle(object)),
                      word = text_of(nb::handle(object).attr("lower")());
    if (word == "valid") return Padding::valid;
    if (word == "same") return Padding::same;
    if (word == "causal") return Padding::causal;
    throw ValueError(place.text() + " is '" + text +
                     "': it is 'valid', 'same', 'causal' or pairs of integers");
  }
  const nb::object whole = nb::steal(PySequence_Fast(object, ""));
  if (!whole.is_valid()) {
    PyErr_Clear();
    raise_type_error(place.text() + " is " + shown_value(object) +
                     ": a word or pairs of integers are wanted");
  }
  std::vector<std::array<std::int64_t, 2>> pairs;
  for (const nb::handle item : entries_of(whole.ptr())) {
    const Ints pair = to_integers(item.ptr(), place);
    if (pair.size() != 2)
      throw ValueError(place.text() + " is a list of pairs, and has an entry of " +
                       std::to_string(pair.size()) + " integers");
    pairs.push_back({pair[0], pair[1]});
  }
  switch (pairs.size()) {
  case 0: return {};
  case 1: return {pairs[0]};
  case 2: return {pairs[0], pairs[1]};
  case 3: return {pairs[0], pairs[1], pairs[2]};
  default:
    throw ValueError(place.text() + " has " + std::to_string(pairs.size()) +
                     " pairs: there are at most 3 spatial axes");
  }
}

namespace {

/// An integer for all axes, or one for each; `axes` of them.
Ints per_axis(PyObject *object, std::size_t axes, const Place &place) {
  if (object == nullptr || object == Py_None) return {};
  Ints list = to_integers(object, place);
  if (list.size() == 1 && axes > 1) {
    const std::int64_t all_of_them = list[0];
    while (list.size() < axes) list.push_back(all_of_them);
  }
  return list;
}

std::size_t spatial_axes(const Operand &x) {
  return x.rank() > 2 ? static_cast<std::size_t>(x.rank() - 2) : 0;
}

const Signature convolution_signature{"convolution",
                                      {{"x", "TensorLike"},
                                       {"kernel", "TensorLike"},
                                       {"strides", "Shape", "1"},
                                       {"padding", "_Padding", "'valid'"},
                                       "*",
                                       {"dilations", "Shape", "1"},
                                       {"groups", "int", "1"}}};
Tensor call_convolution(PyObject *const *values) {
  const Operands<2> operands(convolution_signature, values, 0);
  const std::size_t axes = spatial_axes(operands[0]);
  const ConvolutionOptions options{
      .strides = per_axis(values[2], axes, {"convolution", "strides"}),
      .padding = to_padding(values[3], "convolution"),
      .dilations = per_axis(values[4], axes, {"convolution", "dilations"}),
      .groups = given<std::int64_t>(values[5], 1, {"convolution", "groups"})};
  return unlocked(operands.size(), [&] { return convolution(operands[0], operands[1], options); });
}

const Signature transpose_signature{"convolution_transpose",
                                    {{"x", "TensorLike"},
                                     {"kernel", "TensorLike"},
                                     {"strides", "Shape", "1"},
                                     {"padding", "_Padding", "'valid'"},
                                     "*",
                                     {"dilations", "Shape", "1"},
                                     {"groups", "int", "1"},
                                     {"output_padding", "Shape | None", "None"}}};
Tensor call_transpose(PyObject *const *values) {
  const char *name = transpose_signature.name;
  const Operands<2> operands(transpose_signature, values, 0);
  const std::size_t axes = spatial_axes(operands[0]);
  const ConvolutionTransposeOptions options{
      .strides = per_axis(values[2], axes, {name, "strides"}),
      .padding = to_padding(values[3], name),
      .dilations = per_axis(values[4], axes, {name, "dilations"}),
      .groups = given<std::int64_t>(values[5], 1, {name, "groups"}),
      .output_padding = per_axis(values[6], axes, {name, "output_padding"})};
  return unlocked(operands.size(),
                  [&] { return convolution_transpose(operands[0], operands[1], options); });
}

template <const Signature &signature,
          Tensor (*pool)(const Operand &, const Ints &, const PoolOptions &)>
Tensor call_pool(PyObject *const *values) {
  const Operands<1> operands(signature, values, 0);
  const std::size_t axes = spatial_axes(operands[0]);
  const Ints window = per_axis(values[1], axes, {signature.name, "window"});
  const PoolOptions options{.strides = per_axis(values[2], axes, {signature.name, "strides"}),
                            .padding = to_padding(values[3], signature.name)};
  return unlocked(operands.size(), [&] { return pool(operands[0], window, options); });
}
const Signature max_pool_signature{"max_pool",
                                   {{"x", "TensorLike"},
                                    {"window", "Shape"},
                                    {"strides", "Shape | None", "None"},
                                    {"padding", "_Padding", "'valid'"}}};
const Signature min_pool_signature{"min_pool",
                                   {{"x", "TensorLike"},
                                    {"window", "Shape"},
                                    {"strides", "Shape | None", "None"},
                                    {"padding", "_Padding", "'valid'"}}};

const Signature average_pool_signature{"average_pool",
                                       {{"x", "TensorLike"},
                                        {"window", "Shape"},
                                        {"strides", "Shape | None", "None"},
                                        {"padding", "_Padding", "'valid'"},
                                        "*",
                                        {"count_padding", "builtins.bool", "False"}}};
Tensor call_average_pool(PyObject *const *values) {
  const char *name = average_pool_signature.name;
  const Operands<1> operands(average_pool_signature, values, 0);
  const std::size_t axes = spatial_axes(operands[0]);
  const Ints window = per_axis(values[1], axes, {name, "window"});
  const AveragePoolOptions options{.strides = per_axis(values[2], axes, {name, "strides"}),
                                   .padding = to_padding(values[3], name),
                                   .count_padding =
                                       given<bool>(values[4], false, {name, "count_padding"})};
  return unlocked(operands.size(), [&] { return average_pool(operands[0], window, options); });
}

const Signature resize_signature{"resize_image",
                                 {{"x", "TensorLike"},
                                  {"size", "Shape"},
                                  {"method", "Literal['bilinear', 'nearest']", "'bilinear'"}}};
Tensor call_resize(PyObject *const *values) {
  const Operands<1> operands(resize_signature, values, 0);
  const Ints size = per_axis(values[1], spatial_axes(operands[0]), {"resize_image", "size"});
  Resize way = Resize::bilinear;
  if (values[2] != nullptr) {
    const std::string word = text_of(nb::handle(values[2]));
    if (word == "nearest") way = Resize::nearest;
    else if (word != "bilinear")
      throw ValueError("resize_image: method is '" + word + "': it is 'bilinear' or 'nearest'");
  }
  return unlocked(operands.size(), [&] { return resize_image(operands[0], size, way); });
}

#define WEFT_WINDOW_WORDS                                                                          \
  "A number of strides, dilations or sizes stands for all spatial axes. Padding is 'valid', "      \
  "'same', 'causal', or "                                                                          \
  "a pair (before, behind) for each spatial axis."

PyMethodDef functions[] = {
    method<convolution_signature, call_convolution>(

        "Of each position the sum over its window of x and the kernel, which is not "
        "flipped. " WEFT_WINDOW_WORDS "\n\nArgs:\n    x: (batch, 1 to 3 spatial axes, channels)\n"
        "    kernel: (window, channels / groups, result's channels)\n\nReturns:\n    (batch, "
        "positions, result's channels)\n"
        "\nExample:\n"
        "    >>> x, kernel = wf.arange(4.0).reshape(1, 4, 1), wf.ones((2, 1, 1))\n"
        "    >>> wf.convolution(x, kernel)[0, :, 0]\n"
        "    tensor([1., 3., 5.], shape=(3,), dtype=float32)\n"),
    method<transpose_signature, call_transpose>(

        "The transpose of a convolution in its images, which makes them larger by the "
        "strides. " WEFT_WINDOW_WORDS "\n\nExample:\n"
        "    >>> x, kernel = wf.arange(1.0, 3.0).reshape(1, 2, 1), wf.ones((2, 1, 1))\n"
        "    >>> wf.convolution_transpose(x, kernel, strides=2)[0, :, 0]\n"
        "    tensor([1., 1., 2., 2.], shape=(4,), dtype=float32)\n"),
    method<max_pool_signature, call_pool<max_pool_signature, max_pool>>(
        "The largest element of each "
        "window; windows lie side by side "
        "if no strides are given. " WEFT_WINDOW_WORDS "\n\nExample:\n"
        "    >>> wf.max_pool(wf.tensor([1.0, 3.0, 2.0, 4.0]).reshape(1, 4, 1), 2)[0, :, 0]\n"
        "    tensor([3., 4.], shape=(2,), dtype=float32)\n"),
    method<min_pool_signature, call_pool<min_pool_signature, min_pool>>(
        "The least element of each "
        "window; windows lie side by side "
        "if no strides are given. " WEFT_WINDOW_WORDS "\n\nExample:\n"
        "    >>> wf.min_pool(wf.tensor([1.0, 3.0, 2.0, 4.0]).reshape(1, 4, 1), 2)[0, :, 0]\n"
        "    tensor([1., 2.], shape=(2,), dtype=float32)\n"),
    method<average_pool_signature, call_average_pool>(
        "The "
        "mean of each window; zeros of "
        "the padding are counted if that is asked for. " WEFT_WINDOW_WORDS "\n\nExample:\n"
        "    >>> wf.average_pool(wf.tensor([1.0, 3.0, 2.0, 4.0]).reshape(1, 4, 1), 2)[0, :, 0]\n"
        "    tensor([2., 3.], shape=(2,), dtype=float32)\n"),
    method<resize_signature, call_resize>(
        "Images of those sizes along their spatial "
        "axes; method is 'bilinear' or "
        "'nearest'.\n\nArgs:\n    x: (batch, 1 to 3 spatial axes, channels)\n"
        "\nExample:\n"
        "    >>> wf.resize_image(wf.tensor([1.0, 2.0]).reshape(1, 2, 1), 4, 'nearest')[0, :, 0]\n"
        "    tensor([1., 1., 2., 2.], shape=(4,), dtype=float32)\n"),
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void define_windows(nb::module_ &module) { add_functions(module, functions); }

} // namespace weft::python
