// How weft-bench shows its rows: a table that grows on the terminal, and a JSON file.
#pragma once

#include "Harness.h"

#include <cstdio>
#include <string>
#include <vector>

namespace weft::bench {

/// Prints the heading of the table.
void print_heading();
/// Prints one row, and its note and further figures below it.
void print_row(const Row &row);

/// The file that receives the rows as a list of objects {name, value, unit, peer, peer_value,
/// ratio, ...}. It is opened before anything is measured, so that a wrong name costs no minutes,
/// under a temporary name that becomes the real one when it is complete. What is no regular file
/// (/dev/stdout, a pipe) is written in place.
class JsonFile {
public:
  /// Throws std::runtime_error, with the file's name, when it cannot be opened.
  explicit JsonFile(std::string path);
  ~JsonFile();
  JsonFile(const JsonFile &) = delete;
  JsonFile &operator=(const JsonFile &) = delete;

  /// Writes all rows and finishes the file. Throws std::runtime_error when that fails; an older
  /// file of that name is then as it was.
  void write(const std::vector<Row> &rows);

private:
  bool in_place() const { return target_ == path_; }
  [[noreturn]] void fail(int error) const;

  std::string path_, target_;
  std::FILE *file_ = nullptr;
};

} // namespace weft::bench
