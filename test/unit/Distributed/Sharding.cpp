// Runs of weft-test-ranks whose ranks have parts of the optimizer's state: their bits beside those
// of whole state, the memory they take, and what cannot be cut.
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "Distributed/Tree.h"
#include "Distributed/World.h"
#include "NN/Optimizers/State.h"
#include "Ranks.h"
#include "Support/Files.h"

using namespace weft;

namespace weft::distributed::tests {

namespace {

/// One large variable, small ones, and two dtypes, of 16 and of 32 bits.
struct Mixed {
  nn::Dense large{40, {.activation = tanh}};
  Variable half{cast(random::normal({40, 3}, {.seed = 4}), DType::bf16), "half"};
  nn::Dropout drop{0.25};
  nn::BatchNorm norm;
  Variable scale{1.5F, "scale"};
  WEFT_FIELDS(Mixed, large, half, drop, norm, scale)

  Tensor operator()(const Tensor &x, const nn::CallOptions &options = {}) const {
    return matmul(norm(drop(large(x), options), options), cast(half.value(), DType::f32)) * scale;
  }
};

std::vector<Variable> state_of(const Mixed &model, const optimizers::Optimizer &optimizer) {
  std::vector<Variable> variables = nn::variables(model);
  for (const Variable &variable : optimizer.state()) variables.push_back(variable);
  return variables;
}

std::int64_t bytes_of(const std::vector<Variable> &variables) {
  std::int64_t bytes = 0;
  for (const Variable &variable : variables)
    bytes += variable.value().size() * static_cast<std::int64_t>(item_size(variable.dtype()));
  return bytes;
}

template <class Optimizer>
std::string trained(const typename Optimizer::Options &options, const train::Parallel &parallel,
                    const std::string &name) {
  random::set_seed(3);
  const Mixed model;
  const Optimizer optimizer(model, options);
  const auto data = data::from_tensors(random::normal({26, 9}, {.seed = 1}),
                                       random::randint({26}, 0, 3, {.seed = 2}))
                        .shuffle()
                        .batch(8);
  const train::History history = train::fit(model, data,
                                            {.optimizer = optimizer,
                                             .loss = losses::softmax_cross_entropy,
                                             .epochs = 2,
                                             .parallel = parallel,
                                             .compile = false,
                                             .progress = false});
  const bool cuts = parallel.shard_state != train::ShardState::none;
  const std::int64_t own = bytes_of(optimizer.state());
  optimizer.gather_state();
  const std::int64_t whole = bytes_of(optimizer.state());
  const int ranks = Group().size();
  if (cuts) {
    // A part of each variable ends within an element.
    want(static_cast<double>(own) <= 1.05 * static_cast<double>(whole) / ranks + 64,
         name + ": a rank has " + std::to_string(own) + " of " + std::to_string(whole) + " bytes");
    const auto sum = all_reduce(tensor({own - 8})).template item<std::int64_t>();
    if (ranks > 1 && options.accumulate == 1)
      want(sum == whole - 8, name + ": the ranks have " + std::to_string(sum) + " of " +
                                 std::to_string(whole - 8) + " bytes together");
  }
  return digest_of_run(state_of(model, optimizer), history);
}

template <class Optimizer>
void bits(const std::string &name, const typename Optimizer::Options &options) {
  const std::string whole = trained<Optimizer>(options, {.replicas = 8}, name);
  const auto compare = [&](const train::Parallel &parallel, const char *what) {
    want(whole == trained<Optimizer>(options, parallel, name), name + ": cut " + what);
  };
  using train::ShardState;
  compare({.replicas = 8, .shard_state = ShardState::optimizer}, "state");
  // Not with what takes norms of whole gradients.
  if (!options.clip_norm && !options.clip_global_norm)
    for (const bool overlap : {false, true})
      compare({.replicas = 8,
               .bucket_mib = overlap ? 1e-4 : 4,
               .overlap = overlap,
               .shard_state = ShardState::gradients},
              overlap ? "gradients, overlapped" : "gradients");
  if (Group().rank() == 0) say(name + " " + whole);
}

void all_bits() {
  bits<optimizers::SGD>("SGD", {.learning_rate = 0.1});
  bits<optimizers::SGD>("momentum", {.learning_rate = 0.1, .momentum = 0.9, .accumulate = 2});
  bits<optimizers::Adam>("Adam", {.learning_rate = 0.01, .clip_global_norm = 0.5, .average = 0.9});
  bits<optimizers::Adam>("average", {.learning_rate = 0.01, .clip_value = 0.02, .average = 0.9});
  bits<optimizers::AdamW>("AdamW", {.learning_rate = 0.01, .amsgrad = true, .clip_norm = 0.25});
  bits<optimizers::RMSprop>("RMSprop", {.learning_rate = 0.01,
                                        .momentum = 0.5,
                                        .centered = true,
                                        .weight_decay = 0.1,
                                        .no_decay = {"bias"},
                                        .clip_value = 0.01,
                                        .accumulate = 3});
  bits<optimizers::Adagrad>("Adagrad", {.learning_rate = 0.01});
  bits<optimizers::Adadelta>("Adadelta", {.learning_rate = 1});
  bits<optimizers::Lion>("Lion", {.learning_rate = 0.001});
}

/// What ranks send in a step, of matrices that are too large for the words by which ranks meet, and
/// what comes of it.
void traffic() {
  constexpr std::int64_t kUnits = 1 << 9; // 1 MiB a layer
  const std::shared_ptr<detail::GroupState> world = init().state();
  const int ranks = world->size();
  const auto train = [&](train::Parallel parallel, std::int64_t steps) {
    random::set_seed(3);
    const nn::Sequential model{nn::Dense(kUnits, {.use_bias = false}),
                               nn::Dense(kUnits, {.use_bias = false}),
                               nn::Dense(kUnits, {.use_bias = false})};
    const Tensor x = random::normal({steps * 8, kUnits}, {.seed = 1});
    static_cast<void>(model(x)); // has values, so that the first step is like the others
    const optimizers::Adam adam(model);
    const std::uint64_t behind = world->background()->sent, before = world->sent + behind;
    parallel.replicas = 8;
    static_cast<void>(train::fit(model, data::from_tensors(x, x).batch(8),
                                 {.optimizer = adam,
                                  .loss = losses::mean_squared_error,
                                  .parallel = parallel,
                                  .progress = false}));
    if (ranks > 1)
      want((world->background()->sent > behind) == parallel.overlap.value_or(false), "overlap");
    const std::uint64_t all = world->sent + world->background()->sent - before;
    std::vector<Tensor> weights;
    for (const Variable &variable : nn::variables(model)) weights.push_back(variable.value());
    return std::pair(static_cast<double>(
                         all_reduce(tensor({static_cast<std::int64_t>(all)})).item<std::int64_t>()),
                     weights);
  };
  const std::vector<Tensor> expected = train({}, 3).second;
  const double bytes = 3.0 * kUnits * kUnits * 4, each = bytes * (ranks - 1);
  double gradients = 0; // of the others' parts, as many times as a rank has subtrees of replicas
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [begin, end] = share_of(8, rank, ranks);
    gradients += static_cast<double>(nodes_of(begin, end, 8).size()) * each / ranks;
  }
  const auto check = [&](const std::string &what, const train::Parallel &parallel, double wanted) {
    const auto [more, weights] = train(parallel, 3);
    const double sent = (more - train(parallel, 1).first) / 2;
    want(std::abs(sent - wanted) <= 0.01 * each, what + ": ranks send " + std::to_string(sent) +
                                                     " bytes a step, and should " +
                                                     std::to_string(wanted));
    for (std::size_t i = 0; i < weights.size(); ++i)
      want(equal(weights[i], expected[i]), what + ": bits of layer " + std::to_string(i));
  };
  using train::ShardState;
  check("none", {}, gradients + each);
  check("state", {.shard_state = ShardState::optimizer}, gradients + 2 * each);
  check("gradients", {.shard_state = ShardState::gradients}, gradients + each);
  check("gradients, overlapped",
        {.bucket_mib = 0.5, .overlap = true, .shard_state = ShardState::gradients},
        gradients + each);
}

/// State is never whole, not even while it is made.
void memory() {
  const int ranks = Group().size();
  const std::int64_t rows = 1 << 11, columns = 1 << 9; // 4 MiB
  const auto none = [](const auto &...) {};
  const Variable weight(zeros({rows, columns}), "weight");
  const Tensor gradient = ones({rows, columns});
  const auto held = [&](const auto &first, const auto &then) {
    release_cached_memory();
    reset_peak();
    const std::size_t before = memory_stats().current;
    const optimizers::Adam adam({weight});
    first(adam);
    then(adam);
    const std::size_t now = memory_stats().current - before;
    return std::pair(static_cast<double>(memory_stats().peak - before), static_cast<double>(now));
  };
  const double whole = 2.0 * 4 * rows * columns, limit = whole / ranks * 1.05 + 4096;
  const auto uncut = held(none, [](const auto &adam) { adam.state(); });
  want(uncut.first >= whole, "whole state is counted");
  const auto made = held([](const auto &adam) { adam.shard_state(Group()); },
                         [](const auto &adam) { adam.state(); });
  want(made.first <= limit, "making it takes " + std::to_string(made.first));
  const auto updated = held([](const auto &adam) { adam.shard_state(Group()); },
                            [&](const auto &adam) { adam.apply_gradients({gradient}); });
  want(updated.second <= limit, "an update leaves " + std::to_string(updated.second));
  // What is whole already is given back.
  const auto later = held([](const auto &adam) { adam.state(); },
                          [](const auto &adam) { adam.shard_state(Group()); });
  want(later.second <= limit, "cut later it takes " + std::to_string(later.second));
}

/// Updates by hand, with averages exchanged, beside those of whole state.
void by_hand() {
  const auto train = [](bool cuts) {
    const Variable a(values(1, {7, 5}, DType::f32), "a"), b(values(2, {11}, DType::f64), "b");
    const optimizers::Adam adam({a, b}, {.learning_rate = 0.1, .average = 0.5});
    std::vector<Tensor> seen;
    for (int step = 0; step < 4; ++step) {
      if (cuts && step == 1) adam.shard_state(Group());
      if (cuts && step == 3) adam.gather_state();
      // Without a gradient a variable stays as it is.
      adam.apply_gradients({values(step, {7, 5}, DType::f32),
                            step == 2 ? Tensor() : values(step + 9, {11}, DType::f64)});
      adam.swap_averages();
      seen.push_back(a.value());
      seen.push_back(b.value());
      adam.swap_averages();
    }
    for (const Variable &variable : adam.state()) seen.push_back(variable.value());
    return seen;
  };
  const std::vector<Tensor> whole = train(false), cut = train(true);
  for (std::size_t i = 0; i < whole.size(); ++i)
    want(equal(whole[i], cut[i]), "by hand: tensor " + std::to_string(i));
}

void refused() {
  const Variable w(ones({6}), "w");
  const Group world;
  said([&] { optimizers::Lamb({w}).shard_state(world); });
  said([&] { optimizers::Adam({w}, {.clip_norm = 1, .accumulate = 2}).shard_state(world); });
  said([&] { optimizers::Adam({w}, {.clip_global_norm = 1, .accumulate = 2}).shard_state(world); });
  const optimizers::Adam adam({w});
  const auto compiled = function([&] { adam.apply_gradients({ones({6})}); });
  compiled();
  adam.shard_state(world);
  adam.shard_state(world); // is that already
  said([&] { compiled(); });
  said([&] { function([&] { adam.apply_gradients({ones({6})}); })(); });
  said([&] { adam.shard_state(world.split(world.rank() / 2)); });
  said([&] {
    static_cast<void>(Checkpoint{{"adam", adam}}.save(std::filesystem::temp_directory_path()));
  });
  const auto fit = [&](const optimizers::Optimizer &optimizer, const nn::Dense &model,
                       const train::Parallel &parallel) {
    train::fit(model, data::from_tensors(ones({8, 2}), ones({8, 2})).batch(8),
               {.optimizer = optimizer,
                .loss = losses::mean_squared_error,
                .parallel = parallel,
                .progress = false});
  };
  constexpr auto cut = train::ShardState::optimizer, gradients = train::ShardState::gradients;
  const nn::Dense model(2);
  said([&] {
    fit(optimizers::Adam(model, {.clip_global_norm = 1}), model,
        {.replicas = 8, .shard_state = gradients});
  });
  said([&] {
    fit(optimizers::Adam(model, {.clip_norm = 1, .accumulate = 2}), model,
        {.replicas = 8, .shard_state = gradients});
  });
  said([&] { fit(optimizers::Lamb(model), model, {.replicas = 8, .shard_state = gradients}); });
  said([&] { fit(optimizers::Lamb(model), model, {.replicas = 8, .shard_state = cut}); });
  said([&] { fit(optimizers::SGD(model), model, {.replicas = 0, .shard_state = cut}); });
  const bool last = world.rank() + 1 == world.size();
  said([&] {
    fit(optimizers::Adam(model), model,
        {.replicas = 8, .shard_state = last ? train::ShardState::none : cut});
  });
  // Goes on with whole state, and with state that was cut before.
  const optimizers::Adam again(model);
  fit(again, model, {.replicas = 8, .shard_state = cut});
  said([&] { fit(again, model, {.replicas = 0}); });
  fit(again, model, {.replicas = 8, .shard_state = cut});
  said([&] {
    fit(again, model, {.replicas = 8, .shard_state = world.rank() == 0 ? gradients : cut});
  });
  fit(again, model, {.replicas = 8, .shard_state = gradients});
  // By hand gradients are whole.
  again.apply_gradients({ones({2, 2}), ones({2})});
  fit(again, model, {.replicas = 8});
  want(again.state()[1].shape() == nn::variables(model)[0].shape(), "the state is whole again");
}

/// Updates that a rank refuses are none on all ranks: what follows is as if they had not been.
void undone() {
  const Group world;
  const bool first = world.rank() == 0;
  const Variable w(ones({4}), "w"), v(ones({3}), "v"), alone_w(ones({4})), alone_v(ones({3}));
  const optimizers::Adam cut({w, v}, {.learning_rate = 0.1}),
      whole({alone_w, alone_v}, {.learning_rate = 0.1});
  cut.shard_state(world);
  const std::vector<Tensor> gradients = {ones({4}), ones({3})};
  said([&] { cut.apply_gradients({first ? ones({5}) : gradients[0], gradients[1]}); });
  said([&] { cut.apply_gradients({gradients[0], first ? Tensor() : gradients[1]}); });
  said([&] { cut.apply_gradients(first ? std::vector<Tensor>(1, gradients[0]) : gradients); });
  for (const double factor : {-0.5, 2.0}) {
    const std::vector<Tensor> next = {gradients[0] * factor, gradients[1] * factor};
    cut.apply_gradients(next);
    whole.apply_gradients(next);
  }
  cut.gather_state();
  const std::vector<Variable> of_cut = cut.state(), of_whole = whole.state();
  want(equal(w.value(), alone_w.value()) && equal(v.value(), alone_v.value()), "weights");
  for (std::size_t i = 0; i < of_whole.size(); ++i)
    want(equal(of_cut[i].value(), of_whole[i].value()), "state " + std::to_string(i));
  // What is cut is the same on all ranks.
  said([&] { optimizers::Adam(first ? std::vector{w, v} : std::vector{v, w}).shard_state(world); });
  said([&] { optimizers::Adam({w, v}, {.learning_rate = first ? 0.1 : 0.2}).shard_state(world); });
}

} // namespace

void sharding(const std::string &how) {
  if (how == "bits") all_bits();
  else if (how == "memory") memory();
  else if (how == "traffic") traffic();
  else if (how == "hand") by_hand();
  else if (how == "refused") refused();
  else if (how == "undone") undone();
}

} // namespace weft::distributed::tests
