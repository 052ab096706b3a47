// What every rank does in tests of meshes: who is in which group, and what grids are refused.
#include <string>
#include <vector>

#include "Ranks.h"

namespace weft::distributed::tests {

namespace {

/// The ranks of a group, in its order, by their numbers in the world.
std::vector<std::int64_t> members(const Group &group) {
  return all_gather(tensor({std::int64_t{Group().rank()}}), 0, group).to_vector<std::int64_t>();
}

/// The ranks of a grid of these sizes that differ from this one along these axes alone.
std::vector<std::int64_t> expected(const std::vector<std::int64_t> &sizes,
                                   const std::vector<std::size_t> &along) {
  const auto place_of = [&](std::int64_t rank) {
    std::vector<std::int64_t> place(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0; rank /= sizes[i]) place[i] = rank % sizes[i];
    return place;
  };
  const std::vector<std::int64_t> own = place_of(Group().rank());
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < Group().size(); ++rank) {
    std::vector<std::int64_t> place = place_of(rank);
    for (const std::size_t axis : along) place[axis] = own[axis];
    if (place == own) ranks.push_back(rank);
  }
  return ranks;
}

void grid(std::int64_t a, std::int64_t b, std::int64_t c) {
  const std::string what =
      " of a mesh of " + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c);
  const Mesh mesh({{"a", a}, {"b", -1}, {"c", c}});
  const std::vector<std::int64_t> sizes{a, b, c};
  want(mesh.shape() == Shape(sizes), "the shape" + what);
  want(mesh.axes() == std::vector<std::string>({"a", "b", "c"}), "the axes" + what);
  const std::int64_t rank = Group().rank();
  want(mesh.coordinate("a") == rank / (b * c), "coordinate a" + what);
  want(mesh.coordinate("b") == rank / c % b, "coordinate b" + what);
  want(mesh.coordinate("c") == rank % c, "coordinate c" + what);
  want(mesh.size("b") == b && mesh.size({"a", "c"}) == a * c, "the sizes" + what);
  const auto check = [&](const MeshAxes &axes, const std::vector<std::size_t> &along) {
    std::string names;
    for (const std::string &name : axes.names()) names += name;
    const Group group = mesh.group(axes);
    want(members(group) == expected(sizes, along), "group " + names + what);
    // It is the same group each time, whose collectives are in one order.
    want(mesh.group(axes).state() == group.state(), "once more group " + names + what);
    want(group.size() == mesh.size(axes), "the size of group " + names + what);
    if (along.size() == 1)
      want(group.rank() == mesh.coordinate(axes.names()[0]), "the rank in group " + names + what);
  };
  check("a", {0});
  check("b", {1});
  check("c", {2});
  check({"a", "b"}, {0, 1});
  check({"c", "b"}, {1, 2}); // in the order of the grid
  check({"a", "c"}, {0, 2});
  check({"a", "b", "c"}, {0, 1, 2});
  want(members(mesh.group()) == expected(sizes, {0, 1, 2}), "all ranks" + what);
}

void grids() {
  const int count = Group().size(), rank = Group().rank();
  for (std::int64_t a = 1; a <= count; ++a)
    for (std::int64_t b = 1; a * b <= count; ++b)
      if (count % (a * b) == 0) grid(a, b, count / (a * b));
  // Of a part of the world, in its order; others make meshes of theirs.
  const Group half = Group().split(rank % 2, -rank);
  const Mesh line({{"x", -1}}, half);
  want(members(line.group("x")) == members(half), "a mesh of a part");
  want(line.coordinate("x") == half.rank(), "the coordinate in a part");
  // Two meshes of the same ranks have groups of their own, between which messages are not mixed up.
  const Mesh first({{"x", count}, {"y", 1}}), second({{"x", count}, {"y", 1}});
  const Tensor own = tensor({static_cast<float>(rank)});
  want(all_reduce(own, Reduction::max, first.group("x")).item<float>() ==
           all_reduce(own, Reduction::max, second.group("x")).item<float>(),
       "two meshes");
  // In a trace, where no group is made.
  const auto traced = function(
      [&](const Tensor &x) { return all_reduce(x, Reduction::sum, first.group("x")) + x; });
  const auto sum = static_cast<float>(count * (count - 1) / 2);
  for (int i = 0; i < 2; ++i)
    want(traced(own).item<float>() == sum + static_cast<float>(rank), "a mesh in a trace");
}

void refused() {
  const int count = Group().size(), rank = Group().rank();
  const bool other = rank == count - 1;
  said([&] { Mesh({{"data", count}, {"model", 2}}); });
  said([&] { Mesh({{"data", count + 1}, {"model", -1}}); });
  // All ranks hear of axes that differ, and of those that one of them refuses.
  said([&] {
    if (other) Mesh({{"data", count}, {"model", 1}});
    else Mesh({{"data", 1}, {"model", count}});
  });
  said([&] {
    if (other) Mesh({{"data", 0}});
    else Mesh({{"data", count}});
  });
  const Mesh mesh({{"data", count}});
  want(mesh.group("data").size() == count, "a mesh after errors");
}

} // namespace

void mesh(const std::string &how) {
  if (how == "refused") refused();
  else grids();
}

} // namespace weft::distributed::tests
