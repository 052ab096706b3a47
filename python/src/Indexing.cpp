// NumPy's indexing of tensors: basic by the library's own, advanced as gathers, which have
// derivatives.
#include "Tensors.h"

#include <algorithm>

#include "Buffers.h"
#include "Sizes.h"
#include <weft/detail/binding.h>
#include <weft/detail/indexing.h>
#include <weft/detail/staging.h>
#include <weft/device.h>

namespace weft::python {

namespace {

/// The bounds of a slice that a trace computes.
struct ComputedSlice {
  detail::SliceBound start, stop;
  std::int64_t step;
};

/// One entry between the brackets, of which a mask gives several.
struct Entry {
  Index basic = all;
  Tensor positions; ///< defined: an array of indices of the axis
  bool integer = false;
  std::optional<ComputedSlice> computed = std::nullopt;
  std::size_t key = 0; ///< which one between the brackets it comes from

  bool takes_axis() const { return !std::holds_alternative<NewAxis>(basic.value()); }
};

/// Whether a trace computes a bound of a slice.
bool has_computed_bound(PyObject *object) {
  const auto *range = reinterpret_cast<PySliceObject *>(object);
  return is_computed(range->start) || is_computed(range->stop);
}

/// A position; of a whole number of more than 64 bits the one nearest to it, which no axis has.
std::int64_t position_of(PyObject *object) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0)
      return overflow > 0 ? std::numeric_limits<std::int64_t>::max()
                          : std::numeric_limits<std::int64_t>::min();
  }
  return to_integer(object, {"index", "the position"});
}

std::optional<std::int64_t> bound(PyObject *object, const char *which) {
  if (object == Py_None) return std::nullopt;
  const nb::object index = nb::steal(PyNumber_Index(object));
  if (!index.is_valid()) {
    PyErr_Clear();
    if (is_computed(object))
      throw DTypeError(std::string("index: the ") + which +
                       " of a slice is a tensor of a traced function: a number is wanted");
    throw DTypeError(std::string("index: the ") + which + " of a slice is of type " +
                     Py_TYPE(object)->tp_name + ": an integer is wanted");
  }
  // As Python has it, what does not fit is as far out as can be.
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return overflow == 0 ? value : overflow > 0 ? most : -most;
}

/// As `bound`, of one that a trace may compute.
detail::SliceBound computed_bound(PyObject *object, const char *which) {
  if (!is_computed(object)) {
    const std::optional<std::int64_t> number = bound(object, which);
    if (!number) return std::nullopt;
    return *number;
  }
  const Tensor at = is_size(object) ? size_in(object).tensor() : tensor_in(object);
  const TensorType type = detail::type_of(at);
  if (!is_integer(type.dtype))
    throw DTypeError(std::string("index: the ") + which + " of a slice is a tensor of " +
                     python_name(type.dtype) + ": an integer is wanted");
  if (!type.shape.empty())
    throw ShapeError(std::string("index: the ") + which + " of a slice is a tensor of shape " +
                     weft::to_string(type.shape) + ": a scalar is wanted");
  return at;
}

ComputedSlice computed_slice(PyObject *object) {
  const auto *range = reinterpret_cast<PySliceObject *>(object);
  const std::int64_t step = bound(range->step, "step").value_or(1);
  if (step == 0) throw ValueError("index: the step of a slice is 0");
  return {computed_bound(range->start, "start"), computed_bound(range->stop, "stop"), step};
}

Slice slice_of(PyObject *object) {
  const auto *range = reinterpret_cast<PySliceObject *>(object);
  Slice slice{bound(range->start, "start"), bound(range->stop, "stop")};
  if (const auto step = bound(range->step, "step")) slice.step = *step;
  return slice;
}

