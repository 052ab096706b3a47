// The names of kernels in PTX.
#include "Support/Ptx.h"

#include <algorithm>

namespace weft {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

} // namespace

std::vector<std::string> ptx_kernels(std::string_view ptx) {
  constexpr std::string_view word = ".entry";
  std::vector<std::string> names;
  for (std::size_t at = 0; at < ptx.size(); ++at) {
    if (ptx[at] == '"') { // the name of a file
      at = std::min(ptx.find('"', at + 1), ptx.size());
    } else if (ptx.substr(at, 2) == "//") {
      at = std::min(ptx.find('\n', at), ptx.size());
    } else if (ptx.substr(at, 2) == "/*") {
      at = std::min(ptx.find("*/", at), ptx.size());
    } else if (ptx[at] == '.' && ptx.substr(at, word.size()) == word &&
               at + word.size() < ptx.size() && is_space(ptx[at + word.size()])) {
      std::size_t begin = at + word.size();
      while (begin < ptx.size() && is_space(ptx[begin])) ++begin;
      std::size_t end = begin;
      while (end < ptx.size() && is_of_name(ptx[end])) ++end;
      names.emplace_back(ptx.substr(begin, end - begin));
      at = end - 1;
    }
  }
  return names;
}

std::string ptx_target(std::string_view ptx) {
  constexpr std::string_view word = "\n.target";
  const std::size_t found = ptx.find(word);
  if (found == ptx.npos) return {};
  std::size_t begin = found + word.size();
  while (begin < ptx.size() && is_space(ptx[begin])) ++begin;
  std::size_t end = begin;
  while (end < ptx.size() && is_of_name(ptx[end])) ++end;
  return std::string(ptx.substr(begin, end - begin));
}

} // namespace weft
