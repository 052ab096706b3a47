// Ranks in a grid whose axes have names, and the groups along them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/distributed.h>
#include <weft/shape.h>

namespace weft::distributed {

namespace detail {
class MeshState;
}

/// An axis of a mesh, and how many ranks there are along it; -1 is what the others leave.
struct MeshAxis {
  std::string name;
  std::int64_t size = -1;
};

/// Names of axes of a mesh: `"model"`, `{"data", "model"}`.
class MeshAxes {
public:
  MeshAxes(const char *name) : names_{name} {}
  MeshAxes(std::string name) : names_{std::move(name)} {}
  MeshAxes(std::initializer_list<const char *> names) : names_(names.begin(), names.end()) {}
  MeshAxes(std::vector<std::string> names) : names_(std::move(names)) {}

  const std::vector<std::string> &names() const { return names_; }

private:
  std::vector<std::string> names_;
};

/// How a tensor is cut over a mesh: for each of its axes the axes of the mesh that it is cut over,
/// none for one that is whole, as the axes behind the last are: `{"data", {}}`, `{{}, "model"}`.
using ShardSpec = std::vector<MeshAxes>;

/// The ranks of a group in a grid whose axes have names: `Mesh mesh({{"data", 2}, {"model", 4}})`
/// has rank r at (r / 4, r % 4), as the elements of a tensor of shape (2, 4) lie. Work is cut along
/// an axis, and the ranks along it are a group. Copies are the same mesh.
class Mesh {
public:
  /// A collective: all ranks of the group call it, with the same axes. The size of one axis may be
  /// -1. Throws ValueError for no axis, more than eight, names that are empty or there twice, sizes
  /// below 1, and sizes whose product is not the number of ranks; it says which would fit. Throws
  /// StateError, on all ranks, where their axes differ, and in a traced function.
  explicit Mesh(std::vector<MeshAxis> axes, const Group &group = {},
                std::source_location where = WEFT_HERE);

  /// The ranks that differ from this one along these axes alone, in the order of the grid. It is
  /// the same group each time, and asking for it is no collective: traced functions do too. Throws
  /// ValueError for no name, one that no axis has, and one that is there twice.
  Group group(const MeshAxes &axes, std::source_location where = WEFT_HERE) const;
  /// All ranks of the mesh.
  Group group() const;
  /// Where this rank stands along an axis, from 0. Throws ValueError for a name that no axis has.
  int coordinate(std::string_view axis, std::source_location where = WEFT_HERE) const;
  /// How many ranks there are along these axes together. Throws as `group`.
  int size(const MeshAxes &axes, std::source_location where = WEFT_HERE) const;
  /// The names of the axes.
  std::vector<std::string> axes() const;
  /// Their sizes.
  Shape shape() const;

private:
  friend Tensor shard(const Tensor &x, const Mesh &mesh, const ShardSpec &spec,
                      std::source_location where);
  std::shared_ptr<detail::MeshState> state_;
};

/// `x`, which is the same on all ranks of the mesh along the axes that cut it, as one of which each
/// rank need not have more than its part. The result is x. In a traced function all that is
/// computed of it is cut too, as far as that goes, so that each rank does its part of the work, and
/// the compiler adds the collectives: docs/distributed.md says where. In reverse, the cotangent is
/// cut in the same way. Eagerly it does nothing. Throws ValueError for more axes than x has, for
/// names that no axis of the mesh has, one that is there twice, and axes that are not in the
/// mesh's order, and ShapeError, which says both, unless sizes are multiples of the numbers of
/// ranks.
Tensor shard(const Tensor &x, const Mesh &mesh, const ShardSpec &spec,
             std::source_location where = WEFT_HERE);

/// This rank's part of `x`, which is the same on all ranks along these axes: `split(w, mesh, 1,
/// "model")`. See `split` of a group. Throws ValueError for a name that no axis has.
Tensor split(const Tensor &x, const Mesh &mesh, std::int64_t axis, const MeshAxes &over,
             std::source_location where = WEFT_HERE);

} // namespace weft::distributed
