// Series of numbers, and their tables: in CSV files, in checkpoints, on streams.
#include <weft/train/history.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

#include "IO/InputFile.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Messages.h"
#include "Train/Terminal.h"
#include <weft/error.h>

namespace weft::train {

namespace {

/// A field of a CSV file, in quotes where it must be (RFC 4180).
std::string field_of(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// Far more than anybody has: a line of a gigabyte is no header.
constexpr std::size_t kMostColumns = std::size_t{1} << 20;

/// Reads a row of fields from `at` on, which goes behind its end, and counts the lines it is on.
/// What is wrong with it; null if nothing is.
const char *read_row(std::string_view text, std::size_t &at, std::size_t &lines,
                     std::vector<std::string> &fields) {
  fields.assign(1, "");
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++lines;
    if (quoted) {
      if (c != '"') fields.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"') fields.back() += text[++at];
      else quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      if (fields.size() == kMostColumns) return "has more than a million fields";
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      return nullptr;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return quoted ? "has a quote that is never closed" : nullptr;
}

template <class T>
bool parse(const std::string &text, T &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

void History::add(std::string_view name, std::int64_t step, double value,
                  std::source_location where) {
  const CallSite site(where);
  if (name.empty()) throw ValueError("History: the name of a series is empty");
  auto found = std::find_if(all_.begin(), all_.end(),
                            [&](const Series &series) { return series.name == name; });
  if (found == all_.end()) found = all_.insert(found, Series{std::string(name), {}});
  std::vector<Point> &points = found->points;
  if (!points.empty() && step < points.back().step)
    throw ValueError("History: '" + found->name + "' has a value of step " +
                     std::to_string(points.back().step) + " already, and step " +
                     std::to_string(step) + " lies before it");
  if (!points.empty() && step == points.back().step) points.back().value = value;
  else points.push_back({step, value});
}

std::vector<std::string> History::names() const {
  std::vector<std::string> names;
  for (const Series &series : all_) names.push_back(series.name);
  return names;
}

bool History::contains(std::string_view name) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Series &series) { return series.name == name; });
}

const std::vector<History::Point> &History::series(std::string_view name,
                                                   std::source_location where) const {
  const CallSite site(where);
  std::string known;
  for (const Series &series : all_) {
    if (series.name == name) return series.points;
    known += (known.empty() ? "" : ", ") + ("'" + series.name + "'");
  }
  throw IndexError("History: there is no series '" + std::string(name) + "', but " +
                   (known.empty() ? "no other either" : known));
}

double History::last(std::string_view name, std::source_location where) const {
  return series(name, where).back().value;
}

History::Point History::best(std::string_view name, Goal goal, std::source_location where) const {
  const CallSite site(where);
  const Point *best = nullptr;
  for (const Point &point : series(name)) {
    if (std::isnan(point.value)) continue;
    if (best == nullptr ||
        (goal == Goal::lowest ? point.value < best->value : point.value > best->value))
      best = &point;
  }
  if (best == nullptr)
    throw IndexError("History: all values of '" + std::string(name) + "' are NaN: none is best");
  return *best;
}

void History::drop_after(std::int64_t step) {
  for (Series &series : all_)
    std::erase_if(series.points, [&](const Point &point) { return point.step > step; });
  std::erase_if(all_, [](const Series &series) { return series.points.empty(); });
}

//===----------------------------------------------------------------------===//
// As tables
//===----------------------------------------------------------------------===//

std::string History::saved_state() const {
  std::string text = "step";
  std::set<std::int64_t> steps;
  for (const Series &series : all_) {
    text += "," + field_of(series.name);
    for (const Point &point : series.points) steps.insert(point.step);
  }
  text += "\n";
  std::vector<std::size_t> next(all_.size());
  for (const std::int64_t step : steps) {
    text += std::to_string(step);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::vector<Point> &points = all_[i].points;
      text += ",";
      if (next[i] < points.size() && points[next[i]].step == step)
        text += number_text(points[next[i]++].value);
    }
    text += "\n";
  }
  return text;
}

void History::check_state(std::string_view text) const {
  History other;
  other.restore_state(text);
}

void History::restore_state(std::string_view text) {
  std::vector<std::string> names, fields;
  std::size_t at = 0, line = 1, next = 1;
  const auto fail = [&](const std::string &what) {
    throw ValueError("line " + std::to_string(line) + " " + what);
  };
  if (text.empty()) fail("is missing: there must be a header, step and the names of the series");
  if (const char *fault = read_row(text, at, next, names)) fail(fault);
  const std::set<std::string_view> distinct(names.begin() + 1, names.end());
  if (distinct.size() + 1 != names.size()) fail("has a name twice");
  if (distinct.contains("")) fail("has an empty name");
  std::vector<Series> columns;
  for (std::size_t i = 1; i < names.size(); ++i) columns.push_back({names[i], {}});
  while (at < text.size()) {
    line = next;
    if (const char *fault = read_row(text, at, next, fields)) fail(fault);
    if (fields.size() != names.size())
      fail("has " + std::to_string(fields.size()) + " fields, but there are " +
           std::to_string(names.size()) + " columns");
    std::int64_t step = 0;
    if (!parse(fields[0], step)) fail("begins with '" + shown(fields[0]) + "', which is no step");
    for (std::size_t i = 1; i < fields.size(); ++i) {
      double value = 0;
      if (fields[i].empty()) continue;
      if (!parse(fields[i], value)) fail("has '" + shown(fields[i]) + "', which is no number");
      std::vector<Point> &points = columns[i - 1].points;
      if (!points.empty() && points.back().step >= step)
        fail("has step " + fields[0] + ", which does not lie behind the one before");
      points.push_back({step, value});
    }
  }
  std::erase_if(columns, [](const Series &series) { return series.points.empty(); });
  all_ = std::move(columns);
}

void History::save_csv(const std::string &path, std::source_location where) const {
  const CallSite site(where);
  check_path("History::save_csv", path);
  const std::string text = saved_state();
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

History History::load_csv(const std::string &path, std::source_location where) {
  const CallSite site(where);
  check_path("History::load_csv", path);
  return naming(path, [&] {
    const std::string text = read_file(path);
    History history;
    try {
      history.restore_state(text);
    } catch (const ValueError &error) {
      throw IOError(path + ": " + std::string(error.message()));
    }
    return history;
  });
}

std::ostream &operator<<(std::ostream &out, const History &history) {
  std::vector<std::vector<std::string>> columns(1, {"step"});
  std::map<std::int64_t, std::size_t> rows;
  const std::vector<std::string> names = history.names();
  for (const std::string &name : names)
    for (const History::Point &point : history.series(name)) rows[point.step] = 0;
  for (auto &[step, row] : rows) {
    row = columns[0].size();
    columns[0].push_back(std::to_string(step));
  }
  for (const std::string &name : names) {
    std::vector<std::string> column(columns[0].size());
    column[0] = name;
    for (const History::Point &point : history.series(name))
      column[rows[point.step]] = short_number(point.value);
    columns.push_back(std::move(column));
  }
  std::vector<int> widths;
  for (const auto &column : columns) {
    int width = 0;
    for (const std::string &field : column) width = std::max(width, length_of(field));
    widths.push_back(width);
  }
  for (std::size_t row = 0; row < columns[0].size(); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string &field = columns[i][row];
      out << (i == 0 ? "" : "  ")
          << std::string(static_cast<std::size_t>(widths[i] - length_of(field)), ' ') << field;
    }
    out << '\n';
  }
  return out;
}

} // namespace weft::train
