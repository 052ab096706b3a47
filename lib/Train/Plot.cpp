// Plots of series in the terminal, of characters.
#include <weft/train/history.h>

#include <algorithm>
#include <cmath>

#include <unistd.h>

#include "Support/CallSite.h"
#include "Train/Terminal.h"
#include <weft/error.h>

namespace weft::train {

namespace {

struct Dot {
  double x, y;
};

/// The finite points of a series, the values as logarithms if they are asked for.
std::vector<Dot> dots_of(const std::vector<History::Point> &points, bool log_scale) {
  std::vector<Dot> finite;
  for (const History::Point &point : points) {
    const double y = log_scale ? std::log10(point.value) : point.value;
    if (std::isfinite(y)) finite.push_back({static_cast<double>(point.step), y});
  }
  return finite;
}

struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Where `value` is between 0 and 1.
  double share(double value) const {
    return high > low ? value / (high - low) - low / (high - low) : 0.5;
  }
};

/// Points of a canvas that are set, and by which series.
class Canvas {
public:
  Canvas(int width, int height)
      : width_(width), height_(height),
        points_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), -1) {}

  /// A line from one point to another, both between 0 and 1.
  void line(Dot from, Dot to, int series) {
    const double x0 = from.x * (width_ - 1), x1 = to.x * (width_ - 1);
    const double y0 = from.y * (height_ - 1), y1 = to.y * (height_ - 1);
    const int steps = static_cast<int>(std::ceil(std::max(std::fabs(x1 - x0), std::fabs(y1 - y0))));
    for (int i = 0; i <= steps; ++i) {
      const double t = steps == 0 ? 0 : static_cast<double>(i) / steps;
      set(static_cast<int>(std::lround(x0 + t * (x1 - x0))),
          static_cast<int>(std::lround(y0 + t * (y1 - y0))), series);
    }
  }
  /// From the left and the top.
  int at(int x, int row) const { return points_[index(x, height_ - 1 - row)]; }

private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  void set(int x, int y, int series) { points_[index(x, y)] = series; }

  int width_, height_;
  std::vector<int> points_;
};

/// The character of Braille with these of 2 x 4 dots, in UTF-8 (U+2800 and a bit for each dot).
std::string braille(const Canvas &canvas, int column, int row) {
  static constexpr int bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  int dots = 0;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 2; ++x)
      if (canvas.at(2 * column + x, 4 * row + y) >= 0) dots |= bits[y][x];
  if (dots == 0) return " ";
  return {static_cast<char>(0xe2), static_cast<char>(0xa0 | dots >> 6),
          static_cast<char>(0x80 | (dots & 0x3f))};
}

const char *mark_of(int series, bool utf8) {
  static constexpr const char *plain[] = {"*", "+", "o", "x", "#", "@"};
  static constexpr const char *shapes[] = {"\u25cf", "\u25b2", "\u25a0",
                                           "\u25cb", "\u25b3", "\u25a1"};
  return utf8 ? shapes[series % 6] : plain[series % 6];
}

std::string padded(const std::string &text, int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width - length_of(text))), ' ') + text;
}

} // namespace

std::string History::plot(const std::vector<std::string> &names, const PlotOptions &options,
                          std::source_location where) const {
  const CallSite site(where);
  int width = options.width;
  if (width == 0) {
    const int terminal = terminal_width(STDOUT_FILENO);
    width = terminal == 0 ? 80 : std::max(20, terminal);
  }
  constexpr int most = 10'000;
  if (width < 20 || width > most || options.height < 2 || options.height > most)
    throw ValueError("History::plot: the plot is " + std::to_string(width) + " x " +
                     std::to_string(options.height) +
                     ", but must be at least 20 x 2, and at most 10000 each way");
  const bool utf8 = !options.ascii && has_utf8();
  const std::vector<std::string> shown = names.empty() ? this->names() : names;
  std::vector<std::vector<Dot>> lines;
  Range x, y;
  for (const std::string &name : shown) {
    lines.push_back(dots_of(series(name), options.log_scale));
    for (const Dot &point : lines.back()) {
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (x.low > x.high) return "nothing to plot: no value is finite\n";
  const auto value_text = [&](double v) {
    return short_number(options.log_scale ? std::pow(10, v) : v);
  };
  const int rows = options.height;
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  int margin = 0;
  for (int row = 0; row < rows; ++row) {
    // At the ends, and between them where there is room.
    const int tick = std::max(1, (rows - 1) / 4);
    if (row != rows - 1 && (row % tick != 0 || row + tick / 2 >= rows - 1)) continue;
    const double share = 1 - static_cast<double>(row) / (rows - 1);
    const double value = y.high > y.low ? y.low + share * (y.high - y.low) : y.low;
    if (y.high == y.low && row != (rows - 1) / tick / 2 * tick) continue;
    labels[static_cast<std::size_t>(row)] = value_text(value);
    margin = std::max(margin, length_of(value_text(value)));
  }
  const int columns = width - margin - 2;
  const bool dots = utf8 && shown.size() == 1;
  Canvas canvas(dots ? 2 * columns : columns, dots ? 4 * rows : rows);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto scaled = [&](const Dot &p) { return Dot{x.share(p.x), y.share(p.y)}; };
    for (std::size_t j = 0; j < lines[i].size(); ++j)
      canvas.line(scaled(lines[i][j > 0 ? j - 1 : 0]), scaled(lines[i][j]), static_cast<int>(i));
  }
  std::string text;
  for (std::size_t i = 0; i < shown.size(); ++i)
    text += (i == 0 ? "" : "   ") +
            (dots ? "" : std::string(mark_of(static_cast<int>(i), utf8)) + " ") + shown[i];
  text = padded(text, margin + 2 + length_of(text)) + "\n";
  for (int row = 0; row < rows; ++row) {
    const std::string &label = labels[static_cast<std::size_t>(row)];
    std::string line;
    for (int column = 0; column < columns; ++column) {
      const int series = dots ? -1 : canvas.at(column, row);
      line += dots ? braille(canvas, column, row) : series < 0 ? " " : mark_of(series, utf8);
    }
    while (line.ends_with(' ')) line.pop_back();
    text += padded(label, margin) + (utf8 ? (label.empty() ? " \u2502" : " \u2524") : " |") + line +
            "\n";
  }
  text += std::string(static_cast<std::size_t>(margin + 1), ' ') + (utf8 ? "\u2514" : "+");
  for (int column = 0; column < columns; ++column) text += utf8 ? "\u2500" : "-";
  const std::string first = short_number(x.low), last = short_number(x.high);
  text += "\n" + std::string(static_cast<std::size_t>(margin + 2), ' ') + first;
  if (x.high > x.low) text += padded(last, columns - length_of(first));
  return text + "\n";
}

} // namespace weft::train
