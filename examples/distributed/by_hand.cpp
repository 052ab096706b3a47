// ranks-by-hand: data-parallel training without train::fit. Eight replicas share each batch, and
// the ranks share the replicas: mpirun -n 4 weft-ranks-by-hand has the bits of one process.
#include <cstdio>

#include <weft/weft.h>
using namespace weft;

int main() {
  const Tensor x = random::normal({512, 3}, {.seed = 1});
  const Tensor y = matmul(x, tensor({{2.f}, {-1.f}, {0.5f}})) + 0.25f;
  nn::Dense model(3, 1, {.seed = 2});
  optimizers::Adam adam(model, {.learning_rate = 0.05});

  // The ten lines: gradients of this rank's replicas, each of its own rows, and their mean.
  constexpr std::int64_t replicas = 8, rows = 512 / replicas;
  const auto [first, last] = distributed::init().share(replicas);
  for (int step = 0; step < 200; ++step) {
    std::vector<std::vector<Tensor>> own;
    for (std::int64_t r = first; r < last; ++r) {
      const Index part = slice(r * rows, (r + 1) * rows);
      GradientTape tape;
      own.push_back(
          tape.gradient(losses::mean_squared_error(y[part], model(x[part])), model).tensors());
    }
    adam.apply_gradients(
        distributed::all_reduce_replicas(own, replicas, distributed::Reduction::mean));
  }

  if (distributed::init().rank() != 0) return 0;
  const std::vector<float> w = model.kernel.value().to_vector<float>();
  std::printf("kernel %.3f %.3f %.3f, bits %a %a %a\n", w[0], w[1], w[2], w[0], w[1], w[2]);
  return 0;
}
