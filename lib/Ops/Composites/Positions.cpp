// Functions that say where elements are, and which there are.
#include "Ops/Composites/Parts.h"

#include <optional>
#include <string>

#include "Ops/Interpreter.h"
#include <weft/detail/tensor_impl.h>

namespace weft::composites {

namespace {

/// The position of the first largest element, and of the first smallest if the order is reversed.
Tensor extreme_position(const char *function, const Tensor &given,
                        const std::optional<std::int64_t> &axis, bool keepdims, bool reversed) {
  check_not_empty(function, given, axis ? Ints{*axis} : axes_of(given));
  Tensor x = given.dtype() == DType::boolean ? cast(given, DType::i32) : given;
  // -1 - x reverses the order of integers and holds the least one, which -x does not.
  if (reversed) x = is_integer(x.dtype()) ? -1 - x : -x;
  if (axis) return argmax_along(x, {.axis = *axis, .keepdims = keepdims});
  const Tensor found = argmax_along(reshape(x, {-1}), {.axis = 0});
  return keepdims ? with_axes_of(x, found) : found;
}

/// Throws ValueError while a function is traced, which has no values.
void check_has_values(const char *function, const Tensor &x) {
  if (!x.traced()) return;
  const std::string start =
      std::string(function) + ": how large the result is depends on values, which ";
  constexpr const char *instead = ", or write where(condition, x, y)";
  if (std::string_view(static_cast<detail::TraceRef *>(x.impl()->base)->name) == "vmap")
    raise(ErrorKind::value, start + "differ by member of vmap: call it outside of vmap" + instead);
  raise(ErrorKind::value, start +
                              "a traced function does not have: call it outside of the "
                              "function" +
                              instead);
}

/// Calls `found` with the position of each element that is not 0, in order.
template <class Found>
void each_nonzero(const Tensor &x, const Found &found) {
  const Interpreter::Scope now(nullptr); // a trace would record what is asked for its values
  const Tensor holds = (x.dtype() == DType::boolean ? x : x != 0).contiguous();
  const bool *element = reinterpret_cast<const bool *>(holds.impl()->data);
  const Shape shape = x.shape();
  const std::int64_t last = shape.empty() ? 1 : shape.back();
  Ints position(shape.size(), 0);
  for (std::int64_t i = 0; i < holds.impl()->size; i += last) {
    for (std::int64_t at = 0; at < last; ++at) {
      if (!element[i + at]) continue;
      if (!shape.empty()) position.back() = at;
      found(position);
    }
    for (std::size_t axis = shape.size(); axis-- > 1;) {
      if (++position[axis - 1] < shape[axis - 1]) break;
      position[axis - 1] = 0;
    }
  }
}

} // namespace

Tensor argmax(const Tensor &x, const ArgmaxOptions &options) {
  return extreme_position("argmax", x, options.axis, options.keepdims, false);
}

Tensor argmin(const Tensor &x, const ArgminOptions &options) {
  return extreme_position("argmin", x, options.axis, options.keepdims, true);
}

Tensor argwhere(const Tensor &x) {
  check_has_values("argwhere", x);
  std::vector<std::int64_t> rows;
  std::int64_t count = 0;
  each_nonzero(x, [&](const Ints &position) {
    rows.insert(rows.end(), position.begin(), position.end());
    ++count;
  });
  return tensor(rows, {count, x.rank()});
}

std::vector<Tensor> nonzero(const Tensor &x) {
  check_has_values("nonzero", x);
  if (x.rank() == 0)
    raise(ErrorKind::shape, "nonzero: x is a scalar: a tensor with axes is wanted");
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(x.rank()));
  each_nonzero(x, [&](const Ints &position) {
    for (std::size_t axis = 0; axis < position.size(); ++axis)
      positions[axis].push_back(position[axis]);
  });
  std::vector<Tensor> found;
  for (const auto &along_axis : positions) found.push_back(tensor(along_axis));
  return found;
}

std::vector<Tensor> unique(const Tensor &x, const UniqueOptions &options) {
  check_has_values("unique", x);
  std::optional<Interpreter::Scope> now(
      nullptr); // a trace would record what is asked for its values
  const Tensor flat = reshape(x, {-1});
  const Tensor order = argsort(x.dtype() == DType::boolean ? cast(flat, DType::i32) : flat);
  const Tensor sorted = gather(flat, order);
  const auto count = static_cast<std::size_t>(order.size(0));
  const std::vector<std::int64_t> at = order.to_vector<std::int64_t>();
  // NaN, which sorts last, is one element.
  std::vector<bool> differs;
  if (count > 1) {
    const Tensor later = sorted[slice(1, {})], before = sorted[slice(0, -1)];
    differs = ((later != before) & !((later != later) & (before != before))).to_vector<bool>();
  }
  std::vector<std::int64_t> first, which(count), counts;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0 || differs[i - 1]) {
      first.push_back(at[i]); // sorting is stable
      counts.push_back(0);
    }
    ++counts.back();
    which[static_cast<std::size_t>(at[i])] = static_cast<std::int64_t>(first.size()) - 1;
  }
  now.reset();
  std::vector<Tensor> found = {gather(reshape(x, {-1}), tensor(first))};
  if (options.return_index) found.push_back(tensor(first));
  if (options.return_inverse) found.push_back(tensor(which, x.shape()));
  if (options.return_counts) found.push_back(tensor(counts));
  return found;
}

} // namespace weft::composites
