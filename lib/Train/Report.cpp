// Writes reports: pages of HTML about a run, and the versions of what its numbers depend on.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include <sys/utsname.h>

#include "Data/Images.h"
#include "Support/CallSite.h"
#include "Support/Cpu.h"
#include "Support/Files.h"
#include "Support/Threads.h"
#include "Support/Version.h"
#include "Train/Chart.h"
#include "Train/Terminal.h"
#include <weft/data.h>
#include <weft/error.h>
#include <weft/ops.h>
#include <weft/train/report.h>

namespace weft::train {

namespace {

/// What Linux calls the processor; its architecture where that says nothing.
std::string processor(const utsname &system) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return system.machine;
}

} // namespace

std::vector<std::pair<std::string, std::string>> versions() {
  utsname system{};
  uname(&system);
  return {
      {"Weft", library_version()},
      {"built by", "clang " __clang_version__},
      {"processor", processor(system)},
      {"instruction sets", host_cpu_features_text()},
      {"x86-64 level", "v" + std::to_string(static_cast<int>(host_cpu_level()))},
      {"threads", std::to_string(threads::max_threads())},
      {"system", std::string(system.sysname) + " " + system.release},
  };
}

namespace {

constexpr std::int64_t kMostClasses = 64;
constexpr std::size_t kMostPictures = 64;

// What the page may do: show itself, and nothing from anywhere.
constexpr const char *kHead = R"(<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { --ink: #1c2024; --soft: #6b747d; --line: #d9dee3; --paper: #fff; --heat: 31, 111, 180; color-scheme: light dark }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #98a2ac; --line: #343b42; --paper: #15181b; --heat: 96, 170, 235 } }
body { margin: 2rem auto; max-width: 84rem; padding: 0 1rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line) }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(26rem, 1fr)); gap: 1rem }
svg { width: 100%; height: auto } svg text { fill: var(--soft); font-size: 12px } svg .title { fill: var(--ink); font-size: 14px }
.end { text-anchor: end } .middle { text-anchor: middle } .grid line { stroke: var(--line) }
polyline { fill: none; stroke: currentColor; stroke-width: 1.8 } circle { fill: currentColor } g line { stroke: currentColor; stroke-width: 2 }
.grid line { stroke-width: 1 } circle:hover { r: 5 }
.line0 { color: #1f6fb4 } .line1 { color: #d9730d } .line2 { color: #2e9e5b } .line3 { color: #b83280 } .line4 { color: #7b61d6 } .line5 { color: #8a8f00 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums } td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid var(--line) }
td:first-child, th:first-child { text-align: left } pre { overflow-x: auto; font-size: 13px; line-height: 1.35 }
.heat td { min-width: 2.2rem; text-align: center; border: 1px solid var(--paper) }
.bar { display: inline-block; height: .8rem; background: #1f6fb4; vertical-align: middle }
.pictures { display: flex; flex-wrap: wrap; gap: .8rem } figure { margin: 0; text-align: center; font-size: 13px }
img { width: 7rem; image-rendering: pixelated; border: 1px solid var(--line) } .note { color: var(--soft) }
</style>
)";

std::string base64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? digits[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string section(const std::string &title, const std::string &body) {
  return body.empty() ? "" : "<h2>" + escaped(title) + "</h2>\n" + body;
}

/// A plot for each name, with its validation.
std::string plots_of(const History &history) {
  std::string all;
  const std::vector<std::string> names = history.names();
  for (const std::string &name : names) {
    const bool is_validation = name.starts_with("val_") && history.contains(name.substr(4));
    if (is_validation) continue;
    std::vector<ChartLine> lines = {{name, &history.series(name)}};
    if (history.contains("val_" + name))
      lines.push_back({"val_" + name, &history.series("val_" + name)});
    all += line_chart(name, lines);
  }
  return all.empty() ? "" : "<div class=\"plots\">\n" + all + "</div>\n";
}

std::string table_of(const std::vector<std::vector<std::string>> &rows) {
  std::string all = "<table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all += "<tr>";
    for (const std::string &field : rows[i])
      all += (i == 0 ? "<th>" : "<td>") + escaped(field) + (i == 0 ? "</th>" : "</td>");
    all += "</tr>\n";
  }
  return all + "</table>\n";
}

/// The last value of each series, and the best one of each end.
std::string results_of(const History &history) {
  std::vector<std::vector<std::string>> rows = {{"", "last", "least", "at", "largest", "at"}};
  for (const std::string &name : history.names()) {
    const auto &points = history.series(name);
    if (std::all_of(points.begin(), points.end(),
                    [](const History::Point &point) { return std::isnan(point.value); }))
      continue;
    const History::Point least = history.best(name), largest = history.best(name, Goal::highest);
    rows.push_back({name, short_number(points.back().value), short_number(least.value),
                    std::to_string(least.step), short_number(largest.value),
                    std::to_string(largest.step)});
  }
  return rows.size() > 1 ? table_of(rows) : "";
}

std::string times_of(const std::vector<std::pair<std::string, double>> &times) {
  double most = 0;
  for (const auto &[name, seconds] : times) most = std::max(most, seconds);
  std::string all;
  for (const auto &[name, seconds] : times)
    all += "<tr><td>" + escaped(name) + "</td><td>" + short_number(seconds) +
           " s</td><td style=\"text-align: left\"><span class=\"bar\" style=\"width: " +
           short_number(most > 0 ? 20 * seconds / most : 0) + "rem\"></span></td></tr>\n";
  return all.empty() ? "" : "<table>\n" + all + "</table>\n";
}

std::string confusion_of(const ReportOptions &options) {
  if (!options.confusion.defined()) return "";
  const TensorType type = weft::detail::type_of(options.confusion);
  if (type.shape.size() != 2 || type.shape[0] != type.shape[1])
    throw ShapeError("write_report: the confusion matrix must be (classes, classes), but is " +
                     to_string(type));
  const std::int64_t classes = type.shape[0], shown = std::min(classes, kMostClasses);
  if (!options.classes.empty() && static_cast<std::int64_t>(options.classes.size()) != classes)
    throw ValueError("write_report: there are " + std::to_string(options.classes.size()) +
                     " names of classes, but " + std::to_string(classes) + " classes");
  const std::vector<double> counts = options.confusion.astype(DType::f64).to_vector<double>();
  const auto name = [&](std::int64_t i) {
    return escaped(options.classes.empty() ? std::to_string(i)
                                           : options.classes[static_cast<std::size_t>(i)]);
  };
  std::string all = "<table class=\"heat\">\n<tr><th>label</th>";
  for (std::int64_t j = 0; j < shown; ++j) all += "<th>" + name(j) + "</th>";
  all += "</tr>\n";
  for (std::int64_t i = 0; i < shown; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j < classes; ++j)
      total += counts[static_cast<std::size_t>(i * classes + j)];
    all += "<tr><th>" + name(i) + "</th>";
    for (std::int64_t j = 0; j < shown; ++j) {
      const double count = counts[static_cast<std::size_t>(i * classes + j)];
      const double share = total > 0 ? count / total : 0;
      all += "<td style=\"background: rgba(var(--heat), " + short_number(share) +
             (share > 0.5 ? "); color: #fff\">" : ")\">") +
             (count == 0 ? "" : short_number(count)) + "</td>";
    }
    all += "</tr>\n";
  }
  all += "</table>\n";
  if (shown < classes)
    all += "<p class=\"note\">The first " + std::to_string(shown) + " of " +
           std::to_string(classes) + " classes.</p>\n";
  return all;
}

