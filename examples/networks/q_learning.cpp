// Deep Q-learning (Mnih et al. 2015) that learns to balance a pole on a cart. The carts are ops as
// well: one traced function acts, moves them, remembers and learns.
#include <cstdio>
#include <numbers>
#include <tuple>

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kCarts = 16, kSlots = 2048, kBatch = 128, kLimit = 200, kSteps = 2000;
constexpr double kDiscount = 0.99;

/// Where carts are a fiftieth of a second later that are pushed left (0) or right (1) (Barto et al.
/// 1983). A state (n, 4) has positions, speeds, angles of the poles and speeds of these.
Tensor moved(const Tensor &state, const Tensor &action) {
  const auto part = [&](std::int64_t i) { return state[{all, slice(i, i + 1)}]; };
  const Tensor speed = part(1), angle = part(2), spin = part(3);
  const Tensor force = select(reshape(action == 1, {-1, 1}), 10.f, -10.f);
  const Tensor push = (force + 0.05 * square(spin) * sin(angle)) / 1.1;
  const Tensor torque =
      (9.8 * sin(angle) - cos(angle) * push) / (0.5 * (4 / 3. - 0.1 * square(cos(angle)) / 1.1));
  const Tensor pull = push - 0.05 * torque * cos(angle) / 1.1;
  return state + 0.02 * concatenate({speed, pull, spin, torque}, {.axis = 1});
}

/// A state whose parts are about as large as each other.
Tensor scaled(const Tensor &state) { return state * tensor({0.4f, 0.5f, 5.f, 0.5f}); }

/// Whether poles are more than 12 degrees off, or carts off their rails.
Tensor fallen(const Tensor &state) {
  return (abs(state[{all, 0}]) > 2.4) | (abs(state[{all, 2}]) > 12 * std::numbers::pi / 180);
}

/// The last moves of all carts.
struct Memory {
  Variable before{zeros({kSlots, kCarts, 4})}, after{zeros({kSlots, kCarts, 4})};
  Variable actions{zeros({kSlots, kCarts}, i64)}, ends{zeros({kSlots, kCarts})};
  Variable count{zeros({}, i64)};

  void add(const Tensor &x, const Tensor &action, const Tensor &y, const Tensor &end) const {
    const Tensor slot = count.value() % kSlots;
    before.assign(update_slice(before, slot, x));
    after.assign(update_slice(after, slot, y));
    actions.assign(update_slice(actions, slot, action));
    ends.assign(update_slice(ends, slot, end.astype(f32)));
    count.assign_add(1);
  }
  /// Before, action, after and end of moves drawn at random.
  std::tuple<Tensor, Tensor, Tensor, Tensor> draw(const random::Generator &source) const {
    const Tensor filled = minimum(count.value(), kSlots) * kCarts;
    const Tensor at = (source.uniform({kBatch}) * filled).astype(i64);
    return {gather(reshape(before, {-1, 4}), at), gather(reshape(actions, {-1}), at),
            gather(reshape(after, {-1, 4}), at), gather(reshape(ends, {-1}), at)};
  }
};

} // namespace

int main() {
  const random::Generator source(1);
  const auto fresh = [&](std::int64_t count) {
    return source.uniform({count, 4}, {.low = -0.05, .high = 0.05});
  };
  const Variable carts(fresh(kCarts)), age(zeros({kCarts}, i64));
  const Memory memory;
  const nn::Sequential model{scaled, nn::Dense(64, {.activation = relu}),
                             nn::Dense(64, {.activation = relu}), nn::Dense(2)};
  nn::seed(model, 2);
  const nn::Sequential target = nn::clone(model);
  const optimizers::Adam adam(model,
                              {.learning_rate = optimizers::cosine_decay(1e-3, {.steps = kSteps})});

  const auto step = function([&] {
    const Tensor x = carts, done = memory.count;
    const Tensor curious = source.bernoulli({kCarts}, maximum(0.05, 1 - done.astype(f32) / 1000));
    const Tensor action = select(curious, source.randint({kCarts}, 0, 2), argmax(model(x)));
    const Tensor y = moved(x, action), end = fallen(y);
    memory.add(x, action, y, end);
    age.assign_add(1);
    const Tensor over = end | (age.value() == kLimit);
    carts.assign(select(reshape(over, {-1, 1}), fresh(kCarts), y));
    age.assign(select(over, 0, age));

    const auto [before, actions, after, ends] = memory.draw(source);
    const Tensor best = reshape(argmax(model(after)), {-1, 1});
    const Tensor goal = 1 + kDiscount * (1 - ends) * take_along_axis(target(after), best)[{all, 0}];
    if_(done % 200 == 0, [&] { nn::assign(target, model); });
    return adam.minimize([&] {
      const Tensor values = take_along_axis(model(before), reshape(actions, {-1, 1}));
      return losses::huber(goal, values[{all, 0}]);
    });
  });
  /// How many steps the poles of 64 carts stay up, on average.
  const auto mean_return = function([&] {
    const auto [state, up, steps] = for_loop(
        kLimit,
        [&](const Tensor &, const Tensor &x, const Tensor &stands, const Tensor &count) {
          const Tensor y = moved(x, argmax(model(x))), still = stands & !fallen(y);
          return std::tuple(y, still, count + still.astype(f32));
        },
        fresh(64), full({64}, true, boolean), zeros({64}));
    return steps.mean();
  });

  for (std::int64_t i = 1; i <= kSteps; ++i) {
    const Tensor loss = step();
    if (i == 1 || i % 250 == 0)
      std::printf("step %4lld: loss %.3f, mean return %.1f of %lld\n", static_cast<long long>(i),
                  loss.item<double>(), mean_return().item<double>(),
                  static_cast<long long>(kLimit));
  }
}
