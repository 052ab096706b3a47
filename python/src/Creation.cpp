// Making tensors of values, and the functions on tensors that no record describes.
#include "Aliases.h"
#include "PythonParameters.h"
#include "Sizes.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <weft/composites.h>
#include <weft/detail/binding.h>
#include <weft/detail/named_call.h>

namespace weft::python {

namespace {

DType dtype_or(PyObject *value, DType otherwise, const char *function) {
  return to_optional_dtype(value, {function, "dtype"}).value_or(otherwise);
}

const Signature tensor_signature{"tensor",
                                 {{"value", "TensorLike"},
                                  {"dtype", "DTypeLike | None", "None"},
                                  "*",
                                  {"device", "str | None", "None"}}};
Tensor make_tensor(PyObject *const *values) {
  const OnDevice device(values[2], {"tensor", "device"});
  return device.placed(to_tensor_of(values[0], to_optional_dtype(values[1], {"tensor", "dtype"}),
                                    {"tensor", "value"}),
                       values[0]);
}

const Signature constant_signature{"constant",
                                   {{"value", "TensorLike"},
                                    {"dtype", "DTypeLike | None", "None"},
                                    {"shape", "Shape | None", "None"}}};
Tensor make_constant(PyObject *const *values) {
  const OnDevice device(nullptr, {"constant", "device"});
  Tensor made =
      device.placed(to_tensor_of(values[0], to_optional_dtype(values[1], {"constant", "dtype"}),
                                 {"constant", "value"}),
                    values[0]);
  if (!is_given(values[2])) return made;
  const detail::NamedCall named("constant");
  const Ints shape = to_integers(values[2], {"constant", "shape"});
  return made.size() == 1 ? broadcast(reshape(made, Ints{}), shape) : reshape(made, shape);
}

const char *text_in(PyObject *object) {
  const char *text = PyUnicode_AsUTF8(object);
  if (text == nullptr) throw nb::python_error();
  return text;
}

const Signature asarray_signature{"asarray",
                                  {{"x", "TensorLike"},
                                   {"dtype", "DTypeLike | None", "None"},
                                   "*",
                                   {"device", "str | None", "None"},
                                   {"copy", "builtins.bool | None", "None"}}};
nb::object make_asarray(PyObject *const *values) {
  const OnDevice device(values[2], {"asarray", "device"});
  Sharing sharing = Sharing::if_possible;
  if (is_given(values[3]))
    sharing = to<bool>(values[3], {"asarray", "copy"}) ? Sharing::copy : Sharing::only;
  if (sharing == Sharing::only && is_given(values[2]) && !is_tensor(values[0]) &&
      parse_device(text_in(values[2])) != Device())
    throw ValueError("asarray: copy is False, and the elements would be copied to the device");
  const std::optional<DType> dtype = to_optional_dtype(values[1], {"asarray", "dtype"});
  // The object itself, so that what is assigned to one is seen in the other.
  if (is_tensor(values[0]) && sharing != Sharing::copy && !is_given(values[2]) &&
      dtype.value_or(tensor_in(values[0]).dtype()) == tensor_in(values[0]).dtype())
    return nb::borrow(values[0]);
  return checked(
      wrap(device.placed(to_tensor_of(values[0], dtype, {"asarray", "x"}, sharing), values[0])));
}

const Signature internal_tensor_signature{"internal_tensor",
                                          {{"x", "object"},
                                           {"function", "str"},
                                           {"argument", "str"},
                                           {"dtype", "DTypeLike | None", "None"}}};
Tensor make_internal_tensor(PyObject *const *values) {
  const std::optional<DType> hint =
      is_given(values[3]) ? to_optional_dtype(values[3], {"tensor", "dtype"}) : std::nullopt;
  return to_tensor(values[0], {text_in(values[1]), text_in(values[2])}, hint);
}

const Signature internal_tensors_signature{
    "internal_tensors",
    {{"values", "Sequence[object]"}, {"function", "str"}, {"arguments", "Sequence[str]"}},
    "list[Tensor]"};
nb::object make_internal_tensors(PyObject *const *values) {
  const nb::object items = checked(PySequence_Fast(values[0], "a sequence was expected")),
                   words = checked(PySequence_Fast(values[2], "a sequence was expected"));
  const std::optional<DType> hint = Beside::of(items.ptr());
  const Py_ssize_t size =
      std::min(PySequence_Fast_GET_SIZE(items.ptr()), PySequence_Fast_GET_SIZE(words.ptr()));
  nb::list tensors;
  for (Py_ssize_t i = 0; i < size; ++i)
    tensors.append(checked(wrap(
        to_tensor(PySequence_Fast_GET_ITEM(items.ptr(), i),
                  {text_in(values[1]), text_in(PySequence_Fast_GET_ITEM(words.ptr(), i))}, hint))));
  return tensors;
}

const Signature zeros_signature{"zeros",
                                {{"shape", "Sizes"},
                                 {"dtype", "DTypeLike | None", "None"},
                                 "*",
                                 {"device", "str | None", "None"}}};
Tensor make_zeros(PyObject *const *values) {
  const OnDevice device(values[2], {"zeros", "device"});
  return zeros(to<Sizes>(values[0], {"zeros", "shape"}), dtype_or(values[1], DType::f32, "zeros"));
}
const Signature ones_signature{"ones",
                               {{"shape", "Sizes"},
                                {"dtype", "DTypeLike | None", "None"},
                                "*",
                                {"device", "str | None", "None"}}};
Tensor make_ones(PyObject *const *values) {
  const OnDevice device(values[2], {"ones", "device"});
  return ones(to<Sizes>(values[0], {"ones", "shape"}), dtype_or(values[1], DType::f32, "ones"));
}

const Signature full_signature{"full",
                               {{"shape", "Sizes"},
                                {"fill_value", "TensorLike"},
                                {"dtype", "DTypeLike | None", "None"},
                                "*",
                                {"device", "str | None", "None"}}};
Tensor make_full(PyObject *const *values) {
  const OnDevice device(values[3], {"full", "device"});
  const Place place{"full", "fill_value"};
  Argument value;
  const std::optional<DType> wanted =
      to_optional_dtype(is_given(values[2]) ? values[2] : Py_None, {"full", "dtype"});
  if (!value.convert(values[1], place, wanted)) refuse_object(values[1], place);
  const DType dtype = wanted.value_or(value.operand().dtype());
  return full(to<Sizes>(values[0], {"full", "shape"}), value.operand(), dtype);
}

/// The parameters of what is like a tensor, behind it.
std::vector<Param> like_params(std::initializer_list<Param> first) {
  std::vector<Param> params = first;
  params.insert(params.end(),
                {{"dtype", "DTypeLike | None", "None"}, "*", {"device", "str | None", "None"}});
  return params;
}

/// Of the shape of a tensor, and in its dtype if none is given.
Tensor like(PyObject *const *values, const char *function,
            Tensor (*make)(const Tensor &, std::optional<DType>, std::source_location)) {
  const OnDevice device(values[2], {function, "device"});
  return device.moved(make(device.beside(to_tensor(values[0], {function, "x"})),
                           to_optional_dtype(values[1], {function, "dtype"}),
                           std::source_location()));
}
const Signature zeros_like_signature{"zeros_like", like_params({{"x", "TensorLike"}}), "Tensor"};
Tensor make_zeros_like(PyObject *const *values) { return like(values, "zeros_like", zeros_like); }
const Signature ones_like_signature{"ones_like", like_params({{"x", "TensorLike"}}), "Tensor"};
Tensor make_ones_like(PyObject *const *values) { return like(values, "ones_like", ones_like); }
const Signature full_like_signature{
    "full_like", like_params({{"x", "TensorLike"}, {"fill_value", "TensorLike"}}), "Tensor"};
Tensor make_full_like(PyObject *const *values) {
  const OnDevice device(values[3], {"full_like", "device"});
  const Tensor of = device.beside(to_tensor(values[0], {"full_like", "x"}));
  const DType dtype = dtype_or(values[2], detail::type_of(of).dtype, "full_like");
  Argument value;
  const Place place{"full_like", "fill_value"};
  if (!value.convert(values[1], place, dtype)) refuse_object(values[1], place);
  return device.moved(full_like(of, value.operand(), dtype, std::source_location()));
}

const Signature arange_signature{"arange",
                                 {{"start", "SupportsFloat | SupportsIndex"},
                                  {"stop", "SupportsFloat | SupportsIndex | None", "None"},
                                  {"step", "SupportsFloat | SupportsIndex", "1"},
                                  {"dtype", "DTypeLike | None", "None"},
                                  "*",
                                  {"device", "str | None", "None"}}};
/// Whether it is an integer of Python or of NumPy.
bool is_whole(PyObject *object) {
  if (PyLong_Check(object)) return true;
  if (!PyIndex_Check(object)) return false;
  const bool whole = nb::steal(PyNumber_Index(object)).is_valid(); // arrays of any dtype may try
  PyErr_Clear();
  return whole;
}

/// A bound or the step of a range: an integer, a number with a point, or a scalar that a trace
/// computes.
struct RangeNumber {
  std::variant<std::int64_t, double, Tensor> value;
  std::optional<DType> dtype; ///< of a tensor: numbers take part as weak ones

