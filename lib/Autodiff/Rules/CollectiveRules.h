// Derivative rules of collectives. A cotangent is that of the sum over the ranks of what each of
// them differentiates, so each rule is the transpose of what the op does to the tensors of all
// ranks together. What is the same on all ranks is one value, whose cotangent they all have.
#pragma once

#include "Autodiff/Rules/UnknownSizes.h"

namespace weft::autodiff::rules {

/// A result of an all_reduce with an axis of size 1 where the replicas are in its operand.
template <class E>
typename E::Value along_replicas(E &e, const typename E::Value &value, const Ints &axes) {
  if (axes.empty()) return value;
  const SizeList<typename E::Value> all = sizes_of(e, value);
  SizeList<typename E::Value> sizes;
  std::size_t given = 0;
  for (std::size_t i = 0; i <= all.numbers.size(); ++i) {
    if (static_cast<std::int64_t>(i) == axes[0]) sizes.push_back(1);
    if (i == all.numbers.size()) break;
    if (all.numbers[i] == detail::kDynamic) sizes.push_back(all.values[given++]);
    else sizes.push_back(all.numbers[i]);
  }
  return e.reshape(value, sizes);
}

/// Of `all_reduce_sum`: the sum of the cotangents, for each rank and each replica. Of one value all
/// ranks have the cotangent.
template <class E>
typename E::Value all_reduce_back(E &e, VjpCall<E> &call, std::size_t,
                                  const typename E::Value &cotangent) {
  const AllReduceSumAttrs attrs(call.attrs());
  typename E::Value sum = attrs.same ? e.vary(cotangent, attrs.group)
                                     : e.all_reduce_sum(cotangent, Ints(), 0, attrs.group,
                                                        attrs.mean && attrs.axes.empty());
  if (attrs.axes.empty()) return sum;
  if (attrs.mean)
    sum = e.divide(sum, e.scalar(static_cast<double>(attrs.replicas), call.cotangent_dtype()));
  const Shape &shape = call.operand_type(0).shape;
  const typename E::Value aligned = along_replicas(e, sum, attrs.axes);
  if (shape.is_static()) return e.broadcast(aligned, SizeList<typename E::Value>(shape));
  return e.broadcast(aligned, sizes_of(e, call.shape_witness(0)));
}

/// Which elements are the extremum, and how many there are of it on all ranks together.
template <class E, class Call>
std::pair<typename E::Value, typename E::Value>
extrema_of_ranks(E &e, Call &call, const typename E::Value &x, const typename E::Value &y) {
  const AllReduceExtremumAttrs attrs(call.attrs());
  const typename E::Value chosen = e.equal(x, along_replicas(e, y, attrs.axes));
  return {chosen, e.all_reduce_sum(e.cast(chosen, call.cotangent_dtype()), attrs.axes,
                                   attrs.replicas, attrs.group)};
}

/// Of `all_reduce_max` and `all_reduce_min`: the sum of the cotangents, shared equally by all
/// elements that are the extremum.
template <class E>
typename E::Value all_reduce_extremum_back(E &e, VjpCall<E> &call, std::size_t,
                                           const typename E::Value &x, const typename E::Value &y,
                                           const typename E::Value &cotangent) {
  const AllReduceExtremumAttrs attrs(call.attrs());
  const auto [chosen, count] = extrema_of_ranks(e, call, x, y);
  const typename E::Value sum = e.all_reduce_sum(cotangent, Ints(), 0, attrs.group);
  return e.select(chosen, along_replicas(e, e.divide(sum, count), attrs.axes),
                  e.scalar(0, call.cotangent_dtype()));
}

/// Of the same: the mean of the tangents of the elements that are the extremum.
template <class E>
typename E::Value
all_reduce_extremum_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                            const typename E::Value &y, const typename E::Value &tangent) {
  const AllReduceExtremumAttrs attrs(call.attrs());
  const auto [chosen, count] = extrema_of_ranks(e, call, x, y);
  const typename E::Value moved = e.select(chosen, tangent, e.scalar(0, call.cotangent_dtype()));
  return e.divide(e.all_reduce_sum(moved, attrs.axes, attrs.replicas, attrs.group), count);
}

/// Of `reduce_scatter_sum`: each rank's part has its cotangent from the rank that got it.
template <class E>
typename E::Value reduce_scatter_back(E &e, VjpCall<E> &call, std::size_t,
                                      const typename E::Value &cotangent) {
  const ReduceScatterSumAttrs attrs(call.attrs());
  const typename E::Value all = e.all_gather(cotangent, attrs.axis, attrs.ranks, attrs.group);
  if (!attrs.mean) return all;
  return e.divide(all, e.scalar(static_cast<double>(attrs.ranks), call.cotangent_dtype()));
}

