// A bar that shows how far a loop is: in a terminal a line that changes, elsewhere now and then a
// line.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/source.h>

namespace weft::train {

struct ProgressOptions {
  /// In front of the bar: "epoch 3/15".
  std::string label = {};
  /// How many steps there will be, if that is known.
  std::optional<std::int64_t> total = std::nullopt;
  /// What a step is called: "812 steps/s".
  std::string unit = "steps";
  /// Where it goes, a file descriptor: stderr.
  int descriptor = 2;
  /// Seconds between lines where it goes to no terminal.
  double seconds_between_lines = 60;
  /// The user's line: that of these braces.
  std::source_location where = WEFT_HERE;
};

/// Shows steps done, rate, time left, and numbers beside them. In a terminal it is one line, drawn
/// anew at most ten times a second, as wide as the window is then; in pipes, files and dumb
/// terminals a line a minute and one at the end, without control characters. Only ASCII unless the
/// environment's locale is UTF-8. Drawing that fails is given up silently: it must not end a run.
/// Members may be called from one thread at a time; copies are the same bar.
class ProgressBar {
public:
  /// Throws ValueError for a negative total.
  explicit ProgressBar(const ProgressOptions &options = {});

  /// So many steps more.
  void advance(std::int64_t steps = 1) const;
  /// A number to show, by its name, from the next drawing on.
  void show(std::string_view name, double value) const;
  /// Takes the bar away for a moment, so that something else can be printed; it comes back with the
  /// next step.
  void hide() const;
  /// Draws it for the last time and ends the line. The end of the last copy does that too.
  void finish() const;

  std::int64_t steps() const;
  /// Steps a second, since the start; 0 at first.
  double rate() const;
  /// Its text at a width of so many characters.
  std::string line(int width) const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace weft::train
