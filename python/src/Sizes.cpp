// Sizes in Python: numbers, and integers that a traced function computes.
#include "Sizes.h"
#include "Define.h"
#include "Snapshots.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include <weft/composites.h>
#include <weft/detail/binding.h>
#include <weft/detail/staging.h>

namespace weft::python {

namespace {

/// A tensor of sizes and what they are, so that those which are known stay known: TensorFlow's
/// programs write `tf.shape(x)[0]` in 32 bits.
struct Known {
  Tensor tensor;
  Sizes sizes;
};

/// The newest of this thread's trace, the last one last.
std::vector<Known> &known_sizes() {
  static thread_local std::vector<Known> known;
  return known;
}

void remember(const Tensor &tensor, Sizes sizes) {
  constexpr std::size_t kMost = 256;
  std::vector<Known> &all = known_sizes();
  if (!weft::detail::is_tracing()) return all.clear();
  if (all.size() == kMost) all.erase(all.begin(), all.begin() + kMost / 2);
  all.push_back({tensor, std::move(sizes)});
}

const Sizes *known(const Tensor &tensor) {
  if (!weft::detail::is_tracing()) known_sizes().clear(); // of a trace that has ended
  for (const Known &each : std::views::reverse(known_sizes()))
    if (each.tensor.impl() == tensor.impl()) return &each.sizes;
  return nullptr;
}

/// All sizes of a tensor, of which some are not known.
Tensor sizes_as_tensor(const Tensor &x, DType dtype) {
  std::vector<Tensor> parts;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    parts.push_back(reshape(cast(size_of(x, {.axis = axis}), dtype), Ints{1}));
  Tensor sizes = concatenate({parts.begin(), parts.end()}, {.axis = 0});
  remember(sizes, weft::detail::sizes_of(x));
  return sizes;
}

Size size_from(const Tensor &size, const Place &place) {
  const TensorType type = weft::detail::type_of(size);
  if (!is_integer(type.dtype))
    throw DTypeError(place.text() + " has a size of dtype " + std::string(name_of(type.dtype)) +
                     ": integers are wanted");
  if (!type.shape.empty())
    throw ShapeError(place.text() + " has a size of shape " + weft::to_string(type.shape) +
                     ": scalars are wanted");
  if (const Sizes *same = known(size))
    return same->are_numbers() ? Size(same->numbers()[0]) : Size(same->values()[0]);
  return size;
}

/// Of a traced tensor.
Sizes sizes_from(const Tensor &all, const Place &place) {
  if (const Sizes *same = known(all)) return *same;
  const Shape of = weft::detail::type_of(all).shape;
  if (of.empty()) return {size_from(all, place)};
  if (of.rank() != 1 || of[0] == unknown)
    throw ShapeError(place.text() + " is a tensor of shape " + weft::to_string(of) +
                     ": how many sizes there are must be known");
  Sizes sizes;
  for (std::int64_t i = 0; i < of[0]; ++i)
    sizes.push_back(
        size_from(reshape(weft::slice(all, Ints{i}, Ints{i + 1}, Ints{1}), Ints{}), place));
  return sizes;
}

/// A number of the user, or of a tensor, as a size. Throws ShapeError for the one that stands for a
/// computed size. In a shape -1 is a word of numbers alone: a trace does not know what it computes.
Size numbered(std::int64_t number, bool of_tensor, const Place &place) {
  if (of_tensor && number < 0 && std::string_view(place.argument) == "shape")
    throw ShapeError(std::string(place.function) + ": a size is " + std::to_string(number) +
                     ", which is negative; write -1 itself for the size that follows");
  if (number == weft::detail::kDynamic)
    throw ShapeError(place.text() + " has a size of " + std::to_string(number) +
                     ", which is negative");
  return number;
}

} // namespace

template <>
Sizes to(PyObject *object, const Place &place) {
  if (is_tensor(object) && tensor_in(object).traced()) return sizes_from(tensor_in(object), place);
  Sizes sizes;
  if (PyList_Check(object) == 0 && PyTuple_Check(object) == 0) {
    for (const std::int64_t number : to_integers(object, place))
      sizes.push_back(numbered(number, is_tensor(object), place));
    return sizes;
  }
  const nb::tuple items = entries_of(object);
  for (const nb::handle item : items) {
    if (item.is_none() && weft::detail::is_tracing())
      throw DTypeError(place.text() + " has the size None, which the trace does not know: " +
                       "wf.size(x, axis) is it as a tensor, and tf.shape(x)[axis]");
    const bool computed = is_tensor(item.ptr()) && tensor_in(item.ptr()).traced();
    sizes.push_back(computed
                        ? size_from(tensor_in(item.ptr()), place)
                        : numbered(to_integer(item.ptr(), place), is_tensor(item.ptr()), place));
  }
  return sizes;
}

Sizes to_sizes_or_integers(PyObject *object, const Place &place) {
  const auto computes = [](nb::handle item) {
    return is_tensor(item.ptr()) && tensor_in(item.ptr()).traced();
  };
  const bool list = PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
  if (computes(object) || (list && std::ranges::any_of(nb::tuple(entries_of(object)), computes)))
    return to<Sizes>(object, place);
  return to_integer_list(object, place);
}

template <>
Size to(PyObject *object, const Place &place) {
  if (is_tensor(object) && tensor_in(object).traced()) return size_from(tensor_in(object), place);
  return numbered(to_integer(object, place), is_tensor(object), place);
}

namespace {

/// How many numbers lie in a range of integers, exactly: the quotients by the step tell the
/// distance, which itself need not fit 64 bits.
Size count_between(const Tensor &start, const Tensor &stop, const Tensor &step) {
  const Tensor rises = greater(step, std::int64_t{0});
  const Tensor last = subtract(stop, select(rises, std::int64_t{1}, std::int64_t{-1}));
  const auto quotient = [&](const Tensor &x) { return floor_divide(x, step); };
  const auto rest = [&](const Tensor &x) { return remainder(x, step); };
  const Tensor borrows =
      select(rises, less(rest(last), rest(start)), greater(rest(last), rest(start)));
  const Tensor count = subtract(add(subtract(quotient(last), quotient(start)), std::int64_t{1}),
                                cast(borrows, DType::i64));
  // One that wrapped is more than any tensor has.
  const Tensor most = weft::tensor(std::numeric_limits<std::int64_t>::max());
  return select(select(rises, less(start, stop), greater(start, stop)),
                select(greater(count, std::int64_t{0}), count, most), std::int64_t{0});
}

} // namespace

Tensor arange_between(const Tensor &start, const Tensor &stop, const Tensor &step, DType dtype) {
  const auto is = [](const Tensor &x, std::int64_t number) {
    return !x.traced() && is_integer(x.dtype()) && x.item<std::int64_t>() == number;
  };
  const auto whole = [](const Tensor &x) { return is_integer(weft::detail::type_of(x).dtype); };
  if (step.traced()) check(not_equal(step, 0), "arange: the step is 0");
  else if (step.item<double>() == 0) throw ValueError("arange: the step is 0");
  if (is(start, 0) && is(step, 1) && whole(stop)) return iota(dtype, {max(Size(stop), 0)});
  if (whole(start) && whole(stop) && whole(step)) {
    const Tensor all = iota(DType::i64, {count_between(start, stop, step)});
    return cast(add(multiply(all, step), start), dtype);
  }
  const auto wide = [](const Tensor &x) { return cast(x, DType::f64); };
  const Tensor count = ceil(divide(subtract(wide(stop), wide(start)), wide(step)));
  const Tensor all = iota(DType::f64, {max(Size(cast(count, DType::i64)), 0)});
  return cast(add(multiply(all, wide(step)), wide(start)), dtype);
}

Tensor size_in(const Tensor &sizes, std::int64_t at) {
  if (!weft::detail::is_tracing() || !sizes.traced()) return {};
  const Sizes *const all = known(sizes);
  const TensorType type = weft::detail::type_of(sizes);
  if (all == nullptr || type.shape.empty()) return {};
  const auto count = static_cast<std::int64_t>(all->size());
  if (at < 0) at += count;
  if (at < 0 || at >= count) return {};
  const Size size = (*all)[static_cast<std::size_t>(at)];
  if (size.is_number())
    return type.dtype == DType::i64 ? tensor(size.number())
                                    : tensor(static_cast<std::int32_t>(size.number()));
  if (type.dtype == DType::i64) return size.value();
  const Tensor narrow = cast(size.value(), type.dtype);
  remember(narrow, {size});
  return narrow;
}

void define_sizes(nb::module_ &module) {
  define(module, "internal_sizes(x, dtype)", [](nb::handle x, nb::handle dtype) {
    return sizes_as_tensor(to_tensor(x.ptr(), {"shape", "input"}),
                           to_dtype(dtype.ptr(), {"shape", "out_type"}));
  });
}

} // namespace weft::python
