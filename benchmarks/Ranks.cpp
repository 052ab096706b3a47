// weft-bench-ranks all_reduce 1024: the ranks of the rows `ranks_*`. For each line that rank 0
// reads, all of them measure together, and it answers with a line of JSON. `weft-bench-ranks table`
// prints what the cost model says of many ranks.
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "Distributed/Cost.h"
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
  body(1); // behind a pause connections are slow
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

/// What is between ranks 0 and 1, by messages of these two.
wd::Link link_of_two() {
  const wd::Group world;
  // The seconds of so many messages to rank 1, and of one word back.
  const auto seconds_of = [&](std::int64_t messages, std::size_t bytes) {
    const Tensor x = full({static_cast<std::int64_t>(bytes) / 4}, 1.0, DType::f32),
                 word = tensor({1.0F});
    return seconds_together([&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        if (world.rank() == 0)
          for (std::int64_t message = 0; message < messages; ++message) wd::send(x, 1);
        if (world.rank() == 1)
          for (std::int64_t message = 0; message < messages; ++message) keep(wd::recv(0));
        if (world.rank() == 0) keep(wd::recv(1));
        if (world.rank() == 1) wd::send(word, 0);
      }
    });
  };
  constexpr std::int64_t kMany = 128;
  constexpr std::size_t kPiece = wd::piece_bytes(0, true);
  const double both = seconds_of(1, 4);
  return {.latency = both / 2,
          .message = std::max(seconds_of(kMany + 1, 4) - both, 0.0) / kMany,
          .bandwidth = static_cast<double>(kMany * kPiece) / (seconds_of(kMany, kPiece) - both)};
}

/// What the model says of an all_reduce over the link that is there.
double modelled(std::int64_t bytes) {
  const wd::Group world;
  return wd::all_reduce_seconds(link_of_two(), static_cast<std::size_t>(world.size()),
                                static_cast<std::size_t>(bytes));
}

