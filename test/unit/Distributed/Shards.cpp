// What every rank does in tests of shard: random programs that are cut over meshes, beside the
// uncut ones.
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "Ranks.h"

namespace weft::distributed::tests {

namespace {

/// Sizes that 1, 2, 3, 4 and 6 ranks divide, and some that they do not.
constexpr std::int64_t kSizes[] = {24, 48, 1, 5, 24};

/// A program that all ranks draw alike: ops on tensors of rank 2 and 3, some of which are cut.
class Program {
public:
  /// Over these meshes, one of which each tensor is cut over; over none without.
  Program(std::uint32_t seed, std::vector<const Mesh *> meshes)
      : draws_(seed), meshes_(std::move(meshes)) {}

  Tensor run(const Tensor &x, const Tensor &y) {
    pool_ = {cut(x), cut(y)};
    for (int i = 0; i < 12; ++i) pool_.push_back(cut(step()));
    Tensor sum = pool_.back();
    for (const Tensor &t : pool_) sum = sum + t.sum() * 0.125;
    return sum;
  }

private:
  std::size_t draw(std::size_t below) { return draws_() % below; }
  std::size_t axis_of(const Tensor &t) { return draw(static_cast<std::size_t>(t.rank())); }

  Tensor any() { return pool_[draw(pool_.size())]; }
  /// One of that shape, made of the first that is drawn.
  Tensor like(const Tensor &t) {
    for (int i = 0; i < 4; ++i)
      if (const Tensor other = any(); other.shape() == t.shape()) return other;
    return sin(t);
  }

  static Tensor behind_the_first(const Tensor &t, std::int64_t axis) {
    Sizes starts, limits;
    for (std::int64_t i = 0; i < t.rank(); ++i) {
      starts.push_back(i == axis ? 1 : 0);
      limits.push_back(t.size(i));
    }
    return slice(t, starts, limits, Ints(t.rank(), 1));
  }

  Tensor step() {
    const Tensor t = any();
    const auto axis = static_cast<std::int64_t>(axis_of(t));
    switch (draw(16)) {
    case 0: return t + like(t);
    case 1: return t * like(t) * 0.5;
    case 2: return tanh(t);
    case 3: return matmul(t, matrix_transpose(like(t))) * 0.05;
    case 4: return matmul(matrix_transpose(t), like(t)) * 0.05;
    case 5: return matrix_transpose(t) - 0.5;
    case 6: return t.sum(axis, /*keepdims=*/true) * 0.1 + like(t);
    case 7: return t.mean(axis, /*keepdims=*/true) * like(t);
    case 8: return t.max(axis, /*keepdims=*/true) - like(t);
    case 9: {
      const std::int64_t rows = t.size(0), first = draw(2) == 0 && rows % 2 == 0 ? 2 : rows;
      return t.rank() == 3 ? reshape(t, {-1, t.size(2)}) : reshape(t, {first, -1, t.size(1)});
    }
    case 10: return concatenate({t, like(t)}, axis);
    case 11: return behind_the_first(concatenate({t, like(t)}, axis), axis);
    case 12: return reverse(t, {axis});
    case 13: return cumsum(t, axis) * 0.1;
    case 14:
      return gather(t, tensor(std::vector<std::int64_t>{t.size(axis) - 1, 0, 0, t.size(axis) - 1}),
                    axis);
    default: {
      const Tensor e = exp(t - t.max(axis, /*keepdims=*/true));
      return -like(t) + e / e.sum(axis, /*keepdims=*/true);
    }
    }
  }

  /// Sometimes the same in parts, over axes of the mesh that divide its sizes.
  Tensor cut(const Tensor &t) {
    const bool cuts = draw(2) == 0;
    const std::size_t which = draw(2);
    const Mesh *const mesh = meshes_.empty() ? nullptr : meshes_[which % meshes_.size()];
    ShardSpec spec;
    std::vector<std::string> left = mesh == nullptr ? std::vector<std::string>{} : mesh->axes();
    for (std::int64_t axis = 0; axis < t.rank(); ++axis) {
      const std::size_t pick = draw(4);
      MeshAxes over(std::vector<std::string>{});
      if (pick == 3 && left.size() == 2) over = MeshAxes(left);
      else if (pick < left.size()) over = MeshAxes(left[pick]);
      if (!over.names().empty() && t.size(axis) % mesh->size(over) != 0)
        over = MeshAxes(std::vector<std::string>{});
      for (const std::string &name : over.names()) std::erase(left, name);
      spec.push_back(over);
    }
    return mesh != nullptr && cuts ? shard(t, *mesh, spec) : t;
  }

