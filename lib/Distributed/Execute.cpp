// What each collective does with a tensor on the host.
#include "Distributed/Execute.h"

#include <algorithm>
#include <cstring>

#include "Distributed/Call.h"
#include "Distributed/Reduce.h"
#include "OpDefs/CollectiveSymbol.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Fault.h"
#include <weft/composites.h>
#include <weft/ops.h>

namespace weft::distributed {

using weft::detail::new_tensor;

namespace {

const char *name_of_reduction(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum: return "sum";
  case Reduction::mean: return "mean";
  case Reduction::max: return "max";
  case Reduction::min: return "min";
  }
  return "?";
}

std::vector<std::int64_t> sizes_of(const Tensor &tensor) {
  const std::span<const std::int64_t> sizes = tensor.impl()->sizes();
  return {sizes.begin(), sizes.end()};
}
std::byte *data_of(const Tensor &tensor) { return tensor.impl()->data; }
std::size_t bytes_of(const Tensor &tensor) {
  return static_cast<std::size_t>(tensor.impl()->size) * item_size(tensor.dtype());
}
std::size_t elements_of(const Tensor &tensor) {
  return static_cast<std::size_t>(tensor.impl()->size);
}

/// An axis from 0.
std::int64_t checked_axis(const char *function, const Tensor &x, std::int64_t axis,
                          const char *word) {
  const std::int64_t rank = x.rank();
  if (axis < -rank || axis >= rank)
    raise(ErrorKind::index, std::string(function) + ": " + word + " " + std::to_string(axis) +
                                " is out of range for x of shape " + to_string(x.shape()) +
                                (rank == 0 ? ": a scalar has no axis, reshape it to (1,)" : ""));
  return axis < 0 ? axis + rank : axis;
}

void check_divides(const char *function, const Tensor &x, std::int64_t axis, std::int64_t ranks) {
  const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
  if (size % ranks != 0)
    raise(ErrorKind::shape, std::string(function) + ": axis " + std::to_string(axis) +
                                " of x has size " + std::to_string(size) +
                                ", which is no multiple of the " + std::to_string(ranks) +
                                " ranks: the next are " + std::to_string(size / ranks * ranks) +
                                " and " + std::to_string((size / ranks + 1) * ranks));
}

Tensor axis_to_front(const Tensor &x, std::int64_t axis) {
  return axis == 0 ? x : moveaxis(x, axis, 0).contiguous();
}
Tensor axis_from_front(const Tensor &x, std::int64_t axis) {
  return axis == 0 ? x : moveaxis(x, 0, axis).contiguous();
}

/// A sum as the mean over so many.
Tensor divided(const Tensor &sum, std::int64_t count) {
  return divide(sum, full({}, count, sum.dtype()));
}

Tensor reduced(Call &call, const Tensor &host, Reduction reduction, std::int64_t replicas,
               const Shape &shape, const std::string &arguments) {
  Tensor result = new_tensor(host.dtype(), shape);
  call.keep(result);
  reduce(call, {.dtype = host.dtype(), .shape = shape, .arguments = arguments},
         {.dtype = host.dtype(),
          .reduction = reduction,
          .replicas = replicas,
          .elements = elements_of(result),
          .own = data_of(host)},
         data_of(result));
  return reduction == Reduction::mean && replicas > 1 ? divided(result, replicas) : result;
}

Tensor all_reduce(Call &call, const Tensor &host, Reduction reduction) {
  const Combiner checked(call.function(), reduction, host.dtype());
  if (call.size() == 1) return host;
  return reduced(call, host, reduction, call.size(), host.shape(),
                 std::string("reduction = ") + name_of_reduction(reduction));
}

Tensor all_reduce_replicas(Call &call, const Tensor &x, Reduction reduction, std::int64_t axis,
                           std::int64_t replicas) {
  const Tensor host = axis_to_front(x, axis);
  call.keep(host);
  const auto [begin, end] = share_of(replicas, call.rank(), call.size());
  const Shape shape = host.shape();
  if (shape.empty() || shape[0] != end - begin)
    raise(ErrorKind::shape,
          std::string(call.function()) + ": x has the shape " + to_string(shape) + ", and rank " +
              std::to_string(call.rank()) + " has " + std::to_string(end - begin) + " of the " +
              std::to_string(replicas) + " replicas, which stand along the first axis");
  const Combiner checked(call.function(), reduction, host.dtype());
  std::vector<std::int64_t> rest(shape.begin() + 1, shape.end());
  return reduced(call, host, reduction, replicas, Shape(rest),
                 std::string("reduction = ") + name_of_reduction(reduction) +
                     ", replicas = " + std::to_string(replicas));
}

Tensor reduce_scatter(Call &call, const Tensor &host, Reduction reduction, std::int64_t axis) {
  const std::int64_t along = checked_axis(call.function(), host, axis, "axis");
  check_divides(call.function(), host, along, call.size());
  const Combiner checked(call.function(), reduction, host.dtype());
  if (call.size() == 1) return host;
  const Tensor front = axis_to_front(host, along);
  call.keep(front);
  std::vector<std::int64_t> sizes = sizes_of(front);
  sizes[0] /= call.size();
  Tensor part = new_tensor(host.dtype(), sizes);
  call.keep(part);
  std::vector<std::size_t> ends;
  for (int rank = 1; rank <= call.size(); ++rank)
    ends.push_back(elements_of(part) * static_cast<std::size_t>(rank));
  reduce(call,
         {.dtype = host.dtype(),
          .shape = host.shape(),
          .arguments = std::string("reduction = ") + name_of_reduction(reduction) +
                       ", axis = " + std::to_string(along)},
         {.dtype = host.dtype(),
          .reduction = reduction,
          .replicas = call.size(),
          .elements = elements_of(front),
          .own = data_of(front),
          .ends = std::move(ends)},
         data_of(part));
  if (reduction == Reduction::mean) part = divided(part, call.size());
  return axis_from_front(part, along);
}

Tensor gather_all(Call &call, const Tensor &host, std::int64_t axis) {
  const std::int64_t along = checked_axis(call.function(), host, axis, "axis");
  if (call.size() == 1) return host;
  const Tensor front = axis_to_front(host, along);
  call.keep(front);
  std::vector<std::int64_t> sizes = sizes_of(front);
  sizes[0] *= call.size();
  const Tensor result = new_tensor(host.dtype(), sizes);
  call.keep(result);
  const std::size_t bytes = bytes_of(front);
  const auto at = [&](int rank) {
    return data_of(result) + static_cast<std::size_t>(rank) * bytes;
  };
  const bool small = bytes <= kSmall;
  const std::string_view with(reinterpret_cast<const char *>(data_of(front)), small ? bytes : 0);
  const std::vector<std::string_view> all =
      call.meet({.dtype = host.dtype(),
                 .shape = host.shape(),
                 .arguments = "axis = " + std::to_string(along)},
                with);
  if (small) {
    for (int i = 0; i < call.size(); ++i)
      std::memcpy(at(i), all[static_cast<std::size_t>(i)].data(), bytes);
  } else {
    for (const int other : call.others()) call.recv(other, at(other), bytes);
    for (const int other : call.others()) call.send(other, data_of(front), bytes);
    std::memcpy(at(call.rank()), data_of(front), bytes);
    call.wait_all();
  }
  return axis_from_front(result, along);
}

Tensor exchange(Call &call, const Tensor &host, std::int64_t split_axis, std::int64_t concat_axis) {
  const std::int64_t split = checked_axis(call.function(), host, split_axis, "split_axis");
  const std::int64_t concat = checked_axis(call.function(), host, concat_axis, "concat_axis");
  check_divides(call.function(), host, split, call.size());
  if (call.size() == 1) return host;
  const Tensor front = axis_to_front(host, split);
  call.keep(front);
  call.meet({.dtype = host.dtype(),
             .shape = host.shape(),
             .arguments = "split_axis = " + std::to_string(split) +
                          ", concat_axis = " + std::to_string(concat)});
  std::vector<std::int64_t> sizes = sizes_of(front);
  sizes[0] /= call.size();
  const std::size_t bytes = bytes_of(front) / static_cast<std::size_t>(call.size());
  std::vector<Tensor> parts;
  for (int i = 0; i < call.size(); ++i) {
    parts.push_back(new_tensor(host.dtype(), sizes));
    call.keep(parts.back());
  }
  const auto part_of = [&](int rank) {
    return data_of(front) + static_cast<std::size_t>(rank) * bytes;
  };
  for (const int other : call.others())
    call.recv(other, data_of(parts[static_cast<std::size_t>(other)]), bytes);
  for (const int other : call.others()) call.send(other, part_of(other), bytes);
  std::memcpy(data_of(parts[static_cast<std::size_t>(call.rank())]), part_of(call.rank()), bytes);
  call.wait_all();
  for (Tensor &part : parts) part = axis_from_front(part, split);
  return concatenate(parts, concat);
}

Tensor broadcast(Call &call, const Tensor &host, int root) {
  if (call.size() == 1) return host;
  const bool is_root = call.rank() == root;
  const std::size_t bytes = bytes_of(host);
  const bool small = bytes <= kSmall;
  const std::string_view with(reinterpret_cast<const char *>(data_of(host)),
                              small && is_root ? bytes : 0);
  const std::vector<std::string_view> all = call.meet(
      {.dtype = host.dtype(), .shape = host.shape(), .arguments = "root = " + std::to_string(root)},
      with);
  if (is_root && small) return host;
  const Tensor result = is_root ? host : new_tensor(host.dtype(), host.shape());
  call.keep(result);
  if (small) {
    std::memcpy(data_of(result), all[static_cast<std::size_t>(root)].data(), bytes);
    return result;
  }
  // The root sends each rank a share, which passes it on: of many ranks the root sends twice the
  // bytes, not as often as there are ranks.
  const auto share = [&](int rank) {
    const auto [begin, end] = share_of(static_cast<std::int64_t>(bytes), rank, call.size());
    return std::pair(data_of(result) + begin, static_cast<std::size_t>(end - begin));
  };
  std::size_t own = 0;
  if (is_root) {
    for (const int other : call.others()) {
      const auto [at, count] = share(other);
      call.send(other, at, count);
    }
    const auto [at, count] = share(root);
    for (const int other : call.others()) call.send(other, at, count);
  } else {
    const auto [at, count] = share(call.rank());
    own = call.recv(root, at, count);
    const auto [at_root, count_root] = share(root);
    call.recv(root, at_root, count_root);
    for (const int other : call.others())
      if (other != root) {
        const auto [at_other, count_other] = share(other);
        call.recv(other, at_other, count_other);
      }
    call.wait(own);
    for (const int other : call.others())
      if (other != root) call.send(other, at, count);
  }
  call.wait_all();
  return result;
}

Tensor permute(Call &call, const Tensor &host, const Ints &pairs) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted; // in whose order nothing lies
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) sorted.emplace_back(pairs[i], pairs[i + 1]);
  std::ranges::sort(sorted);
  std::string text = "pairs = ";
  int source = -1, target = -1;
  for (const auto &[from, to] : sorted) {
    if (to == call.rank()) source = static_cast<int>(from);
    if (from == call.rank()) target = static_cast<int>(to);
    text += "(" + std::to_string(from) + ", " + std::to_string(to) + ")";
  }
  const std::size_t bytes = bytes_of(host);
  call.meet({.dtype = host.dtype(), .shape = host.shape(), .arguments = text});
  if (source == call.rank()) return host; // which sends to itself
  const Tensor result = new_tensor(host.dtype(), host.shape());
  call.keep(result);
  if (source >= 0) call.recv(source, data_of(result), bytes);
  else std::memset(data_of(result), 0, bytes);
  if (target >= 0) call.send(target, data_of(host), bytes);
  call.wait_all();
  return result;
}

