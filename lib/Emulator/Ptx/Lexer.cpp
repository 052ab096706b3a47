// The characters that words, numbers and comments of PTX are made of.
#include "Emulator/Ptx/Lexer.h"

#include <charconv>
#include <cstring>

namespace weft::emulator::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool begins_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%' || c == '.'; }
bool continues_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '.';
}

constexpr std::string_view kSigns = "()[]{}<>,;:@!|+-=";

} // namespace

std::string shown(const Token &token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  return "'" + std::string(token.text) + "'";
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && text_.substr(at_).starts_with("//")) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '/' && text_.substr(at_).starts_with("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw SyntaxError(line_, "a comment without an end");
      for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n';
    } else {
      return;
    }
  }
}

void Lexer::read_number() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
  token_.text = text_.substr(begin, at_ - begin);
  std::string_view digits = token_.text;
  int base = 10;
  token_.kind = TokenKind::integer;
  const char second = digits.size() > 1 ? digits[1] : ' ';
  if (digits[0] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    const bool wide = second == 'd' || second == 'D';
    token_.kind = wide ? TokenKind::float64 : TokenKind::float32;
    if (digits.size() != (wide ? 18U : 10U))
      throw SyntaxError(line_, "the floating-point number " + shown(token_) + " should have " +
                                   (wide ? "16" : "8") + " hexadecimal digits");
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.find('.') != std::string_view::npos) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc() || end != digits.end())
      throw SyntaxError(line_, shown(token_) + " is not a number");
    token_.kind = TokenKind::float64;
    std::memcpy(&token_.bits, &value, sizeof value);
    return;
  } else {
    if (digits.ends_with('U')) digits.remove_suffix(1);
    if (digits[0] == '0' && (second == 'x' || second == 'X')) base = 16;
    else if (digits[0] == '0' && (second == 'b' || second == 'B')) base = 2;
    else if (digits[0] == '0' && digits.size() > 1) base = 8;
    digits.remove_prefix(base == 16 || base == 2 ? 2 : base == 8 ? 1 : 0);
  }
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), token_.bits, base);
  if (error != std::errc() || end != digits.end())
    throw SyntaxError(line_, shown(token_) + " is not a number of at most 64 bits");
}

void Lexer::next() {
  skip_blanks();
  token_ = Token{.kind = TokenKind::end, .text = {}, .bits = 0, .line = line_};
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  const std::size_t begin = at_;
  if (is_digit(c)) return read_number();
  if (begins_word(c)) {
    token_.kind = TokenKind::word;
    ++at_;
    // `::` belongs to modifiers such as `.shared::cta`; one `:` ends a label.
    while (at_ < text_.size()) {
      if (continues_word(text_[at_])) ++at_;
      else if (text_.substr(at_).starts_with("::")) at_ += 2;
      else break;
    }
  } else if (c == '"') {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw SyntaxError(line_, "a string without an end");
    token_.kind = TokenKind::string;
    token_.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return;
  } else if (kSigns.find(c) != std::string_view::npos) {
    token_.kind = TokenKind::sign;
    ++at_;
  } else {
    throw SyntaxError(line_, "the character '" + std::string(1, c) + "' has no place in PTX");
  }
  token_.text = text_.substr(begin, at_ - begin);
}

} // namespace weft::emulator::ptx
