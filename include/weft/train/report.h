// Reports: one HTML file about a run that needs nothing else.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <weft/profile.h>
#include <weft/tensor.h>
#include <weft/train/history.h>

namespace weft::train {

/// A picture in a report.
struct ReportPicture {
  /// (height, width), or (height, width, channels) of 1 or 3: floating numbers from 0 to 1, what is
  /// beyond is cut off, or whole numbers from 0 to 255.
  Tensor image;
  std::string caption = {};
};

/// A table in a report: its first row is the head.
struct ReportTable {
  std::string title;
  std::vector<std::vector<std::string>> rows;
};

/// What a report has besides the history.
struct ReportOptions {
  std::string title = "Training run";
  /// What the run was configured with: names and values.
  std::vector<std::pair<std::string, std::string>> configuration = {};
  /// Text that is shown as it is, such as `nn::summary(model)`.
  std::string model = {};
  /// Seconds, or MiB, or what else was measured while the run went on, by its own step.
  History resources = {};
  /// Seconds of the parts of the run: a bar for each.
  std::vector<std::pair<std::string, double>> times = {};
  /// How often a label (row) was taken for a class (column), (classes, classes), as
  /// `metrics::confusion_matrix` gives it; undefined for none.
  Tensor confusion = {};
  std::vector<std::string> classes = {}; ///< their names; numbers without
  std::vector<ReportPicture> pictures = {};
  std::string pictures_title = "Worst samples";
  std::vector<ReportTable> tables = {};
  /// Where the time went, and the memory: tables of eager ops, of compiled code and of all else,
  /// and a curve. Not owned.
  const Profile *profile = nullptr;
};

/// What a run's numbers depend on besides its program: names and texts of Weft's version, the
/// compiler that built it, the processor and its instruction sets, threads, the system. Reports
/// have it.
std::vector<std::pair<std::string, std::string>> versions();

/// Writes a page with the curves of a history (a training series and the one with "val_" in front
/// in one plot), and what the options have. Nothing in it comes from the network, and it says so to
/// the browser; the plots are SVG and are there without scripts. At most 2,000 points of a series,
/// 64 pictures and 64 classes are drawn, and the page says if there were more. Throws IOError,
/// ShapeError and DTypeError for pictures and matrices that are none.
void write_report(const std::string &path, const History &history,
                  const ReportOptions &options = {}, std::source_location where = WEFT_HERE);

} // namespace weft::train
