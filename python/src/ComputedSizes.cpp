// Shapes of sizes that a traced function computes, made of ops that take a size as a value.
#include "ComputedSizes.h"
#include "Define.h"
#include "Snapshots.h"

#include <ranges>

#include <weft/detail/binding.h>
#include <weft/detail/staging.h>

namespace weft::python {

namespace {

/// What a traced tensor is: the size of an axis, or all sizes, of another.
struct Noted {
  Tensor sizes, of;
  std::optional<std::int64_t> axis;
};

/// The newest notes of this thread's trace, the last one last.
std::vector<Noted> &notes() {
  static thread_local std::vector<Noted> notes;
  return notes;
}

void note(Noted noted) {
  constexpr std::size_t kMost = 256;
  std::vector<Noted> &all = notes();
  if (!weft::detail::is_tracing()) return all.clear();
  if (all.size() == kMost) all.erase(all.begin(), all.begin() + kMost / 2);
  all.push_back(std::move(noted));
}

const Noted *noted(const Tensor &sizes) {
  for (const Noted &each : std::views::reverse(notes()))
    if (each.sizes.impl() == sizes.impl()) return &each;
  return nullptr;
}

/// All sizes of a tensor, of which some are not known.
Tensor sizes_of(const Tensor &x, DType dtype) {
  std::vector<Tensor> parts;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    parts.push_back(reshape(cast(size_of(x, {.axis = axis}), dtype), Ints{1}));
  Tensor sizes = concatenate({parts.begin(), parts.end()}, {.axis = 0});
  note({sizes, x, std::nullopt});
  return sizes;
}

Tensor as_size(const Tensor &size, const Place &place) {
  const TensorType type = weft::detail::type_of(size);
  if (!is_integer(type.dtype))
    throw DTypeError(place.text() + " has a size of dtype " + std::string(name_of(type.dtype)) +
                     ": integers are wanted");
  if (!type.shape.empty())
    throw ShapeError(place.text() + " has a size of shape " + weft::to_string(type.shape) +
                     ": scalars are wanted");
  // A number stays one.
  return size.traced() ? cast(size, DType::i64) : tensor(size.to_vector<std::int64_t>().front());
}

ComputedSize computed(const Tensor &size, const Place &place) {
  const Noted *known = noted(size);
  return {as_size(size, place), known != nullptr ? known->axis : std::nullopt};
}

/// The number that a size is, if it is no traced value.
std::optional<std::int64_t> number_of(const Tensor &size) {
  if (size.traced()) return std::nullopt;
  return size.item<std::int64_t>();
}
std::optional<std::int64_t> number_of(const ComputedSize &size) { return number_of(size.value); }

Tensor product_of(std::span<const Tensor> sizes) {
  Tensor product = tensor(std::int64_t{1});
  for (const Tensor &size : sizes) product = multiply(product, size);
  return product;
}

/// The shape to reshape x to, in which the open sizes of x stand in their order, where the sizes
/// are as many of the same axes, beside the same number of elements: as of a batch and a length
/// that stay when the features are split. Nothing otherwise.
std::optional<Ints> kept_sizes(const Tensor &x, std::span<const ComputedSize> sizes) {
  std::int64_t inner = 1, wanted = 1;
  std::vector<std::int64_t> open;
  const Shape shape = weft::detail::type_of(x).shape;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (size == unknown) open.push_back(axis);
    else if (__builtin_mul_overflow(inner, size, &inner)) return std::nullopt;
  }
  Ints dims;
  std::size_t found = 0;
  for (const ComputedSize &size : sizes) {
    dims.push_back(number_of(size).value_or(-1));
    if (dims.back() != -1) {
      if (__builtin_mul_overflow(wanted, dims.back(), &wanted)) return std::nullopt;
      continue;
    }
    const bool follows = !size.value.traced() && found + 1 == open.size();
    if (found >= open.size() || (!follows && size.axis != open[found])) return std::nullopt;
    ++found;
  }
  if (found != open.size() || inner != wanted || found < 2) return std::nullopt;
  Tensor fits = tensor(true);
  std::size_t next = 0;
  for (const ComputedSize &size : sizes) {
    if (number_of(size).value_or(-1) != -1) continue;
    const std::int64_t axis = open[next++];
    if (size.value.traced())
      fits = logical_and(fits, equal(size.value, size_of(x, {.axis = axis})));
  }
  weft::check(fits, "reshape: the sizes are not those of the axes that they were taken for");
  return dims;
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

std::optional<std::vector<ComputedSize>> computed_sizes(PyObject *shape, const Place &place) {
  if (!weft::detail::is_tracing()) {
    notes().clear(); // of a trace that has ended, whose tensors they keep
    return std::nullopt;
  }
  std::vector<ComputedSize> sizes;
  if (is_tensor(shape)) {
    const Tensor all = tensor_in(shape);
    if (!all.traced()) return std::nullopt;
    const Shape of = weft::detail::type_of(all).shape;
    if (of.empty()) return std::vector{computed(all, place)};
    if (of.rank() != 1 || of[0] == unknown)
      throw ShapeError(place.text() + " is a tensor of shape " + weft::to_string(of) +
                       ": how many sizes there are must be known");
    for (std::int64_t i = 0; i < of[0]; ++i) {
      const Tensor size = size_in(all, i);
      sizes.push_back(computed(
          size.defined() ? size : reshape(weft::slice(all, Ints{i}, Ints{i + 1}, Ints{1}), Ints{}),
          place));
    }
    return sizes;
  }
  if (PyList_Check(shape) == 0 && PyTuple_Check(shape) == 0) return std::nullopt;
  const nb::tuple items = entries_of(shape);
  const std::span entries(&PyTuple_GET_ITEM(items.ptr(), 0), items.size());
  if (std::ranges::find(entries, Py_None) != entries.end())
    throw DTypeError(place.text() + " has the size None, which the trace does not know: " +
                     "wf.size(x, axis) is it as a tensor, and tf.shape(x)[axis]");
  if (std::ranges::none_of(
          entries, [](PyObject *entry) { return is_tensor(entry) && tensor_in(entry).traced(); }))
    return std::nullopt;
  for (PyObject *entry : entries)
    sizes.push_back(is_tensor(entry) ? computed(tensor_in(entry), place)
                                     : ComputedSize{tensor(to_integer(entry, place))});
  return sizes;
}

Tensor replicated(Tensor scalar, std::span<const ComputedSize> sizes) {
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::optional<std::int64_t> size = number_of(sizes[i]);
    if (!size) {
      scalar = replicate(scalar, sizes[i].value);
      continue;
    }
    // A size that is a number stays known.
    Ints dims{*size};
    for (const std::int64_t dim : weft::detail::type_of(scalar).shape) dims.push_back(dim);
    scalar = std::ranges::find(dims, unknown) == dims.end() ? broadcast(scalar, dims)
                                                            : replicate(scalar, sizes[i].value);
  }
  return scalar;
}

Tensor reshape_computed(const Tensor &x, std::span<const ComputedSize> sizes) {
  if (const std::optional<Ints> kept = kept_sizes(x, sizes)) return reshape(x, *kept);
  // A size of -1 is the number of elements over the others.
  std::vector<Tensor> all;
  for (const ComputedSize &size : sizes) all.push_back(size.value);
  const Tensor elements = flat(x), count = size_of(elements, {.axis = 0});
  std::optional<std::size_t> follows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (number_of(all[i]).value_or(0) != -1) continue;
    if (follows) throw ShapeError("reshape: more than one size is -1");
    follows = i;
    all[i] = tensor(std::int64_t{1});
  }
  if (follows) {
    const Tensor others = cast(product_of(all), DType::i64);
    weft::detail::check_sizes(not_equal(others, std::int64_t{0}),
                              "reshape: a size of -1 does not follow beside a size 0", {});
    // Counts of elements are exact in f64.
    all[*follows] = cast(
        floor(divide(cast(count, DType::f64), cast(maximum(others, std::int64_t{1}), DType::f64))),
        DType::i64);
  }
  // In f64, where the product of large sizes does not come round to a small number.
  Tensor exact = tensor(1.0);
  for (const Tensor &size : all) exact = multiply(exact, cast(size, DType::f64));
  weft::check(equal(exact, cast(count, DType::f64)),
              "reshape: sizes whose product is {} do not fit {} elements", exact, count);
  Ints dims;
  std::size_t open = 0;
  for (const Tensor &size : all) {
    dims.push_back(number_of(size).value_or(-1));
    open += dims.back() == -1;
  }
  if (std::ranges::find(dims, 0) != dims.end()) { // no size follows from no elements
    const std::vector<ComputedSize> given(all.begin(), all.end());
    return replicated(zeros({}, weft::detail::type_of(x).dtype), given);
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

Tensor broadcast_computed(const Tensor &x, std::span<const ComputedSize> sizes) {
  return select(replicated(tensor(true), sizes), x, x);
}

Tensor arange_computed(const Tensor &start, const Tensor &stop, const Tensor &step, DType dtype) {
  // In f64, as numbers have it: counts are exact there.
  const auto wide = [](const Tensor &x) { return cast(x, DType::f64); };
  const Tensor count = ceil(divide(subtract(wide(stop), wide(start)), wide(step)));
  const Tensor all = counted(maximum(cast(count, DType::i64), std::int64_t{0}));
  if (is_integer(dtype)) return cast(add(multiply(all, step), start), dtype);
  return cast(add(multiply(wide(all), wide(step)), wide(start)), dtype);
}

Tensor noted_size(const Tensor &size, std::int64_t axis, const Tensor &x) {
  if (size.traced())
    note({size, x, axis < 0 ? axis + weft::detail::type_of(x).shape.rank() : axis});
  return size;
}

Tensor size_in(const Tensor &sizes, std::int64_t at) {
  if (!weft::detail::is_tracing() || !sizes.traced()) return {};
  const Noted *known = noted(sizes);
  if (known == nullptr || known->axis) return {};
  const Noted all = *known;
  const Shape shape = weft::detail::type_of(all.of).shape;
  if (at < 0) at += shape.rank();
  if (at < 0 || at >= shape.rank()) return {};
  const std::int64_t size = shape[static_cast<std::size_t>(at)];
  const DType dtype = weft::detail::type_of(sizes).dtype;
  if (size == unknown) return noted_size(cast(size_of(all.of, {.axis = at}), dtype), at, all.of);
  if (dtype == DType::i64) return tensor(size);
  return tensor(static_cast<std::int32_t>(size));
}

void define_computed_sizes(nb::module_ &module) {
  define(module, "internal_sizes(x, dtype)", [](nb::handle x, nb::handle dtype) {
    return sizes_of(to_tensor(x.ptr(), {"shape", "input"}),
                    to_dtype(dtype.ptr(), {"shape", "out_type"}));
  });
}

} // namespace weft::python
