// Changes that know nothing of formats, and the choice among all.
#include "Mutate.h"

#include <algorithm>
#include <cctype>

#include "Bytes.h"

namespace weft::fuzz {

std::uint64_t extreme(Random &random) {
  static const std::vector<std::uint64_t> values = {
      0,          1,          2,          7,          0x7f,       0x80,
      0xff,       0x7fff,     0x8000,     0xffff,     0x10000,    1U << 24,
      0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 1ULL << 32, 1ULL << 40,
      1ULL << 61, ~0ULL >> 1, 1ULL << 63, ~0ULL - 1,  ~0ULL};
  return random.one_of(values);
}

std::string extreme_text(Random &random) {
  static const std::vector<std::string> values = {"0",
                                                  "-1",
                                                  "1",
                                                  "00001",
                                                  "255",
                                                  "65536",
                                                  "2147483648",
                                                  "4294967296",
                                                  "4611686018427387904",
                                                  "9223372036854775807",
                                                  "9223372036854775808",
                                                  "-9223372036854775808",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "1e308",
                                                  "1e999",
                                                  "-0.0",
                                                  "nan",
                                                  "1e-400",
                                                  "0x10",
                                                  "1.5"};
  return random.one_of(values);
}

namespace {

std::string noise(Random &random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char &byte : bytes) byte = static_cast<char>(random.next());
  return bytes;
}

struct Block {
  std::size_t at, size;
};
/// A part of the bytes, short more often than long.
Block block_of(Random &random, const std::string &bytes) {
  const std::size_t at = random.below(bytes.size());
  const std::size_t longest = random.one_in(3) ? bytes.size() - at : std::size_t{16};
  return {at, std::min(bytes.size() - at, 1 + random.below(longest))};
}

/// Another text for a run of digits.
void replace_number(Random &random, std::string &text) {
  std::vector<Block> runs;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
      if (!runs.empty() && runs.back().at + runs.back().size == i) ++runs.back().size;
      else runs.push_back({i, 1});
    }
  if (runs.empty()) return;
  const Block run = random.one_of(runs);
  text.replace(run.at, run.size, extreme_text(random));
}

} // namespace

std::string changed_anywhere(Random &random, std::string bytes, const std::string &other,
                             std::string &how) {
  if (bytes.empty()) return noise(random, random.below(32));
  const Block block = block_of(random, bytes);
  switch (random.below(12)) {
  case 0:
    how += "flip bits, ";
    for (std::size_t i = 0; i <= random.below(4); ++i) {
      char &byte = bytes[random.below(bytes.size())];
      byte = static_cast<char>(byte ^ 1 << random.below(8));
    }
    break;
  case 1:
    how += "truncate, ";
    bytes.resize(block.at);
    break;
  case 2:
    how += "remove, ";
    bytes.erase(block.at, block.size);
    break;
  case 3: {
    how += "repeat, ";
    const std::string part = bytes.substr(block.at, block.size);
    const std::size_t times = random.one_in(8) ? 200 : 1 + random.below(3);
    for (std::size_t i = 0; i < times && bytes.size() < (1U << 16); ++i)
      bytes.insert(block.at, part);
    break;
  }
  case 4:
    how += "insert, ";
    bytes.insert(block.at, noise(random, 1 + random.below(20)));
    break;
  case 5:
    how += "overwrite, ";
    put(bytes, block.at, noise(random, block.size));
    break;
  case 6: {
    const std::size_t size = std::size_t{1} << random.below(4);
    how += "number of " + std::to_string(size) + " bytes, ";
    // Headers are at the start more often than not.
    const std::size_t at =
        random.one_in(2) ? random.below(std::min<std::size_t>(bytes.size(), 64)) : block.at;
    const std::uint64_t value = extreme(random);
    put(bytes, at, random.one_in(2) ? little(value, size) : big(value, size));
    break;
  }
  case 7: {
    how += "splice, ";
    const std::size_t at = random.below(other.size());
    bytes = bytes.substr(0, block.at) +
            other.substr(random.one_in(2) ? at : std::min(block.at, other.size()));
    break;
  }
  case 8: {
    how += "move, ";
    const std::string part = bytes.substr(block.at, block.size);
    bytes.erase(block.at, block.size);
    bytes.insert(random.below(bytes.size() + 1), part);
    break;
  }
  case 9:
    how += "append, ";
    bytes += random.one_in(2) ? noise(random, 1 + random.below(30)) : other;
    break;
  case 10:
    how += "fill, ";
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(block.at), block.size,
                random.one_in(2) ? '\0' : '\xff');
    break;
  default:
    how += "number in digits, ";
    replace_number(random, bytes);
    break;
  }
  return bytes;
}

