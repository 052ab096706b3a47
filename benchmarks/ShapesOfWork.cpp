// Measuring the shapes of work, and comparing their results with the peers'.
#include "ShapesOfWork.h"

#include "PeerProcess.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace weft::bench {

namespace {

constexpr std::string_view kEager = "_eager";

const Work &work_of(const std::string &row) {
  const std::string name = row.ends_with(kEager) ? row.substr(0, row.size() - kEager.size()) : row;
  const auto found = std::ranges::find(works(), name, &Work::name);
  if (found == works().end()) throw std::runtime_error("there is no work '" + name + "'");
  return *found;
}

/// What a row measures again and again.
Step step_of(const Work &work, const Tensors &inputs, bool compile) {
  if (work.make != nullptr) return work.make(inputs, compile);
  if (!compile) return [run = work.run, &inputs] { return run(inputs); };
  return [call = function([run = work.run](const Tensors &in) { return run(in); },
                          {.name = work.name}),
          &inputs] { return call(inputs); };
}

/// What is compared: a step's results; where there is state, those of the third.
Tensors results_of(const Work &work, const Tensors &inputs, bool compile) {
  const Step step = step_of(work, inputs, compile);
  if (work.make != nullptr)
    for (int i = 0; i < 2; ++i) keep(step());
  return step();
}

struct Peer {
  std::string name;
  std::vector<std::string> command;
};

std::vector<Peer> installed(const std::string &name, int peers,
                            const std::vector<std::string> &words, const Session &session) {
  std::vector<Peer> list;
  const auto add = [&](const std::string &peer, std::vector<std::string> command) {
    command.push_back(name);
    command.insert(command.end(), words.begin(), words.end());
    list.push_back({peer, std::move(command)});
  };
  const std::string libtorch = session.peers + "/torch_shapes";
  if ((peers & kTorch) != 0 && std::filesystem::exists(libtorch)) add("libtorch", {libtorch});
  for (const auto &[flag, library] :
       {std::pair(kJax, "jax"), std::pair(kNumPy, "numpy"), std::pair(kDucc, "ducc")})
    if ((peers & flag) != 0)
      if (auto command = session.python_command("shapes.py")) {
        command->emplace_back(library);
        add(library, *std::move(command));
      }
  return list;
}

std::vector<std::string> words_of(const Work &work) {
  std::vector<std::string> words;
  for (const WorkInput &input : work.inputs) words.push_back(text_of(input));
  return words;
}

//===----------------------------------------------------------------------===//
// Digests of results
//===----------------------------------------------------------------------===//

constexpr std::int64_t kSamples = 16;

/// What is compared of a result: enough to tell whether everybody did the same work.
struct Digest {
  std::vector<std::int64_t> shape;
  double sum = 0, magnitude = 0;
  /// Elements from the first to the last, evenly spread.
  std::vector<double> samples;
};

Digest digest_of(const Tensor &given) {
  const bool complex = given.dtype() == c64 || given.dtype() == c128;
  const Tensor result = complex ? stack({real(given), imag(given)}, -1) : given;
  if (!result.is_contiguous()) throw std::runtime_error("the result is a view, not a copy");
  const Shape shape = result.shape();
  Digest digest;
  digest.shape.assign(shape.begin(), shape.end());
  const std::vector<double> values = result.to_vector<double>();
  for (const double value : values) {
    digest.sum += value;
    digest.magnitude += std::abs(value);
  }
  const auto last = static_cast<std::int64_t>(values.size()) - 1;
  for (std::int64_t i = 0; i < kSamples && last >= 0; ++i)
    digest.samples.push_back(values[static_cast<std::size_t>(i * last / (kSamples - 1))]);
  return digest;
}

std::vector<Digest> digests_of(const Tensors &results) {
  std::vector<Digest> digests;
  for (const Tensor &result : results) digests.push_back(digest_of(result));
  return digests;
}

std::vector<Digest> digests_in(const std::string &answer) {
  std::vector<Digest> digests;
  const nlohmann::json parsed = nlohmann::json::parse(answer);
  for (const auto &part : parsed.at("results"))
    digests.push_back({.shape = part.at("shape").get<std::vector<std::int64_t>>(),
                       .sum = part.at("sum").get<double>(),
                       .magnitude = part.at("magnitude").get<double>(),
                       .samples = part.at("samples").get<std::vector<double>>()});
  return digests;
}

/// Throws with a sentence if `theirs` is not the result `ours` of the same work.
void compare_digests(const Work &work, const Digest &ours, const Digest &theirs,
                     const std::string &what) {
  const auto differ = [&](const std::string &part, double mine, double other) {
    throw std::runtime_error(what + ": " + part + " " + std::to_string(mine) + ", " +
                             std::to_string(other));
  };
  if (ours.shape != theirs.shape) throw std::runtime_error(what + ": the shapes differ");
  double elements = 1;
  for (const std::int64_t n : ours.shape) elements *= static_cast<double>(n);
  const double mean = ours.magnitude / std::max(elements, 1.0);
  // Negated, so that NaN differs.
  const auto near = [&](double mine, double other, double size) {
    return !(std::abs(mine - other) > work.tolerance * size) && !std::isnan(mine - other);
  };
  if (!near(ours.magnitude, theirs.magnitude, ours.magnitude))
    differ("the sums of absolute values are", ours.magnitude, theirs.magnitude);
  if (!work.any_sign && !near(ours.sum, theirs.sum, ours.magnitude))
    differ("the sums are", ours.sum, theirs.sum);
  if (work.random) return;
  const auto told = [&](double value) { return work.any_sign ? std::abs(value) : value; };
  for (std::size_t i = 0; i < ours.samples.size(); ++i) {
    const double mine = told(ours.samples[i]), other = told(theirs.samples.at(i));
    if (!near(mine, other, std::max(mean, std::abs(mine)))) differ("elements are", mine, other);
  }
}

/// Throws unless the elements are the same, as those of compiled and eager code are.
void compare_elements(const Tensors &compiled, const Tensors &eager) {
  for (std::size_t i = 0; i < compiled.size(); ++i)
    if (!array_equal(compiled[i], eager.at(i)).item<bool>())
      throw std::runtime_error("compiled against eager: elements of result " + std::to_string(i) +
                               " differ");
}

void compare_results(const Work &work, const std::vector<Digest> &ours,
                     const std::vector<Digest> &theirs, const std::string &who) {
  if (ours.size() != theirs.size())
    throw std::runtime_error(who + ": " + std::to_string(ours.size()) + " results against " +
                             std::to_string(theirs.size()));
  for (std::size_t i = 0; i < ours.size(); ++i)
    compare_digests(work, ours[i], theirs[i], who + ", result " + std::to_string(i));
}

} // namespace