std::string pictures_of(const std::vector<ReportPicture> &pictures) {
  std::string all;
  const std::size_t shown = std::min(pictures.size(), kMostPictures);
  for (std::size_t i = 0; i < shown; ++i)
    all += "<figure><img alt=\"" + escaped(pictures[i].caption) +
           "\" src=\"data:image/png;base64," +
           base64(data::encode_png(data::drawable(pictures[i].image))) + "\"><figcaption>" +
           escaped(pictures[i].caption) + "</figcaption></figure>\n";
  if (all.empty()) return all;
  all = "<div class=\"pictures\">\n" + all + "</div>\n";
  if (shown < pictures.size())
    all += "<p class=\"note\">The first " + std::to_string(shown) + " of " +
           std::to_string(pictures.size()) + ".</p>\n";
  return all;
}

constexpr std::size_t kMostEntries = 25;

/// The entries of these kinds that took longest, with their shares of all that a profile noted.
std::string entries_of(const std::vector<ProfileEntry> &entries,
                       const std::set<std::string> &kinds) {
  double total = 0;
  for (const ProfileEntry &entry : entries) total += entry.self_ms;
  std::vector<std::vector<std::string>> rows = {
      {"", "line", "times", "ms", "ms each", "of the profile"}};
  std::size_t left_out = 0;
  for (const ProfileEntry &entry : entries) {
    if (!kinds.contains(entry.kind)) continue;
    if (rows.size() > kMostEntries) {
      ++left_out;
      continue;
    }
    const std::string kind = kinds.size() > 1 ? entry.kind + " " : "";
    rows.push_back({kind + entry.name, to_string(entry.location), std::to_string(entry.count),
                    short_number(entry.self_ms),
                    short_number(entry.self_ms / static_cast<double>(entry.count)),
                    short_number(total > 0 ? 100 * entry.self_ms / total : 0) + " %"});
  }
  if (rows.size() == 1) return "";
  return table_of(rows) +
         (left_out == 0 ? "" : "<p class=\"note\">" + std::to_string(left_out) + " more.</p>\n");
}

