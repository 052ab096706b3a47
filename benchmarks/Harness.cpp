// The turns, the medians and the choice of the best peer.
#include "Harness.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace weft::bench {

std::optional<double> Row::ratio() const {
  if (!peer_value || *peer_value == 0) return std::nullopt;
  return value / *peer_value;
}

bool higher_is_better(const std::string &unit) { return unit.ends_with("/s"); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<Figure> take_turns(const std::vector<Contender> &contenders, int repeats) {
  std::vector<std::vector<double>> values(contenders.size());
  for (int turn = 0; turn < repeats; ++turn)
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      // The threads of whoever ran before spin for a millisecond or so after their last task.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      values[i].push_back(contenders[i].repeat());
    }
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const Contender &contender = contenders[i];
    figures.push_back({contender.full_name ? contender.full_name() : contender.name,
                       median(std::move(values[i]))});
  }
  return figures;
}

Row compare(const std::string &name, const std::string &unit,
            const std::vector<Contender> &contenders, int repeats) {
  const std::vector<Figure> figures = take_turns(contenders, repeats);
  Row row;
  row.name = name;
  row.value = figures.at(0).median;
  row.unit = unit;
  for (std::size_t i = 1; i < figures.size(); ++i) {
    const Figure &figure = figures[i];
    const bool better =
        !row.peer_value || (higher_is_better(unit) ? figure.median > *row.peer_value
                                                   : figure.median < *row.peer_value);
    if (better) {
      row.peer = figure.name;
      row.peer_value = figure.median;
    }
    // With several peers, the figures of all of them are told.
    if (figures.size() > 2) row.fields["peers"][figure.name] = figure.median;
  }
  return row;
}

} // namespace weft::bench
