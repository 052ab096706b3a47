// `weft-fuzz-files`: many mutants, read in processes of their own, and a folder for each kind of
// fault.
#pragma once

#include <cstdint>
#include <string>

#include "../Workers.h"

namespace weft::fuzz {

struct FileOptions {
  std::uint64_t count = 1000, seed = 0;
  int jobs = 1;
  std::string out = "build/fuzz";
  std::string only;                     ///< a format; all if empty
  std::string file;                     ///< one file of that format, which is read as it is
  std::string again = "./x fuzz files"; ///< what shows a fault again starts with this
  Limits limits{.seconds = 20};
};

/// Reads the mutants and prints what was found. Returns the exit status: 1 if something failed.
int run_files(const FileOptions &options);

} // namespace weft::fuzz
