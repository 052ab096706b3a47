// Groups of processes and collectives in Python.
#include "Define.h"
#include "Foreign.h"
#include "Groups.h"
#include "Text.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

namespace weft::python {

namespace {

using distributed::Group;
using distributed::Reduction;

/// The world, which is made now if it is not there. From then on an exception that nobody catches
/// is told to the others.
Group world(const std::string &engine) {
  Group made = run_here([&] { return distributed::init(engine, kNowhere); });
  static bool told = false;
  if (!told && made.size() > 1) {
    nb::module_::import_("weft.distributed").attr("_tell_failures")();
    told = true;
  }
  return made;
}

} // namespace

Group group_of(nb::handle group, const char *function) {
  if (group.is_none()) return world("auto");
  if (nb::isinstance<BoundGroup>(group)) return nb::cast<BoundGroup &>(group).group;
  throw DTypeError(std::string(function) + ": group is a " + Py_TYPE(group.ptr())->tp_name +
                   ": a weft.distributed.Group is wanted");
}

std::string place_of_user() {
  const auto [file, line] = line_of_user();
  return line == 0 ? std::string() : file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
}

namespace {

Reduction reduction_of(const std::string &word, const char *function, nb::handle group) {
  static constexpr const char *words[] = {"sum", "mean", "max", "min"};
  const nb::str object(word.c_str(), word.size());
  return converted(function, group, [&] {
    return static_cast<Reduction>(word_of(object, words, {function, "reduction"}));
  });
}

Tensor operand(nb::handle object, const char *function) {
  return to_tensor(object.ptr(), {function, "x"});
}
Tensor operand(nb::handle object, const char *function, nb::handle group) {
  return converted(function, group, [&] { return operand(object, function); });
}

int rank_of(std::int64_t rank) {
  return static_cast<int>(std::clamp<std::int64_t>(rank, -1, std::numeric_limits<int>::max()));
}

void define_group(nb::module_ &module) {
  ClassOf<BoundGroup> type(module, "Group", nb::is_weak_referenceable(),
                           R"(The processes that take part in collectives, each with its rank.

`weft.distributed.init` gives the world, and `split` parts of it.

    >>> world = wf.distributed.init()
    >>> world.rank, world.size
    (0, 1)
)");
  publish(module, type);
  type.def(
          "__init__", [](BoundGroup *self) { new (self) BoundGroup{world("auto")}; }, "The world.")
      .def_prop_ro(
          "rank", [](const BoundGroup &self) { return self.group.rank(kNowhere); },
          "The number of this process, from 0.")
      .def_prop_ro(
          "size", [](const BoundGroup &self) { return self.group.size(kNowhere); },
          "The number of processes.")
      .def(
          "share(count)",
          [](const BoundGroup &self, std::int64_t count) {
            return self.group.share(count, kNowhere);
          },
          "The run of `count` things that is this rank's, as (begin, end): rank r has those from "
          "`r * count // size` to `(r + 1) * count // size`.")
      .def(
          "split",
          [](const BoundGroup &self, std::int64_t color, std::int64_t key) {
            return new BoundGroup{run_here([&] { return self.group.split(color, key, kNowhere); })};
          },
          Arg("color"), Arg("key") = 0,
          "The group of those ranks that call it with the same color, in the order of `key`, and "
          "of their ranks here where keys are equal. A collective: all ranks call it.")
      .def("__repr__", [](const BoundGroup &self) {
        return "Group(rank=" + std::to_string(self.group.rank(kNowhere)) +
               ", size=" + std::to_string(self.group.size(kNowhere)) + ")";
      });
}

void define_reductions(nb::module_ &module) {
  define(
      module, "all_reduce",
      [](nb::handle x, const std::string &reduction, nb::handle group, bool same) {
        const Tensor from = operand(x, "all_reduce", group);
        const Reduction by = reduction_of(reduction, "all_reduce", group);
        const Group of = group_of(group, "all_reduce");
        return run_here([&] { return distributed::all_reduce(from, by, of, same, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("reduction") = "sum",
      Arg("group").as("Group | None") = nb::none(), Arg("same") = false,
      R"(The sum, mean, maximum or minimum over the ranks, the same bits on all of them.

Sums are added by one balanced tree over the ranks, whatever the engine and the size: ranks 0
and 1, 2 and 3, .. in pairs, then pairs of pairs.

    >>> wf.distributed.all_reduce([1.0, 2.0]).tolist()
    [1.0, 2.0]

Args:
    reduction: 'sum', 'mean', 'max' or 'min'
    group: the world if it is not given
    same: of a sum, that it is one value of all ranks: each has its cotangent, and in reverse
        nothing is sent

Raises:
    ValueError: if another reduction than a sum is to be the same
    DTypeError: for a sum of bools, a mean of whole numbers, dtypes without order or arithmetic,
        and where dtypes differ between ranks
    ShapeError: where shapes differ between ranks
    StateError: where ranks call different collectives
    PeerError: for a rank that is gone, failed, or makes no progress
)");
  define(
      module, "all_reduce_replicas",
      [](nb::handle x, std::int64_t replicas, const std::string &reduction, nb::handle group) {
        const Tensor from = operand(x, "all_reduce_replicas", group);
        const Reduction by = reduction_of(reduction, "all_reduce_replicas", group);
        const Group of = group_of(group, "all_reduce_replicas");
        return run_here(
            [&] { return distributed::all_reduce_replicas(from, replicas, by, of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("replicas"), Arg("reduction") = "sum",
      Arg("group").as("Group | None") = nb::none(),
      R"(The same over replicas instead of ranks, with bits that do not depend on the number of ranks.

Along its first axis `x` has the tensors of this rank's replicas, those of `group.share(replicas)`.
The result has the shape of one.

    >>> wf.distributed.all_reduce_replicas([[1.0, 2.0], [3.0, 4.0]], 2).tolist()
    [4.0, 6.0]

Raises:
    ValueError: unless there are as many replicas as ranks or more
    ShapeError: if `x` has not this rank's share of them
)");
  define(
      module, "reduce_scatter",
      [](nb::handle x, const std::string &reduction, std::int64_t axis, nb::handle group) {
        const Tensor from = operand(x, "reduce_scatter", group);
        const Reduction by = reduction_of(reduction, "reduce_scatter", group);
        const Group of = group_of(group, "reduce_scatter");
        return run_here([&] { return distributed::reduce_scatter(from, by, axis, of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("reduction") = "sum", Arg("axis") = 0,
      Arg("group").as("Group | None") = nb::none(),
      R"(This rank's part, along an axis, of what `all_reduce` would give.

    >>> wf.distributed.reduce_scatter([1.0, 2.0]).tolist()
    [1.0, 2.0]

Raises:
    OutOfRangeError: for an axis out of range
    ShapeError: unless its size is a multiple of the number of ranks
)");
}

void define_movements(nb::module_ &module) {
  define(
      module, "all_gather",
      [](nb::handle x, std::int64_t axis, nb::handle group, bool same) {
        const Tensor from = operand(x, "all_gather", group);
        const Group of = group_of(group, "all_gather");
        return run_here([&] { return distributed::all_gather(from, axis, of, same, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("axis") = 0, Arg("group").as("Group | None") = nb::none(),
      Arg("same") = false,
      R"(The tensors of all ranks, one behind the other along an axis.

    >>> wf.distributed.all_gather([1, 2]).tolist()
    [1, 2]

Args:
    same: that the result is one value of all ranks: each has its cotangent, and in reverse takes
        its part of it

Raises:
    OutOfRangeError: for an axis out of range
)");
  define(
      module, "vary",
      [](nb::handle x, nb::handle group) {
        const Tensor from = operand(x, "vary");
        const Group of = group_of(group, "vary");
        return run_here([&] { return distributed::vary(from, of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("group").as("Group | None") = nb::none(),
      R"(`x`, which is the same on all ranks, as a tensor of each rank's own.

Nothing is sent. In reverse, the sum of the cotangents over the ranks, which is the same on all.

    >>> wf.distributed.vary([1, 2]).tolist()
    [1, 2]
)");
  define(
      module, "all_to_all",
      [](nb::handle x, std::int64_t split_axis, std::int64_t concat_axis, nb::handle group) {
        const Tensor from = operand(x, "all_to_all", group);
        const Group of = group_of(group, "all_to_all");
        return run_here(
            [&] { return distributed::all_to_all(from, split_axis, concat_axis, of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("split_axis") = 0, Arg("concat_axis") = 0,
      Arg("group").as("Group | None") = nb::none(),
      R"(Cuts `x` into a part for each rank, and puts those that arrive one behind the other.

    >>> wf.distributed.all_to_all([1, 2]).tolist()
    [1, 2]

Raises:
    OutOfRangeError: for an axis out of range
    ShapeError: unless the size of `split_axis` is a multiple of the number of ranks
)");
  define(
      module, "broadcast",
      [](nb::handle x, std::int64_t root, nb::handle group) {
        const Tensor from = operand(x, "broadcast", group);
        const Group of = group_of(group, "broadcast");
        return run_here([&] { return distributed::broadcast(from, rank_of(root), of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("root") = 0, Arg("group").as("Group | None") = nb::none(),
      R"(The tensor of rank `root`, on all ranks. Elsewhere `x` says dtype and shape.

    >>> wf.distributed.broadcast([1, 2]).tolist()
    [1, 2]

Raises:
    OutOfRangeError: for a root that is no rank
)");
  define(
      module, "permute",
      [](nb::handle x, const std::vector<std::pair<std::int64_t, std::int64_t>> &pairs,
         nb::handle group) {
        const Tensor from = operand(x, "permute", group);
        std::vector<std::pair<int, int>> ranks;
        for (const auto &[source, target] : pairs)
          ranks.emplace_back(rank_of(source), rank_of(target));
        const Group of = group_of(group, "permute");
        return run_here([&] { return distributed::permute(from, ranks, of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("pairs").as("Sequence[tuple[int, int]]"),
      Arg("group").as("Group | None") = nb::none(),
      R"(The tensor of another rank: for each pair (from, to) rank `to` gets that of rank `from`.

Ranks that nobody sends to get zeros.

    >>> wf.distributed.permute([1, 2], [(0, 0)]).tolist()
    [1, 2]

Raises:
    OutOfRangeError: for what is no rank
    ValueError: if a rank sends or gets twice
)");
  define(
      module, "barrier",
      [](nb::handle group) {
        const Group of = group_of(group, "barrier");
        run_here([&] { distributed::barrier(of, kNowhere); });
      },
      Arg("group").as("Group | None") = nb::none(),
      R"(Returns when all ranks have called it.

    >>> wf.distributed.barrier()
)");
  define(
      module, "send",
      [](nb::handle x, std::int64_t to, nb::handle group) {
        const Tensor from = operand(x, "send");
        const Group of = group_of(group, "send");
        run_here([&] { distributed::send(from, rank_of(to), of, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("to"), Arg("group").as("Group | None") = nb::none(),
      R"(Sends a tensor to a rank, which receives it. It may wait until that rank does.

Example:
    >>> world = wf.distributed.init()
    >>> if world.size > 1 and world.rank == 0:
    ...     wf.distributed.send([1, 2], 1)

Raises:
    OutOfRangeError: for what is no rank, or for this rank itself
)");
  define(
      module, "recv",
      [](std::int64_t from, nb::handle group) {
        const Group of = group_of(group, "recv");
        return run_here([&] { return distributed::recv(rank_of(from), of, kNowhere); });
      },
      Arg("from_"), Arg("group").as("Group | None") = nb::none(),
      R"(The next tensor that a rank sends to this one; dtype and shape are the sender's.

Example:
    >>> world = wf.distributed.init()
    >>> if world.size > 1 and world.rank == 1:
    ...     x = wf.distributed.recv(0)

Raises:
    OutOfRangeError: for what is no rank, or for this rank itself
)");
}

} // namespace

void define_distributed() {
  nb::module_ module = family("distributed");
  define_group(module);
  define_mesh(module);
  define(
      module, "init", [](const std::string &engine) { return new BoundGroup{world(engine)}; },
      Arg("engine") = "auto",
      R"(The world: all processes that one launcher started, `mpirun -n 4 python train.py`.

The first call opens the engine that moves bytes between them; later ones give the same world.
Without a launcher it is a world of one, whose collectives give their operands.

    >>> wf.distributed.init()
    Group(rank=0, size=1)

Args:
    engine: 'mpi', an MPI library, which is opened now; 'single', a world of this process alone;
        'auto' is the first where a launcher's variables are in the environment

Raises:
    IOError: if no MPI library can be opened
    StateError: if launcher and library disagree about the number of processes, if another engine
        was opened before, and in a process that was forked from one with a world
)");
  define_reductions(module);
  define_movements(module);
  define(
      module, "timeout", [] { return distributed::timeout(); },
      R"(The seconds that a collective waits without progress before it is a PeerError.

    >>> wf.distributed.timeout()
    60.0
)");
  define(
      module, "set_timeout", [](double seconds) { distributed::set_timeout(seconds, kNowhere); },
      Arg("seconds"),
      R"(Sets it; on all ranks alike.

    >>> wf.distributed.set_timeout(60)

Raises:
    ValueError: unless it is positive
)");
  define(
      module, "abort",
      [](const std::string &message) { without_lock([&] { distributed::abort(message); }); },
      Arg("message"),
      R"(Tells the other ranks that this one cannot go on.

Their present or next collective is a PeerError with this message. An exception that ends the
program does so by itself.

    >>> wf.distributed.abort("no data left")
)");
}

} // namespace weft::python
