// Ranks in a grid whose axes have names, and the groups along them.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "Distributed/Call.h"
#include "Distributed/Execute.h"
#include "Ops/Interpreter.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include <weft/mesh.h>

namespace weft::distributed {

namespace {

/// A mesh takes a number for each set of its axes, so that groups are made without a message.
constexpr std::size_t kMostAxes = 8;

/// A set of axes: bit i is axis i.
using Axes = std::uint32_t;

std::string quoted(std::span<const MeshAxis> axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += (i == 0 ? "'" : i + 1 == axes.size() ? " and '" : ", '") + axes[i].name + "'";
  return text;
}

/// "data = 2, model = 4".
std::string described(std::span<const MeshAxis> axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += (i == 0 ? "" : ", ") + axes[i].name + " = " + std::to_string(axes[i].size);
  return text;
}

/// The product of all sizes that are given, but for one axis; nothing if it is too large for any
/// number of ranks.
std::optional<std::int64_t> product(std::span<const MeshAxis> axes, std::size_t without) {
  std::int64_t all = 1;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (i != without && axes[i].size != -1 && __builtin_mul_overflow(all, axes[i].size, &all))
      return std::nullopt;
  return all;
}

/// What sizes would fit instead: one axis with another size, or what divides the number of ranks.
std::string what_fits(std::span<const MeshAxis> axes, std::int64_t ranks) {
  for (std::size_t i = axes.size(); i-- > 0;)
    if (const auto others = product(axes, i); axes[i].size >= 1 && others && ranks % *others == 0)
      return axes[i].name + " = " + std::to_string(ranks / *others) + " would fit";
  std::string text;
  for (std::int64_t size = 1; size <= ranks; ++size)
    if (ranks % size == 0) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "sizes of which " + std::to_string(ranks) + " is the product would fit, each one of " +
         text;
}

/// Fills in the size that is left out. Throws for what is no grid of so many ranks.
void complete(std::vector<MeshAxis> &axes, std::int64_t ranks) {
  if (axes.empty())
    raise(ErrorKind::value,
          "Mesh: there is no axis: name one or more, as {\"data\", " + std::to_string(ranks) + "}");
  if (axes.size() > kMostAxes)
    raise(ErrorKind::value, "Mesh: there are " + std::to_string(axes.size()) +
                                " axes, and at most " + std::to_string(kMostAxes) + " are wanted");
  std::size_t open = axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const MeshAxis &axis = axes[i];
    if (axis.name.empty())
      raise(ErrorKind::value, "Mesh: axis " + std::to_string(i) + " has no name");
    for (std::size_t j = 0; j < i; ++j)
      if (axes[j].name == axis.name)
        raise(ErrorKind::value, "Mesh: axis '" + axis.name + "' is there twice");
    if (axis.size == -1 && open == axes.size()) {
      open = i;
      continue;
    }
    if (axis.size == -1)
      raise(ErrorKind::value, "Mesh: the sizes of '" + axes[open].name + "' and '" + axis.name +
                                  "' are -1: one axis may have what is left");
    if (axis.size < 1)
      raise(ErrorKind::value, "Mesh: axis '" + axis.name + "' has size " +
                                  std::to_string(axis.size) +
                                  ": 1 or more is wanted, or -1 for what is left");
  }
  const std::optional<std::int64_t> given = product(axes, open);
  const std::string there_are = ", and there are " + std::to_string(ranks) + " ranks: ";
  if (open < axes.size()) {
    if (!given || ranks % *given != 0)
      raise(ErrorKind::value, "Mesh: the axes but '" + axes[open].name + "' have " +
                                  (given ? std::to_string(*given) : "too many") + " ranks (" +
                                  described(axes) + ")" + there_are + what_fits(axes, ranks));
    axes[open].size = ranks / *given;
  } else if (given != ranks) {
    raise(ErrorKind::value, "Mesh: " + described(axes) + " are " +
                                (given ? std::to_string(*given) : "too many") + " ranks" +
                                there_are + what_fits(axes, ranks));
  }
}

} // namespace

namespace detail {

/// A mesh with the groups that were asked for so far.
class MeshState {
public:
  MeshState(std::vector<MeshAxis> axes, std::shared_ptr<GroupState> all, int first)
      : axes(std::move(axes)), all_(std::move(all)), first_(first) {}

  /// How many ranks stand between neighbours along an axis.
  std::int64_t stride(std::size_t axis) const {
    std::int64_t stride = 1;
    for (std::size_t i = axis + 1; i < axes.size(); ++i) stride *= axes[i].size;
    return stride;
  }
  std::int64_t coordinate(std::size_t axis, std::int64_t rank) const {
    return rank / stride(axis) % axes[axis].size;
  }
  int rank() const { return all_->rank; }
  Group all() const { return Group(all_); }

  Group group(Axes along) {
    if (along + 1 == Axes{1} << axes.size()) return all();
    const std::lock_guard lock(lock_);
    std::shared_ptr<GroupState> &made = groups_[along];
    if (made != nullptr) return Group(made);
    std::vector<int> ranks;
    int own = 0;
    for (int other = 0; other < all_->size(); ++other) {
      bool with = true;
      for (std::size_t i = 0; i < axes.size(); ++i)
        with &= (along >> i & 1) != 0 || coordinate(i, other) == coordinate(i, rank());
      if (!with) continue;
      if (other == rank()) own = static_cast<int>(ranks.size());
      ranks.push_back(all_->ranks[static_cast<std::size_t>(other)]);
    }
    made = std::make_shared<GroupState>(all_->world, first_ + static_cast<int>(along) - 1,
                                        std::move(ranks), own);
    return Group(made);
  }