/// Whether the object is an integer, of Python or NumPy, and no array.
bool is_integer_object(PyObject *object) {
  if (PyLong_CheckExact(object)) return true;
  if (PyBool_Check(object) || is_computed(object) || is_tensor(object) || is_variable(object))
    return false;
  // A bool of NumPy, which is a mask, says that it is an integer.
  if (std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.bool")) return false;
  if (!PyIndex_Check(object)) return false;
  const nb::object index =
      nb::steal(PyNumber_Index(object)); // arrays say that they can, and cannot
  PyErr_Clear();
  return index.is_valid() && PyObject_HasAttrString(object, "__len__") == 0;
}

/// The basic entry that the object is; nothing for an array.
std::optional<Entry> basic_entry(PyObject *object) {
  if (PySlice_Check(object) && has_computed_bound(object)) {
    Entry entry;
    entry.computed = computed_slice(object);
    return entry;
  }
  if (PySlice_Check(object)) return Entry{slice_of(object), {}};
  if (object == Py_Ellipsis) return Entry{ellipsis, {}};
  if (object == Py_None) return Entry{newaxis, {}};
  if (!is_integer_object(object)) return std::nullopt;
  Entry entry{position_of(object), {}};
  entry.integer = true;
  return entry;
}

/// The positions where a mask is true, one tensor per axis of it. One without axes is an axis of
/// its own, of one element where it is true and of none where it is not.
void add_positions(const Tensor &x, const Tensor &mask, std::size_t axis,
                   std::vector<Entry> &entries) {
  if (detail::type_of(mask).shape.empty()) {
    entries.push_back({newaxis, zeros({Size(cast(mask, DType::i64))}, DType::i64)});
    return;
  }
  for (Tensor &positions : detail::mask_positions(x, mask, static_cast<std::int64_t>(axis)))
    entries.push_back({all, std::move(positions)});
}

/// Counted from the front, and in range as far as that is known before a run: `axis` is one of
/// `y`; the shape is that of what is indexed, for messages.
Tensor normalized(const Tensor &given, const Tensor &y, std::int64_t axis, const Shape &shape) {
  const Tensor positions = given.dtype() == DType::u64 ? detail::as_positions(given) : given;
  const std::int64_t size = detail::type_of(y).shape[static_cast<std::size_t>(axis)];
  if (size == unknown && !positions.traced() &&
      std::ranges::none_of(positions.to_vector<std::int64_t>(), [](auto at) { return at < 0; }))
    return positions;
  if (positions.traced() || size == unknown) {
    const Tensor wide = cast(positions, DType::i64);
    const Tensor shifted =
        size == unknown ? add(wide, size_of(y, {.axis = axis})) : add(wide, size);
    // Others are out of range, which the gather says of the number that was given.
    return select(logical_and(less(wide, 0), greater_equal(shifted, 0)), shifted, wide);
  }
  std::vector<std::int64_t> list = positions.to_vector<std::int64_t>();
  bool negative = false;
  for (std::int64_t &position : list) {
    if (position < -size || position >= size)
      throw IndexError("index: " + std::to_string(position) + " is out of range for axis " +
                       std::to_string(axis) + " of a tensor of shape " + weft::to_string(shape));
    if (position < 0) {
      position += size;
      negative = true;
    }
  }
  return negative ? detail::uncommitted(tensor(list, positions.shape())) : positions;
}

std::size_t axes_taken(PyObject *object) {
  if (PySlice_Check(object) || is_integer_object(object)) return 1;
  if (object == Py_None || object == Py_Ellipsis) return 0;
  return 1;
}

/// The entries of a key, arrays converted and masks taken apart; no ellipsis is left.
std::vector<Entry> entries_of(const Tensor &x, std::span<PyObject *const> keys) {
  const Shape shape = detail::type_of(x).shape;
  std::vector<Tensor> arrays(keys.size());
  std::size_t taken = 0, ellipses = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (basic_entry(keys[i])) {
      taken += axes_taken(keys[i]);
      ellipses += keys[i] == Py_Ellipsis;
      continue;
    }
    if (PyUnicode_Check(keys[i]) || PyFloat_Check(keys[i]))
      throw DTypeError(
          std::string("index: a ") + Py_TYPE(keys[i])->tp_name +
          " is no index: integers, slices, ..., None, and arrays of integers or bools are");
    arrays[i] = to_tensor(keys[i], {"index", "the array"});
    const TensorType type = detail::type_of(arrays[i]);
    if (arrays[i].impl()->size == 0 && PyList_Check(keys[i]))
      arrays[i] = detail::as_positions(arrays[i]);
    else if (is_inexact(type.dtype))
      throw DTypeError(std::string("index: an array of ") + python_name(type.dtype) +
                       " is no index: only integers and bools are");
    taken += type.dtype == DType::boolean ? type.shape.size() : 1;
  }
  if (ellipses > 1) throw IndexError("index: only one ellipsis may be given");
  if (taken > shape.size())
    throw IndexError("index: " + std::to_string(taken) + " indices for a tensor of shape " +
                     weft::to_string(shape) + " (rank " + std::to_string(shape.size()) + ")");
  std::vector<Entry> entries;
  std::size_t axis = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t before = entries.size();
    if (keys[i] == Py_Ellipsis)
      for (std::size_t left = shape.size() - taken; left != 0; --left) entries.push_back({all, {}});
    else if (!arrays[i].defined()) entries.push_back(*basic_entry(keys[i]));
    else if (detail::type_of(arrays[i]).dtype == DType::boolean)
      add_positions(x, arrays[i], axis, entries);
    else entries.push_back({all, arrays[i]});
    for (std::size_t k = before; k < entries.size(); ++k) {
      entries[k].key = i;
      axis += entries[k].takes_axis();
    }
  }
  return entries;
}

