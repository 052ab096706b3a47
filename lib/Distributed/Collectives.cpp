// The collectives as users call them.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "Distributed/Buckets.h"
#include "Distributed/Call.h"
#include "Distributed/Execute.h"
#include "Distributed/Tree.h"
#include "OpDefs/ShapeFunctions.h"
#include "Ops/Interpreter.h"
#include "Program/Ranks.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Fault.h"
#include "Support/Messages.h"
#include <weft/composites.h>
#include <weft/detail/distributed_place.h>
#include <weft/distributed.h>

namespace weft::distributed {

namespace {

/// A collective of a group: done at once, or an op of whoever watches or traces.
class Collective {
public:
  Collective(const char *function, const Group &group, const std::source_location &where)
      : site_(function, where), function_(function), where_(where),
        group_(group.state() != nullptr ? group.state() : world_group()) {}

  std::int64_t ranks() const { return group_->size(); }
  std::int64_t number() const { return number_of(group_); }

  /// `attributes` are the record's without the number of the group, which stands at `place`.
  Tensor run(OpCode op, const Tensor *x, Attrs attrs, std::size_t place) const {
    if (x != nullptr && !x->defined())
      raise(ErrorKind::state, std::string(function_) + ": the tensor is undefined");
    const Interpreter *const current = Interpreter::current();
    const bool at_once = current == nullptr && (x == nullptr || !x->traced());
    attrs.insert(attrs.begin() + static_cast<std::ptrdiff_t>(place),
                 at_once ? std::int64_t{0} : number());
    if (at_once) return execute(op, attrs, Group(group_), x == nullptr ? Tensor() : *x, where_);
    const std::uint64_t before = group_->sequence;
    try {
      count_from_front(op, x, attrs);
      check_arguments(op, attrs, *group_);
      return dispatch(op, std::span(x, x == nullptr ? 0 : 1), attrs);
    } catch (const Error &) {
      if (group_->sequence == before && sends(op)) refuse();
      throw;
    }
  }

  /// Tells ranks that do it now, and wait for this one, that it does not.
  void refuse() const {
    const Interpreter *const current = Interpreter::current();
    if (current == nullptr || !current->traces()) detail::refuse(function_, Group(group_));
  }

private:
  static void count_from_front(OpCode op, const Tensor *x, Attrs &attrs) {
    const std::span<const AttrInfo> infos = op_info(op).attrs;
    for (std::size_t i = 0; i < infos.size(); ++i)
      if (infos[i].kind == AttrKind::axis)
        attrs[i] = normalize_axis(std::get<std::int64_t>(attrs[i]),
                                  weft::detail::type_of(*x).shape.rank());
  }

