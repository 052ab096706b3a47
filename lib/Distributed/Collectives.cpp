// The collectives as users call them.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "Distributed/Call.h"
#include "Distributed/Reduce.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Fault.h"
#include <weft/composites.h>
#include <weft/distributed.h>
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

/// Runs a collective on a tensor with elements, row-major on the host, and gives its result where
/// the tensor is. Nobody sees the ops in it, and there is no derivative.
template <class Run>
Tensor collective(Call &call, const Tensor &x, const Run &run) {
  const char *const function = call.function();
  if (!x.defined()) raise(ErrorKind::state, std::string(function) + ": the tensor is undefined");
  const auto on_host = [&](const Tensor &tensor) {
    if (tensor.traced())
      raise(ErrorKind::state,
            std::string(function) + ": collectives run at once and take no traced tensor");
    const Interpreter::Scope nobody(nullptr);
    const Tensor host = weft::detail::on_host(tensor).contiguous();
    call.keep(host);
    return weft::detail::moved(run(host), tensor.impl()->device);
  };
  if (Interpreter::current() == nullptr) return on_host(x);
  const Tensor operands[] = {x};
  std::vector<Tensor> results = run_whole(
      [&](std::span<const Tensor> tensors) { return std::vector{on_host(tensors[0])}; }, operands);
  if (!is_watched(x)) return results[0];
  const Refusal refusal{std::string(function) +
                            " has no derivative yet: take gradients on each rank, and reduce those",
                        CallSite::location()};
  return refuse_derivatives(function, operands, results,
                            std::make_shared<const Refusal>(refusal))[0];
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
std::int64_t checked_axis(const Call &call, const Tensor &x, std::int64_t axis, const char *word) {
  const std::int64_t rank = x.rank();
  if (axis < -rank || axis >= rank)
    raise(ErrorKind::index, std::string(call.function()) + ": " + word + " " +
                                std::to_string(axis) + " is out of range for x of shape " +
                                to_string(x.shape()) +
                                (rank == 0 ? ": a scalar has no axis, reshape it to (1,)" : ""));
  return axis < 0 ? axis + rank : axis;
}

void check_divides(const Call &call, const Tensor &x, std::int64_t axis) {
  const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)], ranks = call.size();
  if (size % ranks != 0)
    raise(ErrorKind::shape, std::string(call.function()) + ": axis " + std::to_string(axis) +
                                " of x has size " + std::to_string(size) +
                                ", which is no multiple of the " + std::to_string(ranks) +
                                " ranks: the next are " + std::to_string(size / ranks * ranks) +
                                " and " + std::to_string((size / ranks + 1) * ranks));
}

void check_rank(const Call &call, std::int64_t rank, const char *word) {
  if (rank < 0 || rank >= call.size())
    raise(ErrorKind::index, std::string(call.function()) + ": " + word + " " +
                                std::to_string(rank) + " is no rank of a group of " +
                                std::to_string(call.size()));
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
  reduce_everywhere(call, {.dtype = host.dtype(), .shape = shape, .arguments = arguments},
                    {.dtype = host.dtype(),
                     .reduction = reduction,
                     .replicas = replicas,
                     .elements = elements_of(result),
                     .own = data_of(host)},
                    data_of(result));
  return reduction == Reduction::mean && replicas > 1 ? divided(result, replicas) : result;
}

} // namespace

Tensor all_reduce(const Tensor &x, Reduction reduction, const Group &group,
                  std::source_location where) {
  Call call("all_reduce", group, where);
  return collective(call, x, [&](const Tensor &host) {
    const Combiner checked(call.function(), reduction, host.dtype());
    if (call.size() == 1) return host;
    return reduced(call, host, reduction, call.size(), host.shape(),
                   std::string("reduction = ") + name_of_reduction(reduction));
  });
}