/// The positions themselves, each checked against the run-time size of its own axis: together with
/// those of others one out of range could fall on another element.
Tensor checked_positions(const Tensor &positions, const Tensor &y, std::int64_t axis) {
  const std::int64_t size = detail::type_of(y).shape[static_cast<std::size_t>(axis)];
  if (size != unknown && !positions.traced()) return positions;
  const Size count = size == unknown ? Size(size_of(y, {.axis = axis})) : Size(size);
  return detail::gather_indexed(iota(DType::i64, {count}), positions, 0);
}

/// Arrays of indices, broadcast together, pick elements along several axes: these become one.
Tensor gather_together(Tensor y, const std::vector<std::int64_t> &axes,
                       const std::vector<Tensor> &positions, bool adjacent) {
  const std::int64_t rank = detail::type_of(y).shape.rank();
  Ints order(axes.begin(), axes.end());
  Sizes sizes{1};
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::find(axes, axis) != axes.end()) continue;
    order.push_back(axis);
    sizes.push_back(y.size(axis));
  }
  Size count = 1;
  Tensor flat;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const Tensor places = detail::as_positions(checked_positions(positions[i], y, axes[i]));
    const Tensor part =
        count.is_number() ? multiply(places, count.number()) : multiply(places, count.tensor());
    try {
      flat = flat.defined() ? add(flat, part) : part;
    } catch (const ShapeError &) {
      throw IndexError("index: arrays of shapes " + weft::to_string(positions[i].shape()) +
                       " and " + weft::to_string(flat.shape()) + " do not broadcast together");
    }
    count = count * y.size(axes[i]);
  }
  sizes.set(0, count);
  y = gather(reshape(transpose(y, order), sizes), flat, {.axis = 0});
  const std::int64_t before = adjacent ? axes.front() : 0;
  if (before == 0) return y;
  // The new axes, which are in front, stand where the first array stood.
  const std::int64_t picked = detail::type_of(flat).shape.rank();
  const std::int64_t others = rank - static_cast<std::int64_t>(axes.size());
  Ints back;
  for (std::int64_t i = 0; i < before; ++i) back.push_back(picked + i);
  for (std::int64_t i = 0; i < picked; ++i) back.push_back(i);
  for (std::int64_t i = before; i < others; ++i) back.push_back(picked + i);
  return transpose(y, back);
}

