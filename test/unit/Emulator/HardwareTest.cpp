// What a card made of instructions, beside what the emulator makes of them: results of the operands
// that tell its rules.
#include "Evaluate.h"

#include <charconv>
#include <ranges>

namespace weft::emulator {
namespace {

constexpr std::string_view kRecord =
#include "HardwareH200.inc"
    ;

std::vector<std::string> words_of(std::string_view line, char between) {
  std::vector<std::string> words;
  for (const auto word : line | std::views::split(between))
    if (!word.empty()) words.emplace_back(word.begin(), word.end());
  return words;
}

/// Forms with the rows that all of them have; a section with a name has no rows.
struct Group {
  std::string section;
  std::vector<std::string> forms;
  std::vector<std::string> rows;
};

/// The record. Rows are indented; a word alone on a line that is no form begins a section.
std::vector<Group> groups() {
  std::vector<Group> all;
  std::string section;
  bool joined = false;
  for (const std::string &line : words_of(kRecord, '\n')) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> words = words_of(line, ' ');
    if (line.starts_with(' ')) {
      all.back().rows.insert(all.back().rows.end(), words.begin(), words.end());
      joined = false;
    } else if (words.size() == 1 && words[0].find('.') == std::string::npos) {
      section = words[0];
      joined = false;
    } else {
      if (!joined) all.push_back({section, {}, {}});
      all.back().forms.insert(all.back().forms.end(), words.begin(), words.end());
      joined = true;
    }
  }
  return all;
}

/// Digits as a number, and how many bits it has: one digit is a predicate.
std::uint64_t number(const std::string &digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}
int width(const std::string &digits) {
  return digits.size() == 1 ? 1 : 4 * static_cast<int>(digits.size());
}

TEST(Hardware, ResultsAreThoseOfTheCard) {
  int rows = 0;
  for (const Group &group : groups()) {
    if (!group.section.empty()) continue;
    std::vector<Column> operands;
    std::vector<std::uint64_t> expected;
    int bits = 0;
    for (const std::string &row : group.rows) {
      const std::size_t equals = row.find('=');
      const std::vector<std::string> given = words_of(row.substr(0, equals), ',');
      operands.resize(given.size());
      for (std::size_t i = 0; i < given.size(); ++i) {
        operands[i].bits = width(given[i]);
        operands[i].values.push_back(number(given[i]));
      }
      bits = width(row.substr(equals + 1));
      expected.push_back(number(row.substr(equals + 1)));
    }
    for (const std::string &form : group.forms) {
      const std::vector<std::uint64_t> found = evaluate(form, bits, operands);
      for (std::size_t i = 0; i < expected.size(); ++i, ++rows)
        EXPECT_EQ(found[i], expected[i])
            << form << " " << group.rows[i] << ", not " << std::hex << found[i];
    }
  }
  EXPECT_GT(rows, 1000);
}

} // namespace
} // namespace weft::emulator
