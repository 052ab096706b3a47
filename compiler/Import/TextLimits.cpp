// Looks through a text for what is nested too deep.
#include "Import/TextLimits.h"

#include "Support/Limits.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::weft {

namespace {

constexpr size_t most = ::weft::kMaxNesting;

/// Goes through a text, strings and comments left out.
class Scanner {
public:
  explicit Scanner(llvm::StringRef text) : text(text) {}

  std::optional<TextFault> run() {
    while (at < text.size()) {
      const char c = text[at];
      if (c == '"') skipString();
      else if (text.substr(at).starts_with("//")) at = std::min(text.find('\n', at), text.size());
      else if (llvm::isAlpha(c) || c == '_') skipWord();
      else visit(c);
      if (fault) return fault;
    }
    return std::nullopt;
  }

private:
  void fail(std::string message) { fault = TextFault{text.data() + at, std::move(message)}; }

  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\') ++at;
    ++at;
  }

  void skipWord() {
    const size_t begin = at;
    while (at < text.size() &&
           (llvm::isAlnum(text[at]) || llvm::StringRef("_$.").contains(text[at])))
      ++at;
    signs = 0;
    const llvm::StringRef word = text.slice(begin, at), rest = text.substr(at).ltrim();
    if (word == "array" && rest.starts_with("<") && rest.drop_front().ltrim().starts_with("index"))
      fail("array<..> holds integers and floating-point numbers, but no index");
    if (word == "iterator_types" && rest.starts_with("=") && !areNames(rest.drop_front().ltrim()))
      fail("iterator_types is a list of texts, such as [\"parallel\", \"reduction\"]");
    // tensor.concat looks for the size of that axis before it looks whether there is one.
    if (word == "dim" && (rest.starts_with("(") || rest.starts_with("=")) &&
        rest.drop_front().ltrim().starts_with("-"))
      fail("dim is the number of an axis, which is not negative");
  }

  /// Whether that begins with a list of texts or of attributes with a #; upstream's parser takes it
  /// for one.
  static bool areNames(llvm::StringRef list) {
    if (!list.consume_front("[")) return false;
    for (list = list.ltrim(); !list.starts_with("]"); list = list.ltrim()) {
      if (!list.starts_with("\"") && !list.starts_with("#")) return false;
      list = list.drop_front().drop_until([](char c) { return c == ',' || c == ']'; });
      list.consume_front(",");
      if (list.empty()) return false;
    }
    return true;
  }

  void visit(char c) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '-' && next == '>') at += 2; // an arrow is no bracket
    else if ((c == '<' || c == '>') && next == '=') at += 2;
    else {
      if (c == '-') ++signs;
      else if (!llvm::isSpace(c)) signs = 0;
      if (llvm::StringRef("([{<").contains(c)) open.push_back(c);
      else if (llvm::StringRef(")]}>").contains(c)) close(c);
      if (open.size() > most || signs > most)
        return fail((open.size() > most ? "brackets are nested" : "signs follow each other") +
                    std::string(" more than ") + std::to_string(most) + " deep");
      ++at;
    }
  }

  /// Ends the last bracket of that kind. A "<" that is none is forgotten with what it is in.
  void close(char c) {
    const char kind = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
    size_t count = open.size();
    while (count != 0 && open[count - 1] != kind) {
      if (open[count - 1] != '<') return;
      --count;
    }
    if (count != 0) open.truncate(count - 1);
  }

  llvm::StringRef text;
  size_t at = 0, signs = 0;
  llvm::SmallVector<char> open;
  std::optional<TextFault> fault;
};

} // namespace

bool isBytecode(llvm::StringRef bytes) { return bytes.starts_with("ML\xefR"); }

std::optional<TextFault> faultIn(llvm::StringRef text) {
  if (isBytecode(text)) return std::nullopt;
  return Scanner(text).run();
}

} // namespace mlir::weft