/// The mask that a key is alone; undefined for others.
Tensor mask_alone(std::span<PyObject *const> keys) {
  if (keys.size() != 1 || basic_entry(keys[0]) || PyUnicode_Check(keys[0])) return {};
  const Tensor mask = to_tensor(keys[0], {"index", "the array"});
  const TensorType type = detail::type_of(mask);
  return type.dtype == DType::boolean && !type.shape.empty() ? mask : Tensor();
}

Tensor advanced(Tensor x, std::span<PyObject *const> keys) {
  if (const Tensor mask = mask_alone(keys); mask.defined()) return detail::masked(x, mask);
  std::vector<Entry> entries = entries_of(x, keys);
  // Slices leave all axes where they are.
  std::int64_t sliced = 0;
  for (const Entry &entry : entries) {
    if (const auto &range = entry.computed)
      x = detail::slice_between(x, sliced, range->start, range->stop, range->step);
    sliced += entry.takes_axis();
  }
  const bool any =
      std::ranges::any_of(entries, [](const Entry &entry) { return entry.positions.defined(); });
  std::vector<Index> basic;
  std::vector<std::int64_t> axes;
  std::vector<Tensor> positions;
  std::vector<std::size_t> places; // of arrays between the brackets, where an ellipsis counts too
  std::int64_t axis = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    if (any && entry.integer) entry.positions = tensor(std::get<std::int64_t>(entry.basic.value()));
    if (entry.positions.defined()) {
      basic.push_back(entry.takes_axis() ? Index(all) : entry.basic);
      axes.push_back(axis);
      positions.push_back(entry.positions);
      if (places.empty() || places.back() != entry.key) places.push_back(entry.key);
    } else {
      basic.push_back(entry.basic);
    }
    axis += !entry.integer || any;
  }
  Tensor y = detail::index_tensor(x, basic);
  if (axes.empty()) return y;
  const Shape shape = detail::type_of(x).shape;
  for (std::size_t i = 0; i < axes.size(); ++i)
    positions[i] = normalized(positions[i], y, axes[i], shape);
  if (axes.size() == 1) return detail::gather_indexed(y, positions[0], axes[0]);
  return gather_together(std::move(y), axes, positions,
                         places.back() - places.front() + 1 == places.size());
}

} // namespace

namespace {

/// The part of a short list of integers that is no traced value, as another: sizes that a trace
/// knows stay known to it, as in tf.shape(x)[0]. Nothing for other tensors, keys and times.
Tensor known_part(const Tensor &x, PyObject *key) {
  if (PySlice_Check(key) && has_computed_bound(key)) return {};
  if (PyLong_CheckExact(key))
    if (const Tensor size = size_in(x, position_of(key)); size.defined()) return size;
  if (!detail::is_tracing() || x.traced() || x.rank() != 1 || x.shape()[0] > max_rank ||
      (x.dtype() != DType::i32 && x.dtype() != DType::i64)) // as sizes are
    return {};
  const std::vector<std::int64_t> list = x.to_vector<std::int64_t>();
  const auto count = static_cast<Py_ssize_t>(list.size());
  std::vector<std::int64_t> part;
  if (PySlice_Check(key)) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(key, &start, &stop, &step) != 0) throw nb::python_error();
    const Py_ssize_t found = PySlice_AdjustIndices(count, &start, &stop, step);
    for (Py_ssize_t i = 0; i < found; ++i)
      part.push_back(list[static_cast<std::size_t>(start + i * step)]);
  } else {
    const std::int64_t at = position_of(key);
    if (at < -count || at >= count) return {}; // its error is that of others
    part.push_back(list[static_cast<std::size_t>(at < 0 ? at + count : at)]);
  }
  const Shape shape = PySlice_Check(key) ? Shape{static_cast<std::int64_t>(part.size())} : Shape{};
  if (x.dtype() == DType::i64) return tensor(part, shape);
  return tensor(std::vector<std::int32_t>(part.begin(), part.end()), shape);
}

} // namespace