Tensors tensors_of(const std::vector<WorkInput> &inputs) {
  Tensors tensors;
  for (const WorkInput &input : inputs) {
    const Shape shape{std::span<const std::int64_t>(input.shape)};
    const auto place = static_cast<std::int64_t>(tensors.size());
    switch (input.elements) {
    case Elements::uniform:
    case Elements::distinct: tensors.push_back(tensor(floats_of(input, place), shape)); break;
    case Elements::index: tensors.push_back(tensor(indices_of(input, place), shape)); break;
    case Elements::f64:
    case Elements::definite: tensors.push_back(tensor(doubles_of(input, place), shape)); break;
    case Elements::c128: tensors.push_back(tensor(complexes_of(input, place), shape)); break;
    }
  }
  return tensors;
}

std::vector<Contender> peers_at_work(const std::string &name, int peers,
                                     const std::vector<std::string> &words,
                                     const Session &session) {
  std::vector<Contender> contenders;
  for (const Peer &peer : installed(name, peers, words, session))
    contenders.push_back(line_server(peer.name, peer.command, session.threads));
  return contenders;
}

Row shape_of_work(const std::string &name, const Session &session) {
  const Work &work = work_of(name);
  const Tensors inputs = tensors_of(work.inputs);
  const Step step = step_of(work, inputs, /*compile=*/!name.ends_with(kEager));
  keep(step()); // compiles, which is no part of a repeat
  std::vector<Contender> contenders = {timed("weft", 1e6, [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(step());
  })};
  // The peers of a work, once started, stay for its eager row, which comes next.
  static std::pair<std::string, std::vector<Contender>> last;
  if (last.first != work.name)
    last = {work.name, peers_at_work(work.name, work.peers, words_of(work), session)};
  contenders.insert(contenders.end(), last.second.begin(), last.second.end());
  return compare(name, "us", contenders, session.repeats);
}

std::string check_shape_of_work(const std::string &name, const Session &session) {
  const Work &work = work_of(name);
  const Tensors inputs = tensors_of(work.inputs);
  const Tensors compiled_results = results_of(work, inputs, true),
                eager_results = results_of(work, inputs, false);
  const std::vector<Digest> ours = digests_of(compiled_results);
  compare_results(work, ours, digests_of(eager_results), "compiled against eager");
  if (!work.random) compare_elements(compiled_results, eager_results);
  std::string names;
  for (const Peer &peer : installed(work.name, work.peers, words_of(work), session)) {
    PeerProcess process(peer.command, session.threads);
    compare_results(work, ours, digests_in(process.ask("check")), "weft against " + peer.name);
    names += (names.empty() ? "" : ", ") + peer.name;
  }
  return "compiled and eager agree" + (names.empty() ? "" : ", and with " + names);
}

} // namespace weft::bench
