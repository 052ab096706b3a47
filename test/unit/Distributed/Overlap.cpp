// Runs of train::fit by the ranks of weft-test-ranks whose exchanges begin in the backward pass:
// their bits, and ranks that raise or die while exchanges are under way.
#include <csignal>

#include "Distributed/World.h"
#include "Ranks.h"

using namespace weft;
namespace wd = weft::distributed;

namespace weft::distributed::tests {

namespace {

/// What happens to a rank on its way, and in which step.
struct Trap {
  enum class Where { nowhere, forward, backward, data } where = Where::nowhere;
  int rank = 0;
  int step = 3; ///< from 1
  bool kills = false;
};
std::vector<Trap> traps; // NOLINT: of one thread

int forwards = 0, backwards = 0; ///< how often a run came there

void come_to(Trap::Where where, int &steps) {
  ++steps;
  for (const Trap &trap : traps) {
    if (trap.where != where || trap.rank != Group().rank() || trap.step != steps) continue;
    if (trap.kills) std::raise(SIGKILL);
    throw IOError("sensor " + std::to_string(trap.rank) + " is off");
  }
}

/// x, by way of host code in both directions.
Tensor watched(const Tensor &x) {
  const auto through = [](const Tensor &value, Trap::Where where, int &steps) {
    return host_call(
        [where, &steps](const Tensor &given) {
          come_to(where, steps);
          return given;
        },
        {.results = {value.type()}}, value);
  };
  return custom_gradient([=](const Tensor &value) {
    return Pullback{through(value, Trap::Where::forward, forwards), [=](const Tensor &cotangent) {
                      return through(cotangent, Trap::Where::backward, backwards);
                    }};
  })(x);
}

constexpr std::int64_t kUnits = 24, kRows = 16, kSteps = 5;

/// Five layers, whose gradients come one after the other, with a trap in the middle.
train::History fit(train::Parallel parallel, bool compile, std::string &digest) {
  random::set_seed(3);
  forwards = backwards = 0;
  const nn::Sequential model{
      nn::Dense(kUnits, {.activation = tanh}),    nn::Dense(kUnits, {.activation = tanh}),
      nn::Dense(kUnits, {.activation = watched}), nn::Dropout(0.1),
      nn::Dense(kUnits, {.activation = tanh}),    nn::Dense(3)};
  const Tensor x = random::normal({kRows * kSteps, 8}, {.seed = 1});
  const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
  const auto data = data::from_generator(
      [=, i = std::int64_t{0}, seen = 0]() mutable -> std::optional<std::pair<Tensor, Tensor>> {
        come_to(Trap::Where::data, seen);
        if (i == kSteps) return std::nullopt;
        const Index rows = slice(i * kRows, (i + 1) * kRows);
        ++i;
        return std::pair(x[rows], y[rows]);
      });
  const optimizers::Adam adam(model);
  const train::History history = train::fit(model, data,
                                            {.optimizer = adam,
                                             .loss = losses::softmax_cross_entropy,
                                             .parallel = std::move(parallel),
                                             .compile = compile,
                                             .progress = false});
  std::vector<Variable> variables = nn::variables(model);
  for (const Variable &variable : adam.state()) variables.push_back(variable);
  digest = digest_of_run(variables, history);
  return history;
}

void bits() {
  const int ranks = Group().size();
  const std::shared_ptr<detail::GroupState> world = init().state();
  for (const std::int64_t replicas : {4, 8})
    for (const bool compile : {true, false})
      for (const double bucket : {1e-3, 5e-3})
        for (const bool overlap : {true, false}) {
          if (replicas < ranks) continue;
          const std::uint64_t before = world->background()->sequence;
          std::string digest;
          static_cast<void>(fit({.replicas = replicas, .bucket_mib = bucket, .overlap = overlap},
                                compile, digest));
          // Ten gradients: of 2.3 KiB and of less, one with the next where both fit.
          const std::uint64_t exchanges = world->background()->sequence - before;
          const bool many = overlap && ranks > 1;
          want(many ? exchanges >= (bucket < 4e-3 ? 4 : 1) * kSteps : exchanges == 0,
               std::to_string(exchanges) + " exchanges");
          const auto number = static_cast<std::int64_t>(std::hash<std::string>()(digest) >> 1);
          for (const std::int64_t other : all_gather(tensor({number})).to_vector<std::int64_t>())
            want(other == number, "bits differ between ranks");
          if (Group().rank() == 0)
            say(std::to_string(replicas) + (compile ? " compiled " : " eager ") + digest);
        }
}

/// All ranks hear of it, nobody waits, and the next run is as ever.
void raises() {
  const int last = Group().size() - 1;
  const train::Parallel parallel{.replicas = 8, .bucket_mib = 1e-3, .overlap = true};
  using Where = Trap::Where;
  std::string expected, digest;
  static_cast<void>(fit(parallel, true, expected));
  const std::vector<std::vector<Trap>> all_traps = {
      {{Where::backward, last}},
      {{Where::forward, last}},
      {{Where::backward, 0, 1}},
      {{Where::data, last}},
      {{Where::forward, 0}, {Where::backward, last}},
      {{Where::backward, 0, 2}, {Where::data, last, 2}},
  };
  for (const bool compile : {true, false})
    for (const std::vector<Trap> &set : all_traps) {
      traps = set;
      // A replica is a step of these; the last one of a rank is under way with its exchanges.
      const auto [begin, end] = Group().share(8);
      for (Trap &trap : traps)
        if (trap.where != Where::data) trap.step = static_cast<int>(trap.step * (end - begin));
      said([&] { static_cast<void>(fit(parallel, compile, digest)); });
      traps.clear();
      want(all_reduce(ones({1})).item<float>() == static_cast<float>(last + 1), "goes on");
    }
  static_cast<void>(fit(parallel, true, digest));
  want(digest == expected, "a run behind those that were broken off");
}

void dies() {
  const auto [begin, end] = Group().share(8);
  traps = {{Trap::Where::backward, 1 % Group().size(), static_cast<int>(3 * (end - begin)), true}};
  const auto start = std::chrono::steady_clock::now();
  try {
    std::string digest;
    static_cast<void>(fit({.replicas = 8, .bucket_mib = 1e-3, .overlap = true}, true, digest));
  } catch (const PeerError &error) {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    say("after " + std::to_string(seconds) +
        " s: Ranks.cpp:0: error: peer: " + std::string(error.message()));
    std::exit(3);
  }
}

} // namespace

void overlap(const std::string &how) {
  if (how == "raises") raises();
  else if (how == "dies") dies();
  else bits();
}

} // namespace weft::distributed::tests
