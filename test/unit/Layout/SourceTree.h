// The files of this repository that people wrote, read into memory for the tests of its layout
// rules.
#pragma once

#include <string>
#include <vector>

namespace weft::layout {

/// One file, by its path below the repository's top.
struct SourceFile {
  std::string path;
  std::vector<std::string> lines;
};

/// One file, by its path below the repository's top; without lines if it is not there.
SourceFile read_file(const std::string &path);

/// Every file below the named folders whose name ends in one of `endings`, ordered by path.
std::vector<SourceFile> read_sources(const std::vector<std::string> &folders,
                                     const std::vector<std::string> &endings);

/// The text between the quotes or angle brackets of each #include line, with its line number.
struct Include {
  std::string target;
  int line;
};
std::vector<Include> includes_of(const SourceFile &file);

} // namespace weft::layout