Tensor all_reduce_replicas(const Tensor &x, std::int64_t replicas, Reduction reduction,
                           const Group &group, std::source_location where) {
  Call call("all_reduce_replicas", group, where);
  if (replicas < call.size())
    raise(ErrorKind::value, std::string(call.function()) + ": replicas is " +
                                std::to_string(replicas) + " and there are " +
                                std::to_string(call.size()) +
                                " ranks: there must be as many replicas, or more");
  return collective(call, x, [&](const Tensor &host) {
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
  });
}

Tensor reduce_scatter(const Tensor &x, Reduction reduction, std::int64_t axis, const Group &group,
                      std::source_location where) {
  Call call("reduce_scatter", group, where);
  return collective(call, x, [&](const Tensor &host) {
    const std::int64_t along = checked_axis(call, host, axis, "axis");
    check_divides(call, host, along);
    const Combiner checked(call.function(), reduction, host.dtype());
    if (call.size() == 1) return host;
    const Tensor front = axis_to_front(host, along);
    call.keep(front);
    std::vector<std::int64_t> sizes = sizes_of(front);
    sizes[0] /= call.size();
    Tensor part = new_tensor(host.dtype(), sizes);
    call.keep(part);
    reduce_share(call,
                 {.dtype = host.dtype(),
                  .shape = host.shape(),
                  .arguments = std::string("reduction = ") + name_of_reduction(reduction) +
                               ", axis = " + std::to_string(along)},
                 {.dtype = host.dtype(),
                  .reduction = reduction,
                  .replicas = call.size(),
                  .elements = elements_of(front),
                  .own = data_of(front)},
                 data_of(part));
    if (reduction == Reduction::mean) part = divided(part, call.size());
    return axis_from_front(part, along);
  });
}

Tensor all_gather(const Tensor &x, std::int64_t axis, const Group &group,
                  std::source_location where) {
  Call call("all_gather", group, where);
  return collective(call, x, [&](const Tensor &host) {
    const std::int64_t along = checked_axis(call, host, axis, "axis");
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
    const bool small = bytes <= Call::kSmall;
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
  });
}

Tensor all_to_all(const Tensor &x, std::int64_t split_axis, std::int64_t concat_axis,
                  const Group &group, std::source_location where) {
  Call call("all_to_all", group, where);
  return collective(call, x, [&](const Tensor &host) {
    const std::int64_t split = checked_axis(call, host, split_axis, "split_axis");
    const std::int64_t concat = checked_axis(call, host, concat_axis, "concat_axis");
    check_divides(call, host, split);
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
  });
}

