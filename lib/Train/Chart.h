// Plots as SVG, and texts as HTML wants them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/train/history.h>

namespace weft::train {

/// With &, <, > and quotes as entities.
std::string escaped(std::string_view text);

/// A line of a plot.
struct ChartLine {
  std::string name;
  const std::vector<History::Point> *points;
};

/// An SVG element of the lines over their steps, with axes, a grid and a legend. Values that are
/// not finite break a line. The vertical axis is logarithmic if all values are positive and the
/// largest is 30 times the least.
std::string line_chart(const std::string &title, const std::vector<ChartLine> &lines);

/// Where an axis has its ticks: multiples of 1, 2 or 5 times a power of ten within [low, high], at
/// most `most`.
std::vector<double> ticks(double low, double high, int most);

/// The points, or, of more than `most`, the least and the largest of each of most / 2 stretches.
std::vector<History::Point> decimated(const std::vector<History::Point> &points, std::size_t most);

} // namespace weft::train