/// The model's table of docs/distributed.md.
void print_table() {
  // 10 Gbit/s through the kernel, and 100 Gbit/s past it.
  constexpr std::pair<const char *, wd::Link> kLinks[] = {
      {"10 Gbit/s, 25 us", {25e-6, 2e-6, 1.2e9}}, {"100 Gbit/s, 3 us", {3e-6, 0.5e-6, 12e9}}};
  constexpr std::pair<const char *, std::size_t> kSizes[] = {
      {"1 KiB", 1 << 10}, {"4 MiB", 4 << 20}, {"100 MiB", 100 << 20}};
  std::printf("| ranks |");
  for (const auto &[link, numbers] : kLinks)
    for (const auto &[size, bytes] : kSizes) std::printf(" %s, %s |", link, size);
  std::printf("\n|---|---|---|---|---|---|---|\n");
  for (std::size_t ranks = 8; ranks <= 4096; ranks *= 2) {
    std::printf("| %zu |", ranks);
    for (const auto &[link, numbers] : kLinks)
      for (const auto &[size, bytes] : kSizes)
        std::printf(" %.3g |", 1e3 * wd::all_reduce_seconds(numbers, ranks, bytes));
    std::printf("\n");
  }
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

/// A step of four replicas of 1,024 rows each, which the ranks share: the same work on any number.
double shared_step(std::int64_t units) {
  constexpr std::int64_t kSteps = 12, kReplicas = 4, kRows = 4096;
  const Tensor x = random::normal({kRows, 784}, {.seed = 1});
  const Tensor y = random::randint({kRows}, 0, 10, {.seed = 2});
  const nn::Sequential model{nn::Dense(units, {.activation = relu}),
                             nn::Dense(units, {.activation = relu}), nn::Dense(10)};
  return step_of(model, kSteps, x, y, {.replicas = kReplicas});
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

/// A step of a classifier of 1,024 features, four layers of 1,024 units and Adam, 256 rows of all
/// ranks: `state` is what is in parts, "none", "optimizer", "gradients" or "weights".
double sharded_step(std::string_view state) {
  constexpr std::int64_t kSteps = 12, kUnits = 1024, kRows = 256;
  nn::Sequential model;
  for (int i = 0; i < 4; ++i) model.add(nn::Dense(kUnits, {.activation = tanh}));
  model.add(nn::Dense(10));
  const Tensor x = random::normal({kRows, kUnits}, {.seed = 1});
  const Tensor y = random::randint({kRows}, 0, 10, {.seed = 2});
  const auto shards = state == "optimizer"   ? train::ShardState::optimizer
                      : state == "gradients" ? train::ShardState::gradients
                      : state == "weights"   ? train::ShardState::weights
                                             : train::ShardState::none;
  return step_of(model, kSteps, x, y, {.shard_state = shards});
}

/// The weights of a perceptron with one hidden layer, or this rank's parts of them.
struct Weights {
  Tensor inner, outer;
  WEFT_FIELDS(Weights, inner, outer)
};

/// The gradients of a perceptron 512-2048-512 by its weights, on 256 rows that all ranks have.
/// `how` is "cut" by the compiler, "by_hand", or "uncut", where each rank does all of the work.
double perceptron(std::string_view how) {
  constexpr std::int64_t kRows = 256, kSize = 512, kHidden = 2048;
  static const wd::Mesh mesh({{"model", -1}});
  const wd::Group model = mesh.group("model");
  const Tensor x = random::normal({kRows, kSize}, {.seed = 1});
  Weights weights{random::normal({kSize, kHidden}, {.seed = 2}) * 0.05F,
                  random::normal({kHidden, kSize}, {.seed = 3}) * 0.05F};
  if (how != "uncut")
    weights = {wd::split(weights.inner, mesh, 1, "model"),
               wd::split(weights.outer, mesh, 0, "model")};
  const auto loss = [&](const Tensor &rows, const Weights &own) {
    if (how == "by_hand") {
      const Tensor hidden = gelu(matmul(wd::vary(rows, model), own.inner));
      const Tensor y = wd::all_reduce(matmul(hidden, own.outer), wd::Reduction::sum, model, true);
      return (y * y).mean();
    }
    Weights whole = own;
    if (how == "cut")
      whole = {wd::shard(wd::all_gather(own.inner, 1, model, true), mesh, {{}, "model"}),
               wd::shard(wd::all_gather(own.outer, 0, model, true), mesh, {"model"})};
    const Tensor y = matmul(gelu(matmul(rows, whole.inner)), whole.outer);
    return (y * y).mean();
  };
  const auto gradients = function([&](const Tensor &rows, const Weights &own) {
    return grad([&](const Weights &w) { return loss(rows, w); })(own);
  });
  return seconds_together([&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(gradients(x, weights).inner);
  });
}

int run(std::string_view what, std::string_view number) {
  const wd::Group world = wd::init();
  wd::set_timeout(3600); // others are measured meanwhile
  set_num_threads(what == "shared" && world.size() == 1 ? 2 : 1);
  for (std::string line;;) {
    const bool asked = world.rank() != 0 || std::getline(std::cin, line).good();
    if (wd::broadcast(tensor({std::int64_t{asked}})).item<std::int64_t>() == 0) return 0;
    const double seconds = what == "deep"         ? deep_step(number)
                           : what == "sharded"    ? sharded_step(number)
                           : what == "shared"     ? shared_step(number_in(number))
                           : what == "all_reduce" ? all_reduce(number_in(number))
                           : what == "perceptron" ? perceptron(number)
                           : what == "model"      ? modelled(number_in(number))
                                                  : step(number_in(number));
    if (world.rank() != 0) continue;
    // Rows that compare ways of Weft's own name them.
    const std::string who = what == "model" ? "the cost model"
                            : what == "sharded" || what == "perceptron"
                                ? "Weft, " + std::string(number)
                                : "Weft";
    std::printf("{\"value\": %.6g, \"unit\": \"us\", \"with\": \"%s, %d ranks\"}\n", 1e6 * seconds,
                who.c_str(), world.size());
    std::fflush(stdout);
  }
}

} // namespace

} // namespace weft::bench

int main(int argc, char **argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "table") return weft::bench::print_table(), 0;
    if (argc != 3)
      throw weft::ValueError(
          "weft-bench-ranks all_reduce BYTES, model BYTES, step UNITS, shared UNITS, deep "
          "overlapped or behind, sharded none, optimizer, gradients or "
          "weights, perceptron cut, by_hand or uncut, or table");
    return weft::bench::run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    weft::distributed::abort(error.what());
    std::fprintf(stderr, "weft-bench-ranks: %s\n", error.what());
    return 1;
  }
}
