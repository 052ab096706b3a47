// Draws plots as SVG, with axes, a grid and a legend.
#include "Train/Chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "Train/Terminal.h"

namespace weft::train {

namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 64, kRight = 16, kTop = 34, kBottom = 34;
constexpr std::size_t kMostPoints = 2000;

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// Values to positions on the paper.
struct Axis {
  double low = HUGE_VAL, high = -HUGE_VAL, from = 0, to = 0;
  bool logarithmic = false;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double position(double value) const {
    double share = 0.5;
    if (logarithmic && high > low) share = std::log(value / low) / std::log(high / low);
    else if (high > low) share = value / (high - low) - low / (high - low);
    return from + share * (to - from);
  }
  std::vector<double> marks(int most) const {
    if (!logarithmic) return ticks(low, high, most);
    std::vector<double> powers;
    const double decades = std::log10(high / low);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / most)));
    for (int p = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
         std::pow(10., p) <= high * 1.0001; p += every)
      powers.push_back(std::pow(10., p));
    return powers.size() >= 2 ? powers : ticks(low, high, most);
  }
};

std::string text_at(double x, double y, const char *kind, const std::string &text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" class=\"" + kind + "\">" +
         escaped(text) + "</text>";
}
std::string line_from(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1) + "\" x2=\"" +
         coordinate(x2) + "\" y2=\"" + coordinate(y2) + "\"/>";
}

} // namespace

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    switch (c) {
    case '&': all += "&amp;"; break;
    case '<': all += "&lt;"; break;
    case '>': all += "&gt;"; break;
    case '"': all += "&quot;"; break;
    case '\'': all += "&#39;"; break;
    default:
      // What a page must not have is shown as what it is not.
      all += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return all;
}

std::vector<double> ticks(double low, double high, int most) {
  if (!(high > low)) return {low};
  const double rough = high / most - low / most;
  const double power = std::pow(10., std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1., 2., 5.})
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  std::vector<double> all;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= most; ++i) {
    const double value = (first + i) * step;
    if (!(value <= high + 1e-9 * step)) break;
    all.push_back(value == 0 ? 0 : value); // no -0
  }
  return all;
}

std::vector<History::Point> decimated(const std::vector<History::Point> &points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<History::Point> kept;
  const std::size_t stretches = most / 2;
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / stretches),
               to = points.begin() +
                    static_cast<std::ptrdiff_t>((i + 1) * points.size() / stretches);
    auto least = to, largest = to;
    for (auto at = from; at != to; ++at) {
      if (!std::isfinite(at->value)) continue;
      if (least == to || at->value < least->value) least = at;
      if (largest == to || at->value > largest->value) largest = at;
    }
    if (least == to) kept.push_back(*from);
    else {
      kept.push_back(*std::min(least, largest));
      if (least != largest) kept.push_back(*std::max(least, largest));
    }
  }
  return kept;
}

std::string line_chart(const std::string &title, const std::vector<ChartLine> &lines) {
  Axis x{.from = kLeft, .to = kWidth - kRight}, y{.from = kHeight - kBottom, .to = kTop};
  std::vector<std::vector<History::Point>> drawn;
  for (const ChartLine &line : lines) {
    drawn.push_back(decimated(*line.points, kMostPoints));
    for (const History::Point &point : drawn.back()) {
      if (!std::isfinite(point.value)) continue;
      x.add(static_cast<double>(point.step));
      y.add(point.value);
    }
  }
  std::string svg = "<svg viewBox=\"0 0 " + coordinate(kWidth) + " " + coordinate(kHeight) +
                    "\" role=\"img\" aria-label=\"" + escaped(title) + "\">\n";
  svg += text_at(kLeft, 18, "title", title);
  if (x.low > x.high)
    return svg + text_at(kLeft, kHeight / 2, "tick", "no value is finite") + "</svg>\n";
  y.logarithmic = y.low > 0 && y.high / y.low >= 30;

  svg += "<g class=\"grid\">";
  for (const double value : y.marks(5))
    svg += line_from(kLeft, y.position(value), kWidth - kRight, y.position(value));
  svg += line_from(kLeft, kTop, kLeft, kHeight - kBottom) +
         line_from(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom) + "</g>\n";
  for (const double value : y.marks(5))
    svg += text_at(kLeft - 6, y.position(value) + 4, "tick end", short_number(value));
  for (const double value : x.marks(8))
    if (value == std::floor(value))
      svg += text_at(x.position(value), kHeight - kBottom + 18, "tick middle", short_number(value));
  svg += "\n";

  double legend = kWidth - kRight;
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string color = "line" + std::to_string(i % 6);
    legend -= 7.0 * length_of(lines[i].name) + 26;
    svg += "<g class=\"" + color + "\">" + line_from(legend, 14, legend + 16, 14) + "</g>" +
           text_at(legend + 20, 18, "tick", lines[i].name);
    svg += "<g class=\"" + color + "\" data-name=\"" + escaped(lines[i].name) + "\">";
    std::string piece;
    std::size_t count = 0;
    const auto end_piece = [&] {
      if (count > 1) svg += "<polyline points=\"" + piece + "\"/>";
      piece.clear();
      count = 0;
    };
    for (const History::Point &point : drawn[i]) {
      if (!std::isfinite(point.value)) {
        end_piece();
        continue;
      }
      const std::string px = coordinate(x.position(static_cast<double>(point.step))),
                        py = coordinate(y.position(point.value));
      piece += (count++ == 0 ? "" : " ") + px + "," + py;
      if (drawn[i].size() <= 100)
        svg += "<circle cx=\"" + px + "\" cy=\"" + py + "\" r=\"2.5\"><title>" +
               escaped(lines[i].name) + " " + std::to_string(point.step) + ": " +
               short_number(point.value) + "</title></circle>";
    }
    end_piece();
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

} // namespace weft::train
