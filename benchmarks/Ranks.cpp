// weft-bench-ranks all_reduce 1024: the ranks of the rows `ranks_*`. For each line that rank 0
// reads, all of them measure together, and it answers with a line of JSON.
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "Harness.h"

#include <weft/weft.h>

#include <weft/train/fit.h>

namespace weft::bench {

namespace {

namespace wd = weft::distributed;

std::int64_t number_in(std::string_view text) { return std::stoll(std::string(text)); }

/// As `seconds_per_call`, with the counts of rank 0 on all ranks.
double seconds_together(const std::function<void(std::int64_t)> &body) {
  constexpr double kBudget = 0.1;
  const wd::Group world;
  for (std::int64_t count = 1;;) {
    wd::barrier();
    const double start = now();
    body(count);
    const double spent = now() - start;
    const std::int64_t next = spent >= kBudget ? 0 : count * (spent < kBudget / 16 ? 8 : 2);
    const auto of_all = wd::broadcast(tensor({next}), 0, world).item<std::int64_t>();
    if (of_all == 0) return spent / static_cast<double>(count);
    count = of_all;
  }
}

double all_reduce(std::int64_t bytes) {
  const Tensor x = full({bytes / 4}, 1.0, DType::f32);
  return seconds_together([&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(wd::all_reduce(x));
  });
}

/// Notes when epochs end.
class Times final : public train::Callback {
public:
  void epoch_end(train::Run &) override { ends.push_back(now()); }
  std::vector<double> ends;
};

/// A step of `train::fit` by one batch of all rows. The first epoch traces and compiles.
double step_of(const nn::Sequential &model, std::int64_t steps, const Tensor &x, const Tensor &y,
               const train::Parallel &parallel) {
  const optimizers::Adam adam(model);
  const auto data = data::from_tensors(x, y).batch(x.shape()[0]).repeat(steps);
  const auto times = std::make_shared<Times>();
  static_cast<void>(train::fit(model, data,
                               {.optimizer = adam,
                                .loss = losses::softmax_cross_entropy,
                                .epochs = 3,
                                .callbacks = {times},
                                .parallel = parallel,
                                .progress = false}));
  const double best = std::min(times->ends[1] - times->ends[0], times->ends[2] - times->ends[1]);
  return best / static_cast<double>(steps);
}

/// A step of `train::fit` with a replica on each rank: a classifier of 784 features with two hidden
/// layers, 64 rows on each rank.
double step(std::int64_t units) {
  constexpr std::int64_t kSteps = 40;
  const wd::Group world;
  const std::int64_t rows = 64 * world.size();
  const Tensor x = random::normal({rows, 784}, {.seed = 1});
  const Tensor y = random::randint({rows}, 0, 10, {.seed = 2});
  const nn::Sequential model{nn::Dense(units, {.activation = relu}),
                             nn::Dense(units, {.activation = relu}), nn::Dense(10)};
  return step_of(model, kSteps, x, y, {});
}

/// A step of a deep classifier, 256 features and seven layers of 512 units, of 6.5 MiB in buckets
/// of half a MiB, 2,048 rows on each rank. `what` is "overlapped", or "behind" for exchanges that
/// begin behind the last gradient.
double deep_step(std::string_view what) {
  constexpr std::int64_t kSteps = 6, kUnits = 512, kFeatures = 256, kRows = 2048;
  const wd::Group world;
  const std::int64_t rows = kRows * world.size();
  nn::Sequential model{nn::Dense(kUnits, {.activation = relu})};
  for (int i = 0; i < 6; ++i) model.add(nn::Dense(kUnits, {.activation = relu}));
  model.add(nn::Dense(10));
  const Tensor x = random::normal({rows, kFeatures}, {.seed = 1});
  const Tensor y = random::randint({rows}, 0, 10, {.seed = 2});
  return step_of(model, kSteps, x, y, {.bucket_mib = 0.5, .overlap = what == "overlapped"});
}

int run(std::string_view what, std::string_view number) {
  const wd::Group world = wd::init();
  wd::set_timeout(3600); // others are measured meanwhile
  set_num_threads(1);
  for (std::string line;;) {
    const bool asked = world.rank() != 0 || std::getline(std::cin, line).good();
    if (wd::broadcast(tensor({std::int64_t{asked}})).item<std::int64_t>() == 0) return 0;
    const double seconds = what == "deep"         ? deep_step(number)
                           : what == "all_reduce" ? all_reduce(number_in(number))
                                                  : step(number_in(number));
    if (world.rank() != 0) continue;
    std::printf("{\"value\": %.6g, \"unit\": \"us\", \"with\": \"Weft, %d ranks\"}\n",
                1e6 * seconds, world.size());
    std::fflush(stdout);
  }
}

} // namespace

} // namespace weft::bench

int main(int argc, char **argv) {
  try {
    if (argc != 3)
      throw weft::ValueError("weft-bench-ranks all_reduce BYTES, step UNITS, or deep overlapped "
                             "or behind");
    return weft::bench::run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    weft::distributed::abort(error.what());
    std::fprintf(stderr, "weft-bench-ranks: %s\n", error.what());
    return 1;
  }
}
