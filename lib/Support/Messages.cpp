// Escapes and shortens texts for messages.
#include "Support/Messages.h"

namespace weft {

static void append(std::string &words, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) words += c;
  else words += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

std::string shown(std::string_view text, std::size_t most) {
  std::size_t end = text.size();
  if (end > most) {
    end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    if (end + 3 < most) end = most; // no character of UTF-8 is as long
  }
  std::string words;
  for (const char c : text.substr(0, end)) append(words, c);
  return end == text.size() ? words : words + "...";
}

std::string shown_message(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (c == '\n' || c == '\t') words += c;
    else append(words, c);
  }
  return words;
}

} // namespace weft
