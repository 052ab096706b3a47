// Functions that say where elements are, and which there are.
#include "Ops/Composites/Parts.h"

#include <optional>
#include <string>

#include "OpDefs/SizeWords.h"
#include "Ops/DeviceOps.h"
#include <weft/detail/indexing.h>

namespace weft::composites {

namespace {

/// The position of the first largest element, and of the first smallest if the order is reversed.
Tensor extreme_position(const char *function, const Tensor &given,
                        const std::optional<std::int64_t> &axis, bool keepdims, bool reversed) {
  check_not_empty(function, given, axis ? Ints{*axis} : axes_of(given));
  Tensor x = given.dtype() == DType::boolean ? cast(given, DType::i32) : given;
  // -1 - x reverses the order of integers and holds the least one, which -x does not.
  if (reversed) x = is_integer(x.dtype()) ? bitwise_invert(x) : -x;
  if (axis) return argmax_along(x, {.axis = *axis, .keepdims = keepdims});
  const Tensor found = argmax_along(reshape(x, {-1}), {.axis = 0});
  return keepdims ? with_axes_of(x, found) : found;
}

Tensor as_bools(const Tensor &x) { return x.dtype() == DType::boolean ? x : x != 0; }

/// What is found among the elements of a vector of bools: those that hold, in order.
struct Found {
  Size count = 0; ///< how many there are in the result
  Tensor total;   ///< how many there are; undefined where it is the count
};

/// Whether nothing of it is computed by a trace.
bool is_constant(const Tensor &x, const std::optional<Size> &size) {
  return !x.traced() && (!size || size->is_number());
}

Found found_in(const char *function, const Tensor &holds, const std::optional<Size> &size) {
  const Tensor total = sum(cast(holds, DType::i64));
  if (!size) return {Size(total), {}};
  if (size->is_number() && size->number() < 0)
    raise(ErrorKind::value, std::string(function) + ": size is " + std::to_string(size->number()) +
                                ": it is not negative");
  return {*size, total};
}

/// The positions of those that hold. Behind them stands 0, up to the count.
Tensor positions_of(const Tensor &holds, const Size &count) {
  // Each goes to the position that counts those before it; the others, and what is too much, behind
  // the end.
  const Tensor before = cumsum(cast(holds, DType::i64), {.axis = 0, .exclusive = true});
  const Tensor end = count.tensor();
  const Tensor to = select(logical_and(holds, before < end), before, end);
  const Tensor all = scatter_add(zeros({count + 1}, DType::i64), to, positions_along(holds, 0));
  return between(all, 0, 0, count);
}

/// The entries along an axis that stand for what is found, and others behind them.
Tensor filled(const Tensor &entries, const Found &found, const Tensor &fill,
              std::int64_t axis = 0) {
  if (!found.total.defined()) return entries;
  Ints column(static_cast<std::size_t>(entries.rank()), 1);
  column[static_cast<std::size_t>(axis)] = -1;
  const Tensor stands = reshape(iota(DType::i64, {found.count}) < found.total, column);
  return select(stands, entries, cast(fill, entries.dtype()));
}

/// With one slice of zeros more, so that there is one to gather.
Tensor with_one_more(const Tensor &x, std::int64_t axis) {
  const Ints none(static_cast<std::size_t>(x.rank()), 0);
  Ints high = none;
  high[static_cast<std::size_t>(axis)] = 1;
  return pad(x, cast(tensor(0), x.dtype()), none, high, none);
}

/// The positions of the elements that are not 0, along each axis.
std::vector<Tensor> coordinates(const char *function, const Tensor &x,
                                const std::optional<Size> &size, std::int64_t fill_value) {
  const AtOnce now(is_constant(x, size));
  const Tensor holds = reshape(as_bools(x), {-1});
  const Found found = found_in(function, holds, size);
  Tensor rest = positions_of(holds, found.count);
  std::vector<Tensor> along_axes(static_cast<std::size_t>(x.rank()));
  for (std::int64_t axis = x.rank(); axis-- > 0;) {
    Tensor &at = along_axes[static_cast<std::size_t>(axis)];
    at = rest;
    if (axis != 0) {
      const Tensor along_axis = max(size_along(x, axis), 1).tensor();
      at = remainder(rest, along_axis);
      rest = floor_divide(rest, along_axis);
    }
    at = filled(at, found, tensor(fill_value));
  }
  return along_axes;
}

} // namespace

TopK top_k(const Tensor &x, std::int64_t k, const TopKOptions &options) {
  if (k < 0) raise(ErrorKind::value, "top_k: k is " + std::to_string(k) + ", which is negative");
  const Shape shape = detail::type_of(x).shape;
  if (const std::int64_t size = shape[static_cast<std::size_t>(options.axis)];
      size != unknown && k > size)
    raise(ErrorKind::value, "top_k: " + words::too_few(k, options.axis, to_string(shape)));
  const Tensor indices = argsort(x, {options.axis, !options.smallest, k});
  return {gather_along_axis(x, indices, {options.axis}), indices};
}

Tensor argmax(const Tensor &x, const ArgmaxOptions &options) {
  return extreme_position("argmax", x, options.axis, options.keepdims, false);
}

Tensor argmin(const Tensor &x, const ArgminOptions &options) {
  return extreme_position("argmin", x, options.axis, options.keepdims, true);
}

Tensor argwhere(const Tensor &x, const ArgwhereOptions &options) {
  const AtOnce now(is_constant(x, options.size));
  std::vector<Tensor> columns = coordinates("argwhere", x, options.size, options.fill_value);
  if (columns.empty()) {
    const Found found = found_in("argwhere", reshape(as_bools(x), {1}), options.size);
    return zeros({found.count, 0}, DType::i64);
  }
  for (Tensor &column : columns) column = with_axis(column, 1);
  return concatenate(std::span<const Tensor>(columns), {.axis = 1});
}

std::vector<Tensor> nonzero(const Tensor &x, const NonzeroOptions &options) {
  if (x.rank() == 0)
    raise(ErrorKind::shape, "nonzero: x is a scalar: a tensor with axes is wanted");
  return coordinates("nonzero", x, options.size, options.fill_value);
}

namespace {

/// What compress is called where it is called, and what it calls the condition.
struct CompressWords {
  const char *function, *condition;
  bool or_none = false; ///< whether an axis of the condition may be of size 0 where x has another
};

/// Throws IndexError unless a mask is of the sizes of x from an axis on, or of 0 where that may be
/// and it picks nothing; the program checks it where a trace does not know them.
void check_fits(const CompressWords &words, const Tensor &mask, const Tensor &x,
                std::int64_t first) {
  const Shape of = shape_of(mask), shape = shape_of(x);
  const std::string what = std::string(words.function) + ": a " + words.condition;
  const auto text = [&](const std::string &of_mask, const std::string &of_x) {
    return what + " of shape " + of_mask + " does not fit a tensor of shape " + of_x +
           " from axis " + std::to_string(first) + " on";
  };
  const auto refuse = [&] { raise(ErrorKind::index, text(to_string(of), to_string(shape))); };
  if (of.empty() || first + of.rank() > shape.rank()) refuse();
  for (std::int64_t axis = 0; axis < of.rank(); ++axis) {
    const Size picks = size_along(mask, axis), size = size_along(x, first + axis);
    if (size.is_number() && picks.is_number()) {
      if (size.number() != picks.number() && !(words.or_none && picks.number() == 0)) refuse();
      continue;
    }
    std::vector<Tensor> open;
    const std::string of_mask = written(mask, open), of_x = written(x, open);
    const Tensor same = equal(picks.tensor(), size.tensor());
    detail::check_sizes(words.or_none ? same | (picks.tensor() == std::int64_t{0}) : same,
                        text(of_mask, of_x), open, ErrorKind::index);
  }
}

/// The slices where a mask holds, of axes from `first` on, which become one.
Tensor compressed(const CompressWords &words, const Tensor &mask, const Tensor &x,
                  std::int64_t first, const CompressOptions &options) {
  check_fits(words, mask, x, first);
  const Shape of = shape_of(mask);
  Sizes merged;
  Size count = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    const bool picked = axis >= first && axis < first + of.rank();
    const Size size = size_along(x, axis);
    if (picked) count = count * size;
    if (!picked || axis + 1 == first + of.rank()) merged.push_back(picked ? count : size);
  }
  Found found;
  Tensor positions;
  {
    const AtOnce now(is_constant(mask, options.size));
    const Tensor holds = as_bools(of.rank() == 1 ? mask : reshape(mask, {-1}));
    found = found_in(words.function, holds, options.size);
    positions = positions_of(holds, found.count);
  }
  Tensor slices = of.rank() == 1 ? x : reshape(x, merged);
  if (options.size) slices = with_one_more(slices, first);
  const Tensor fill = call::filling(words.function, "fill_value", options.fill_value, x.dtype());
  return filled(gather(slices, positions, {.axis = first}), found, fill, first);
}

} // namespace