void check_rank(const char *function, std::int64_t rank, int size, const char *word) {
  if (rank < 0 || rank >= size)
    raise(ErrorKind::index, std::string(function) + ": " + word + " " + std::to_string(rank) +
                                " is no rank of a group of " + std::to_string(size));
}

void check_pairs(const char *function, const Ints &pairs, int size) {
  std::vector<bool> sends(static_cast<std::size_t>(size)), gets(sends.size());
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    check_rank(function, pairs[i], size, "pairs has");
    check_rank(function, pairs[i + 1], size, "pairs has");
    const auto from = static_cast<std::size_t>(pairs[i]),
               to = static_cast<std::size_t>(pairs[i + 1]);
    if (sends[from] || gets[to])
      raise(ErrorKind::value, std::string(function) + ": rank " +
                                  std::to_string(sends[from] ? from : to) +
                                  (sends[from] ? " sends" : " gets") + " twice in pairs");
    sends[from] = gets[to] = true;
  }
}

/// The number of an attribute, or 0 where the op has none of that name.
std::int64_t number_in(OpCode op, const Attrs &attrs, std::string_view name) {
  const Attr *const attr = attr_of(op, attrs, name);
  return attr == nullptr ? 0 : std::get<std::int64_t>(*attr);
}

/// Over the ranks, or over the replicas that they have along an axis.
Tensor reduced(Call &call, const Tensor &host, Reduction reduction, const Ints &axes,
               std::int64_t replicas) {
  if (axes.empty()) return all_reduce(call, host, reduction);
  return all_reduce_replicas(call, host, reduction, axes[0], replicas);
}

