// Changes files: anywhere, and where their format says something.
#pragma once

#include <string>
#include <vector>

#include "Random.h"
#include "Samples.h"

namespace weft::fuzz {

struct Mutant {
  Sample sample;        ///< that it was derived from, with its bytes
  std::string how;      ///< what was done: "flip, truncate"
  bool one_bit = false; ///< nothing but one bit of a sample is another
};

/// The mutant of that number, the same for ever as long as the samples are.
Mutant mutant(std::uint64_t seed, const std::vector<Sample> &samples);

/// Changes bytes without regard to what they mean. `other` is a sample to splice with.
std::string changed_anywhere(Random &random, std::string bytes, const std::string &other,
                             std::string &how);
/// Changes a text: quotes, delimiters, ends of lines, numbers.
std::string changed_text(Random &random, std::string text, std::string &how);
/// Changes a text of JSON: parts of it become others, are doubled or nested.
std::string changed_json(Random &random, std::string text, std::string &how);
/// Changes a message of Protocol Buffers: fields, lengths, numbers.
std::string changed_message(Random &random, std::string bytes, std::string &how);
/// Changes what the format gives a meaning, and keeps the checksums right.
std::string changed_format(Random &random, Format format, const std::string &bytes,
                           std::string &how);

/// Numbers that readers get wrong.
std::uint64_t extreme(Random &random);
std::string extreme_text(Random &random);

} // namespace weft::fuzz