Tensor compress(const Tensor &condition, const Tensor &x, const CompressOptions &options) {
  const CompressWords words{"compress", "condition"};
  if (options.axis)
    return compressed(words, condition, x,
                      call::checked_axis("compress", "axis", *options.axis, x.rank()), options);
  return compressed(words, reshape(condition, {-1}), reshape(x, {-1}), 0, options);
}

namespace {

/// Where the elements of a vector in order stand; of complex numbers by real parts, then imaginary
/// ones.
Tensor order_of(const Tensor &x) {
  if (!is_complex(x.dtype())) return argsort(x);
  const Tensor by_imaginary = argsort(imaginary_part(x));
  return gather(by_imaginary, argsort(gather(real_part(x), by_imaginary)));
}

/// What is asked of the different elements, of which all NaN are one, or each is another.
std::vector<Tensor> unique_parts(const char *function, const Tensor &x,
                                 const UniqueOptions &options, bool equal_nan) {
  std::optional<AtOnce> now(is_constant(x, options.size));
  const Tensor numbers = reshape(x.dtype() == DType::boolean ? cast(x, DType::i32) : x, {-1});
  const Tensor order = order_of(numbers), sorted = gather(numbers, order);
  const Size size = size_along(sorted, 0);
  const Tensor at = iota(DType::i64, {size});
  // NaN sorts last.
  const Tensor before = gather(sorted, maximum(at - std::int64_t{1}, std::int64_t{0}));
  Tensor differs = sorted != before;
  if (equal_nan) differs = differs & !((sorted != sorted) & (before != before));
  const Tensor begins = (at == std::int64_t{0}) | differs;
  const Found found = found_in(function, begins, options.size);
  const Tensor starts = positions_of(begins, found.count);
  const bool fixed = found.total.defined();
  // Where each comes first: sorting is stable.
  const Tensor first = gather(fixed ? with_one_more(order, 0) : order, starts);
  std::vector<Tensor> asked;
  if (options.return_index) asked.push_back(first);
  if (options.return_inverse) {
    const Tensor which = cumsum(cast(begins, DType::i64), {.axis = 0}) - std::int64_t{1};
    asked.push_back(
        reshape(scatter_add(zeros({size}, DType::i64), order, which), detail::sizes_of(x)));
  }
  if (options.return_counts) {
    // Where the next one starts, also that of the last, which may be one that is left out.
    const Tensor end = size.tensor();
    Tensor ends;
    if (fixed) {
      const Found more = found_in(function, begins, found.count + 1);
      ends = filled(positions_of(begins, more.count), more, end);
    } else {
      ends = concatenate({starts, reshape(end, {1})}, {.axis = 0});
    }
    asked.push_back(between(ends, 0, 1, found.count + 1) - between(ends, 0, 0, found.count));
  }
  now.reset();
  const Tensor flat = reshape(x, {-1});
  Tensor elements = gather(fixed ? with_one_more(flat, 0) : flat, first);
  if (options.fill_value)
    elements = filled(elements, found,
                      call::filling(function, "fill_value", *options.fill_value, x.dtype()));
  asked.insert(asked.begin(), elements);
  return asked;
}

} // namespace

