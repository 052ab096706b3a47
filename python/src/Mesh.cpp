// Ranks in a grid, in Python.
#include "Define.h"
#include "Groups.h"
#include "Text.h"

#include <nanobind/stl/vector.h>
#include <weft/mesh.h>

namespace weft::python {

namespace {

using distributed::Group;
using distributed::Mesh;
using distributed::MeshAxis;

struct BoundMesh {
  using Initialized = void; // see Initialized.h
  Mesh mesh;
};

/// The axes of a dict of names and sizes.
std::vector<MeshAxis> mesh_axes(nb::handle axes) {
  if (!nb::isinstance<nb::dict>(axes))
    throw DTypeError("Mesh: axes is a " + std::string(Py_TYPE(axes.ptr())->tp_name) +
                     ": a dict of names and sizes is wanted, as {'data': 2, 'model': -1}");
  std::vector<MeshAxis> all;
  for (const auto &[name, size] : nb::cast<nb::dict>(axes)) {
    if (!nb::isinstance<nb::str>(name))
      throw DTypeError("Mesh: a name of an axis is a " + std::string(Py_TYPE(name.ptr())->tp_name) +
                       ": a str is wanted");
    std::int64_t number = 0;
    if (nb::isinstance<nb::bool_>(size) || !nb::try_cast(size, number))
      throw DTypeError("Mesh: the size of axis '" + nb::cast<std::string>(name) + "' is a " +
                       std::string(Py_TYPE(size.ptr())->tp_name) + ": an int is wanted");
    all.push_back({nb::cast<std::string>(name), number});
  }
  return all;
}

/// A name of an axis of a mesh, or several.
distributed::MeshAxes axes_of(nb::handle axes, const char *function) {
  if (nb::isinstance<nb::str>(axes)) return nb::cast<std::string>(axes);
  std::vector<std::string> names;
  if (nb::isinstance<nb::tuple>(axes) || nb::isinstance<nb::list>(axes))
    if (nb::try_cast(axes, names)) return names;
  throw DTypeError(std::string(function) + ": the axes are a " + Py_TYPE(axes.ptr())->tp_name +
                   ": a name, or a tuple of names, is wanted");
}

} // namespace

void define_mesh(nb::module_ &module) {
  ClassOf<BoundMesh> type(module, "Mesh", nb::is_weak_referenceable(),
                          R"(The ranks of a group in a grid whose axes have names.

Rank r of a mesh of shape (2, 4) stands at (r // 4, r % 4), as the elements of a tensor lie. Work
is cut along an axis, and the ranks along it are a group.

    >>> mesh = wf.distributed.Mesh({"data": -1, "model": 1})
    >>> mesh
    Mesh(data=1, model=1)
    >>> mesh.group("model").size
    1
)");
  publish(module, type);
  type.def(
          "__init__",
          [](BoundMesh *self, nb::handle axes, nb::handle group) {
            std::vector<MeshAxis> all = converted("Mesh", group, [&] { return mesh_axes(axes); });
            const Group of = group_of(group, "Mesh");
            new (self) BoundMesh{run_here([&] { return Mesh(std::move(all), of, kNowhere); })};
          },
          Arg("axes").as("Mapping[str, int]"), Arg("group").as("Group | None") = nb::none(),
          R"(A collective: all ranks of the group make it, with the same axes.

Args:
    axes: names and how many ranks there are along them; one may be -1, which is what is left
    group: the world if it is not given

Raises:
    ValueError: for no axis, and for sizes whose product is not the number of ranks; it says which
        would fit
    StateError: where the axes differ between ranks, and in a traced function
)")
      .def(
          "group",
          [](const BoundMesh &self, nb::handle axes) {
            return new BoundGroup{self.mesh.group(axes_of(axes, "group"), kNowhere)};
          },
          Arg("axes").as("str | Sequence[str]"),
          R"(The ranks that differ from this one along these axes alone, in the order of the grid.

It is the same group each time, and no collective: traced functions call it as well.

Raises:
    ValueError: for no name, for one that no axis has, and for one that is there twice
)")
      .def(
          "coordinate",
          [](const BoundMesh &self, const std::string &axis) {
            return self.mesh.coordinate(axis, kNowhere);
          },
          Arg("axis"), "Where this rank stands along an axis, from 0.")
      .def(
          "size",
          [](const BoundMesh &self, nb::handle axes) {
            return self.mesh.size(axes_of(axes, "size"), kNowhere);
          },
          Arg("axes").as("str | Sequence[str]"),
          "How many ranks there are along these axes together.")
      .def_prop_ro(
          "axes", [](const BoundMesh &self) { return nb::tuple(nb::cast(self.mesh.axes())); },
          Returns{"tuple[str, ...]"}, "The names of the axes.")
      .def_prop_ro(
          "shape",
          [](const BoundMesh &self) {
            const Shape shape = self.mesh.shape();
            return nb::tuple(nb::cast(std::vector<std::int64_t>(shape.begin(), shape.end())));
          },
          Returns{"tuple[int, ...]"}, "The sizes of the axes.")
      .def("__repr__", [](const BoundMesh &self) {
        std::string text = "Mesh(";
        const std::vector<std::string> names = self.mesh.axes();
        const Shape shape = self.mesh.shape();
        for (std::size_t i = 0; i < names.size(); ++i)
          text += (i == 0 ? "" : ", ") + names[i] + "=" + std::to_string(shape[i]);
        return text + ")";
      });
  define(
      module, "shard",
      [](nb::handle x, const BoundMesh &mesh, nb::handle spec) {
        const Tensor from = to_tensor(x.ptr(), {"shard", "x"});
        if (!nb::isinstance<nb::tuple>(spec) && !nb::isinstance<nb::list>(spec))
          throw DTypeError(std::string("shard: spec is a ") + Py_TYPE(spec.ptr())->tp_name +
                           ": a tuple with a name, several, or None for each axis is wanted");
        distributed::ShardSpec axes;
        for (const nb::handle entry : spec)
          axes.push_back(entry.is_none() ? distributed::MeshAxes(std::vector<std::string>())
                                         : axes_of(entry, "shard"));
        return run_here([&] { return distributed::shard(from, mesh.mesh, axes, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("mesh").as("Mesh"),
      Arg("spec").as("Sequence[str | Sequence[str] | None]"),
      R"(`x`, which is the same on all ranks, as one of which each rank need not have more than its part.

The result is x. In a traced function all that is computed of it is cut too, as far as that goes, so
that each rank does its part of the work, and the compiler adds the collectives. In reverse, the
cotangent is cut in the same way. Eagerly it does nothing.

    >>> mesh = wf.distributed.Mesh({"data": 1, "model": 1})
    >>> wf.distributed.shard([[1, 2], [3, 4]], mesh, (None, "model")).tolist()
    [[1, 2], [3, 4]]

Args:
    spec: for each axis of x the axis of the mesh that it is cut over, several, in the mesh's order,
        or None for an axis that is whole, as those behind the last are

Raises:
    ShapeError: unless sizes are multiples of the numbers of ranks
    ValueError: for more axes than x has, names that no axis of the mesh has, one that is there
        twice, and axes that are not in the mesh's order
)");
  define(
      module, "split",
      [](nb::handle x, nb::handle mesh, std::int64_t axis, nb::handle over) {
        const Tensor from = to_tensor(x.ptr(), {"split", "x"});
        const bool of_mesh = nb::isinstance<BoundMesh>(mesh);
        if (of_mesh == over.is_none())
          throw ValueError(of_mesh ? "split: a mesh is cut over some of its axes: over names them"
                                   : "split: over names axes of a mesh, and a group has none");
        const Group of =
            of_mesh ? nb::cast<BoundMesh &>(mesh).mesh.group(axes_of(over, "split"), kNowhere)
                    : group_of(mesh, "split");
        return run_here([&] { return distributed::split(from, of, axis, kNowhere); });
      },
      Arg("x").as("TensorLike"), Arg("mesh").as("Mesh | Group | None"), Arg("axis") = 0,
      Arg("over").as("str | Sequence[str] | None") = nb::none(),
      R"(This rank's part, along an axis, of `x`, which is the same on all ranks.

Nothing is sent. In reverse, the cotangents of all ranks, which is the same on all of them.

    >>> mesh = wf.distributed.Mesh({"model": 1})
    >>> wf.distributed.split([1, 2], mesh, axis=0, over="model").tolist()
    [1, 2]

Args:
    mesh: whose axes `over` names, or a group
    over: one axis of the mesh, or several

Raises:
    OutOfRangeError: for an axis out of range
    ShapeError: unless its size is a multiple of the number of ranks
    ValueError: for axes that the mesh has not
)");
}

} // namespace weft::python
