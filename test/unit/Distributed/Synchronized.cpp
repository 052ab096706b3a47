// Runs of train::fit by the ranks of weft-test-ranks whose layers synchronize in the middle of a
// step: beside the whole batch in one process, and ranks that raise around an exchange.
#include "Ranks.h"

using namespace weft;

namespace weft::distributed::tests {

namespace {

/// Where the last rank raises in its second step.
enum class Raises { nowhere, forward, loss, backward };
Raises raises = Raises::nowhere; // NOLINT: of one thread
int comes[4] = {};

Tensor passing(const Tensor &x, Raises where) {
  return host_call(
      [where](const Tensor &given) {
        const bool second = ++comes[static_cast<int>(where)] == 2;
        if (second && raises == where && Group().rank() == Group().size() - 1)
          throw IOError("sensor is off");
        return given;
      },
      {.results = {x.type()}}, x);
}

/// tanh, behind whose derivative there is no exchange any more.
Tensor watched(const Tensor &x) {
  return custom_gradient([](const Tensor &value) {
    const Tensor y = tanh(passing(value, Raises::forward));
    return Pullback{y, [y](const Tensor &cotangent) {
                      return passing(cotangent, Raises::backward) * (1 - square(y));
                    }};
  })(x);
}

struct Ran {
  std::vector<Tensor> weights;
  std::vector<double> losses;
  std::string digest;
};

Ran fit(train::Parallel parallel, bool unbiased, bool compile) {
  std::ranges::fill(comes, 0);
  const nn::Sequential model{
      nn::Dense(6, {.activation = watched}),
      nn::BatchNorm({.momentum = 0.8, .unbiased = unbiased, .synchronized = true}), nn::Dense(3)};
  nn::seed(model, 5);
  // Three batches, of which the last has few rows, of four replicas not one for each.
  const Tensor x = random::normal({35, 4}, {.seed = 1}) + 3.;
  const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
  const train::History history =
      train::fit(model, data::from_tensors(x, y).batch(16),
                 {.optimizer = optimizers::SGD(model, {.learning_rate = 0.1, .momentum = 0.9}),
                  .loss = [](const Tensor &labels, const Tensor &scores) -> Tensor {
                    return losses::softmax_cross_entropy(labels, scores) +
                           passing(stop_gradient(sum(scores)) * 0., Raises::loss);
                  },
                  .epochs = 2,
                  .parallel = std::move(parallel),
                  .compile = compile,
                  .progress = false});
  Ran ran;
  for (const Variable &variable : nn::variables(model)) ran.weights.push_back(variable.value());
  ran.digest = digest_of_run(nn::variables(model), history);
  for (const train::History::Point &point : history.series("loss"))
    ran.losses.push_back(point.value);
  return ran;
}

/// Where ranks have several replicas, these wait for each other in turns.
void as_the_whole_batch(std::int64_t replicas) {
  const std::int64_t ranks = Group().size();
  for (const bool unbiased : {false, true}) {
    const Ran whole = fit({.replicas = 0}, unbiased, true);
    std::vector<Tensor> first;
    for (const bool compile : {true, false})
      for (const double bucket : {4., 1e-5}) {
        const Ran together =
            fit({.replicas = replicas, .bucket_mib = bucket, .overlap = true}, unbiased, compile);
        for (std::size_t i = 0; i < whole.weights.size(); ++i) {
          const double far =
              cast(max(abs(together.weights[i] - whole.weights[i])), f64).item<double>();
          want(far < 2e-4, "variable " + std::to_string(i) + " is that of the whole batch");
          want(all_gather(together.weights[i][newaxis]).to_vector<float>() ==
                   concatenate(std::vector<Tensor>(static_cast<std::size_t>(ranks),
                                                   together.weights[i][newaxis]),
                               {.axis = 0})
                       .to_vector<float>(),
               "variable " + std::to_string(i) + " is the same on all ranks");
          if (!first.empty())
            want(equal(first[i], together.weights[i]), "eager and compiled runs are the same");
        }
        for (std::size_t i = 0; i < whole.losses.size(); ++i)
          want(std::abs(together.losses[i] - whole.losses[i]) < 1e-4, "the losses");
        first = together.weights;
      }
  }
}

} // namespace

void synchronized(const std::string &how) {
  if (how == "bits") {
    for (const std::int64_t replicas : {4, 5, 8, 9})
      if (replicas >= Group().size())
        say(std::to_string(replicas) + " digest " + fit({.replicas = replicas}, true, true).digest);
    return;
  }
  const std::int64_t ranks = Group().size();
  as_the_whole_batch(ranks);
  for (const std::int64_t replicas : {ranks, ranks + 1, 2 * ranks})
    for (const bool compile : {true, false})
      for (const Raises where : {Raises::forward, Raises::loss, Raises::backward}) {
        if (replicas == 1) continue;
        raises = where;
        said([&] {
          fit({.replicas = replicas, .bucket_mib = 1e-5, .overlap = true}, false, compile);
        });
        raises = Raises::nowhere;
        want(all_reduce(ones({1})).item<float>() == static_cast<float>(ranks), "goes on");
      }
  if (ranks > 1)
    said([&] {
      fit({.replicas = 2 * ranks, .shard_state = train::ShardState::weights}, false, true);
    });
  as_the_whole_batch(ranks + 1);
  as_the_whole_batch(2 * ranks);
}

} // namespace weft::distributed::tests
