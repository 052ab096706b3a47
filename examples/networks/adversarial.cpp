// A generative adversarial network (Goodfellow et al. 2014): one network learns to draw points of a
// ring of eight spots, another to tell them from real ones.
#include <cstdio>
#include <numbers>

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kSpots = 8, kNoise = 8, kBatch = 256, kSteps = 3000;
constexpr double kSpread = 0.08;

/// The middles of the spots, (spots, 2).
Tensor middles() {
  const Tensor angle = iota(f32, {kSpots, 1}) * (2 * std::numbers::pi / kSpots);
  return concatenate({cos(angle), sin(angle)}, {.axis = 1});
}

nn::Sequential network(std::int64_t outputs) {
  return nn::Sequential{nn::Dense(64, {.activation = leaky_relu}),
                        nn::Dense(64, {.activation = leaky_relu}), nn::Dense(outputs)};
}

} // namespace

int main() {
  const nn::Sequential generator = network(2), critic = network(1);
  nn::seed(generator, 1);
  nn::seed(critic, 2);
  const optimizers::Adam generator_adam(generator, {.learning_rate = 1e-3, .beta1 = 0.5});
  const optimizers::Adam critic_adam(critic, {.learning_rate = 1e-3, .beta1 = 0.5});
  const random::Generator source(3);

  const auto real_points = [&] {
    return gather(middles(), source.randint({kBatch}, 0, kSpots)) +
           source.normal({kBatch, 2}, {.stddev = kSpread});
  };
  const auto step = function([&] {
    GradientTape generator_tape, critic_tape;
    const Tensor fake = critic(generator(source.normal({kBatch, kNoise})));
    const Tensor real = critic(real_points());
    const Tensor generator_loss = losses::binary_cross_entropy(ones_like(fake), fake);
    const Tensor critic_loss = losses::binary_cross_entropy(ones_like(real), real) +
                               losses::binary_cross_entropy(zeros_like(fake), fake);
    generator_adam.apply_gradients(generator_tape.gradient(generator_loss, generator));
    critic_adam.apply_gradients(critic_tape.gradient(critic_loss, critic));
    return std::pair(generator_loss, critic_loss);
  });
  /// The share of drawn points that are in a spot, and how many spots have their part of them.
  const auto quality = function([&] {
    const Tensor points = generator(source.normal({2048, kNoise}));
    const Tensor offset = reshape(points, {-1, 1, 2}) - reshape(middles(), {1, kSpots, 2});
    const Tensor near = sqrt(sum(square(offset), {.axes = 2})) < 4 * kSpread;
    const Tensor share = near.astype(f32).mean(0);
    return std::pair(share.sum(), (share > 0.3 / kSpots).astype(i32).sum());
  });

  for (std::int64_t i = 1; i <= kSteps; ++i) {
    const auto [generator_loss, critic_loss] = step();
    if (i % 500 != 0) continue;
    const auto [share, spots] = quality();
    std::printf("step %lld: losses %.2f and %.2f, %.0f%% of points in spots, %d of 8 spots\n",
                static_cast<long long>(i), generator_loss.item<double>(),
                critic_loss.item<double>(), 100 * share.item<double>(), spots.item<int>());
  }
}
