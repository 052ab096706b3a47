// The measuring loop of weft-bench: contenders take turns, and the median of each one's repeats
// counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::bench {

/// One line of the table, and one object of the JSON file.
struct Row {
  std::string name;
  double value = 0;
  std::string unit;
  /// Who was measured beside Weft; empty when nobody was.
  std::string peer;
  std::optional<double> peer_value;
  /// What else the row tells, as further members of its JSON object.
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();
  /// A remark for people, printed below the row.
  std::string note;

  /// value / peer_value.
  std::optional<double> ratio() const;
};

/// Whether more of this unit is better: rates are per second, everything else is a time.
bool higher_is_better(const std::string &unit);

/// Something that can be measured again and again.
struct Contender {
  std::string name;
  /// One repeat: a figure in the row's unit, warmed up and long enough to trust (see
  /// `seconds_per_call`).
  std::function<double()> repeat;
  /// Gives the full name once a repeat has run (a peer tells its version then); may be empty.
  std::function<std::string()> full_name = {};
};

/// What one contender achieved.
struct Figure {
  std::string name;
  double median = 0;
};

/// Lets the contenders take turns, `repeats` times each, so that a change of the machine's speed
/// meets all of them alike.
std::vector<Figure> take_turns(const std::vector<Contender> &contenders, int repeats);

/// The row of Weft's contender, the first, against the best of the others.
Row compare(const std::string &name, const std::string &unit,
            const std::vector<Contender> &contenders, int repeats);

double median(std::vector<double> values);

/// Seconds on a clock that only goes forward.
double now();

/// Calls `body(count)`, which does the work `count` times, with growing counts until one call took
/// `budget` seconds, and gives the seconds per piece of work of that last call. The earlier calls
/// warm caches, threads and clocks.
template <class Body>
double seconds_per_call(Body &&body, double budget = 0.1) {
  for (std::int64_t count = 1;;) {
    const double start = now();
    body(count);
    const double spent = now() - start;
    if (spent >= budget) return spent / static_cast<double>(count);
    count *= spent < budget / 16 ? 8 : 2;
  }
}

/// A contender of Weft's: `body(count)` does the work count times; `scale` makes seconds the unit.
template <class Body>
Contender timed(std::string name, double scale, Body body) {
  return {std::move(name), [=] { return scale * seconds_per_call(body); }};
}

/// Keeps the compiler from dropping a value that nobody reads.
template <class T>
inline void keep(const T &value) {
  asm volatile("" : : "r"(&value) : "memory");
}

} // namespace weft::bench
