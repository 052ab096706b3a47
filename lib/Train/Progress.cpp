// Draws progress bars.
#include <weft/train/progress.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <unistd.h>

#include "Support/CallSite.h"
#include "Train/Terminal.h"
#include <weft/error.h>

namespace weft::train {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point when) {
  return std::chrono::duration<double>(Clock::now() - when).count();
}

/// A bar of `width` characters, of which a share is done.
std::string bar(int width, double share, bool utf8) {
  const int done = static_cast<int>(share * width);
  std::string text;
  for (int i = 0; i < width; ++i) {
    if (utf8) text += i < done ? "\u2501" : "\u2500";
    else text += i < done ? '=' : '-';
  }
  return text;
}

} // namespace

struct ProgressBar::State {
  explicit State(const ProgressOptions &options)
      : options(options), terminal(is_terminal(options.descriptor)), utf8(has_utf8()) {}
  ~State() { finish(); }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  std::string line(int width) const;
  void draw();
  void finish();
  void write(std::string_view text) {
    while (!text.empty() && !gone) {
      const ssize_t count = ::write(options.descriptor, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      gone = count <= 0;
      if (!gone) text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  const ProgressOptions options;
  const bool terminal, utf8;
  const Clock::time_point start = Clock::now();
  Clock::time_point drawn = start;
  std::int64_t steps = 0, steps_drawn = -1;
  std::vector<std::pair<std::string, double>> values;
  bool visible = false, finished = false, gone = false;
};

std::string ProgressBar::State::line(int width) const {
  const double seconds = seconds_since(start),
               rate = seconds > 0 ? static_cast<double>(steps) / seconds : 0;
  std::string front = options.label.empty() ? "" : options.label + "  ";
  front += std::to_string(steps);
  std::string back;
  double share = 0;
  if (options.total) {
    share = *options.total > 0
                ? std::min(1., static_cast<double>(steps) / static_cast<double>(*options.total))
                : 1;
    front += "/" + std::to_string(*options.total) + " ";
    back = " " + std::to_string(static_cast<int>(100 * share)) + "%";
  } else {
    front += " " + options.unit;
  }
  back += "  " + short_number(rate) + " " + options.unit + "/s";
  const bool open = !finished && options.total && steps < *options.total && rate > 0;
  back += "  " + (open ? clock_text(static_cast<double>(*options.total - steps) / rate) + " left"
                       : clock_text(seconds));
  for (const auto &[name, value] : values) back += "  " + name + " " + short_number(value);
  if (options.total) {
    const int room = width - length_of(front) - length_of(back);
    if (room >= 4) front += bar(std::min(room, 30), share, utf8);
  }
  std::string text = front + back;
  // What does not fit would begin another line, which the next drawing would not reach.
  while (length_of(text) > width) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80)
      text.pop_back();
    text.pop_back();
  }
  return text;
}

void ProgressBar::State::draw() {
  drawn = Clock::now();
  steps_drawn = steps;
  if (terminal) {
    const int width = terminal_width(options.descriptor);
    // The last column stays free: some terminals go to the next line there.
    write("\r" + line((width > 0 ? width : 80) - 1) + "\x1b[K");
    visible = true;
  } else {
    write(line(200) + "\n");
  }
}

void ProgressBar::State::finish() {
  if (std::exchange(finished, true)) return;
  if (terminal) {
    draw();
    write("\n");
  } else if (steps != steps_drawn) {
    draw();
  }
}

ProgressBar::ProgressBar(const ProgressOptions &options) {
  const CallSite site(options.where);
  if (options.total && *options.total < 0)
    throw ValueError("ProgressBar: total is " + std::to_string(*options.total) +
                     ", but must be at least 0");
  state_ = std::make_shared<State>(options);
}

void ProgressBar::advance(std::int64_t steps) const {
  State &state = *state_;
  state.steps += steps;
  if (state.finished) return;
  const double passed = seconds_since(state.drawn);
  if (passed >= (state.terminal ? 0.1 : state.options.seconds_between_lines) ||
      (state.terminal && !state.visible))
    state.draw();
}

void ProgressBar::show(std::string_view name, double value) const {
  for (auto &[known, shown] : state_->values)
    if (known == name) {
      shown = value;
      return;
    }
  state_->values.emplace_back(name, value);
}

void ProgressBar::hide() const {
  if (std::exchange(state_->visible, false)) state_->write("\r\x1b[K");
}

void ProgressBar::finish() const { state_->finish(); }
std::int64_t ProgressBar::steps() const { return state_->steps; }
double ProgressBar::rate() const {
  const double seconds = seconds_since(state_->start);
  return seconds > 0 ? static_cast<double>(state_->steps) / seconds : 0;
}
std::string ProgressBar::line(int width) const { return state_->line(std::max(width, 0)); }

} // namespace weft::train