/// Which elements are the extremum, and how many there are of it for each of this rank's part.
template <class E, class Call>
std::pair<typename E::Value, typename E::Value>
extrema_of_parts(E &e, Call &call, const typename E::Value &x, const typename E::Value &y) {
  const ReduceScatterExtremumAttrs attrs(call.attrs());
  const typename E::Value chosen =
      e.equal(x, e.all_gather(y, attrs.axis, attrs.ranks, attrs.group));
  return {chosen, e.reduce_scatter_sum(e.cast(chosen, call.cotangent_dtype()), attrs.axis,
                                       attrs.ranks, attrs.group)};
}

/// Of `reduce_scatter_max` and `reduce_scatter_min`: the cotangents of all parts, each shared
/// equally by all elements that are the extremum.
template <class E>
typename E::Value
reduce_scatter_extremum_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                             const typename E::Value &y, const typename E::Value &cotangent) {
  const ReduceScatterExtremumAttrs attrs(call.attrs());
  const auto [chosen, count] = extrema_of_parts(e, call, x, y);
  return e.select(chosen,
                  e.all_gather(e.divide(cotangent, count), attrs.axis, attrs.ranks, attrs.group),
                  e.scalar(0, call.cotangent_dtype()));
}

/// Of the same: the mean of the tangents of the elements that are the extremum.
template <class E>
typename E::Value
reduce_scatter_extremum_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                                const typename E::Value &y, const typename E::Value &tangent) {
  const ReduceScatterExtremumAttrs attrs(call.attrs());
  const auto [chosen, count] = extrema_of_parts(e, call, x, y);
  const typename E::Value moved = e.select(chosen, tangent, e.scalar(0, call.cotangent_dtype()));
  return e.divide(e.reduce_scatter_sum(moved, attrs.axis, attrs.ranks, attrs.group), count);
}

/// Of `all_gather`: the sum over the ranks of what they have as the cotangent of this rank's part.
/// Of one value all ranks have the cotangent.
template <class E>
typename E::Value all_gather_back(E &e, VjpCall<E> &call, std::size_t,
                                  const typename E::Value &cotangent) {
  const AllGatherAttrs attrs(call.attrs());
  if (attrs.same) return e.slice_own(cotangent, attrs.axis, attrs.ranks, attrs.group);
  return e.reduce_scatter_sum(cotangent, attrs.axis, attrs.ranks, attrs.group);
}

/// Of `vary`: the value has a part in what each rank does with it.
template <class E>
typename E::Value vary_back(E &e, VjpCall<E> &call, std::size_t,
                            const typename E::Value &cotangent) {
  const VaryAttrs attrs(call.attrs());
  return e.all_reduce_sum(cotangent, Ints(), 0, attrs.group, /*mean=*/false, /*same=*/true);
}

/// Of `shard`: the same parts of the cotangent.
template <class E>
typename E::Value shard_back(E &e, VjpCall<E> &call, std::size_t,
                             const typename E::Value &cotangent) {
  const ShardAttrs attrs(call.attrs());
  return e.shard(cotangent, attrs.cut, attrs.over, attrs.mesh, attrs.first, attrs.group);
}

/// Of `slice_own`: the parts of all ranks.
template <class E>
typename E::Value slice_own_back(E &e, VjpCall<E> &call, std::size_t,
                                 const typename E::Value &cotangent) {
  const SliceOwnAttrs attrs(call.attrs());
  return e.all_gather(cotangent, attrs.axis, attrs.ranks, attrs.group, /*same=*/true);
}

/// Of `all_to_all`: the way back.
template <class E>
typename E::Value all_to_all_back(E &e, VjpCall<E> &call, std::size_t,
                                  const typename E::Value &cotangent) {
  const AllToAllAttrs attrs(call.attrs());
  return e.all_to_all(cotangent, attrs.concat_axis, attrs.split_axis, attrs.ranks, attrs.group);
}

/// Of `broadcast_rank`: the sum of the cotangents, at the root, which a permutation leaves there
/// alone: who is the root is known only when the program runs.
template <class E>
typename E::Value broadcast_rank_back(E &e, VjpCall<E> &call, std::size_t,
                                      const typename E::Value &cotangent) {
  const BroadcastRankAttrs attrs(call.attrs());
  return e.permute_ranks(e.all_reduce_sum(cotangent, Ints(), 0, attrs.group),
                         Ints{attrs.root, attrs.root}, attrs.group);
}

/// Of `permute_ranks`: each cotangent goes back to where the tensor came from.
template <class E>
typename E::Value permute_ranks_back(E &e, VjpCall<E> &call, std::size_t,
                                     const typename E::Value &cotangent) {
  const PermuteRanksAttrs attrs(call.attrs());
  Ints back = attrs.pairs;
  for (std::size_t i = 0; i + 1 < back.size(); i += 2) std::swap(back[i], back[i + 1]);
  return e.permute_ranks(cotangent, back, attrs.group);
}

} // namespace weft::autodiff::rules