  CompositeCall site_;
  const char *function_;
  std::source_location where_;
  std::shared_ptr<detail::GroupState> group_;
};

Tensor reduced(const Collective &call, const Tensor &x, Reduction reduction, Ints axes,
               std::int64_t replicas, bool same = false) {
  if (same && reduction != Reduction::sum) {
    call.refuse();
    raise(ErrorKind::value,
          "all_reduce: same is of a sum, and another reduction is asked for: divide a sum by the "
          "size of the group for a mean, and leave same out of a maximum or a minimum");
  }
  Attrs attrs{std::move(axes), replicas};
  switch (reduction) {
  case Reduction::max: return call.run(OpCode::all_reduce_max, &x, std::move(attrs), 2);
  case Reduction::min: return call.run(OpCode::all_reduce_min, &x, std::move(attrs), 2);
  default: break;
  }
  attrs.emplace_back(reduction == Reduction::mean);
  attrs.emplace_back(same);
  return call.run(OpCode::all_reduce_sum, &x, std::move(attrs), 2);
}

} // namespace

Tensor all_reduce(const Tensor &x, Reduction reduction, const Group &group, bool same,
                  std::source_location where) {
  return reduced({"all_reduce", group, where}, x, reduction, Ints(), 0, same);
}

Tensor all_reduce_replicas(const Tensor &x, std::int64_t replicas, Reduction reduction,
                           const Group &group, std::source_location where) {
  return reduced({"all_reduce_replicas", group, where}, x, reduction, Ints{0}, replicas);
}

namespace {

void check_lists(const std::vector<std::vector<Tensor>> &xs, std::int64_t replicas,
                 const detail::GroupState &group) {
  const std::string name = "all_reduce_replicas: ";
  if (replicas < group.size())
    raise(ErrorKind::value, name + "replicas is " + std::to_string(replicas) + " and there are " +
                                std::to_string(group.size()) +
                                " ranks: there must be as many replicas, or more");
  const auto [begin, end] = share_of(replicas, group.rank, group.size());
  if (std::cmp_not_equal(xs.size(), end - begin))
    raise(ErrorKind::shape, name + "xs has the tensors of " + std::to_string(xs.size()) +
                                " replicas, and rank " + std::to_string(group.rank) + " has " +
                                std::to_string(end - begin) + " of the " +
                                std::to_string(replicas));
  for (std::size_t r = 0; r < xs.size(); ++r) {
    if (xs[r].size() != xs[0].size())
      raise(ErrorKind::shape, name + "replicas have " + std::to_string(xs[0].size()) + " and " +
                                  std::to_string(xs[r].size()) + " tensors: all have the same");
    for (std::size_t i = 0; i < xs[r].size(); ++i) {
      if (!xs[r][i].defined())
        raise(ErrorKind::state, name + "tensor " + std::to_string(i) + " is undefined");
      const TensorType first = weft::detail::type_of(xs[0][i]),
                       type = weft::detail::type_of(xs[r][i]);
      if (first.dtype != type.dtype || first.shape != type.shape)
        raise(ErrorKind::shape, name + "tensor " + std::to_string(i) + " is " + to_string(first) +
                                    " of one replica and " + to_string(type) + " of another");
    }
  }
}

constexpr std::size_t kBucketBytes = std::size_t{4} << 20;

} // namespace

std::vector<Tensor> all_reduce_replicas(const std::vector<std::vector<Tensor>> &xs,
                                        std::int64_t replicas, Reduction reduction,
                                        const Group &group, std::source_location where) {
  const CompositeCall site("all_reduce_replicas", where);
  const Group of(group.state() != nullptr ? group.state() : world_group());
  const Interpreter *const current = Interpreter::current();
  try {
    check_lists(xs, replicas, *of.state());
  } catch (const Error &) {
    if (current == nullptr || !current->traces()) detail::refuse("all_reduce_replicas", of);
    throw;
  }
  if (current == nullptr) {
    const Lists lists[] = {{reduction, xs}};
    return std::move(reduce_in_buckets({"all_reduce_replicas", where}, of, replicas, lists, "lists",
                                       kBucketBytes)[0]);
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < xs[0].size(); ++i) {
    std::vector<Tensor> own;
    for (const std::vector<Tensor> &list : xs) own.push_back(list[i]);
    results.push_back(all_reduce_replicas(stack(own), replicas, reduction, of, where));
  }
  return results;
}

std::vector<Tensor> detail::reduce_replicas(const std::vector<std::vector<Tensor>> &xs,
                                            std::int64_t replicas, Reduction reduction,
                                            const std::string &what) {
  const Group of(world_group());
  const Caller caller{"run", {}};
  try {
    check_lists(xs, replicas, *of.state());
  } catch (const Error &) {
    refuse(caller.function, of);
    throw;
  }
  if (xs[0].empty()) {
    if (of.size() > 1) exchange_bytes(caller, of, what, {});
    return {};
  }
  const Lists lists[] = {{reduction, xs}};
  return std::move(reduce_in_buckets(caller, of, replicas, lists, what, kBucketBytes)[0]);
}

bool detail::ranks_know_of_error() { return weft::ranks_know_of_error(); }
void detail::forget_error() { set_ranks_know_of_error(false); }

Tensor reduce_scatter(const Tensor &x, Reduction reduction, std::int64_t axis, const Group &group,
                      std::source_location where) {
  const Collective call("reduce_scatter", group, where);
  Attrs attrs{axis, call.ranks()};
  switch (reduction) {
  case Reduction::max: return call.run(OpCode::reduce_scatter_max, &x, std::move(attrs), 2);
  case Reduction::min: return call.run(OpCode::reduce_scatter_min, &x, std::move(attrs), 2);
  default: break;
  }
  attrs.emplace_back(reduction == Reduction::mean);
  return call.run(OpCode::reduce_scatter_sum, &x, std::move(attrs), 2);
}

Tensor all_gather(const Tensor &x, std::int64_t axis, const Group &group, bool same,
                  std::source_location where) {
  const Collective call("all_gather", group, where);
  return call.run(OpCode::all_gather, &x, Attrs{axis, call.ranks(), same}, 2);
}

namespace {

bool checks_same() {
  static const bool checks = [] {
    const char *text = std::getenv("WEFT_CHECK_SAME"); // NOLINT(concurrency-mt-unsafe)
    if (text == nullptr || *text == 0 || std::string_view(text) == "0") return false;
    if (std::string_view(text) == "1") return true;
    raise(ErrorKind::value,
          "WEFT_CHECK_SAME is '" + shown(text) + "': 1 is wanted, or 0 for no checks");
  }();
  return checks;
}

} // namespace

void check_same(const char *function, const Tensor &x, const Group &group) {
  if (!checks_same() || !x.defined()) return;
  const DType dtype = x.dtype();
  if (is_complex(dtype)) {
    check_same(function, real(x), group);
    return check_same(function, imag(x), group);
  }
  const Tensor own = stop_gradient(dtype == DType::boolean                ? cast(x, DType::i32)
                                   : kind_of(dtype) == DTypeKind::storage ? cast(x, DType::f32)
                                                                          : x);
  const Tensor low = all_reduce(own, Reduction::min, group),
               high = all_reduce(own, Reduction::max, group);
  // NaN on all of them is the same too.
  check(logical_or(low == high, logical_and(low != low, high != high)),
        std::string(function) +
            ": x differs between ranks, where one value is wanted, as broadcast gives it: its "
            "smallest and largest elements over the ranks are {} and {}",
        low, high);
}

Tensor vary(const Tensor &x, const Group &group, std::source_location where) {
  const Collective call("vary", group, where);
  check_same("vary", x, group);
  return call.run(OpCode::vary, &x, {}, 0);
}

Tensor split(const Tensor &x, const Group &group, std::int64_t axis, std::source_location where) {
  const Collective call("split", group, where);
  check_same("split", x, group);
  return call.run(OpCode::slice_own, &x, Attrs{axis, call.ranks()}, 2);
}

Tensor all_to_all(const Tensor &x, std::int64_t split_axis, std::int64_t concat_axis,
                  const Group &group, std::source_location where) {
  const Collective call("all_to_all", group, where);
  return call.run(OpCode::all_to_all, &x, Attrs{split_axis, concat_axis, call.ranks()}, 3);
}

Tensor broadcast(const Tensor &x, int root, const Group &group, std::source_location where) {
  return Collective("broadcast", group, where)
      .run(OpCode::broadcast_rank, &x, Attrs{std::int64_t{root}}, 1);
}

Tensor permute(const Tensor &x, const std::vector<std::pair<int, int>> &pairs, const Group &group,
               std::source_location where) {
  Ints list;
  for (const auto &[from, to] : pairs) {
    list.push_back(from);
    list.push_back(to);
  }
  return Collective("permute", group, where)
      .run(OpCode::permute_ranks, &x, Attrs{std::move(list)}, 1);
}

void barrier(const Group &group, std::source_location where) {
  Collective("barrier", group, where).run(OpCode::rank_barrier, nullptr, {}, 0);
}

//===----------------------------------------------------------------------===//
// Of two ranks
//===----------------------------------------------------------------------===//

namespace {

void check_other(const Call &call, int rank, const char *word) {
  if (rank < 0 || rank >= call.size())
    raise(ErrorKind::index, std::string(call.function()) + ": " + word + " " +
                                std::to_string(rank) + " is no rank of a group of " +
                                std::to_string(call.size()));
  if (rank == call.rank())
    raise(ErrorKind::index,
          std::string(call.function()) + ": rank " + std::to_string(rank) + " is this rank itself");
}

} // namespace

void send(const Tensor &x, int to, const Group &group, std::source_location where) {
  Call call("send", group, where, /*meets=*/false);
  check_other(call, to, "to");
  if (!x.defined()) raise(ErrorKind::state, "send: the tensor is undefined");
  if (x.traced() && Interpreter::current() == nullptr)
    raise(ErrorKind::state, "send: x is a tensor of a trace that has ended");
  static_cast<void>(run_whole(
      [&](std::span<const Tensor> tensors) {
        const Interpreter::Scope nobody(nullptr);
        const Tensor host = weft::detail::on_host(tensors[0]).contiguous();
        call.keep(host);
        call.send_to(to, {.dtype = host.dtype(), .shape = host.shape()}, host.impl()->data,
                     static_cast<std::size_t>(host.size()) * item_size(host.dtype()));
        return std::vector{host};
      },
      std::span(&x, 1)));
}

Tensor recv(int from, const Group &group, std::source_location where) {
  Call call("recv", group, where, /*meets=*/false);
  check_other(call, from, "from");
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

void detail::reserve_numbers(GroupState &group, const char *function, int first, int count) {
  // Tags tell groups apart that have ranks in common.
  const int most = group.world.engine != nullptr ? group.world.engine->most_tag() : 1 << 30;
  if (first > most / GroupState::kChannels - count)
    raise(ErrorKind::state, std::string(function) + ": " + std::to_string(first) +
                                " groups were made, and " + group.world.engine_name +
                                " can tell no more apart");
  group.world.next_group = std::max(group.world.next_group.load(), first + count);
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
  detail::reserve_numbers(group, "split", number, 1);
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
