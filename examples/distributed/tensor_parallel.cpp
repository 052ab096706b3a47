// ranks-tensor-parallel: a transformer block whose heads and hidden units are cut over the axis
// "model" of a mesh, and whose batch over "data", beside the uncut block: mpirun -n 4
// weft-ranks-tensor-parallel 2
#include <cstdio>
#include <string>

#include <weft/weft.h>
using namespace weft;
using distributed::Reduction;

constexpr std::int64_t size = 32, depth = 4, hidden = 64;

/// All weights of a block, or a rank's parts of them.
struct Block {
  Tensor norm1, query, key, value, output, norm2, inner, bias, outer;
  WEFT_FIELDS(Block, norm1, query, key, value, output, norm2, inner, bias, outer)
};

Block whole_block() {
  std::int64_t seed = 0;
  const auto weights = [&](std::int64_t rows, std::int64_t columns) {
    return random::normal({rows, columns}, {.seed = ++seed}) * 0.1f;
  };
  return {ones({size}),          weights(size, size), weights(size, size),
          weights(size, size),   weights(size, size), ones({size}),
          weights(size, hidden), zeros({hidden}),     weights(hidden, size)};
}

/// Heads and hidden units of this rank. Norms are the same on all.
Block part_of(const Block &all, const distributed::Mesh &mesh) {
  const auto columns = [&](const Tensor &w) { return split(w, mesh, 1, "model"); };
  const auto rows = [&](const Tensor &w) { return split(w, mesh, 0, "model"); };
  return {all.norm1, columns(all.query), columns(all.key), columns(all.value), rows(all.output),
          all.norm2, columns(all.inner), rows(all.bias),   rows(all.outer)};
}

Tensor normalized(const Tensor &x, const Tensor &scale) {
  const Tensor centered = x - x.mean(-1, true);
  return centered * scale / sqrt((centered * centered).mean(-1, true) + 1e-5f);
}

/// (batch, length, heads * depth) as (batch, heads, length, depth).
Tensor heads_of(const Tensor &x) {
  return transpose(reshape(x, {x.size(0), x.size(1), -1, depth}), {0, 2, 1, 3});
}

/// `begin` stands where what all ranks have goes into products that are cut by columns, `end` where
/// the sums of those that are cut by rows are still to be added up.
template <class Begin, class End>
Tensor run(const Block &block, const Tensor &x, const Begin &begin, const End &end) {
  const Tensor a = begin(normalized(x, block.norm1));
  const Tensor mixed =
      nn::attention(heads_of(matmul(a, block.query)), heads_of(matmul(a, block.key)),
                    heads_of(matmul(a, block.value)));
  const Tensor together = reshape(transpose(mixed, {0, 2, 1, 3}), {x.size(0), x.size(1), -1});
  const Tensor y = x + end(matmul(together, block.output));
  const Tensor b = begin(normalized(y, block.norm2));
  return y + end(matmul(gelu(matmul(b, block.inner) + block.bias), block.outer));
}

int main(int count, char **arguments) {
  distributed::init();
  const distributed::Mesh mesh({{"data", count > 1 ? std::stoi(arguments[1]) : 1}, {"model", -1}});
  const distributed::Group model = mesh.group("model"), data = mesh.group("data");
  const Block whole = whole_block();
  const Tensor x = random::normal({4, 8, size}, {.seed = 20});

  // One rank with all of it.
  const auto same = [](const Tensor &t) { return t; };
  const auto loss_of = [](const Tensor &y) { return (y * y).mean(); };
  const Block expected =
      grad([&](const Block &block) { return loss_of(run(block, x, same, same)); })(whole);

  // This rank's heads, hidden units and rows.
  const auto begin = [&](const Tensor &t) { return vary(t, model); };
  const auto end = [&](const Tensor &t) {
    return all_reduce(t, Reduction::sum, model, /*same=*/true);
  };
  const auto gradient = function([&](const Block &block, const Tensor &rows) {
    return grad([&](const Block &part) { return loss_of(run(part, rows, begin, end)); })(block);
  });
  const Block part = part_of(whole, mesh), rows = gradient(part, split(x, data));
  const Tensor inner = all_reduce(rows.inner, Reduction::mean, data),
               norm = all_reduce(rows.norm1, Reduction::mean, data);

  const auto distance = [](const Tensor &a, const Tensor &b) {
    return (abs(a - b).max() / abs(b).max()).item<float>();
  };
  const float off = std::max(distance(all_gather(inner, 1, model), expected.inner),
                             distance(norm, expected.norm1));
  if (mesh.group().rank() != 0) return off < 1e-5f ? 0 : 1;
  std::printf("%d rows of ranks, %d of a model each: gradients are those of one rank within %.0e\n",
              mesh.size("data"), mesh.size("model"), static_cast<double>(off));
  return off < 1e-5f ? 0 : 1;
}
