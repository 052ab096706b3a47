// What is true of an op stands in its record, not in lists of ops and positions of attributes
// elsewhere.
#include "SourceTree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <utility>

namespace weft::layout {
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

/// The files that implement the ops they list, and what they do with them.
bool may_list(const std::string &path) {
  static const std::map<std::string, std::string> files = {
      {"dialects/Weft/AD/Activity.cpp", "says how derivatives pass through ops without a record"},
      {"dialects/Weft/AD/Expansion.cpp", "expands the ops that ask for derivatives, each its way"},
      {"dialects/Weft/AD/Forward.cpp", "pushes tangents through ops without a record"},
      {"dialects/Weft/AD/Rerun.cpp", "tells effects that a reader sees from others"},
      {"dialects/Weft/AD/Rules.cpp", "has the rules of reads and stacks, which have no record"},
      {"dialects/Weft/Conversion/ExpandComplex.cpp", "computes by parts, each op its way"},
      {"dialects/Weft/Conversion/WeftToLinalg/WeftToLinalg.cpp", "lowers ops without a record"},
      {"dialects/Weft/Effects/EraseTokens.cpp", "erases the ops that are about tokens alone"},
      {"dialects/Weft/Transforms/BranchOnChecks.cpp", "makes a branch of each op that may stop"},
      {"dialects/Weft/Transforms/LiftState.cpp", "makes values of reads and writes, each its way"},
      {"lib/Autodiff/Rules/CumulativeRules.h", "has the derivatives of the cumulative ops"},
      {"lib/Complex/Elementwise.h", "has the formulas for complex numbers"},
      {"lib/Ops/EagerComplex.cpp", "computes by parts, each op its way"},
  };
  return path.starts_with("dialects/Weft/IR/") || files.contains(path);
}

/// Where something is named: the line, and what.
struct Mention {
  std::size_t line;
  std::string what;
};

/// The first of these that come within so many lines of each other and are not the same; empty if
/// there are none.
std::string list_among(const std::vector<Mention> &mentions, std::size_t lines) {
  for (std::size_t i = 1; i < mentions.size(); ++i) {
    const Mention &a = mentions[i - 1], &b = mentions[i];
    if (a.what != b.what && b.line - a.line <= lines)
      return a.what + " in line " + std::to_string(a.line) + ", " + b.what + " in line " +
             std::to_string(b.line);
  }
  return "";
}

constexpr const char *kAdvice =
    ": say in the records what these ops have in common (a role of an operand, a trait, a kind of "
    "attribute, an effect), and ask for that";

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
      EXPECT_LT(named, 2) << file.path << ": isa<" << list << ">" << kAdvice;
    }
  }
}

TEST(Facts, NoChainOfCastsStandsForAList) {
  const std::set<std::string> classes = op_classes();
  const std::regex one(
      "(?:isa|dyn_cast)(?:_or_null|_and_nonnull|_if_present)?<(\\w+Op)>\\(([^()]*)\\)"
      "|\\.Case\\(\\[&\\]\\((\\w+Op) ");
  for (const SourceFile &file :
       read_sources({"lib", "dialects", "compiler", "tools"}, {".cpp", ".h"})) {
    if (may_list(file.path)) continue;
    std::map<std::string, std::vector<Mention>> of; // by the value that is asked what it is
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (std::sregex_iterator at(file.lines[i].begin(), file.lines[i].end(), one), end; at != end;
           ++at) {
        const std::string name = (*at)[1].matched ? (*at)[1] : (*at)[3];
        if (classes.contains(name)) of[(*at)[2]].push_back({i + 1, name});
      }
    for (const auto &[value, mentions] : of)
      EXPECT_EQ(list_among(mentions, 12), "") << file.path << kAdvice;
  }
}

TEST(Facts, NoListOfOpCodesStandsOutsideTheRecords) {
  const std::regex one("case (?:::weft::)?OpCode::(\\w+)|[=!]= (?:::weft::)?OpCode::(\\w+)");
  for (const SourceFile &file :
       read_sources({"lib", "dialects", "compiler", "tools"}, {".cpp", ".h"})) {
    if (may_list(file.path) || file.path.starts_with("tools/weft-tblgen/")) continue;
    std::vector<Mention> cases, comparisons;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (std::sregex_iterator at(file.lines[i].begin(), file.lines[i].end(), one), end; at != end;
           ++at)
        ((*at)[1].matched ? cases : comparisons)
            .push_back({i + 1, (*at)[1].matched ? (*at)[1] : (*at)[2]});
    EXPECT_TRUE(cases.empty()) << file.path << ": case OpCode::" << cases.front().what << kAdvice;
    EXPECT_EQ(list_among(comparisons, 3), "") << file.path << kAdvice;
  }
}