  RangeNumber(std::int64_t integer) : value(integer) {}
  RangeNumber(PyObject *object, const Place &argument) {
    if (is_size(object)) {
      value = size_in(object).tensor();
      return;
    }
    if (!is_tensor(object) && !is_variable(object)) {
      if (is_whole(object)) value = to_integer(object, argument);
      else value = to<double>(object, argument);
      return;
    }
    const Tensor number = to_tensor(object, argument);
    const TensorType type = detail::type_of(number);
    dtype = type.dtype == DType::boolean ? DType::i32 : type.dtype;
    if (!number.traced() && number.size() == 1) {
      if (is_floating(*dtype)) value = number.item<double>();
      else value = number.item<std::int64_t>();
    } else if (type.shape.empty()) {
      value = is_floating(*dtype) ? number : cast(number, DType::i64);
    } else {
      throw ShapeError(argument.text() + " is a tensor of shape " + weft::to_string(type.shape) +
                       ": a scalar is wanted");
    }
  }

  bool traced() const { return std::holds_alternative<Tensor>(value); }
  bool is_integer() const { return dtype ? !is_floating(*dtype) : value.index() != 1; }
  std::int64_t integer() const { return std::get<std::int64_t>(value); }
  double number() const {
    return is_integer() ? static_cast<double>(integer()) : std::get<double>(value);
  }
  Tensor tensor() const {
    if (traced()) return std::get<Tensor>(value);
    return is_integer() ? weft::tensor(integer()) : weft::tensor(number());
  }
};

/// The dtype that the numbers of a range take together: int32, int64 where one does not fit.
DType dtype_of_range(std::span<const RangeNumber> numbers) {
  DTypeJoin join;
  bool large = false, floating = false;
  for (const RangeNumber &number : numbers) {
    if (number.dtype) join.add(*number.dtype);
    floating |= !number.is_integer();
    large |=
        !number.traced() && number.is_integer() && !std::in_range<std::int32_t>(number.integer());
  }
  std::optional<DType> dtype;
  if (!join.empty()) dtype = join.common_or_throw("arange");
  if (floating) return dtype && is_floating(*dtype) ? *dtype : DType::f32;
  return large ? DType::i64 : dtype.value_or(DType::i32);
}

Tensor make_arange(PyObject *const *values) {
  const OnDevice device(values[4], {"arange", "device"});
  std::array<RangeNumber, 3> numbers = {0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i)
    if (is_given(values[i])) numbers[i] = {values[i], {"arange", arange_signature.names[i]}};
  if (!is_given(values[1])) numbers = {0, numbers[0], numbers[2]};
  const auto &[start, stop, step] = numbers;
  const DType dtype = dtype_or(values[3], dtype_of_range(numbers), "arange");
  const detail::NamedCall named("arange");
  if (std::ranges::any_of(numbers, &RangeNumber::traced))
    return arange_between(start.tensor(), stop.tensor(), step.tensor(), dtype);
  if (std::ranges::all_of(numbers, &RangeNumber::is_integer))
    return detail::arange_of_integers(start.integer(), stop.integer(), step.integer(), dtype,
                                      WEFT_HERE);
  return arange(start.number(), stop.number(), step.number(), dtype);
}

const Signature linspace_signature{"linspace",
                                   {{"start", "SupportsFloat | SupportsIndex"},
                                    {"stop", "SupportsFloat | SupportsIndex"},
                                    {"num", "int", "50"},
                                    "*",
                                    {"endpoint", "builtins.bool", "True"},
                                    {"dtype", "DTypeLike | None", "None"},
                                    {"device", "str | None", "None"}}};
Tensor make_linspace(PyObject *const *values) {
  const OnDevice device(values[5], {"linspace", "device"});
  const LinspaceOptions options{.endpoint = given<bool>(values[3], true, {"linspace", "endpoint"}),
                                .dtype = dtype_or(values[4], DType::f32, "linspace")};
  return linspace(to<double>(values[0], {"linspace", "start"}),
                  to<double>(values[1], {"linspace", "stop"}),
                  given<Size>(values[2], 50, {"linspace", "num"}), options, std::source_location());
}

template <class Frequencies>
Tensor make_frequencies(PyObject *const *values, const char *function, Frequencies *frequencies) {
  const OnDevice device(values[3], {function, "device"});
  const fft::FrequencyOptions options{.d = given<double>(values[1], 1, {function, "d"}),
                                      .dtype = dtype_or(values[2], DType::f32, function)};
  return frequencies(to<Size>(values[0], {function, "n"}), options, WEFT_HERE);
}
const Signature fftfreq_signature{"fft.fftfreq",
                                  {{"n", "int | Tensor"},
                                   {"d", "SupportsFloat", "1.0"},
                                   "*",
                                   {"dtype", "DTypeLike | None", "None"},
                                   {"device", "str | None", "None"}}};
Tensor make_fftfreq(PyObject *const *values) {
  return make_frequencies(values, "fft.fftfreq", fft::fftfreq);
}
const Signature rfftfreq_signature{"fft.rfftfreq",
                                   {{"n", "int | Tensor"},
                                    {"d", "SupportsFloat", "1.0"},
                                    "*",
                                    {"dtype", "DTypeLike | None", "None"},
                                    {"device", "str | None", "None"}}};
Tensor make_rfftfreq(PyObject *const *values) {
  return make_frequencies(values, "fft.rfftfreq", fft::rfftfreq);
}

template <class Window>
Tensor make_window(PyObject *const *values, const char *function, Window *window) {
  const fft::WindowOptions options{.periodic = given<bool>(values[1], true, {function, "periodic"}),
                                   .dtype = dtype_or(values[2], DType::f32, function)};
  return window(to<std::int64_t>(values[0], {function, "window_length"}), options, WEFT_HERE);
}
const Signature hann_window_signature{"fft.hann_window",
                                      {{"window_length", "int"},
                                       {"periodic", "builtins.bool", "True"},
                                       {"dtype", "DTypeLike", "'float32'"}}};
Tensor make_hann_window(PyObject *const *values) {
  return make_window(values, "fft.hann_window", fft::hann_window);
}
const Signature hamming_window_signature{"fft.hamming_window",
                                         {{"window_length", "int"},
                                          {"periodic", "builtins.bool", "True"},
                                          {"dtype", "DTypeLike", "'float32'"}}};
Tensor make_hamming_window(PyObject *const *values) {
  return make_window(values, "fft.hamming_window", fft::hamming_window);
}

const Signature eye_signature{"eye",
                              {{"n_rows", "int"},
                               {"n_cols", "int | None", "None"},
                               {"k", "int", "0"},
                               {"dtype", "DTypeLike | None", "None"},
                               "*",
                               {"device", "str | None", "None"}}};
Tensor make_eye(PyObject *const *values) {
  const OnDevice device(values[4], {"eye", "device"});
  const Size rows = to<Size>(values[0], {"eye", "n_rows"});
  const Size columns = is_given(values[1]) ? to<Size>(values[1], {"eye", "n_cols"}) : rows;
  return eye(rows, columns, given<std::int64_t>(values[2], 0, {"eye", "k"}),
             dtype_or(values[3], DType::f32, "eye"), std::source_location());
}

const Signature identity_signature{"identity",
                                   {{"n", "int"}, {"dtype", "DTypeLike | None", "None"}}};
Tensor make_identity(PyObject *const *values) {
  const detail::NamedCall named("identity");
  return eye(to<Size>(values[0], {"identity", "n"}), dtype_or(values[1], DType::f32, "identity"),
             std::source_location());
}

const Signature square_signature{"square", {{"x", "TensorLike"}}};
Tensor call_square(PyObject *const *values) {
  const Operands<1> operands(square_signature, values, 1);
  return unlocked(operands.size(), [&] { return square(operands[0]); });
}
const Signature relu_signature{"relu", {{"x", "TensorLike"}}};
Tensor call_relu(PyObject *const *values) {
  const Operands<1> operands(relu_signature, values, 1);
  return unlocked(operands.size(), [&] { return relu(operands[0]); });
}

const Signature logsumexp_signature{"logsumexp",
                                    {{"x", "TensorLike"},
                                     {"axis", "Shape | None", "None"},
                                     "*",
                                     {"keepdims", "builtins.bool", "False"}}};
Tensor call_logsumexp(PyObject *const *values) {
  const Operands<1> operands(logsumexp_signature, values, 1);
  const SumOptions options{.axes = given<Axes>(values[1], {}, {"logsumexp", "axis"}),
                           .keepdims = given<bool>(values[2], false, {"logsumexp", "keepdims"})};
  return unlocked(operands.size(), [&] { return logsumexp(operands[0], options); });
}

PyMethodDef functions[] = {
    method<tensor_signature, make_tensor>(

        "A tensor of a number, a nested list of numbers, an array or another tensor. Its elements "
        "are copied.\n\n"
        "Numbers of Python become bool, int32 (int64 or uint64 where one does not fit) or "
        "float32; arrays keep their dtype, and halves become float32. Lists that hold tensors "
        "stack them.\n\n"
        "Raises:\n    ValueError: if a list is ragged\n    DTypeError: for what no dtype holds\n\n"
        "Example:\n"
        "    >>> wf.tensor([[1, 2], [3, 4]])\n"
        "    tensor([[1, 2],\n"
        "            [3, 4]], shape=(2, 2), dtype=int32)\n"),
    method<constant_signature, make_constant>(

        "As `tensor`; with a shape the elements are put in it, a single one in all places.\n\n"
        "Example:\n"
        "    >>> wf.constant(7, shape=[2, 2])\n"
        "    tensor([[7, 7],\n"
        "            [7, 7]], shape=(2, 2), dtype=int32)\n"),
    method<asarray_signature, make_asarray>(

        "A tensor of anything that `tensor` takes, on the memory of an array where that can be: it "
        "must not change as long as the tensor lives. A tensor of that dtype is given back.\n\n"
        "Args:\n    copy: True: always copy; False: a ValueError where a copy is needed\n\n"
        "Example:\n"
        "    >>> wf.asarray([1.5, 2.5])\n"
        "    tensor([1.5, 2.5], shape=(2,), dtype=float32)\n"),
    method<internal_tensor_signature, make_internal_tensor>(

        "A tensor of the argument of a function in Python, by whose names errors go. Numbers take "
        "the dtype if they can without loss of kind."),
    method<zeros_signature, make_zeros>("A tensor of zeros.\n\n"
                                        "Example:\n"
                                        "    >>> wf.zeros([2, 2])\n"
                                        "    tensor([[0., 0.],\n"
                                        "            [0., 0.]], shape=(2, 2), dtype=float32)\n"),
    method<ones_signature, make_ones>("A tensor of ones.\n\n"
                                      "Example:\n"
                                      "    >>> wf.ones(3)\n"
                                      "    tensor([1., 1., 1.], shape=(3,), dtype=float32)\n"),
    method<full_signature, make_full>("A tensor of one value, in its dtype if none is given.\n\n"
                                      "Example:\n"
                                      "    >>> wf.full([2], 1.5)\n"
                                      "    tensor([1.5, 1.5], shape=(2,), dtype=float32)\n"),
    method<zeros_like_signature, make_zeros_like>("Zeros of the shape of x, and its dtype.\n\n"
                                                  "Example:\n"
                                                  "    >>> wf.zeros_like([1, 2])\n"
                                                  "    tensor([0, 0], shape=(2,), dtype=int32)\n"),
    method<ones_like_signature, make_ones_like>("Ones of the shape of x, and its dtype.\n\n"
                                                "Example:\n"
                                                "    >>> wf.ones_like([1, 2])\n"
                                                "    tensor([1, 1], shape=(2,), dtype=int32)\n"),
    method<full_like_signature, make_full_like>("One value in the shape of x, and its dtype.\n\n"
                                                "Example:\n"
                                                "    >>> wf.full_like([1, 2], 7)\n"
                                                "    tensor([7, 7], shape=(2,), dtype=int32)\n"),
    method<arange_signature, make_arange>(

        "start, start + step, ... below stop, or 0, 1, ... below the only number. Of whole numbers "
        "int32 (int64 where one does not fit), else float32; tensors among them promote it.\n\n"
        "Raises:\n    ValueError: if the step is 0 or a bound is not finite\n\n"
        "Example:\n"
        "    >>> wf.arange(2, 8, 2)\n"
        "    tensor([2, 4, 6], shape=(3,), dtype=int32)\n"),
    method<linspace_signature, make_linspace>(

        "Numbers at equal distances from start to stop, which is the last one, or with "
        "endpoint=False would be the next.\n\n"
        "Example:\n"
        "    >>> wf.linspace(0, 1, 5)\n"
        "    tensor([0.  , 0.25, 0.5 , 0.75, 1.  ], shape=(5,), dtype=float32)\n"),
    method<fftfreq_signature, make_fftfreq>(

        "The frequencies of the elements of a transform of n samples, which are d apart: 0, 1, "
        ".. (n - 1) / 2, then -n / 2, .. -1, by n d.\n\n"
        "Raises:\n    ValueError: if n is below 1\n    DTypeError: if the dtype is not "
        "floating\n\n"
        "Example:\n"
        "    >>> wf.fft.fftfreq(5, d=0.5)\n"
        "    tensor([ 0. ,  0.4,  0.8, -0.8, -0.4], shape=(5,), dtype=float32)\n"),
    method<rfftfreq_signature, make_rfftfreq>(

        "The frequencies of the elements of a transform of n real samples, which are d apart: 0, "
        "1, .. n / 2, by n d.\n\n"
        "Raises:\n    ValueError: if n is below 1\n    DTypeError: if the dtype is not "
        "floating\n\n"
        "Example:\n"
        "    >>> wf.fft.rfftfreq(5, d=0.5)\n"
        "    tensor([0. , 0.4, 0.8], shape=(3,), dtype=float32)\n"),
    method<hann_window_signature, make_hann_window>(

        "Hann's window, 1/2 - 1/2 cos. A periodic one is that of one element more, without its "
        "last.\n\n"
        "Raises:\n    ValueError: if the length is negative\n    DTypeError: if the dtype is not "
        "floating\n\n"
        "Example:\n"
        "    >>> wf.fft.hann_window(4)\n"
        "    tensor([0. , 0.5, 1. , 0.5], shape=(4,), dtype=float32)\n"),
    method<hamming_window_signature, make_hamming_window>(

        "Hamming's window, 0.54 - 0.46 cos. A periodic one is that of one element more, without "
        "its last.\n\n"
        "Raises:\n    ValueError: if the length is negative\n    DTypeError: if the dtype is not "
        "floating\n\n"
        "Example:\n"
        "    >>> wf.fft.hamming_window(4)\n"
        "    tensor([0.08, 0.54, 1.  , 0.54], shape=(4,), dtype=float32)\n"),
    method<eye_signature, make_eye>("A matrix with ones on its diagonal k, which is above the "
                                    "main one if it is positive, and zeros elsewhere: without "
                                    "n_cols the identity matrix.\n\n"
                                    "Example:\n"
                                    "    >>> wf.eye(2)\n"
                                    "    tensor([[1., 0.],\n"
                                    "            [0., 1.]], shape=(2, 2), dtype=float32)\n"),
    method<identity_signature, make_identity>(
        "The identity matrix.\n\n"
        "Example:\n"
        "    >>> wf.identity(2)\n"
        "    tensor([[1., 0.],\n"
        "            [0., 1.]], shape=(2, 2), dtype=float32)\n"),
    method<square_signature, call_square>("x * x of each element.\n\n"
                                          "Example:\n"
                                          "    >>> wf.square([1, 2, 3])\n"
                                          "    tensor([1, 4, 9], shape=(3,), dtype=int32)\n"),
    method<logsumexp_signature, call_logsumexp>(

        "log(sum(exp(x))) over the given axes, or of all elements, without overflow. Of integers "
        "in "
        "float32.\n\n"
        "Raises:\n    OutOfRangeError: if an axis is not one of x\n\n"
        "Example:\n"
        "    >>> wf.logsumexp([1000.0, 1000.0])\n"
        "    tensor(1000.6932, shape=(), dtype=float32)\n"),
    method<relu_signature, call_relu>("max(x, 0) of each element, with the gradient 0 at 0.\n\n"
                                      "Example:\n"
                                      "    >>> wf.relu([-1., 0., 2.])\n"
                                      "    tensor([0., 0., 2.], shape=(3,), dtype=float32)\n"),
    method<internal_tensors_signature, make_internal_tensors>(
        "Tensors of arguments that take part together: numbers, and lists of them, take the dtype "
        "of "
        "the others."),
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void define_creation(nb::module_ &module) {
  add_functions(module, functions);
  // NumPy's names.
  for (const auto &[alias, name] : {std::pair("array", "tensor"), std::pair("empty", "zeros"),
                                    std::pair("empty_like", "zeros_like")})
    add_alias(module, alias, name);
}

} // namespace weft::python