  std::mt19937 draws_;
  std::vector<const Mesh *> meshes_;
  std::vector<Tensor> pool_;
};

double distance(const Tensor &a, const Tensor &b) {
  if (a.shape() != b.shape()) return 1;
  return (abs(a - b).max() / (abs(b).max() + 1.0)).item<double>();
}

void random_programs(const std::vector<const Mesh *> &meshes, std::uint32_t first,
                     std::uint32_t count) {
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const Tensor x = random::normal({kSizes[seed % 5], 24}, {.seed = seed, .dtype = DType::f64}),
                 y = random::normal({24, kSizes[seed / 5 % 5]},
                                    {.seed = seed + 1, .dtype = DType::f64});
    const auto whole = [&](const Tensor &a, const Tensor &b) {
      return Program(seed, {}).run(a, b);
    };
    const auto parts = [&](const Tensor &a, const Tensor &b) {
      return Program(seed, meshes).run(a, b);
    };
    const std::string what = " of program " + std::to_string(seed);
    want(distance(function(parts)(x, y), whole(x, y)) < 1e-11, "the value" + what);
    want(equal(parts(x, y), whole(x, y)), "the eager value" + what);
    const std::string text = function(parts).ir(x, y, Phase::differentiate);
    want(text.find("weft.shard") == text.npos, "no shard is left" + what);
    const auto slope = [](const auto &of) {
      return grad([of](const Tensor &a, const Tensor &b) { return of(a, b).mean(); });
    };
    const auto whole_slope = slope(whole);
    const auto part_slope = slope(parts);
    want(
        distance(function([&](const Tensor &a, const Tensor &b) { return part_slope(a, b); })(x, y),
                 whole_slope(x, y)) < 1e-10,
        "the gradient" + what);
  }
}

/// Loops, members of a batch, tangents and second derivatives of what is cut.
void constructs(const Mesh &mesh) {
  const Tensor x = random::normal({24, 24}, {.seed = 1, .dtype = DType::f64}),
               w = random::normal({24, 24}, {.seed = 2, .dtype = DType::f64}) * 0.2;
  const auto layer = [](const Mesh *cut, const Tensor &t, const Tensor &weights) {
    return tanh(matmul(t, cut == nullptr ? weights : shard(weights, *cut, {{}, "a"})));
  };
  const auto check = [&](const std::string &what, const auto &of) {
    const Tensor whole = of(nullptr)(x, w);
    const auto parts = of(&mesh);
    want(distance(function([&](const Tensor &a, const Tensor &b) { return parts(a, b); })(x, w),
                  whole) < 1e-11,
         what + " of what is cut");
  };
  check("a loop", [&](const Mesh *cut) {
    return [&, cut](const Tensor &t, const Tensor &weights) {
      return for_loop(
          3, [&](const Tensor &, const Tensor &c) { return layer(cut, c, weights); }, t);
    };
  });
  check("a batch", [&](const Mesh *cut) {
    return [&, cut](const Tensor &t, const Tensor &weights) {
      return vmap([&](const Tensor &row) {
        const Tensor c = reshape(row, {1, 24});
        return layer(cut, c, weights) + layer(cut, c * 2.0, matrix_transpose(weights));
      })(t);
    };
  });
  check("a batch of weights", [&](const Mesh *cut) {
    return [&, cut](const Tensor &t, const Tensor &weights) {
      return vmap([&](const Tensor &scale) { return layer(cut, t, weights * scale); })(
          tensor({0.5, 1.0, 2.0}));
    };
  });
  check("a tangent", [&](const Mesh *cut) {
    return [&, cut](const Tensor &t, const Tensor &weights) {
      return std::get<1>(
          jvp([&](const Tensor &b) { return layer(cut, t, b); }, weights, cos(weights)));
    };
  });
  check("a second derivative", [&](const Mesh *cut) {
    return [&, cut](const Tensor &t, const Tensor &weights) {
      const auto first = grad([&](const Tensor &b) { return layer(cut, t, b).sum(); });
      return grad([&](const Tensor &b) { return (first(b) * cos(b)).sum(); })(weights);
    };
  });
}

/// What a rank has of its own, over the ranks that cut another value.
void own_values(const Mesh &mesh) {
  const int count = Group().size(), rank = Group().rank();
  const Tensor x = random::normal({24, 24}, {.seed = 3, .dtype = DType::f64}),
               w = random::normal({24, 24}, {.seed = 4, .dtype = DType::f64}), whole = matmul(x, w);
  const auto product = function([&](const Tensor &a, const Tensor &b) {
    const Tensor part = split(b, mesh, 1, "a");
    return all_gather(matmul(shard(a, mesh, {"a"}), part), 1, mesh.group("a"));
  });
  want(distance(product(x, w), whole) < 1e-12, "columns that are cut by hand");
  const auto rows = function([&](const Tensor &a, const Tensor &b) {
    return matmul(vary(a, mesh.group("a")), shard(b, mesh, {"a"}));
  });
  const double own = rank + count;
  want(distance(rows(x * own, w), whole * own) < 1e-12, "rows of each rank");
}

/// The collectives of a program that is cut follow from all of its ops.
void different_programs(const Mesh &mesh) {
  if (Group().size() == 1) return;
  const auto sum = function([&](const Tensor &x) {
    const Tensor part = shard(x, mesh, {"a"}) * 2.0;
    if (Group().rank() == 0) print(part.sum());
    return (part * part).sum();
  });
  try {
    static_cast<void>(sum(ones({24}, DType::f64)));
    want(false, "a print of one rank");
  } catch (const StateError &error) {
    want(std::string_view(error.what()).find("the programs of the ranks differ") !=
             std::string_view::npos,
         error.what());
  }
}

/// How many programs of each kind: WEFT_TEST_PROGRAMS, or so few that they take a second.
std::uint32_t program_count() {
  const char *const given = std::getenv("WEFT_TEST_PROGRAMS");
  return given == nullptr ? 4 : static_cast<std::uint32_t>(std::stoul(given));
}

} // namespace

void shards() {
  const int count = Group().size();
  const std::uint32_t programs = program_count();
  const Mesh line({{"a", count}}), other({{"a", count}, {"one", 1}});
  constructs(line);
  own_values(line);
  different_programs(line);
  random_programs({&line}, 0, programs);
  random_programs({&other, &line}, 30000, programs);
  if (count % 2 == 0) {
    const Mesh grid({{"a", 2}, {"b", -1}});
    random_programs({&grid}, 10000, programs);
    random_programs({&line, &grid}, 40000, programs);
  }
  const Mesh thin({{"a", 1}, {"b", -1}});
  random_programs({&thin}, 20000, programs / 3);
}

} // namespace weft::distributed::tests
