// Functions that join tensors and take them apart.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <string>

namespace weft::composites {

namespace {

/// Each of the tensors after a change.
template <class Change>
std::vector<Tensor> each(std::span<const Tensor> xs, const Change &change) {
  std::vector<Tensor> changed;
  for (const Tensor &x : xs) changed.push_back(change(x));
  return changed;
}

Tensor joined(const std::vector<Tensor> &parts, std::int64_t axis) {
  return concatenate(std::span<const Tensor>(parts), {.axis = axis});
}

/// The parts between the positions of an axis, as slices count them.
std::vector<Tensor> cut(const Tensor &x, std::int64_t axis, const Sizes &positions) {
  const auto bound = [&](std::size_t i) -> detail::SliceBound {
    const Size at = positions[i];
    if (at.is_number()) return at.number();
    return at.value();
  };
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i <= positions.size(); ++i) {
    const detail::SliceBound start = i == 0 ? std::int64_t{0} : bound(i - 1),
                             stop = i < positions.size() ? bound(i) : std::nullopt;
    const auto *first = std::get_if<std::int64_t>(&*start),
               *last = stop ? std::get_if<std::int64_t>(&*stop) : nullptr;
    if (first == nullptr || (stop && last == nullptr)) {
      parts.push_back(detail::slice_between(x, axis, start, stop, 1));
      continue;
    }
    Slice part;
    part.start = *first;
    if (last != nullptr) part.stop = *last;
    parts.push_back(along(x, axis, part));
  }
  return parts;
}

std::vector<Tensor> parts_of(const char *function, const Tensor &x, const Sections &sections,
                             std::int64_t axis) {
  if (!sections.count()) return cut(x, axis, sections.positions());
  const std::int64_t count = *sections.count();
  const auto fail = [&](ErrorKind kind, const std::string &what) {
    raise(kind, std::string(function) + ": " + what);
  };
  if (count < 1) fail(ErrorKind::value, std::to_string(count) + " parts: there is at least 1");
  const Size whole = size_along(x, axis);
  const auto unequal = [&](const std::string &size) {
    return "axis " + std::to_string(axis) + " of size " + size + " is not " +
           std::to_string(count) + " equal parts";
  };
  if (std::string_view(function) == "split") {
    if (whole.is_number() && whole.number() % count != 0)
      fail(ErrorKind::shape, unequal(std::to_string(whole.number())));
    const Tensor size = whole.value();
    if (!whole.is_number() && count > 1)
      detail::check_sizes(equal((whole % count).value(), std::int64_t{0}),
                          std::string(function) + ": " + unequal("{}"), {&size, 1});
  }
  if (count > max_parts)
    fail(ErrorKind::value,
         std::to_string(count) + " parts: there are at most " + std::to_string(max_parts));
  const Size least = whole / count, larger = whole % count;
  std::vector<Tensor> parts;
  Size start = 0;
  for (std::int64_t i = 1; i <= count; ++i) {
    const Size stop = i == count ? whole : least * i + min(larger, i);
    parts.push_back(between(x, axis, start, stop));
    start = stop;
  }
  return parts;
}

} // namespace

Tensor concat(std::span<const Tensor> xs, std::optional<std::int64_t> axis) {
  if (axis) return weft::concatenate(xs, {.axis = *axis});
  return joined(each(xs, [](const Tensor &x) { return reshape(x, {-1}); }), 0);
}

Tensor stack(std::span<const Tensor> xs, std::int64_t axis) {
  const std::int64_t rank = xs[0].rank(), at = call::checked_axis("stack", "axis", axis, rank + 1);
  for (std::size_t i = 1; i < xs.size(); ++i)
    if (xs[i].rank() != rank)
      raise(ErrorKind::shape, "stack: all tensors are of one shape, but xs[0] has the shape " +
                                  to_string(shape_of(xs[0])) + " and xs[" + std::to_string(i) +
                                  "] " + to_string(shape_of(xs[i])));
  return joined(each(xs, [&](const Tensor &x) { return with_axis(x, at); }), at);
}

Tensor vstack(std::span<const Tensor> xs) { return joined(each(xs, atleast_2d), 0); }

Tensor hstack(std::span<const Tensor> xs) {
  const std::vector<Tensor> parts = each(xs, atleast_1d);
  return joined(parts, parts[0].rank() > 1 ? 1 : 0);
}

Tensor dstack(std::span<const Tensor> xs) {
  return joined(each(xs,
                     [](const Tensor &x) {
                       const Tensor rows = atleast_2d(x);
                       return rows.rank() == 2 ? with_axis(rows, 2) : rows;
                     }),
                2);
}

Tensor column_stack(std::span<const Tensor> xs) {
  return joined(each(xs,
                     [](const Tensor &x) {
                       const Tensor column = atleast_1d(x);
                       return column.rank() == 1 ? with_axis(column, 1) : column;
                     }),
                1);
}

std::vector<Tensor> split(const Tensor &x, Sections sections, std::int64_t axis) {
  return parts_of("split", x, sections, axis);
}

std::vector<Tensor> array_split(const Tensor &x, Sections sections, std::int64_t axis) {
  return parts_of("array_split", x, sections, axis);
}

std::vector<Tensor> unstack(const Tensor &x, std::int64_t axis) {
  const std::int64_t count = detail::size_for_call(x, axis);
  if (count == unknown)
    raise(ErrorKind::shape,
          "unstack: the size of axis " + std::to_string(axis) + " is not known yet");
  if (count > max_parts)
    raise(ErrorKind::value, "unstack: axis " + std::to_string(axis) + " of size " +
                                std::to_string(count) + ": there are at most " +
                                std::to_string(max_parts) + " parts");
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < count; ++i) parts.push_back(along(x, axis, i));
  return parts;
}

} // namespace weft::composites
