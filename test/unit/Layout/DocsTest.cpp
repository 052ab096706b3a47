// What the README, docs/using.md and docs/export.md show is what is built: their programs are those
// of examples/, and the README names the two commands.
#include "SourceTree.h"

#include <gtest/gtest.h>

#include <utility>

namespace weft::layout {
namespace {

std::string joined(const std::vector<std::string> &lines, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i) text += lines[i] + '\n';
  return text;
}

// The text of the first fenced block of that language.
std::string first_block(const SourceFile &page, const std::string &language) {
  std::size_t start = 0;
  while (start < page.lines.size() && page.lines[start] != "```" + language) ++start;
  std::size_t end = start + 1;
  while (end < page.lines.size() && page.lines[end] != "```") ++end;
  return end < page.lines.size() ? joined(page.lines, start + 1, end) : "";
}

TEST(Readme, ShowsTheProgramThatIsBuilt) {
  const SourceFile program = read_file("examples/quickstart/main.cpp");
  ASSERT_FALSE(program.lines.empty());
  // The program's first line says what lives in the file; the README says it in its own words.
  EXPECT_EQ(first_block(read_file("README.md"), "cpp"),
            joined(program.lines, 1, program.lines.size()));
}

TEST(Readme, NamesTheTwoCommands) {
  const SourceFile readme = read_file("README.md");
  const std::string text = joined(readme.lines, 0, readme.lines.size());
  EXPECT_NE(text.find("$ ./x run\n"), std::string::npos);
  EXPECT_NE(text.find("$ ./x test\n"), std::string::npos);
}

TEST(UsingWeft, ShowsTheProjectThatIsTested) {
  const SourceFile page = read_file("docs/using.md");
  for (auto [file, language] :
       {std::pair("CMakeLists.txt", "cmake"), std::pair("hello.cpp", "cpp")}) {
    const SourceFile shown = read_file(std::string("examples/your_project/") + file);
    ASSERT_FALSE(shown.lines.empty()) << file;
    EXPECT_EQ(first_block(page, language), joined(shown.lines, 1, shown.lines.size())) << file;
  }
}

TEST(Exporting, ShowsTheProgramThatIsTested) {
  const SourceFile shown = read_file("examples/exported_program/run.c");
  ASSERT_FALSE(shown.lines.empty());
  EXPECT_EQ(first_block(read_file("docs/export.md"), "c"),
            joined(shown.lines, 1, shown.lines.size()));
}

} // namespace
} // namespace weft::layout