/// What does each op, by its name.
namespace does {

Reduction sum_or_mean(bool mean) { return mean ? Reduction::mean : Reduction::sum; }

Tensor all_reduce_sum(Call &call, const Tensor &host, const Attrs &given) {
  const AllReduceSumAttrs attrs(given);
  return reduced(call, host, sum_or_mean(attrs.mean), attrs.axes, attrs.replicas);
}
Tensor all_reduce_max(Call &call, const Tensor &host, const Attrs &given) {
  const AllReduceExtremumAttrs attrs(given);
  return reduced(call, host, Reduction::max, attrs.axes, attrs.replicas);
}
Tensor all_reduce_min(Call &call, const Tensor &host, const Attrs &given) {
  const AllReduceExtremumAttrs attrs(given);
  return reduced(call, host, Reduction::min, attrs.axes, attrs.replicas);
}
Tensor reduce_scatter_sum(Call &call, const Tensor &host, const Attrs &given) {
  const ReduceScatterSumAttrs attrs(given);
  return reduce_scatter(call, host, sum_or_mean(attrs.mean), attrs.axis);
}
Tensor reduce_scatter_max(Call &call, const Tensor &host, const Attrs &given) {
  return reduce_scatter(call, host, Reduction::max, ReduceScatterExtremumAttrs(given).axis);
}
Tensor reduce_scatter_min(Call &call, const Tensor &host, const Attrs &given) {
  return reduce_scatter(call, host, Reduction::min, ReduceScatterExtremumAttrs(given).axis);
}
Tensor all_gather(Call &call, const Tensor &host, const Attrs &given) {
  return gather_all(call, host, AllGatherAttrs(given).axis);
}
Tensor all_to_all(Call &call, const Tensor &host, const Attrs &given) {
  const AllToAllAttrs attrs(given);
  return exchange(call, host, attrs.split_axis, attrs.concat_axis);
}
Tensor broadcast_rank(Call &call, const Tensor &host, const Attrs &given) {
  return broadcast(call, host, static_cast<int>(BroadcastRankAttrs(given).root));
}
Tensor permute_ranks(Call &call, const Tensor &host, const Attrs &given) {
  return permute(call, host, PermuteRanksAttrs(given).pairs);
}
Tensor vary(const detail::GroupState &, const Tensor &x, const Attrs &) { return x; }
Tensor shard(const detail::GroupState &, const Tensor &x, const Attrs &) { return x; }
Tensor slice_own(const detail::GroupState &group, const Tensor &x, const Attrs &given) {
  const std::int64_t axis = checked_axis("split", x, SliceOwnAttrs(given).axis, "axis");
  check_divides("split", x, axis, group.size());
  return weft::split(x, group.size(), axis)[static_cast<std::size_t>(group.rank)];
}
Tensor rank_barrier(Call &call, const Tensor &, const Attrs &) {
  call.meet({.has_tensor = false});
  return {};
}

} // namespace does

