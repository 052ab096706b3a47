// How weft-bench shows its rows: a table that grows on the terminal, and a JSON file.
#pragma once

#include "Harness.h"

#include <string>
#include <vector>

namespace weft::bench {

/// Prints the heading of the table.
void print_heading();
/// Prints one row, and its note and further figures below it.
void print_row(const Row &row);

/// Writes the rows as a list of objects {name, value, unit, peer, peer_value, ratio, ...}: to a
/// temporary file that takes the name only when complete. Throws std::runtime_error, with the
/// file's name, when it cannot be written.
void write_json(const std::vector<Row> &rows, const std::string &path);

} // namespace weft::bench
