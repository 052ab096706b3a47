// What a run measured: series of numbers by name, as a table, a plot in the terminal, a file.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <weft/structure.h>

namespace weft::train {

/// Which end of a series is good.
enum class Goal : std::int32_t { lowest, highest };

struct PlotOptions {
  /// Of the whole plot, in characters; 0: that of the terminal, 80 if there is none.
  int width = 0;
  /// Of the part with points, in lines.
  int height = 12;
  /// The logarithms of the values are plotted. Values that are not positive are left out.
  bool log_scale = false;
  /// ASCII alone; otherwise so if the environment's locale is not UTF-8.
  bool ascii = false;
};

/// Series of numbers by name, each a list of (step, value): `history.add("loss", step, loss)`. A
/// step is whatever the run counts, epochs or updates. Checkpoints save and restore it.
class History : public Stateful {
public:
  struct Point {
    std::int64_t step = 0;
    double value = 0;
    friend bool operator==(const Point &, const Point &) = default;
  };

  /// Appends a value; one of a step that the series has already replaces it. Throws ValueError
  /// for an empty name, or a step before the last one of the series.
  void add(std::string_view name, std::int64_t step, double value,
           std::source_location where = WEFT_HERE);

  /// The names, in the order of their first values.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  /// Throws IndexError, which says what there is, for a name that there is not.
  const std::vector<Point> &series(std::string_view name,
                                   std::source_location where = WEFT_HERE) const;
  /// The last value of a series.
  double last(std::string_view name, std::source_location where = WEFT_HERE) const;
  /// The first of the best values; NaN is never best. Throws IndexError if all are NaN.
  Point best(std::string_view name, Goal goal = Goal::lowest,
             std::source_location where = WEFT_HERE) const;
  /// Forgets all points behind `step`: for a run that goes on from there.
  void drop_after(std::int64_t step);

  /// A plot of these series, by default of all, as lines of text: of one in dots of Braille, of
  /// several a mark for each. Values that are not finite are left out. Throws IndexError for a name
  /// that there is not, ValueError for a width below 20 or a height below 2.
  std::string plot(const std::vector<std::string> &names = {}, const PlotOptions &options = {},
                   std::source_location where = WEFT_HERE) const;

  /// Writes a CSV file: a column for the step and one for each series, a row for each step; a field
  /// is empty where a series has no value. Numbers are read back as the same bits. Throws IOError.
  void save_csv(const std::string &path, std::source_location where = WEFT_HERE) const;
  /// Reads what `save_csv` wrote, or another table of numbers whose first column is the step.
  /// Throws IOError that names file and line.
  static History load_csv(const std::string &path, std::source_location where = WEFT_HERE);

  std::string saved_state() const override;
  void check_state(std::string_view text) const override;
  void restore_state(std::string_view text) override;
  void weft_visit(StructureVisitor &visitor) { visitor.stateful(*this); }
  void weft_visit(StructureVisitor &visitor) const {
    visitor.stateful(const_cast<History &>(*this));
  }

  friend bool operator==(const History &a, const History &b) { return a.all_ == b.all_; }

private:
  struct Series {
    std::string name;
    std::vector<Point> points;
    friend bool operator==(const Series &, const Series &) = default;
  };
  std::vector<Series> all_;
};

/// Prints a table: a row for each step, a column for each series.
std::ostream &operator<<(std::ostream &out, const History &history);

} // namespace weft::train
