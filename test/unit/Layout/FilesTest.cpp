// No file that people wrote is too long to read, and each opens by saying what lives there.
#include "SourceTree.h"

#include <gtest/gtest.h>

#include <cctype>

namespace weft::layout {
namespace {

constexpr std::size_t kMaxLines = 800;

const std::vector<std::string> kFolders = {"include", "lib",  "dialects", "compiler",   "tools",
                                           "python",  "test", "examples", "benchmarks", "scripts"};

int words_in(const std::string &text) {
  int words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (letter && !inside) ++words;
    inside = letter;
  }
  return words;
}

// The first line that is neither empty nor a #! line.
std::string first_line(const SourceFile &file) {
  for (const std::string &line : file.lines)
    if (!line.empty() && !line.starts_with("#!")) return line;
  return {};
}

TEST(Files, AreShortEnoughToRead) {
  for (const SourceFile &file : read_sources(kFolders, {".h", ".cpp", ".c", ".def", ".inc", ".td",
                                                        ".py", ".sh", ".cmake", ".txt", ".in"}))
    EXPECT_LE(file.lines.size(), kMaxLines)
        << file.path << " has " << file.lines.size() << " lines; the limit is " << kMaxLines
        << ". Split it by subject.";
}

TEST(Files, OpenWithASentenceOnWhatLivesThere) {
  for (const SourceFile &file :
       read_sources(kFolders, {".h", ".cpp", ".c", ".def", ".inc", ".td"})) {
    const std::string line = first_line(file);
    EXPECT_TRUE((line.starts_with("//") || line.starts_with("/*")) && words_in(line) >= 3)
        << file.path << " opens with: " << line
        << "\nIts first line must be a comment that says what lives there.";
  }
  for (const SourceFile &file :
       read_sources({"tools", "python", "benchmarks", "scripts", "examples"}, {".py", ".sh"})) {
    const std::string line = first_line(file);
    EXPECT_TRUE((line.starts_with("#") || line.starts_with("\"\"\"")) && words_in(line) >= 3)
        << file.path << " opens with: " << line
        << "\nIts first line must be a comment that says what lives there.";
  }
}

} // namespace
} // namespace weft::layout