/// What does an op: all ranks together, with tensors on the host, or each by itself, where its
/// tensor is.
struct Row {
  using Together = Tensor(Call &, const Tensor &, const Attrs &);
  using Alone = Tensor(const detail::GroupState &, const Tensor &, const Attrs &);
  constexpr Row(OpCode op, const char *function, Together *does)
      : op(op), function(function), together(does) {}
  constexpr Row(OpCode op, const char *function, Alone *does)
      : op(op), function(function), alone(does) {}

  OpCode op;
  const char *function;
  Together *together = nullptr;
  Alone *alone = nullptr;
};

const Row &row_of(OpCode op) {
  static constexpr Row rows[] = {
#define WEFT_COLLECTIVE(collective, function, same)                                                \
  {OpCode::collective, #function, &does::collective},
#include "Collectives.inc"
#undef WEFT_COLLECTIVE
  };
  return *std::ranges::find(rows, op, &Row::op);
}

} // namespace

const char *function_of(OpCode op, const Attrs &attrs) {
  const Attr *const axes = attr_of(op, attrs, "axes");
  return axes == nullptr || std::get<Ints>(*axes).empty() ? row_of(op).function
                                                          : "all_reduce_replicas";
}

bool sends(OpCode op) { return row_of(op).together != nullptr; }

