// What is true of an op stands in its record, not in lists of ops and places of attributes
// elsewhere.
#include "SourceTree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

namespace weft::house {
namespace {

/// The op classes that the records define.
std::set<std::string> op_classes() {
  std::set<std::string> classes;
  const std::regex definition("^def Weft_(\\w+Op)\\b");
  for (const SourceFile &file : read_sources({"dialects/Weft/IR"}, {".td"}))
    for (const std::string &line : file.lines)
      if (std::smatch found; std::regex_search(line, found, definition)) classes.insert(found[1]);
  return classes;
}

std::string text_of(const SourceFile &file) {
  std::string text;
  for (const std::string &line : file.lines) text += line + "\n";
  return text;
}

/// Where a list is no fact about its ops, and why.
bool may_list(const std::string &path) {
  static const std::set<std::string> files = {
      "dialects/Weft/AD/Activity.cpp",         // stacks are differentiation's own
      "dialects/Weft/AD/Rerun.cpp",            // which effects a reader sees
      "dialects/Weft/Effects/EraseTokens.cpp", // the ops that are about tokens alone
      "compiler/Pipelines/Inputs.cpp",         // the phases and what they leave
  };
  return path.starts_with("dialects/Weft/IR/") || files.contains(path);
}

TEST(Facts, NoListOfOpClassesStandsOutsideTheRecords) {
  const std::set<std::string> classes = op_classes();
  ASSERT_GT(classes.size(), 80U);
  const std::regex query("isa(?:_and_nonnull)?<([^<>]*)>"), word("[\\w:]+");
  for (const SourceFile &file :
       read_sources({"lib", "dialects", "compiler", "tools"}, {".cpp", ".h"})) {
    if (may_list(file.path)) continue;
    const std::string text = text_of(file);
    for (std::sregex_iterator at(text.begin(), text.end(), query), end; at != end; ++at) {
      const std::string list = (*at)[1];
      const auto named = std::count_if(
          std::sregex_iterator(list.begin(), list.end(), word), std::sregex_iterator(),
          [&](const std::smatch &name) { return classes.contains(name.str()); });
      EXPECT_LT(named, 2) << file.path << ": isa<" << list
                          << ">: say in the records what these ops have in common (a role of an "
                             "operand, a trait), and ask for that";
    }
  }
}

TEST(Facts, AttributesAreReadByName) {
  const std::regex place("attrs(\\(\\))?\\[[0-9]");
  for (const SourceFile &file : read_sources({"lib", "dialects", "compiler"}, {".cpp", ".h"}))
    for (const std::string &line : file.lines)
      EXPECT_FALSE(std::regex_search(line, place))
          << file.path << ": " << line << ": GatherAttrs(attrs).axis is the axis of a gather";
}

} // namespace
} // namespace weft::house