// clang's code takes the upper bits of a small enumerator as zero, and g++ hands them on as it got
// them.
TEST(Facts, EnumeratorsOfPublicHeadersFillARegister) {
  const std::regex small("enum (?:class )?\\w+ : (?:std::)?u?(?:int8_t|int16_t|char|short)");
  for (const SourceFile &file : read_sources({"include"}, {".h"}))
    if (!file.path.starts_with("include/weft/detail/"))
      EXPECT_FALSE(std::regex_search(text_of(file), small)) << file.path;
}

TEST(Facts, AttributesAreReadByName) {
  const std::regex position("attrs(\\(\\))?\\[[0-9]");
  for (const SourceFile &file : read_sources({"lib", "dialects", "compiler"}, {".cpp", ".h"}))
    for (const std::string &line : file.lines)
      EXPECT_FALSE(std::regex_search(line, position))
          << file.path << ": " << line << ": GatherAttrs(attrs).axis is the axis of a gather";
}

/// The functions that lines of files in a folder define: the first group of `definition`, and how
/// often.
std::map<std::string, int> functions_in(const std::string &folder, const std::string &definition) {
  std::map<std::string, int> functions;
  const std::regex one(definition);
  for (const SourceFile &file : read_sources({folder}, {".cpp"}))
    for (const std::string &line : file.lines)
      if (std::smatch found; std::regex_search(line, found, one)) ++functions[found[1]];
  return functions;
}

/// By mnemonic: the C++ name, the class without Op, and the kind of every op that computes.
struct Record {
  std::string cpp_name, class_name, kind;
};
std::map<std::string, Record> records() {
  std::map<std::string, Record> ops;
  const std::regex definition("^def Weft_(\\w+)Op : (Weft_\\w+)<\"(\\w+)\""),
      name("^  let cppName = \"(\\w+)\""), kind("^  let kind = \"(\\w+)\"");
  for (const std::string file : {"Elementwise", "Structural", "Movement", "Cumulative", "Linalg"})
    for (const SourceFile &source : read_sources({"dialects/Weft/IR"}, {".td"})) {
      if (!source.path.ends_with("/" + file + "Ops.td")) continue;
      Record *record = nullptr;
      for (const std::string &line : source.lines) {
        if (line == "}") record = nullptr;
        if (std::smatch found; std::regex_search(line, found, definition)) {
          const std::string base = found[2];
          record = &ops[found[3]];
          *record = {found[3], found[1],
                     file == "Elementwise"                                 ? "elementwise"
                     : base == "Weft_ReductionOp"                          ? "reduction"
                     : base == "Weft_CumulativeOp"                         ? "cumulative"
                     : base == "Weft_RoutineOp" || base == "Weft_LinalgOp" ? "routine"
                                                                           : "structural"};
        } else if (record != nullptr && std::regex_search(line, found, name)) {
          record->cpp_name = found[1];
        } else if (record != nullptr && std::regex_search(line, found, kind)) {
          record->kind = found[1];
        }
      }
    }
  return ops;
}

TEST(Facts, AnOpCostsWhatTheTableSays) {
  const std::string text = text_of(read_sources({"docs"}, {"adding-an-op.md"}).at(0));
  std::map<std::string, int> shapes = functions_in("lib/OpDefs", "^Result<TensorType> (\\w+)\\("),
                             eager = functions_in("lib/Ops", "^Tensor (\\w+)\\(const OpInfo"),
                             lowerings =
                                 functions_in("dialects/Weft/Conversion",
                                              "^Value (?:\\w+::)*lower(\\w+)\\(LinalgBuilder");
  const std::set<std::string> with_more = {"cast", "complex", "select", "linear_recurrence"};
  for (const std::string &op : with_more) EXPECT_NE(text.find("`" + op + "`"), std::string::npos);
  const std::map<std::string, Record> ops = records();
  EXPECT_GT(ops.size(), 70U);
  for (const auto &[name, record] : ops) {
    const std::regex row("\\| " + record.kind + " \\| ([0-9]) \\| ([0-9]) \\| ([0-9]) \\|");
    std::smatch most;
    ASSERT_TRUE(std::regex_search(text, most, row)) << name << ", " << record.kind;
    if (with_more.contains(name)) continue;
    EXPECT_LE(shapes[name], std::stoi(most[1])) << "shape functions of " << name;
    EXPECT_LE(eager[record.cpp_name], std::stoi(most[2])) << "eager functions of " << name;
    EXPECT_LE(lowerings[record.class_name], std::stoi(most[3])) << "lowerings of " << name;
  }
}