/// Where time and memory went. Times are without what is listed apart.
std::string profile_of(const Profile &profile) {
  const std::vector<ProfileEntry> entries = profile.entries();
  std::string all = section("Profile: eager ops", entries_of(entries, {"op"}));
  all += section("Profile: inside of compiled functions", entries_of(entries, {"code"}));
  all += section("Profile: all else",
                 entries_of(entries, {"function", "layer", "call", "gradient", "trace", "compile",
                                      "phase", "host", "data", "file", "allocation", "part"}));
  std::vector<History::Point> points;
  std::int64_t microseconds = -1;
  for (const auto &[seconds, bytes] : profile.memory()) {
    microseconds = std::max(microseconds + 1, static_cast<std::int64_t>(seconds * 1e6));
    points.push_back({microseconds, bytes / (1 << 20)});
  }
  if (!points.empty())
    all += section("Profile: memory",
                   "<div class=\"plots\">\n" +
                       line_chart("MiB of tensors by microseconds", {{"tensors", &points}}) +
                       "</div>\n");
  return all;
}

/// Names and values.
std::string pairs_of(const std::vector<std::pair<std::string, std::string>> &pairs) {
  std::vector<std::vector<std::string>> rows = {{"", ""}};
  for (const auto &[name, value] : pairs) rows.push_back({name, value});
  return rows.size() > 1 ? table_of(rows) : "";
}

} // namespace

void write_report(const std::string &path, const History &history, const ReportOptions &options,
                  std::source_location where) {
  const CallSite site(where);
  check_path("write_report", path);
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n" + std::string(kHead) +
                     "<title>" + escaped(options.title) + "</title>\n</head>\n<body>\n<h1>" +
                     escaped(options.title) + "</h1>\n";
  page += section("Curves", plots_of(history));
  page += section("Results", results_of(history));
  page += section("Confusion", confusion_of(options));
  page += section(options.pictures_title, pictures_of(options.pictures));
  page += section("Times", times_of(options.times));
  page += section("Resources", plots_of(options.resources));
  if (options.profile != nullptr) page += profile_of(*options.profile);
  for (const ReportTable &table : options.tables)
    page += section(table.title, table.rows.empty() ? "" : table_of(table.rows));
  if (!options.model.empty())
    page += section("Model", "<pre>" + escaped(options.model) + "</pre>\n");
  page += section("Configuration", pairs_of(options.configuration));
  page += section("Versions", pairs_of(versions()));
  page += "</body>\n</html>\n";
  AtomicFile file(path);
  file.write(page.data(), page.size());
  file.commit();
}

} // namespace weft::train
