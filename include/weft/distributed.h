// Programs of several processes: who takes part, and collectives, which move tensors between them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/tensor.h>

namespace weft::distributed {

namespace detail {
class GroupState;
}

/// How `all_reduce` and `reduce_scatter` combine the tensors of the ranks.
enum class Reduction : std::int32_t { sum, mean, max, min };

/// The processes that take part in collectives, each with a number, its rank. Copies are the same
/// group. A default-constructed one is the world, which `init` made or makes then.
class Group {
public:
  Group() = default;
  /// The number of this process, from 0.
  int rank(std::source_location where = WEFT_HERE) const;
  int size(std::source_location where = WEFT_HERE) const;
  /// The run of `count` things that is this rank's, as (begin, end): rank r has those from
  /// `r * count / size` to `(r + 1) * count / size`. Throws ValueError if `count` is negative.
  std::pair<std::int64_t, std::int64_t> share(std::int64_t count,
                                              std::source_location where = WEFT_HERE) const;
  /// The group of those ranks that call it with the same color, in the order of `key`, and of their
  /// ranks here where keys are equal. A collective: all ranks call it. Throws ValueError if the
  /// color is negative.
  Group split(std::int64_t color, std::int64_t key = 0,
              std::source_location where = WEFT_HERE) const;

  /// For the library itself.
  explicit Group(std::shared_ptr<detail::GroupState> state) : state_(std::move(state)) {}
  const std::shared_ptr<detail::GroupState> &state() const { return state_; }

private:
  std::shared_ptr<detail::GroupState> state_;
};

/// The world: all processes that one launcher started, `mpirun -n 4 PROGRAM`. The first call opens
/// the engine that moves bytes between them; later ones give the same world.
///
/// Engines are "mpi", an MPI library (Open MPI, MPICH, or one of the standard ABI) that is opened
/// when it is asked for, and "single", a world of this process alone. "auto" is the first where a
/// launcher's variables are in the environment, and otherwise the second. Throws ValueError for
/// another name, IOError, which lists what was tried, if no MPI library can be opened, and
/// StateError if launcher and library disagree about the number of processes, another engine was
/// opened before, or the process was forked from one that has a world.
Group init(std::string_view engine = "auto", std::source_location where = WEFT_HERE);

/// The seconds that a collective waits without progress before it is a PeerError; 60 at the start,
/// or what WEFT_DISTRIBUTED_TIMEOUT says. Set it on all ranks alike. Throws ValueError unless it is
/// positive.
double timeout();
void set_timeout(double seconds, std::source_location where = WEFT_HERE);

/// Tells the other ranks that this one cannot go on: their present or next collective is a
/// PeerError with this message. What leaves main as an exception does so by itself. Does nothing
/// in a world of one.
void abort(std::string_view message);

// Collectives. All ranks of the group call the same one with tensors of one dtype and shape, in the
// same order. What differs is a ShapeError, a DTypeError or a StateError on all of them, which
// names both. A rank that is gone, that failed, or that makes no progress for `timeout()` seconds
// is a PeerError. A call of a group by two threads at once, in a forked child, or in a host call is
// a StateError. Results are on the device of the operand.
//
// In a traced function they are ops of it, in one order with prints, checks and assigns. A group
// that a trace uses lives as long as the process. Ranks whose programs have different collectives
// have a StateError that names the first that differs. One under a condition or in a loop that is
// not known to be the same on all ranks is a ValueError when it is traced: constants are, and what
// all_reduce, all_gather and broadcast give. In vmap there is one for all members.
//
// Derivatives are those of the sum, over the ranks, of what each rank differentiates, by this
// rank's tensors: so a loss that all ranks have from an all_reduce by sum counts once for each of
// them, and one by mean once. The reverse communicates as the collective does: every rank takes
// the same gradients.
//
// Work that is cut over ranks has two kinds of values: those that *vary*, which are each rank's
// own, and those that are the *same* on all ranks of the group, one value of which each rank has a
// copy. The latter count once in that sum, and so do their cotangents, which all ranks have. `vary`
// and `split` make of what is the same what varies, `all_reduce` and `all_gather` with `same` the
// opposite; each two are each other's reverse.

/// The sum, mean, maximum or minimum over the ranks, the same bits on all of them. Sums are added
/// by one balanced tree over the ranks, whatever the engine and the size: ranks 0 and 1, 2 and 3,
/// .. in pairs, then pairs of pairs. In reverse, cotangents are summed over the ranks (divided by
/// their number for a mean); of a maximum or a minimum the elements that are it share that sum. A
/// sum that is the `same` is one value of all ranks: in reverse each has its cotangent, and nothing
/// is sent. Throws DTypeError for a sum of bools, for a mean of whole numbers, and for dtypes
/// without order or arithmetic, and ValueError for another reduction than a sum that is to be the
/// same.
Tensor all_reduce(const Tensor &x, Reduction reduction = Reduction::sum, const Group &group = {},
                  bool same = false, std::source_location where = WEFT_HERE);

/// The same over `replicas` tensors instead of ranks, so that the bits do not depend on the number
/// of ranks: along its first axis `x` has those of this rank, `group.share(replicas)` of them. The
/// result has the shape of one. Throws ValueError unless there are as many replicas as ranks or
/// more, and ShapeError if `x` has not this rank's share of them.
Tensor all_reduce_replicas(const Tensor &x, std::int64_t replicas,
                           Reduction reduction = Reduction::sum, const Group &group = {},
                           std::source_location where = WEFT_HERE);

/// The same of many tensors, such as all gradients of a step, in few exchanges of some MiB: `xs`
/// has for each of this rank's replicas its tensors, which are of the same dtypes and shapes. A
/// tape or a trace has a collective for each. Throws ValueError as above, and ShapeError, which
/// says what is wanted, for other lists.
std::vector<Tensor> all_reduce_replicas(const std::vector<std::vector<Tensor>> &xs,
                                        std::int64_t replicas, Reduction reduction = Reduction::sum,
                                        const Group &group = {},
                                        std::source_location where = WEFT_HERE);

/// The tensors of all ranks, one behind the other along an axis. In reverse, the reduce_scatter of
/// the cotangents by their sum; if the result is to be the `same`, one value of all ranks, this
/// rank's part of its cotangent, and nothing is sent. Throws IndexError for an axis out of range.
Tensor all_gather(const Tensor &x, std::int64_t axis = 0, const Group &group = {},
                  bool same = false, std::source_location where = WEFT_HERE);

/// `x`, which is the same on all ranks, as a tensor of each rank's own, which each goes on with in
/// another way. Nothing is sent. In reverse, the sum of the cotangents over the ranks, which is the
/// same on all of them: `all_reduce(.., same)`. Nothing checks that it is the same; in programs
/// that run with WEFT_CHECK_SAME=1 on all ranks, what is given here, to `split` and to `shard` is
/// compared, and an AssertionError on all ranks says where it differs.
Tensor vary(const Tensor &x, const Group &group = {}, std::source_location where = WEFT_HERE);

/// This rank's part, along an axis, of `x`, which is the same on all ranks. Nothing is sent. In
/// reverse, the cotangents of all ranks: `all_gather(.., same)`. Throws IndexError for an axis out
/// of range, and ShapeError, which says both, unless its size is a multiple of the number of ranks.
Tensor split(const Tensor &x, const Group &group, std::int64_t axis = 0,
             std::source_location where = WEFT_HERE);

/// This rank's part, along an axis, of what `all_reduce` would give. In reverse, the all_gather of
/// the cotangents (of a maximum or a minimum to the elements that are it, which share). Throws
/// IndexError for an axis out of range, and ShapeError unless its size is a multiple of the number
/// of ranks.
Tensor reduce_scatter(const Tensor &x, Reduction reduction = Reduction::sum, std::int64_t axis = 0,
                      const Group &group = {}, std::source_location where = WEFT_HERE);

/// Cuts `x` along `split_axis` into as many parts as there are ranks, sends part r to rank r, and
/// puts those that arrive one behind the other along `concat_axis`. In reverse, the opposite
/// all_to_all. Throws IndexError for an axis out of range, and ShapeError unless the size is a
/// multiple of the number of ranks.
Tensor all_to_all(const Tensor &x, std::int64_t split_axis = 0, std::int64_t concat_axis = 0,
                  const Group &group = {}, std::source_location where = WEFT_HERE);

/// The tensor of rank `root`, on all ranks. Elsewhere `x` says dtype and shape. In reverse, the sum
/// of the cotangents at the root, and zeros elsewhere. Throws IndexError for a root that is no
/// rank.
Tensor broadcast(const Tensor &x, int root = 0, const Group &group = {},
                 std::source_location where = WEFT_HERE);

/// The tensor of another rank: for each pair (from, to) rank `to` gets that of rank `from`. Ranks
/// that nobody sends to get zeros. In reverse, the same for the pairs turned round. Throws
/// IndexError for what is no rank, and ValueError if a rank sends or gets twice.
Tensor permute(const Tensor &x, const std::vector<std::pair<int, int>> &pairs,
               const Group &group = {}, std::source_location where = WEFT_HERE);

/// Returns when all ranks have called it.
void barrier(const Group &group = {}, std::source_location where = WEFT_HERE);

/// Sends a tensor to a rank, which receives it. It may wait until that rank does. Throws IndexError
/// for what is no rank, or for this rank itself.
void send(const Tensor &x, int to, const Group &group = {}, std::source_location where = WEFT_HERE);
/// The next tensor that a rank sends to this one; dtype and shape are the sender's. Throws
/// IndexError for what is no rank, or for this rank itself.
Tensor recv(int from, const Group &group = {}, std::source_location where = WEFT_HERE);

} // namespace weft::distributed