/// Whether a docstring of Python or a raw string of C++ may begin or end in a line.
bool has_long_quote(const std::string &line) {
  return line.find("\"\"\"") != std::string::npos || line.find("R\"(") != std::string::npos ||
         line.find(")\"") != std::string::npos;
}

/// A line of C++ or Python without its comment and what is in quotes; `inside` is whether it is in
/// a docstring, or in a raw string of C++.
std::string code_of(std::string line, bool python, bool &inside) {
  if (!python) {
    const std::size_t end = inside ? line.find(")\"") : 0;
    if (end == std::string::npos) return "";
    if (std::exchange(inside, false)) line.erase(0, end + 2);
    const std::size_t begin = line.find("R\"(");
    inside = begin != std::string::npos && line.find(")\"", begin) == std::string::npos;
    if (inside) line.erase(begin);
  } else {
    for (std::size_t at = 0; (at = line.find("\"\"\"", at)) != std::string::npos; at += 3)
      inside = !inside;
    if (inside || line.find("\"\"\"") != std::string::npos) return "";
  }
  static const std::regex quoted("\"(?:[^\"\\\\]|\\\\.)*\""), comment("//.*|/?\\*\\*? .*|#.*");
  line = std::regex_replace(line, quoted, "");
  return python || line.find('#') != 0 ? std::regex_replace(line, comment, "") : line;
}

/// The files of the library and of the package in whose code a word is.
std::set<std::string> files_with(const std::string &word, const std::vector<SourceFile> &files) {
  std::set<std::string> found;
  const std::regex whole("\\b" + word + "\\b");
  for (const SourceFile &file : files) {
    bool inside = false;
    for (const std::string &line : file.lines)
      if (line.find(word) != std::string::npos || has_long_quote(line))
        if (std::regex_search(code_of(line, file.path.ends_with(".py"), inside), whole))
          found.insert(file.path);
  }
  return found;
}

/// What is bound by a row: of a family, the names in C++ and the file of the row.
std::map<std::string, std::string> rows_of(const std::string &family) {
  std::map<std::string, std::string> rows;
  const std::regex row("\\b" + family + "<(?:\\w+::)?(\\w+)>\\(");
  for (const SourceFile &file : read_sources({"python/src"}, {".cpp"})) {
    const std::string text = text_of(file);
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at)
      rows[(*at)[1]] = file.path;
  }
  return rows;
}

// A layer is a header, a source and a row; a loss, a metric and a schedule are, too; an optimizer
// is a struct, a class, a formula, a line of Rules.def and a row: docs/adding-a-layer.md.
TEST(Facts, WhatNetworksAreMadeOfIsBoundByARowAlone) {
  // What others in the library are made of, or look for.
  const std::set<std::string> parts = {
      "Dense", "Embedding", "LayerNorm",  "MultiHeadAttention", "BatchNorm",
      "Mean",  "accuracy",  "OwnDropout", "BidirectionalLayer", "sparse_categorical_cross_entropy"};
  const std::vector<SourceFile> files =
      read_sources({"include", "lib", "python/src", "python/weft"}, {".h", ".cpp", ".def", ".py"});
  for (const auto &[family, least] : std::map<std::string, std::size_t>{
           {"layer", 12}, {"loss", 15}, {"metric", 13}, {"optimizer", 8}, {"schedule", 7}}) {
    const std::map<std::string, std::string> rows = rows_of(family);
    EXPECT_GE(rows.size(), least) << "rows of " << family;
    for (const auto &[name, row] : rows) {
      if (name.size() < 2 || parts.contains(name)) continue;
      std::set<std::string> headers, sources, bindings;
      for (const std::string &path : files_with(name, files))
        if (path.starts_with("include/")) headers.insert(path);
        else if (path.starts_with("lib/")) sources.insert(path);
        else if (!path.starts_with("python/weft/tf/")) bindings.insert(path);
      const std::string said = family + " " + name +
                               ": its row and the options that WEFT_OPTIONS "
                               "names are all that Python needs";
      EXPECT_EQ(bindings, std::set<std::string>{row}) << said;
      EXPECT_EQ(headers.size(), 1U) << said;
      EXPECT_LE(sources.size(), 1U) << said;
    }
  }
}

} // namespace
} // namespace weft::layout
