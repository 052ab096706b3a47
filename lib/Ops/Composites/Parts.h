// Parts of tensors along one axis, for functions made of ops.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "OpDefs/SizeWords.h"
#include "Ops/Composites/Composites.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Support/Profile.h"
#include <weft/detail/binding.h>

namespace weft::composites {

/// The most tensors that a call takes apart or joins.
inline constexpr std::int64_t max_parts = std::int64_t{1} << 20;

/// What an index of one axis leaves, of a tensor whose axes before it are whole: x[:, 1:3].
inline Tensor along(const Tensor &x, std::int64_t axis, const Index &index) {
  std::vector<Index> indices(static_cast<std::size_t>(axis), Index(all));
  indices.push_back(index);
  return detail::index_tensor(x, indices);
}

/// How far the next number is above 1 in a dtype that floats are computed in, f32 or f64.
inline double epsilon_of(DType dtype) {
  return dtype == DType::f32 ? std::numeric_limits<float>::epsilon()
                             : std::numeric_limits<double>::epsilon();
}

/// While it lives, what depends on no value of a trace is computed at once: a constant of the
/// trace, whose size is known.
class AtOnce {
public:
  explicit AtOnce(bool constant) {
    if (constant) scope_.emplace(nullptr);
  }

private:
  std::optional<Interpreter::Scope> scope_;
};

/// With a new axis of size 1.
inline Tensor with_axis(const Tensor &x, std::int64_t axis) { return along(x, axis, newaxis); }

/// A result of all elements with as many axes of size 1 as x has.
inline Tensor with_axes_of(const Tensor &x, const Tensor &found) {
  return reshape(found, Ints(static_cast<std::size_t>(x.rank()), 1));
}

/// The axes of a tensor in their order.
inline Ints axes_of(const Tensor &x) {
  Ints axes;
  for (std::int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}

/// The size of an axis, a value where a trace does not know it.
inline Size size_along(const Tensor &x, std::int64_t axis) {
  const std::int64_t size = shape_of(x)[static_cast<std::size_t>(axis)];
  return size != unknown ? Size(size) : Size(size_of(x, {.axis = axis}));
}

/// The size of an axis, to which the trace is pinned where it is for one call.
inline Size pinned_size(const Tensor &x, std::int64_t axis) {
  const std::int64_t size = detail::size_for_call(x, axis);
  return size != unknown ? Size(size) : Size(size_of(x, {.axis = axis}));
}

/// 0, 1, .. below the size of an axis, in i64.
inline Tensor positions_along(const Tensor &x, std::int64_t axis) {
  return iota(DType::i64, {size_along(x, axis)});
}

/// The elements from one position of an axis to before another, both in range.
inline Tensor between(const Tensor &x, std::int64_t axis, const Size &start, const Size &stop) {
  const auto rank = static_cast<std::size_t>(x.rank()), at = static_cast<std::size_t>(axis);
  Sizes starts(Ints(rank, 0)), limits(Ints(rank, -1));
  starts.set(at, start);
  limits.set(at, stop);
  return weft::slice(x, starts, limits, Ints(rank, 1));
}

/// The shape of a tensor for a message, "(3, {})"; the sizes that {} stand for, which only a run
/// knows, join `open`.
inline std::string written(const Tensor &x, std::vector<Tensor> &open) {
  const Shape shape = shape_of(x);
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis)
    if (shape[static_cast<std::size_t>(axis)] == unknown)
      open.push_back(size_of(x, {.axis = axis}));
  return words::with_fields(shape);
}
/// A size for a message, likewise.
inline std::string written(const Size &size, std::vector<Tensor> &open) {
  if (size.is_number()) return std::to_string(size.number());
  open.push_back(size.tensor());
  return "{}";
}

/// Whether the routine of an op may be run here, and a function be done by it in another way than
/// by ops: nobody records them, and the operands are values in host memory.
inline bool runs_here(std::span<const Tensor> operands) {
  return Interpreter::current() == nullptr && !profile::on() &&
         std::ranges::none_of(operands, [](const Tensor &x) { return x.traced(); }) &&
         detail::all_on_cpu(operands);
}

/// What `f` gives of true where that holds, of false elsewhere, which only a run finds: a branch of
/// the program.
template <class F>
std::vector<Tensor> branched(const Tensor &holds, const F &f) {
  const auto body = [&](bool taken) -> detail::Body {
    return [&f, taken](std::span<const Tensor>) { return f(taken); };
  };
  const detail::Body bodies[] = {body(true), body(false)};
  return Interpreter::current()->construct(
      ConstructCall{ConstructKind::branch, "cond", {&holds, 1}, bodies});
}

/// Throws ShapeError with such a message, of which a trace knows enough: the other sizes are None.
[[noreturn]] inline void refuse_shape(std::string text) {
  for (std::size_t at; (at = text.find("{}")) != std::string::npos;) text.replace(at, 2, "None");
  raise(ErrorKind::shape, text);
}

/// Throws ShapeError where there is no element along the axes; the program checks it where a trace
/// does not know their sizes.
void check_not_empty(const char *function, const Tensor &x, const Ints &axes);

/// As `linalg::lstsq`, where singular values up to a part of the largest one count as 0.
linalg::Lstsq least_squares(const char *function, const Tensor &a, const Tensor &b,
                            const Operand &part);

/// The singular values of matrices, the last two axes, descending.
Tensor singular_values(const char *function, const Tensor &x);

/// Throws unless there is a number of a segment for each slice along x's first axis.
void check_segments(const char *function, const Tensor &x, const Tensor &ids, const Size &count);

/// The sizes as `reshape` takes them, -1 where one is not known.
inline Ints sizes_of(const Tensor &x) { return shape_of(x); }

/// Real numbers with the squares of x's: the absolute values of complex ones, and real ones as they
/// are.
inline Tensor real_magnitudes(const Tensor &x) { return is_complex(x.dtype()) ? abs(x) : x; }

/// Throws IndexError, in the words of an index, unless a mask is of the sizes of x from an axis on,
/// or of 0 with `or_none`; the program checks it where a trace does not know them.
void check_mask(const Tensor &mask, const Tensor &x, std::int64_t axis, bool or_none);

} // namespace weft::composites
