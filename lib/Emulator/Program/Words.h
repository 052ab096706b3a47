// The modifiers of an opcode, taken one by one.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace weft::emulator {

/// `ld.global.v2.f32` as its words.
inline std::vector<std::string_view> words_of(std::string_view opcode) {
  std::vector<std::string_view> words;
  while (!opcode.empty()) {
    const std::size_t dot = std::min(opcode.find('.'), opcode.size());
    words.push_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  return words;
}

/// Takes words from the front as long as they are what is asked for.
class WordReader {
public:
  explicit WordReader(const std::vector<std::string_view> &words) : words_(words) {}

  bool done() const { return at_ == words_.size(); }
  std::string_view peek() const { return done() ? std::string_view() : words_[at_]; }
  std::string_view take() { return done() ? std::string_view() : words_[at_++]; }
  bool accept(std::string_view word) {
    if (peek() != word) return false;
    ++at_;
    return true;
  }
  /// One of these, or nothing.
  std::string_view accept_any(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
      if (accept(word)) return word;
    return {};
  }
  bool accept_prefix(std::string_view prefix) {
    if (!peek().starts_with(prefix)) return false;
    ++at_;
    return true;
  }

private:
  const std::vector<std::string_view> &words_;
  std::size_t at_ = 1; // behind the name of the instruction
};

} // namespace weft::emulator
