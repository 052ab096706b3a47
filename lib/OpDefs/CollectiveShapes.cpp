// Shape functions of collectives, of which each rank knows its own tensor.
#include "OpDefs/ShapeFunctions.h"

#include <algorithm>
#include <concepts>
#include <string>

namespace weft::shapes {

namespace {

std::string text(std::integral auto number) { return std::to_string(number); }

/// A fault unless there can be so many ranks.
Check check_ranks(std::int64_t ranks) {
  if (ranks >= 1) return std::nullopt;
  return Fault{ErrorKind::value, "there are " + text(ranks) + " ranks: at least one is wanted"};
}

/// A fault where a mean is asked for of what has none.
Check check_mean(bool mean, DType dtype) {
  if (!mean || is_inexact(dtype)) return std::nullopt;
  return Fault{ErrorKind::dtype,
               "a mean wants floating-point numbers, not " + std::string(name_of(dtype))};
}

/// Cuts an axis into as many parts as there are ranks, after the check that it can be.
Check cut(Shape &shape, std::int64_t axis, std::int64_t ranks) {
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  if (size == unknown) return std::nullopt;
  if (size % ranks != 0)
    return Fault{ErrorKind::shape, "axis " + text(axis) + " of x has size " + text(size) +
                                       ", which is no multiple of the " + text(ranks) +
                                       " ranks: the next are " + text(size / ranks * ranks) +
                                       " and " + text((size / ranks + 1) * ranks)};
  shape[static_cast<std::size_t>(axis)] = size / ranks;
  return std::nullopt;
}

/// Makes an axis as many times as long as there are ranks.
Check join(Shape &shape, std::int64_t axis, std::int64_t ranks) {
  std::int64_t &size = shape[static_cast<std::size_t>(axis)];
  if (size == unknown || !__builtin_mul_overflow(size, ranks, &size)) return std::nullopt;
  return Fault{ErrorKind::shape,
               "the sizes of axis " + text(axis) + " of all ranks add up to more than 2^63 - 1"};
}

Result<TensorType> sized(DType dtype, Shape shape) {
  if (Result<std::int64_t> count = element_count(shape, item_size(dtype)); !count)
    return count.fault();
  return TensorType{dtype, std::move(shape)};
}

Result<TensorType> all_reduced(const TensorType &x, const Ints &axes, std::int64_t replicas) {
  if (axes.empty()) {
    if (replicas == 0) return x;
    return Fault{ErrorKind::value, "there are " + text(replicas) +
                                       " replicas, and no axis along which this rank's stand"};
  }
  if (axes.size() != 1)
    return Fault{ErrorKind::value, "replicas stand along one axis, and there are " +
                                       text(static_cast<std::int64_t>(axes.size()))};
  if (replicas < 1)
    return Fault{ErrorKind::value,
                 "there are " + text(replicas) + " replicas: at least one is wanted"};
  if (Check fault = check_axis(axes[0], x.shape, "x")) return *fault;
  Shape rest;
  for (std::int64_t i = 0; i < x.shape.rank(); ++i)
    if (i != axes[0]) rest.push_back(x.shape[static_cast<std::size_t>(i)]);
  return TensorType{x.dtype, std::move(rest)};
}

} // namespace

Result<TensorType> all_reduce(const InferContext &call) {
  if (call.op == OpCode::all_reduce_sum) {
    const AllReduceSumAttrs attrs(call.attrs);
    if (Check fault = check_mean(attrs.mean, call.operands[0].dtype)) return *fault;
    if (attrs.mean && attrs.same)
      return Fault{ErrorKind::value,
                   "same is of sums: ask for one, and divide it by how many there "
                   "are for a mean"};
    return all_reduced(call.operands[0], attrs.axes, attrs.replicas);
  }
  const AllReduceExtremumAttrs attrs(call.attrs);
  return all_reduced(call.operands[0], attrs.axes, attrs.replicas);
}

/// A rank's part of x along an axis.
static Result<TensorType> part_of(TensorType x, std::int64_t axis, std::int64_t ranks) {
  if (Check fault = check_ranks(ranks)) return *fault;
  if (Check fault = check_axis(axis, x.shape, "x")) return *fault;
  if (Check fault = cut(x.shape, axis, ranks)) return *fault;
  return x;
}

Result<TensorType> reduce_scatter(const InferContext &call) {
  const TensorType &x = call.operands[0];
  std::int64_t axis = 0, ranks = 0;
  if (call.op == OpCode::reduce_scatter_sum) {
    const ReduceScatterSumAttrs attrs(call.attrs);
    if (Check fault = check_mean(attrs.mean, x.dtype)) return *fault;
    axis = attrs.axis;
    ranks = attrs.ranks;
  } else {
    const ReduceScatterExtremumAttrs attrs(call.attrs);
    axis = attrs.axis;
    ranks = attrs.ranks;
  }
  return part_of(x, axis, ranks);
}

Result<TensorType> all_gather(const InferContext &call) {
  const AllGatherAttrs attrs(call.attrs);
  TensorType x = call.operands[0];
  if (Check fault = check_ranks(attrs.ranks)) return *fault;
  if (Check fault = check_axis(attrs.axis, x.shape, "x")) return *fault;
  if (Check fault = join(x.shape, attrs.axis, attrs.ranks)) return *fault;
  return sized(x.dtype, std::move(x.shape));
}

Result<TensorType> slice_own(const InferContext &call) {
  const SliceOwnAttrs attrs(call.attrs);
  return part_of(call.operands[0], attrs.axis, attrs.ranks);
}

Result<TensorType> shard(const InferContext &call) {
  const ShardAttrs attrs(call.attrs);
  const TensorType &x = call.operands[0];
  if (attrs.cut.size() != attrs.over.size())
    return Fault{ErrorKind::value, text(attrs.cut.size()) + " axes are cut, over " +
                                       text(attrs.over.size()) + " sets of axes of the mesh"};
  if (attrs.mesh.empty() || attrs.mesh.size() > 8)
    return Fault{ErrorKind::value,
                 "the mesh has " + text(attrs.mesh.size()) + " axes: from 1 to 8 are wanted"};
  for (const std::int64_t size : attrs.mesh)
    if (Check fault = check_ranks(size)) return *fault;
  std::int64_t taken = 0;
  Shape parts = x.shape;
  for (std::size_t i = 0; i < attrs.cut.size(); ++i) {
    const std::int64_t axis = attrs.cut[i], over = attrs.over[i];
    if (Check fault = check_axis(axis, x.shape, "x")) return *fault;
    if (over < 1 || over >= std::int64_t{1} << attrs.mesh.size())
      return Fault{ErrorKind::value, "axis " + text(axis) + " of x is cut over the set " +
                                         text(over) + " of axes, which a mesh of " +
                                         text(attrs.mesh.size()) + " axes has not"};
    if ((taken & over) != 0 || std::ranges::count(attrs.cut, axis) != 1)
      return Fault{ErrorKind::value, "axis " + text(axis) + " of x is cut over an axis of the " +
                                         "mesh that cuts another one, or it is cut twice"};
    taken |= over;
    std::int64_t ranks = 1;
    for (std::size_t j = 0; j < attrs.mesh.size(); ++j)
      if ((over >> j & 1) != 0) ranks *= attrs.mesh[j];
    if (Check fault = cut(parts, axis, ranks)) return *fault;
  }
  return x;
}

Result<TensorType> all_to_all(const InferContext &call) {
  const AllToAllAttrs attrs(call.attrs);
  TensorType x = call.operands[0];
  if (Check fault = check_ranks(attrs.ranks)) return *fault;
  if (Check fault = check_axis(attrs.split_axis, x.shape, "x")) return *fault;
  if (Check fault = check_axis(attrs.concat_axis, x.shape, "x")) return *fault;
  if (Check fault = cut(x.shape, attrs.split_axis, attrs.ranks)) return *fault;
  if (Check fault = join(x.shape, attrs.concat_axis, attrs.ranks)) return *fault;
  return x;
}

Result<TensorType> as_the_other_ranks(const InferContext &call) {
  if (const std::int64_t root = BroadcastRankAttrs(call.attrs).root; root < 0)
    return Fault{ErrorKind::index, "root " + text(root) + " is no rank"};
  return call.operands[0];
}

Result<TensorType> permute_ranks(const InferContext &call) {
  const Ints &pairs = PermuteRanksAttrs(call.attrs).pairs;
  if (pairs.size() % 2 != 0)
    return Fault{ErrorKind::value, "pairs has " + text(static_cast<std::int64_t>(pairs.size())) +
                                       " ranks: each pair has two"};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] < 0)
      return Fault{ErrorKind::index, "pairs has " + text(pairs[i]) + ", which is no rank"};
    for (std::size_t j = i % 2; j < i; j += 2)
      if (pairs[j] == pairs[i])
        return Fault{ErrorKind::value, "rank " + text(pairs[i]) +
                                           (i % 2 == 0 ? " sends" : " gets") + " twice in pairs"};
  }
  return call.operands[0];
}

} // namespace weft::shapes
