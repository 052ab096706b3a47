// Shapes of sizes that a traced function computes, made of ops that take a size as a value.
#include "ComputedSizes.h"

#include <weft/detail/staging.h>

namespace weft::python {

namespace {

Tensor as_size(const Tensor &size, const Place &place) {
  const TensorType type = weft::detail::type_of(size);
  if (!is_integer(type.dtype))
    throw DTypeError(place.text() + " has a size of dtype " + std::string(name_of(type.dtype)) +
                     ": integers are wanted");
  if (!type.shape.empty())
    throw ShapeError(place.text() + " has a size of shape " + weft::to_string(type.shape) +
                     ": scalars are wanted");
  return cast(size, DType::i64);
}

/// The number that a size is, if it is no traced value.
std::optional<std::int64_t> number_of(const Tensor &size) {
  if (size.traced()) return std::nullopt;
  return size.item<std::int64_t>();
}

Tensor product_of(std::span<const Tensor> sizes) {
  Tensor product = tensor(std::int64_t{1});
  for (const Tensor &size : sizes) product = multiply(product, size);
  return product;
}

/// 0 to n - 1.
Tensor counted(const Tensor &n) {
  if (const std::optional<std::int64_t> number = number_of(n))
    return iota(DType::i64, Ints{*number});
  return cumsum(replicate(tensor(std::int64_t{1}), n), {.axis = 0, .exclusive = true});
}

/// x's elements in a row.
Tensor flat(const Tensor &x) { return reshape(x, Ints{-1}); }

} // namespace

std::optional<std::vector<Tensor>> computed_sizes(PyObject *shape, const Place &place) {
  if (!weft::detail::is_tracing()) return std::nullopt;
  std::vector<Tensor> sizes;
  if (is_tensor(shape)) {
    const Tensor all = tensor_in(shape);
    if (!all.traced()) return std::nullopt;
    const Shape of = weft::detail::type_of(all).shape;
    if (of.empty()) return std::vector{as_size(all, place)};
    if (of.rank() != 1 || of[0] == unknown)
      throw ShapeError(place.text() + " is a tensor of shape " + weft::to_string(of) +
                       ": how many sizes there are must be known");
    for (std::int64_t i = 0; i < of[0]; ++i)
      sizes.push_back(
          as_size(reshape(weft::slice(all, Ints{i}, Ints{i + 1}, Ints{1}), Ints{}), place));
    return sizes;
  }
  if (PyList_Check(shape) == 0 && PyTuple_Check(shape) == 0) return std::nullopt;
  const nb::object items = checked(PySequence_Fast(shape, "sizes are wanted"));
  const std::span entries(PySequence_Fast_ITEMS(items.ptr()),
                          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr())));
  if (std::ranges::find(entries, Py_None) != entries.end())
    throw DTypeError(place.text() + " has the size None, which the trace does not know: " +
                     "wf.size(x, axis) is it as a tensor, and tf.shape(x)[axis]");
  if (std::ranges::none_of(
          entries, [](PyObject *entry) { return is_tensor(entry) && tensor_in(entry).traced(); }))
    return std::nullopt;
  for (PyObject *entry : entries)
    sizes.push_back(is_tensor(entry) ? as_size(tensor_in(entry), place)
                                     : tensor(to_integer(entry, place)));
  return sizes;
}

Tensor replicated(Tensor scalar, std::span<const Tensor> sizes) {
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::optional<std::int64_t> size = number_of(sizes[i]);
    if (!size) {
      scalar = replicate(scalar, sizes[i]);
      continue;
    }
    // A size that is a number stays known.
    Ints dims{*size};
    for (const std::int64_t dim : weft::detail::type_of(scalar).shape) dims.push_back(dim);
    scalar = std::ranges::find(dims, unknown) == dims.end() ? broadcast(scalar, dims)
                                                            : replicate(scalar, sizes[i]);
  }
  return scalar;
}

Tensor reshape_computed(const Tensor &x, std::span<const Tensor> sizes) {
  // A size of -1 is the number of elements over the others.
  std::vector<Tensor> all(sizes.begin(), sizes.end());
  const Tensor elements = flat(x), count = size_of(elements, {.axis = 0});
  std::optional<std::size_t> follows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (number_of(all[i]).value_or(0) != -1) continue;
    if (follows) throw ShapeError("reshape: more than one size is -1");
    follows = i;
    all[i] = tensor(std::int64_t{1});
  }
  // Counts of elements are exact in f64.
  if (follows)
    all[*follows] = cast(floor(divide(cast(count, DType::f64),
                                      cast(maximum(product_of(all), std::int64_t{1}), DType::f64))),
                         DType::i64);
  weft::check(equal(product_of(all), count),
              "reshape: sizes whose product is {} do not fit {} elements", product_of(all), count);
  Ints dims;
  std::size_t open = 0;
  for (const Tensor &size : all) {
    dims.push_back(number_of(size).value_or(-1));
    open += dims.back() == -1;
  }
  if (open <= 1) return reshape(x, dims); // the one follows
  // The slices behind the last size that is not a number are picked by their numbers in a row.
  std::size_t last = all.size();
  while (dims[last - 1] != -1) --last;
  Ints inner{-1};
  for (std::size_t i = last; i < dims.size(); ++i) inner.push_back(dims[i]);
  Tensor places = counted(all[last - 1]), stride = all[last - 1];
  for (std::size_t i = last - 1; i-- > 0;) {
    const Tensor starts = multiply(counted(all[i]), stride);
    Ints column{-1};
    for (std::size_t k = i + 1; k < last; ++k) column.push_back(1);
    places = add(reshape(starts, column), places);
    stride = multiply(stride, all[i]);
  }
  // Numbers among the first sizes stay known.
  return gather(reshape(elements, inner), places);
}

Tensor broadcast_computed(const Tensor &x, std::span<const Tensor> sizes) {
  return select(replicated(tensor(true), sizes), x, x);
}

} // namespace weft::python
