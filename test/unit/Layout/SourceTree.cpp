// Finds and reads the repository's own source files, and the #include lines in them.
#include "SourceTree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace fs = std::filesystem;

namespace weft::layout {

SourceFile read_file(const std::string &path) {
  SourceFile file{path, {}};
  std::ifstream stream(fs::path(WEFT_SOURCE_DIR) / path);
  for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> read_sources(const std::vector<std::string> &folders,
                                     const std::vector<std::string> &endings) {
  const fs::path top = WEFT_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const std::string &folder : folders) {
    if (!fs::is_directory(top / folder)) continue;
    for (const auto &entry : fs::recursive_directory_iterator(top / folder)) {
      const std::string path = entry.path().lexically_relative(top).string();
      const bool wanted =
          std::any_of(endings.begin(), endings.end(),
                      [&](const std::string &ending) { return path.ends_with(ending); });
      if (!entry.is_regular_file() || !wanted) continue;
      files.push_back(read_file(path));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const auto &a, const auto &b) { return a.path < b.path; });
  return files;
}

std::vector<Include> includes_of(const SourceFile &file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  std::vector<Include> found;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(file.lines[i], match, pattern))
      found.push_back({match[1], static_cast<int>(i) + 1});
  }
  return found;
}

} // namespace weft::layout