void check_arguments(OpCode op, const Attrs &attrs, const detail::GroupState &group) {
  const char *const function = function_of(op, attrs);
  const int size = group.size();
  if (const std::int64_t ranks = number_in(op, attrs, "ranks"); ranks != 0 && ranks != size)
    raise(ErrorKind::state, std::string(function) + ": the program was made for a group of " +
                                std::to_string(ranks) + " ranks, and there are " +
                                std::to_string(size) + ": trace it again");
  if (const Attr *const root = attr_of(op, attrs, "root"))
    check_rank(function, std::get<std::int64_t>(*root), size, "root");
  if (const Attr *const pairs = attr_of(op, attrs, "pairs"))
    check_pairs(function, std::get<Ints>(*pairs), size);
  const Attr *const axes = attr_of(op, attrs, "axes");
  if (axes == nullptr || std::get<Ints>(*axes).empty()) return;
  if (const std::int64_t replicas = number_in(op, attrs, "replicas"); replicas < size)
    raise(ErrorKind::value, std::string(function) + ": replicas is " + std::to_string(replicas) +
                                " and there are " + std::to_string(size) +
                                " ranks: there must be as many replicas, or more");
}

Tensor execute(OpCode op, const Attrs &attrs, const Group &group, const Tensor &x,
               const std::source_location &where) {
  const Interpreter::Scope nobody(nullptr);
  const Row &row = row_of(op);
  const auto check_ended = [&] {
    if (x.traced())
      raise(ErrorKind::state,
            std::string(function_of(op, attrs)) + ": x is a tensor of a trace that has ended");
  };
  if (row.alone != nullptr) {
    const CompositeCall site(row.function, where);
    check_ended();
    check_arguments(op, attrs, *group.state());
    return row.alone(*group.state(), x, attrs);
  }
  Call call(function_of(op, attrs), group, where);
  check_arguments(op, attrs, call.group());
  if (const Attr *const same = attr_of(op, attrs, "same"); same != nullptr && std::get<bool>(*same))
    call.adds_argument("same");
  if (!x.defined()) return row.together(call, x, attrs);
  check_ended();
  const Tensor host = weft::detail::on_host(x).contiguous();
  call.keep(host);
  return weft::detail::moved(row.together(call, host, attrs), x.impl()->device);
}

} // namespace weft::distributed
