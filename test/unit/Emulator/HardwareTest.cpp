// What a card made of instructions, beside what the emulator makes of them: results of the operands
// that tell its rules, and what its driver refuses.
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

/// What the reader says of a statement with registers %p, %q, and %h, %r and %d of 16, 32 and 64
/// bits.
std::string refusal(const std::string &statement) {
  return refusal_of(kernel_text(0, ".reg .pred %p, %q;\n.reg .b16 %h;\n.reg .b32 %r;\n.reg .b64 "
                                   "%d;\n" +
                                       statement + "\nret;"));
}

struct Register {
  const char *name;
  int bits;
};
constexpr Register kRegisters[] = {{"%h", 16}, {"%r", 32}, {"%d", 64}};

int bits_of_type(const std::string &type) {
  return std::stoi(type.substr(type.find_first_of("0123456789")));
}

TEST(Hardware, RefusesWhatTheDriverRefuses) {
  int refused = 0;
  for (const Group &group : groups())
    for (const std::string &form : group.forms) {
      if (group.section == "single") {
        const std::string operands =
            form.find(".and.") == std::string::npos ? "%h, %h" : "%h, %h, %q";
        EXPECT_EQ(refusal(form + " %p, " + operands + ";"), "");
        EXPECT_NE(refusal(form + " %p|%q, " + operands + ";").find("gives one predicate"),
                  std::string::npos);
        ++refused;
      } else if (!group.section.empty()) {
        const std::vector<std::string> words = words_of(form, '.');
        const int to = bits_of_type(words[words.size() - 2]), from = bits_of_type(words.back());
        for (const Register &result : kRegisters)
          for (const Register &source : kRegisters) {
            if (result.bits < to || source.bits < from) continue;
            const bool taken =
                group.section == "narrow" && result.bits == to && source.bits == from;
            const std::string statement = form + " " + result.name + ", " + source.name + ";";
            const std::string words_of_reader = refusal(statement);
            EXPECT_EQ(words_of_reader.empty(), taken) << statement << " " << words_of_reader;
            // Behind the lines of the header and of the registers.
            if (!taken) EXPECT_TRUE(words_of_reader.starts_with("11: ")) << words_of_reader;
            refused += taken ? 0 : 1;
          }
      }
    }
  EXPECT_GT(refused, 500);
}

} // namespace
} // namespace weft::emulator