  const std::vector<MeshAxis> axes;

private:
  std::shared_ptr<GroupState> all_;
  int first_; ///< the number of the first group
  std::mutex lock_;
  std::map<Axes, std::shared_ptr<GroupState>> groups_;
};

} // namespace detail

namespace {

std::size_t axis_of(const std::vector<MeshAxis> &axes, std::string_view name,
                    const char *function) {
  const auto found = std::ranges::find(axes, name, &MeshAxis::name);
  if (found != axes.end()) return static_cast<std::size_t>(found - axes.begin());
  raise(ErrorKind::value, std::string(function) + ": the mesh has no axis '" + std::string(name) +
                              "': it has " + quoted(axes));
}

Axes axes_of(const std::vector<MeshAxis> &axes, const MeshAxes &given, const char *function) {
  if (given.names().empty())
    raise(ErrorKind::value,
          std::string(function) + ": there is no axis: the mesh has " + quoted(axes));
  Axes all = 0;
  for (const std::string &name : given.names()) {
    const Axes one = Axes{1} << axis_of(axes, name, function);
    if ((all & one) != 0)
      raise(ErrorKind::value, std::string(function) + ": axis '" + name + "' is there twice");
    all |= one;
  }
  return all;
}

} // namespace

Mesh::Mesh(std::vector<MeshAxis> axes, const Group &group, std::source_location where) {
  Call call("Mesh", group, where);
  detail::GroupState &all = call.group();
  complete(axes, all.size());
  const int own = all.world.next_group.load();
  int first = 0;
  for (const std::string_view bytes :
       call.meet({.arguments = described(axes), .has_tensor = false},
                 {reinterpret_cast<const char *>(&own), sizeof own})) {
    int next = 0;
    std::memcpy(&next, bytes.data(), sizeof next);
    first = std::max(first, next);
  }
  detail::reserve_numbers(all, "Mesh", first, (1 << axes.size()) - 2);
  const Group state = group.state() != nullptr ? group : Group(world_group());
  state_ = std::make_shared<detail::MeshState>(std::move(axes), state.state(), first);
}

Group Mesh::group(const MeshAxes &axes, std::source_location where) const {
  const CompositeCall call("group", where);
  return state_->group(axes_of(state_->axes, axes, "group"));
}

Group Mesh::group() const { return state_->all(); }

int Mesh::coordinate(std::string_view axis, std::source_location where) const {
  const CompositeCall call("coordinate", where);
  const std::size_t along = axis_of(state_->axes, axis, "coordinate");
  return static_cast<int>(state_->coordinate(along, state_->rank()));
}

int Mesh::size(const MeshAxes &axes, std::source_location where) const {
  const CompositeCall call("size", where);
  const Axes along = axes_of(state_->axes, axes, "size");
  std::int64_t size = 1;
  for (std::size_t i = 0; i < state_->axes.size(); ++i)
    if ((along >> i & 1) != 0) size *= state_->axes[i].size;
  return static_cast<int>(size);
}

std::vector<std::string> Mesh::axes() const {
  std::vector<std::string> names;
  for (const MeshAxis &axis : state_->axes) names.push_back(axis.name);
  return names;
}

Shape Mesh::shape() const {
  Shape sizes;
  for (const MeshAxis &axis : state_->axes) sizes.push_back(axis.size);
  return sizes;
}

Tensor split(const Tensor &x, const Mesh &mesh, std::int64_t axis, const MeshAxes &over,
             std::source_location where) {
  const CompositeCall call("split", where);
  return split(x, mesh.group(over), axis, where);
}

Tensor shard(const Tensor &x, const Mesh &mesh, const ShardSpec &spec, std::source_location where) {
  const CompositeCall call("shard", where);
  if (!x.defined()) raise(ErrorKind::state, "shard: the tensor is undefined");
  detail::MeshState &state = *mesh.state_;
  if (std::cmp_greater(spec.size(), x.rank()))
    raise(ErrorKind::value, "shard: the spec has " + std::to_string(spec.size()) +
                                " entries, and x has " + std::to_string(x.rank()) + " axes");
  Ints cut, over, sizes;
  Axes taken = 0;
  for (std::size_t axis = 0; axis < spec.size(); ++axis) {
    Axes all = 0;
    for (const std::string &name : spec[axis].names()) {
      const Axes one = Axes{1} << axis_of(state.axes, name, "shard");
      if (one <= all)
        raise(ErrorKind::value, "shard: axis " + std::to_string(axis) + " is cut over '" + name +
                                    "' behind one that comes later in the mesh, or is the same: "
                                    "the mesh has " +
                                    quoted(state.axes));
      if ((one & taken) != 0)
        raise(ErrorKind::value, "shard: '" + name + "' cuts axis " + std::to_string(axis) +
                                    " of x and one before it");
      all |= one;
    }
    if (all == 0) continue;
    taken |= all;
    cut.push_back(static_cast<std::int64_t>(axis));
    over.push_back(all);
  }
  for (const MeshAxis &axis : state.axes) sizes.push_back(axis.size);
  for (const std::int64_t along : over)
    check_same("shard", x, state.group(static_cast<Axes>(along)));
  std::int64_t first = 0, whole = 0;
  if (Interpreter::current() != nullptr || x.traced()) {
    // The compiler may want the group along any set of axes.
    for (Axes along = 1; along < Axes{1} << state.axes.size(); ++along) {
      const std::int64_t number = number_of(state.group(along).state());
      if (along == 1) first = number;
      whole = number;
    }
  }
  return dispatch(OpCode::shard, std::array{x}, Attrs{cut, over, sizes, first, whole});
}

} // namespace weft::distributed
