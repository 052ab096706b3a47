// Cuts the text of a PTX module into words, numbers and signs, each with its line.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::emulator::ptx {

/// What is wrong with a text, and in which line, counted from 1.
class SyntaxError : public std::runtime_error {
public:
  SyntaxError(int line, const std::string &what) : std::runtime_error(what), line_(line) {}
  int line() const { return line_; }

private:
  int line_;
};

enum class TokenKind : std::uint8_t {
  word,    ///< a name, register, directive or opcode with its modifiers: `%r1`, `.reg`, `add.s32`
  integer, ///< `bits` is its value, modulo 2^64
  float32, ///< `0f3F800000`; `bits` is the pattern
  float64, ///< `0d3FF0000000000000` or `1.5`; `bits` is the pattern
  string,  ///< without its quotes
  sign,    ///< one character of punctuation
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::uint64_t bits = 0;
  int line = 1;

  bool is(char c) const { return kind == TokenKind::sign && text.front() == c; }
  bool is(std::string_view word) const { return kind == TokenKind::word && text == word; }
};

/// Hands out the tokens of a text one by one, with one of them in sight.
class Lexer {
public:
  /// `text` must outlive the tokens.
  explicit Lexer(std::string_view text) : text_(text) { next(); }

  const Token &peek() const { return token_; }
  /// The token in sight, and goes on to the next. Throws SyntaxError where none can be read.
  Token take() {
    Token taken = token_;
    next();
    return taken;
  }

private:
  void next();
  void skip_blanks();
  void read_number();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token token_;
};

/// A token as messages show it.
std::string shown(const Token &token);

} // namespace weft::emulator::ptx