namespace {

std::span<PyObject *const> keys_of(PyObject *const &key) {
  if (PyTuple_Check(key) == 0) return {&key, 1};
  return {&PyTuple_GET_ITEM(key, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(key))};
}

} // namespace

namespace {

/// The integer scalar that an object is; undefined for others.
Tensor scalar_position(PyObject *object) {
  if (!is_computed(object)) return {};
  const Tensor at = is_size(object) ? size_in(object).tensor() : tensor_in(object);
  const TensorType type = detail::type_of(at);
  return is_integer(type.dtype) && type.shape.empty() ? at : Tensor();
}

} // namespace

std::optional<std::vector<Index>> basic_key(PyObject *key) {
  std::vector<Index> basic;
  for (PyObject *item : keys_of(key)) {
    const std::optional<Entry> entry = basic_entry(item);
    if (!entry || entry->computed) return std::nullopt;
    basic.push_back(entry->basic);
  }
  return basic;
}

namespace {

/// The numbers of the elements that a key picks, in row-major order.
Tensor positions_of(const Tensor &x, PyObject *key) {
  const DeviceScope beside(x.device());
  const Tensor numbers = reshape(iota(DType::i64, {detail::size_of_all(x)}), detail::sizes_of(x));
  return advanced(numbers, keys_of(key));
}

} // namespace

Tensor replaced(const Tensor &x, PyObject *key, const Tensor &items) {
  const std::span<PyObject *const> keys = keys_of(key);
  std::vector<Index> basic;
  std::vector<Tensor> positions;
  for (PyObject *item : keys) {
    const std::optional<Entry> entry = basic_entry(item);
    Tensor position;
    if (!entry) position = scalar_position(item);
    if (!(entry ? !entry->computed : position.defined())) break;
    basic.push_back(entry ? entry->basic : Index(0));
    positions.push_back(std::move(position));
  }
  if (basic.size() == keys.size()) {
    if (Tensor result = detail::replace_entries(x, basic, positions, items); result.defined())
      return result;
  }
  if (const Tensor mask = mask_alone(keys); mask.defined()) {
    const std::int64_t masked = mask.rank(), rest = x.rank() - masked;
    // One value for each slice where the mask holds needs no positions.
    if (rest >= 0 && items.rank() <= rest) return detail::replace_masked(x, mask, items);
  }
  return combined(x, key, items, ScatterReduction::set);
}

Tensor elements_at(const Tensor &x, PyObject *key) {
  const std::optional<std::vector<Index>> basic = basic_key(key);
  return basic ? detail::index_tensor(x, *basic) : advanced(x, keys_of(key));
}

bool picks_by_array(PyObject *key) {
  return std::ranges::any_of(keys_of(key), [](PyObject *item) {
    if (basic_entry(item) || PyUnicode_Check(item)) return false;
    const TensorType type = detail::type_of(to_tensor(item, {"index", "the array"}));
    return type.dtype != DType::boolean && !type.shape.empty();
  });
}

Tensor combined(const Tensor &x, PyObject *key, const Tensor &items, ScatterReduction reduction) {
  return detail::update_positions(x, positions_of(x, key), items, reduction);
}

PyObject *subscript(PyObject *self, PyObject *key) {
  return guarded([&] {
    const Tensor x = is_tensor(self) ? tensor_in(self) : variable_in(self).value();
    if (is_tensor(self) && (PyLong_CheckExact(key) || PySlice_Check(key)))
      if (const Tensor part = known_part(x, key); part.defined()) return wrap(part);
    if (PyLong_CheckExact(key)) return wrap(x[position_of(key)]);
    if (PySlice_Check(key) && !has_computed_bound(key)) return wrap(x[slice_of(key)]);
    return wrap(elements_at(x, key));
  });
}

} // namespace weft::python