std::string changed_text(Random &random, std::string text, std::string &how) {
  static const std::vector<std::string> pieces = {"\"",
                                                  "\"\"",
                                                  ",",
                                                  "\n",
                                                  "\r",
                                                  "\r\n",
                                                  "\"\n\"",
                                                  std::string(1, '\0'),
                                                  "\xef\xbb\xbf",
                                                  "\xff",
                                                  ";",
                                                  "\t",
                                                  " ",
                                                  "nan",
                                                  "-inf",
                                                  "1e999",
                                                  "true",
                                                  "\xe2\x80\xa8",
                                                  ",,,,",
                                                  "step",
                                                  "\n\n",
                                                  "+",
                                                  "-",
                                                  "'"};
  how += "text, ";
  if (random.one_in(3)) {
    replace_number(random, text);
  } else if (random.one_in(4)) {
    const std::string &piece = random.one_of(pieces);
    std::string many;
    while (many.size() < 20'000) many += piece;
    text.insert(random.below(text.size() + 1), many);
  } else {
    const std::size_t at = random.below(text.size() + 1);
    text.replace(at, random.below(2), random.one_of(pieces));
  }
  return text;
}

std::string changed_json(Random &random, std::string text, std::string &how) {
  static const std::vector<std::string> values = {"null",
                                                  "true",
                                                  "[]",
                                                  "{}",
                                                  "\"\"",
                                                  "\"\\u0000\"",
                                                  "\"\\ud800\"",
                                                  "\"\xff\"",
                                                  "\"../../etc/passwd\"",
                                                  "\"F32\"",
                                                  "\"F64\"",
                                                  "\"BOOL\"",
                                                  "\"F4\"",
                                                  "[[0]]",
                                                  "[0,0]",
                                                  "{\"a\":{\"b\":{}}}"};
  how += "json, ";
  const auto is_mark = [](char c) {
    return std::string_view("{}[],:\"").find(c) != std::string_view::npos;
  };
  std::vector<std::size_t> marks;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (is_mark(text[i])) marks.push_back(i);
  if (marks.size() < 2) return text + "{";
  const std::size_t first = random.below(marks.size() - 1);
  const std::size_t last = std::min(marks.size() - 1, first + 1 + random.below(6));
  const std::size_t at = marks[first], size = marks[last] - at;
  switch (random.below(7)) {
  case 0: text.replace(at + 1, size - 1, random.one_of(values)); break;
  case 1: text.replace(at + 1, size - 1, extreme_text(random)); break;
  case 2: text.insert(marks[last], text.substr(at, size)); break;
  case 3: text.erase(at, size); break;
  case 4: {
    const std::size_t deep = random.one_in(2) ? 50 : 20'000;
    const bool lists = random.one_in(2);
    std::string open, close;
    for (std::size_t i = 0; i < deep; ++i) open += lists ? "[" : "{\"a\":";
    if (random.one_in(2)) close.assign(deep, lists ? ']' : '}');
    text.replace(at + 1, size - 1, open + "1" + close);
    break;
  }
  case 5: {
    const std::size_t other = random.below(marks.size());
    text[at] = text[marks[other]];
    break;
  }
  default: replace_number(random, text); break;
  }
  return text;
}

namespace {

bool is_text(Format format) {
  return format == Format::csv || format == Format::lines || format == Format::history;
}

std::string changed(Random &random, Format format, const std::string &bytes,
                    const std::string &other, std::string &how) {
  if (is_text(format) && !random.one_in(3)) return changed_text(random, bytes, how);
  if (format == Format::state && !random.one_in(4)) return changed_json(random, bytes, how);
  if (!random.one_in(3)) return changed_format(random, format, bytes, how);
  return changed_anywhere(random, bytes, other, how);
}

} // namespace

Mutant mutant(std::uint64_t seed, const std::vector<Sample> &samples) {
  Random random(seed);
  // Each format after the other, whatever the number of its samples.
  const auto format = static_cast<Format>(seed % kFormats.size());
  std::vector<const Sample *> own;
  for (const Sample &sample : samples)
    if (sample.format == format) own.push_back(&sample);
  Mutant mutant{*random.one_of(own), "", false};
  std::string &bytes = mutant.sample.bytes;
  if (random.one_in(200)) {
    mutant.how = "nothing";
    return mutant;
  }
  if (random.one_in(12)) {
    char &byte = bytes[random.below(bytes.size())];
    byte = static_cast<char>(byte ^ 1 << random.below(8));
    mutant.how = "flip one bit";
    mutant.one_bit = true;
    return mutant;
  }
  const std::size_t changes = random.one_in(3) ? 1 + random.below(6) : 1;
  for (std::size_t i = 0; i < changes; ++i)
    bytes = changed(random, format, bytes, random.one_of(own)->bytes, mutant.how);
  mutant.how.resize(mutant.how.size() - 2);
  return mutant;
}

} // namespace weft::fuzz
