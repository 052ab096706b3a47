// Asks terminals and the environment; numbers as people read them.
#include "Train/Terminal.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

namespace weft::train {

int terminal_width(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool is_terminal(int descriptor) {
  const char *const kind = std::getenv("TERM");
  return isatty(descriptor) == 1 && (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

bool has_utf8() {
  // The first of them that is set decides (POSIX).
  for (const char *const name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char *const value = std::getenv(name); value != nullptr && *value != 0)
      return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr ||
             std::strstr(value, "utf-8") != nullptr;
  return false;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string clock_text(double seconds) {
  // Beyond a thousand hours nobody waits.
  const auto all = static_cast<long long>(std::fmin(seconds, 3.6e6));
  char text[32];
  if (all >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  else std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
  return text;
}

int length_of(std::string_view text) {
  int length = 0;
  for (const char c : text) length += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return length;
}

} // namespace weft::train