Tensor broadcast(const Tensor &x, int root, const Group &group, std::source_location where) {
  Call call("broadcast", group, where);
  check_rank(call, root, "root");
  return collective(call, x, [&](const Tensor &host) {
    if (call.size() == 1) return host;
    const bool is_root = call.rank() == root;
    const std::size_t bytes = bytes_of(host);
    const bool small = bytes <= Call::kSmall;
    const std::string_view with(reinterpret_cast<const char *>(data_of(host)),
                                small && is_root ? bytes : 0);
    const std::vector<std::string_view> all =
        call.meet({.dtype = host.dtype(),
                   .shape = host.shape(),
                   .arguments = "root = " + std::to_string(root)},
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
  });
}

Tensor permute(const Tensor &x, const std::vector<std::pair<int, int>> &pairs, const Group &group,
               std::source_location where) {
  Call call("permute", group, where);
  std::string text = "pairs = ";
  int source = -1, target = -1;
  std::vector<bool> sends(static_cast<std::size_t>(call.size())), gets(sends.size());
  for (const auto &[from, to] : pairs) {
    check_rank(call, from, "pairs has");
    check_rank(call, to, "pairs has");
    if (sends[static_cast<std::size_t>(from)] || gets[static_cast<std::size_t>(to)])
      raise(ErrorKind::value,
            std::string(call.function()) + ": rank " +
                std::to_string(sends[static_cast<std::size_t>(from)] ? from : to) +
                (sends[static_cast<std::size_t>(from)] ? " sends" : " gets") + " twice in pairs");
    sends[static_cast<std::size_t>(from)] = gets[static_cast<std::size_t>(to)] = true;
    if (to == call.rank()) source = from;
    if (from == call.rank()) target = to;
    text += "(" + std::to_string(from) + ", " + std::to_string(to) + ")";
  }
  return collective(call, x, [&](const Tensor &host) {
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
  });
}

void barrier(const Group &group, std::source_location where) {
  Call call("barrier", group, where);
  call.meet({.has_tensor = false});
}

void send(const Tensor &x, int to, const Group &group, std::source_location where) {
  Call call("send", group, where, /*meets=*/false);
  check_rank(call, to, "to");
  if (to == call.rank())
    raise(ErrorKind::index, "send: rank " + std::to_string(to) + " is this rank itself");
  collective(call, x, [&](const Tensor &host) {
    call.send_to(to, {.dtype = host.dtype(), .shape = host.shape()}, data_of(host), bytes_of(host));
    return host;
  });
}

Tensor recv(int from, const Group &group, std::source_location where) {
  Call call("recv", group, where, /*meets=*/false);
  check_rank(call, from, "from");
  if (from == call.rank())
    raise(ErrorKind::index, "recv: rank " + std::to_string(from) + " is this rank itself");
  return weft::detail::placed(call.recv_from(from));
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

const detail::GroupState &state_of(const Group &group) {
  return group.state() != nullptr ? *group.state() : *world_group();
}

} // namespace

int Group::rank(std::source_location where) const {
  const CompositeCall call("rank", where);
  return state_of(*this).rank;
}

int Group::size(std::source_location where) const {
  const CompositeCall call("size", where);
  return state_of(*this).size();
}

std::pair<std::int64_t, std::int64_t> Group::share(std::int64_t count,
                                                   std::source_location where) const {
  const CompositeCall call("share", where);
  if (count < 0) raise(ErrorKind::value, "share: count is " + std::to_string(count));
  const detail::GroupState &state = state_of(*this);
  return share_of(count, state.rank, state.size());
}

Group Group::split(std::int64_t color, std::int64_t key, std::source_location where) const {
  Call call("split", *this, where);
  if (color < 0)
    raise(ErrorKind::value,
          "split: color is " + std::to_string(color) + ": numbers from 0 on are wanted");
  detail::GroupState &group = call.group();
  struct Choice {
    std::int64_t color, key;
    int next, rank;
  };
  const Choice own{color, key, group.world.next_group.load(), group.rank};
  const std::vector<std::string_view> all =
      call.meet({.has_tensor = false}, {reinterpret_cast<const char *>(&own), sizeof own});
  std::vector<Choice> chosen;
  int number = 0;
  for (const std::string_view bytes : all) {
    Choice choice;
    std::memcpy(&choice, bytes.data(), sizeof choice);
    number = std::max(number, choice.next);
    if (choice.color == color) chosen.push_back(choice);
  }
  // Tags tell groups apart that have ranks in common.
  const int most = group.world.engine != nullptr ? group.world.engine->most_tag() : 1 << 30;
  if (number >= most / 2)
    raise(ErrorKind::state, "split: " + std::to_string(number) + " groups were made, and " +
                                group.world.engine_name + " can tell no more apart");
  group.world.next_group = std::max(group.world.next_group.load(), number + 1);
  std::sort(chosen.begin(), chosen.end(), [](const Choice &a, const Choice &b) {
    return std::pair(a.key, a.rank) < std::pair(b.key, b.rank);
  });
  std::vector<int> ranks;
  int rank = 0;
  for (const Choice &choice : chosen) {
    if (choice.rank == group.rank) rank = static_cast<int>(ranks.size());
    ranks.push_back(group.ranks[static_cast<std::size_t>(choice.rank)]);
  }
  return Group(std::make_shared<detail::GroupState>(group.world, number, std::move(ranks), rank));
}

} // namespace weft::distributed
