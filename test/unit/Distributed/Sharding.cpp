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

/// A model of one variable.
struct One {
  Variable variable;
  WEFT_FIELDS(One, variable)
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
                    const std::string &name, bool compile = false) {
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
                                             .compile = compile,
                                             .progress = false});
  const bool cuts = parallel.shard_state != train::ShardState::none,
             weights = parallel.shard_state == train::ShardState::weights;
  const std::int64_t own = bytes_of(optimizer.state());
  for (const nn::NamedVariable &one : nn::named_variables(model))
    want(one.variable.ranks() == (weights && one.variable.trainable() ? Group().size() : 1),
         name + ": " + one.path + " is cut or not");
  optimizer.gather_state();
  const std::int64_t whole = bytes_of(optimizer.state());
  const int ranks = Group().size();
  if (cuts) {
    // A part of each run ends within an element, or of each variable if these are cut alone.
    want(static_cast<double>(own) <=
             1.05 * static_cast<double>(whole) / ranks + (weights ? 512 : 64),
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
  const std::string whole = trained<Optimizer>(options, {.replicas = 8}, name),
                    compiled = trained<Optimizer>(options, {.replicas = 8}, name, true);
  const auto compare = [&](const train::Parallel &parallel, const char *what,
                           bool compile = false) {
    want((compile ? compiled : whole) == trained<Optimizer>(options, parallel, name, compile),
         name + ": cut " + what);
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
  if (!options.clip_norm && !options.clip_global_norm)
    for (const bool compile : {false, true})
      compare({.replicas = 8,
               .bucket_mib = compile ? 1e-4 : 4,
               .overlap = compile,
               .shard_state = ShardState::weights},
              compile ? "weights, compiled and overlapped" : "weights", compile);
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
  // Forward all three, backward the second once more: the third is there still, and nothing is by
  // x. So many times as a rank has replicas.
  check("weights", {.shard_state = ShardState::weights},
        gradients + each * 4 / 3 * std::ceil(8.0 / ranks));
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
  const auto train = [](bool cuts, bool weights) {
    const Variable a(values(1, {7, 5}, DType::f32), "a"), b(values(2, {11}, DType::f64), "b");
    const optimizers::Adam adam({a, b}, {.learning_rate = 0.1, .average = 0.5});
    std::vector<Tensor> seen;
    for (int step = 0; step < 4; ++step) {
      if (cuts && step == 1) adam.shard_state(Group(), {.weights = weights});
      if (cuts && step == 3) adam.gather_state();
      // Without a gradient a variable stays as it is.
      adam.apply_gradients({values(step, {7, 5}, DType::f32),
                            step == 2 ? Tensor() : values(step + 9, {11}, DType::f64)});
      adam.swap_averages();
      seen.push_back(a.value());
      seen.push_back(b.value());
      adam.swap_averages();
      b.assign_add(0.5); // on all ranks
      a.assign(a * 0.5F);
    }
    for (const Variable &variable : adam.state()) seen.push_back(variable.value());
    return seen;
  };
  const std::vector<Tensor> whole = train(false, false);
  for (const bool weights : {false, true}) {
    const std::vector<Tensor> cut = train(true, weights);
    for (std::size_t i = 0; i < whole.size(); ++i)
      want(equal(whole[i], cut[i]),
           std::string("by hand: tensor ") + std::to_string(i) + (weights ? ", weights cut" : ""));
  }
}

/// The same variable for two optimizers, in parts of the state alone, of the weights, or whole, of
/// which one goes.
void of_two_optimizers() {
  const auto train = [](int cuts) {
    const Variable w(values(1, {7, 5}, DType::f32), "w");
    std::optional<optimizers::Adam> first(std::in_place, std::vector{w},
                                          optimizers::AdamOptions{.learning_rate = 0.1});
    const optimizers::Adam second({w}, {.learning_rate = 0.05, .average = 0.5});
    const auto step = [&](int number) {
      if (first) first->apply_gradients({values(number, {7, 5}, DType::f32)});
      second.apply_gradients({values(number + 9, {7, 5}, DType::f32)});
    };
    step(1);
    if (cuts == 1) second.shard_state(Group());
    if (cuts > 0) first->shard_state(Group(), {.weights = true});
    if (cuts == 2) second.shard_state(Group(), {.weights = true});
    step(2);
    second.swap_averages();
    step(3);
    if (cuts == 1 || cuts == 2) first->gather_state();
    if (cuts > 0) want(w.ranks() == (cuts == 3 ? Group().size() : 1), "whole for both, or cut");
    step(4);
    first.reset();
    if (cuts > 0) second.gather_state(); // also where it is the other's that is cut
    want(w.ranks() == 1, "whole again");
    step(5);
    return std::vector{w.value(), second.state()[1].value()};
  };
  const std::vector<Tensor> expected = train(0);
  for (const int cuts : {1, 2, 3}) {
    const std::vector<Tensor> found = train(cuts);
    for (std::size_t i = 0; i < expected.size(); ++i)
      want(equal(found[i], expected[i]),
           "two optimizers, " + std::to_string(cuts) + ": " + std::to_string(i));
  }
}

/// Groups that are not the world, and rows that ranks share unequally.
void of_parts_of_the_world() {
  const Group world, group = world.split(world.rank() / 2);
  const Variable w(values(1, {7, 5}, DType::f32), "w");
  const optimizers::SGD sgd({w});
  const Tensor x = values(2, {3 + world.rank(), 7}, DType::f32), y = matmul(x, w);
  for (const Group &over : {group, world}) {
    sgd.shard_state(over, {.weights = true});
    want(w.ranks() == over.size(), "is cut");
    want(equal(function([&](const Tensor &x) { return matmul(x, w); })(x), y), "of a group");
    sgd.gather_state();
  }
}

/// A model whose loss depends on one of its variables alone, by the rows.
struct Branches {
  Variable a{ones({3}), "a"}, b{ones({3}), "b"};
  WEFT_FIELDS(Branches, a, b)
  Tensor operator()(const Tensor &x) const { return sum(x).item<float>() > 0 ? x * a : x * b; }
};

/// Replicas whose losses depend on different variables; ranks may not do so.
void of_some_replicas() {
  const Branches model;
  const Tensor x = concatenate({ones({5, 3}), full({3, 3}, -1.F)});
  const auto train = [&] {
    train::fit(model, data::from_tensors(x, x * 2).batch(8),
               {.optimizer = optimizers::SGD(model, {.learning_rate = 0.1}),
                .loss = losses::mean_squared_error,
                .parallel = {.replicas = 8},
                .compile = false,
                .progress = false});
  };
  if (Group().size() > 1) return said(train);
  train();
  // By hand: 5 of 8 rows are a's.
  want(allclose(model.a, full({3}, 1 + 0.1 * 2 * 5 / 8 / 3)).item<bool>(), "a");
  want(allclose(model.b, full({3}, 1 + 0.1 * 2 * 3 / 8 / 3)).item<bool>(), "b");
}

/// Variables that are cut: compiled before and after, differentiated, in loops, beside each other
/// and whole again; and the memory that a deep model takes.
void weights() {
  const Group world;
  const int ranks = world.size();
  const Variable w(values(1, {7, 7}, DType::f32), "w"), b(values(2, {7}, DType::f32), "b"),
      s(0.5F, "s"), none(zeros({0, 3}), "none"), wide(values(3, {7}, DType::f64), "wide");
  const Tensor x = values(4, {5, 7}, DType::f32);
  const optimizers::SGD sgd({w, b, s, none, wide});
  const auto loss = [&](const Tensor &x) {
    const auto [i, y] = while_loop([](const Tensor &i, const Tensor &) { return i < 3; },
                                   [&](const Tensor &i, const Tensor &y) {
                                     return std::tuple(i + 1, tanh(matmul(y, w) + b) * s);
                                   },
                                   full({}, 0, DType::i64), x);
    return sum(cast(y, DType::f64) * wide) + sum(none);
  };
  const auto derivatives = [&](const Tensor &x) {
    GradientTape tape;
    const Tensor value = loss(x);
    std::vector<Tensor> all = {value};
    for (const Tensor &gradient : tape.gradient(value, std::vector<Variable>{w, b, s, none, wide}))
      all.push_back(gradient);
    return all;
  };
  const auto before = function(derivatives, {.name = "before"});
  const std::vector<Tensor> expected = derivatives(x), compiled = before(x);
  const std::vector<Variable> variables = {w, b, s, none, wide};
  std::vector<Tensor> wholes;
  for (const Variable &variable : variables) wholes.push_back(variable.value());
  const auto check = [&](const std::string &when) {
    const auto same = [&](const std::vector<Tensor> &found, const std::vector<Tensor> &wanted,
                          const char *how) {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        want(equal(found[i], wanted[i]), when + how + std::to_string(i));
    };
    same(derivatives(x), expected, ", eager: ");
    same(before(x), compiled, ", compiled: ");
    same(function(derivatives, {.name = "later"})(x), compiled, ", compiled anew: ");
    const auto value = function(loss, {.name = "outside"});
    GradientTape tape;
    const Tensor result = value(x);
    std::vector<Tensor> outside = {result};
    for (const Tensor &gradient : tape.gradient(result, variables)) outside.push_back(gradient);
    same(outside, compiled, ", differentiated from outside: ");
    for (std::size_t i = 0; i < variables.size(); ++i)
      want(equal(variables[i].value(), wholes[i]), when + ": value " + std::to_string(i));
  };
  check("whole");
  sgd.shard_state(world, {.weights = true});
  for (const Variable &variable : variables) want(variable.ranks() == ranks, variable.name());
  check("cut");
  sgd.gather_state();
  for (const Variable &variable : variables) want(variable.ranks() == 1, variable.name());
  check("whole again");

  of_two_optimizers();
  of_parts_of_the_world();

  constexpr std::int64_t kUnits = 1 << 9, kLayers = 8;
  constexpr double layer = 4.0 * kUnits * kUnits; // 1 MiB
  std::vector<Variable> layers;
  release_cached_memory();
  const std::size_t first = memory_stats().current;
  for (std::int64_t i = 0; i < kLayers; ++i)
    layers.emplace_back(values(static_cast<int>(i), {kUnits, kUnits}, DType::f32) * 0.01F, "layer");
  const optimizers::SGD deep(layers);
  deep.shard_state(world, {.weights = true});
  const auto kept = static_cast<double>(memory_stats().current - first);
  want(kept <= kLayers * layer / ranks + 65536, "weights take " + std::to_string(kept));
  const auto forward = function([&](Tensor y) {
    for (const Variable &one : layers) y = tanh(matmul(y, one));
    return sum(y);
  });
  const Tensor input = ones({4, kUnits});
  forward(input);
  release_cached_memory();
  reset_peak();
  const std::size_t idle = memory_stats().current;
  forward(input);
  // A layer, and what of it arrives.
  const auto used = static_cast<double>(memory_stats().peak - idle);
  want(ranks == 1 || used <= 3.5 * layer, "a call takes " + std::to_string(used));
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
  // From one to the other, back, and by another optimizer.
  constexpr auto weights = train::ShardState::weights;
  fit(again, model, {.replicas = 8, .shard_state = weights});
  want(nn::variables(model)[0].ranks() == world.size(), "weights are cut");
  fit(again, model, {.replicas = 8, .shard_state = gradients});
  want(nn::variables(model)[0].ranks() == 1, "weights are whole again");
  said([&] {
    fit(optimizers::Adam(model, {.clip_norm = 1}), model, {.replicas = 8, .shard_state = weights});
  });
  const Variable cut_variable(ones({5}), "cut");
  const optimizers::Adam of_cut({cut_variable});
  of_cut.shard_state(world, {.weights = true});
  said([&] { of_cut.shard_state(world); });
  said([&] { optimizers::SGD({cut_variable}, {.momentum = 0.5}).shard_state(world); });
  said([&] { function([&] { cut_variable.assign_add(1); }, {.name = "assigns"})(); });
  said([&] { function([](const Variable &v) { return v * 2; }, {.name = "takes"})(cut_variable); });
  said([&] {
    save_weights(std::filesystem::temp_directory_path() / "weft-cut.safetensors",
                 One{cut_variable});
  });
  said([&] {
    export_program(function([&](const Tensor &x) { return x * cut_variable; }, {.name = "export"}),
                   std::filesystem::temp_directory_path() / "weft-cut.weft",
                   {.signatures = {{TensorType{DType::f32, {5}}}}});
  });
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
  else if (how == "weights") weights();
  else if (how == "some") of_some_replicas();
  else if (how == "hand") by_hand();
  else if (how == "refused") refused();
  else if (how == "undone") undone();
}

} // namespace weft::distributed::tests
