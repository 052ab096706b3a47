// What the run does, and the data sets.
#include "Run.h"

namespace weft::fuzz {

void Run::advance() {
  ++epoch;
  weight.assign(full({2, 3}, static_cast<double>(epoch)));
  count.assign(full({}, static_cast<double>(epoch), DType::i64));
  scale = full({4}, 2.0 * static_cast<double>(epoch));
  rate = 0.5;
  name = "a run";
  phase = Phase::steady;
  history.add("loss", epoch, 1.0);
  int left = 3;
  for ([[maybe_unused]] const Tensor &element : data)
    if (--left == 0) break;
}

std::string Run::text() const {
  return to_string(weight.value()) + to_string(count.value()) + to_string(scale) +
         std::to_string(epoch) + std::to_string(rate) + name +
         std::to_string(static_cast<int>(phase)) + data.pipeline().state().saved_state() +
         history.saved_state();
}

std::map<std::string, data::BasicDataset<Tensor>> state_datasets() {
  return {{"short.json", data::range(20).shuffle({.buffer = 4, .seed = 5}).take(12)},
          {"endless.json", data::range(7).shuffle({.seed = 1}).repeat()},
          {"plain.json", data::range(5)}};
}

std::map<std::string, std::string> states_of_datasets() {
  std::map<std::string, std::string> states;
  for (auto &[name, dataset] : state_datasets()) {
    int left = 3;
    for ([[maybe_unused]] const Tensor &element : dataset)
      if (--left == 0) break;
    states[name] = dataset.pipeline().state().saved_state();
  }
  return states;
}

} // namespace weft::fuzz