std::vector<Tensor> unique(const Tensor &x, const UniqueOptions &options) {
  return unique_parts("unique", x, options, true);
}

UniqueAll unique_all(const Tensor &x, const UniqueAllOptions &options) {
  const std::vector<Tensor> parts = unique_parts(
      "unique_all", x,
      {.return_index = true, .return_inverse = true, .return_counts = true, .size = options.size},
      false);
  return {parts[0], parts[1], parts[2], parts[3]};
}

UniqueCounts unique_counts(const Tensor &x, const UniqueCountsOptions &options) {
  const std::vector<Tensor> parts =
      unique_parts("unique_counts", x, {.return_counts = true, .size = options.size}, false);
  return {parts[0], parts[1]};
}

UniqueInverse unique_inverse(const Tensor &x, const UniqueInverseOptions &options) {
  const std::vector<Tensor> parts =
      unique_parts("unique_inverse", x, {.return_inverse = true, .size = options.size}, false);
  return {parts[0], parts[1]};
}

Tensor unique_values(const Tensor &x, const UniqueValuesOptions &options) {
  return unique_parts("unique_values", x, {.size = options.size}, false)[0];
}

} // namespace weft::composites

namespace weft {

Tensor detail::masked(const Tensor &x, const Tensor &mask) {
  const CallBeside site("index", x, std::source_location());
  return composites::compressed({"index", "mask", /*or_none=*/true}, mask, x, 0, {});
}

void composites::check_mask(const Tensor &mask, const Tensor &x, std::int64_t axis, bool or_none) {
  check_fits({"index", "mask", or_none}, mask, x, axis);
}

std::vector<Tensor> detail::mask_positions(const Tensor &x, const Tensor &mask, std::int64_t axis) {
  const CallBeside site("index", x, std::source_location());
  composites::check_mask(mask, x, axis, /*or_none=*/true);
  return composites::nonzero(mask, {});
}

} // namespace weft
