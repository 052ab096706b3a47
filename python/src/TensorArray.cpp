// The class TensorArray of Python: what loops of traced functions collect.
#include "Define.h"
#include "Staging.h"

#include <nanobind/stl/vector.h>
#include <weft/detail/parts.h>
#include <weft/tensor_array.h>

namespace weft::python {

namespace {

/// A number or a tensor, as operands of the methods.
Tensor tensor_of(nb::handle object, const char *function, const char *argument) {
  return to_tensor(object.ptr(), {function, argument});
}

/// A value as an element: what is no tensor yet takes the dtype where it can.
Tensor element_of(nb::handle object, const char *function, DType dtype) {
  if (is_tensor(object.ptr()) || is_variable(object.ptr()))
    return to_tensor(object.ptr(), {function, "value"});
  Tensor tensor = to_tensor(object.ptr(), {function, "value"}, dtype);
  if (tensor.dtype() == dtype) return tensor;
  if (kind_of(tensor.dtype()) > kind_of(dtype))
    throw DTypeError(std::string(function) + ": value is of " + python_name(tensor.dtype()) +
                     ", but the elements are of " + python_name(dtype) +
                     ": convert it, or make an array of another dtype");
  return tensor.astype(dtype);
}

/// How many elements there are; none in a trace.
std::optional<std::int64_t> count_of(const TensorArray &array) {
  if (array.size().traced()) return std::nullopt;
  return array.size().item<std::int64_t>();
}

std::int64_t length(const TensorArray &array) {
  const std::optional<std::int64_t> count = count_of(array);
  if (!count)
    raise_type_error("the length of this TensorArray is not known before its function runs: "
                     "array.size() is it as a tensor");
  return *count;
}

nb::object iterate(const TensorArray &array) {
  if (!count_of(array) || array.stack().traced())
    raise_not_allowed("iteration over a TensorArray of a traced function: write a `for` statement "
                      "over array.stack() that AutoGraph converts");
  return nb::iter(nb::cast(array.stack()));
}

nb::str shown(const TensorArray &array) {
  const std::optional<std::int64_t> count = count_of(array);
  const std::string text = std::string("TensorArray(") + python_name(array.dtype()) +
                           ", size=" + (count ? std::to_string(*count) : "?") +
                           ", element_shape=" + weft::to_string(array.element_shape()) + ")";
  return nb::str(text.c_str());
}

void make(TensorArray *self, nb::handle dtype, nb::handle size, bool dynamic_size,
          nb::handle element_shape) {
  const Place place{"TensorArray", "element_shape"};
  const Tensor count = tensor_of(size, "TensorArray", "size");
  new (self) TensorArray(to_dtype(dtype.ptr(), {"TensorArray", "dtype"}),
                         Shape(to_integers(element_shape.ptr(), place)), count,
                         {.dynamic_size = dynamic_size});
}

/// Its tensors, what else it is, and a function that makes it of other tensors.
nb::tuple parts_of(const TensorArray &array) {
  auto parts = std::make_shared<detail::Parts<TensorArray>>(array);
  nb::list tensors;
  for (const Tensor &tensor : parts->tensors()) tensors.append(checked(wrap(tensor)));
  nb::list key;
  for (const std::uint64_t word : parts->key()) key.append(word);
  const auto bare = std::make_shared<detail::Parts<TensorArray>>(parts->without_tensors());
  const nb::object rebuild = nb::cpp_function([bare](nb::handle list) {
    std::vector<Tensor> tensors;
    for (const nb::handle tensor : list) tensors.push_back(tensor_in(tensor.ptr()));
    return bare->with(tensors);
  });
  return nb::make_tuple(tensors, nb::tuple(key), rebuild);
}

} // namespace

void define_tensor_arrays(nb::module_ &module) {
  ClassOf<TensorArray>(
      module, "TensorArray", nb::is_final(), nb::is_weak_referenceable(),
      "An array of tensors of one dtype and shape, numbered from 0, that does not change: a write "
      "gives a new one, as in `array = array.append(x)`. It may be carried by loops of traced "
      "functions. Elements that were never written are zero.\n\n"
      "TensorArray(dtype, size=0, dynamic_size=True, element_shape=())"
      "\n\nExample:\n"
      "    >>> array = wf.TensorArray(wf.float32, 2)\n"
      "    >>> array = array.write(0, 1.0).write(1, 2.0)\n"
      "    >>> array.stack()\n"
      "    tensor([1., 2.], shape=(2,), dtype=float32)\n")
      .def<make>("__init__", Arg("dtype").none().as("DTypeLike"),
                 Arg("size").none().as("int | Tensor") = 0, Arg("dynamic_size") = true,
                 Arg("element_shape").none().as("Shape") = nb::make_tuple())
      .def(
          "write",
          [](const TensorArray &self, nb::handle index, nb::handle value) {
            return self.write(tensor_of(index, "TensorArray.write", "index"),
                              element_of(value, "TensorArray.write", self.dtype()));
          },
          Arg("index").none().as("int | Tensor"), Arg("value").none().as("TensorLike"),
          "The array with that element replaced.")
      .def(
          "append",
          [](const TensorArray &self, nb::handle value) {
            return self.append(element_of(value, "TensorArray.append", self.dtype()));
          },
          Arg("value").none().as("TensorLike"), "The array with a value behind its last element.")
      .def(
          "read",
          [](const TensorArray &self, nb::handle index) {
            return self.read(tensor_of(index, "TensorArray.read", "index"));
          },
          Arg("index").none().as("int | Tensor"), "The element of that number.")
      .def(
          "gather",
          [](const TensorArray &self, nb::handle indices) {
            return self.gather(tensor_of(indices, "TensorArray.gather", "indices"));
          },
          Arg("indices").none().as("TensorLike"), "The elements of these numbers, stacked.")
      .def(
          "stack", [](const TensorArray &self) { return self.stack(); },
          "All elements, along a new first axis.")
      .def(
          "concat", [](const TensorArray &self) { return self.concat(); },
          "All elements, joined along their first axis.")
      .def(
          "size", [](const TensorArray &self) { return self.size(); },
          "How many elements there are, an int64 scalar.")
      .def<length>("__len__")
      .def<iterate>("__iter__", Returns{"Iterator[Tensor]"})
      .def<shown>("__repr__")
      .def_prop_ro(
          "dtype", [](const TensorArray &self) { return wrap(self.dtype()); }, Returns{"DType"},
          "The dtype of the elements.")
      .def_prop_ro(
          "element_shape",
          [](const TensorArray &self) {
            nb::list sizes;
            for (const std::int64_t size : self.element_shape()) sizes.append(size);
            return nb::tuple(sizes);
          },
          Returns{"tuple[int, ...]"}, "The sizes of an element's axes.");
  define<parts_of>(module, "internal_array_parts", Arg("array").as("TensorArray"));
}

} // namespace weft::python
