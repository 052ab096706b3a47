// Translates the examples of the records into doctests of Python.
#include "Backends.h"
#include "DTypes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace weft::tblgen {

std::string inPython(StringRef text, StringRef prefix) {
  std::string result;
  while (!text.empty()) {
    const StringRef word = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (word.empty()) result += text[0];
    else if (word == "true" || word == "false") result += word == "true" ? "True" : "False";
    else if (const DTypeRow *row = findDType(word)) result += (prefix + row->numpy).str();
    else result += word;
    text = text.drop_front(std::max<std::size_t>(word.size(), 1));
  }
  return result;
}

namespace {

/// The call with the names of operands that Python has behind arguments which are options of C++,
/// and then of what must be given behind these.
std::string withKeywords(const Callable &op, StringRef call) {
  std::string text;
  std::size_t depth = 0, position = 0;
  bool named = false;
  const auto name = [&] {
    if (position < op.operands.size()) {
      if (position >= op.order.size()) return;
      const ParameterRef &there = op.order[position];
      if (there.isOperand && there.number == position) return;
      text += op.operands[position].name + "=";
      named = true;
      return;
    }
    std::size_t at = op.operands.size();
    for (const Attribute &attribute : op.attributes)
      if (named && !attribute.isOption && at++ == position) text += attribute.pythonName + "=";
  };
  for (const char c : call) {
    if (StringRef(")]}").contains(c)) --depth;
    if (text.ends_with(", ") && depth == 1) name();
    if (StringRef("([{").contains(c)) ++depth;
    const bool ends = c == ',' && depth == 1;
    if (!op.pythonPair.empty() && ends && position == 1) text += ')';
    text += c;
    if (!op.pythonPair.empty() && c == '(' && depth == 1) text += c;
    if (ends) ++position;
  }
  return text;
}

/// The call as an expression of Python: `wf.sum([[1, 2]], axis=[1])`.
std::string callOf(const Callable &op, StringRef call) {
  std::string text = withKeywords(op, call);
  const auto replaceAll = [&](StringRef from, StringRef to) {
    for (std::size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to.str());
  };
  // {.axes = Ints{1}, .keepdims = true}
  if (const std::size_t at = text.find("{."); at != std::string::npos) {
    const std::size_t end = text.find("})", at);
    text = text.substr(0, at) + text.substr(at + 1, end - at - 1) + text.substr(end + 1);
    for (const Attribute &attribute : op.attributes)
      replaceAll("." + attribute.name + " = ", attribute.pythonName + "=");
  }
  for (const Attribute &attribute : op.attributes) {
    const std::string scope = attribute.cppType + "::";
    const std::size_t at = attribute.kind == "word" ? text.find(scope) : std::string::npos;
    if (at == std::string::npos) continue;
    text.insert(text.find_first_of(",)", at), "'");
    text.replace(at, scope.size(), (attribute.keywordOnly ? attribute.pythonName + "=" : "") + "'");
  }
  if (op.takesRest()) // one by one
    for (const char brace : {'{', '}'}) text.erase(text.find(brace), 1);
  replaceAll("random::", "wf.random.");
  replaceAll("Ints{", "[");
  replaceAll("{", "[");
  replaceAll("}", "]");
  if (StringRef(text).starts_with(op.cppName)) text = op.mnemonic + text.substr(op.cppName.size());
  // Numbers that have names.
  for (StringRef name : {"nan", "inf"})
    for (StringRef before : {"[", " ", "-"})
      for (StringRef behind : {",", "]"})
        replaceAll((before + name + behind).str(), (before + "wf." + name + behind).str());
  return "wf." + inPython(text, "wf.");
}

/// The dtype of the result, in the words of the records: what its record says, or follows from how
/// numbers are written.
StringRef dtypeOf(const Callable &op, StringRef call, StringRef value) {
  for (const DTypeRow &row : dtypeRows())
    if (op.resultDType == row.name) return row.name;
  // Of operands only a dtype that is given is a word.
  if (any_of(op.attributes, [](const Attribute &a) { return a.kind == "dtype"; }))
    for (const DTypeRow &row : dtypeRows())
      if (row.kind != "boolean" && call.contains(row.name)) return row.name;
  if (value.contains("true") || value.contains("false")) return "bool";
  const auto hasPoint = [](StringRef text) {
    for (std::size_t at = 1; at < text.size(); ++at)
      if (text[at] == '.' && isDigit(text[at - 1])) return true;
    return false;
  };
  return op.promotion == "floating" || hasPoint(call) || hasPoint(value) ? "f32" : "i32";
}

/// Writes a value as Python prints tensors, which is as NumPy lays out arrays (Printing.cpp of
/// python/src): its elements in one width.
class Printer {
public:
  Printer(const Callable &op, StringRef dtype) : op_(op), dtype_(dtype) {}

  std::string operator()(StringRef value) {
    std::vector<StringRef> elements;
    StringRef rest = value;
    read(rest, 0, elements);
    const bool isComplex = StringRef(op_.resultDType).starts_with("the complex dtype");
    for (StringRef element : elements)
      texts_.push_back(isComplex ? complex_text(element) : element_text(element));
    if (!shape_.empty()) align();
    std::size_t next = 0;
    constexpr StringRef open = "tensor(";
    const std::string text = nested(0, next, open.size() + 1);
    std::string sizes;
    for (std::size_t size : shape_) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    if (shape_.size() == 1) sizes += ",";
    return open.str() + text + ", shape=(" + sizes +
           "), dtype=" + (isComplex ? "complex64" : inPython(dtype_, "")) + ")";
  }

private:
  [[noreturn]] void fail(const Twine &why) const {
    PrintFatalError(op_.def, "the example of '" + Twine(op_.mnemonic) + "' " + why);
  }

  /// The elements of nested lists in their order, and the sizes of these lists.
  void read(StringRef &text, std::size_t depth, std::vector<StringRef> &elements) {
    text = text.ltrim();
    if (!text.consume_front("[")) {
      const std::size_t end = std::min(text.find_first_of(",]"), text.size());
      elements.push_back(text.take_front(end).rtrim());
      text = text.drop_front(end);
      return;
    }
    if (shape_.size() <= depth) shape_.push_back(0);
    std::size_t size = 0;
    do {
      read(text, depth + 1, elements);
      ++size;
      text = text.ltrim();
    } while (text.consume_front(","));
    if (!text.consume_front("]")) fail("has a list without an end");
    shape_[depth] = size;
  }

  std::string element_text(StringRef element) const {
    if (dtype_ == "bool") return inPython(element, "");
    if (dtype_ != "f32") return element.str();
    const float number = std::strtof(element.str().c_str(), nullptr);
    if (number != 0 && (std::fabs(number) < 1e-3F || std::fabs(number) >= 1e6F))
      fail("has a number that Python may print with an exponent: choose others");
    if (std::isnan(number) || std::isinf(number)) return element.str();
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed).ptr;
    const std::string text(buffer, end);
    return StringRef(text).contains('.') ? text : text + (shape_.empty() ? ".0" : ".");
  }

  /// Of "1-2j", or of a number whose imaginary part is 0.
  std::string complex_text(StringRef element) const {
    if (!element.consume_back("j")) return element_text(element) + "+0.j";
    const std::size_t sign = element.find_last_of("+-");
    if (sign == 0 || sign == StringRef::npos) fail("has an imaginary number without a real part");
    return element_text(element.take_front(sign)) + element[sign] +
           element_text(element.drop_front(sign + 1)) + "j";
  }

  /// Pads all to one width, floating numbers at their points.
  void align() {
    const auto left = [&](StringRef text) {
      return dtype_ == "f32" ? text.find('.') : text.size();
    };
    std::size_t before = 0, behind = 0;
    for (StringRef text : texts_) {
      before = std::max(before, left(text));
      behind = std::max(behind, text.size() - left(text));
    }
    // Bools are as wide as False, whether it is among them or not.
    if (dtype_ == "bool") before = StringRef("False").size();
    for (std::string &text : texts_) {
      const std::size_t indent = before - left(text);
      text = std::string(indent, ' ') + text;
      text.resize(before + behind, ' ');
    }
  }

  std::string nested(std::size_t axis, std::size_t &next, std::size_t indent) const {
    if (axis == shape_.size()) return texts_[next++];
    const bool last = axis + 1 == shape_.size();
    const std::string between =
        last ? ", " : "," + std::string(shape_.size() - 1 - axis, '\n') + std::string(indent, ' ');
    std::string text;
    for (std::size_t i = 0; i < shape_[axis]; ++i)
      text += (i == 0 ? "" : between) + nested(axis + 1, next, indent + 1);
    return "[" + text + "]";
  }

  const Callable &op_;
  StringRef dtype_;
  std::vector<std::size_t> shape_;
  std::vector<std::string> texts_;
};

} // namespace

/// Elements of several results, those of floating ones with a point.
static std::string listsOf(const Callable &op, StringRef value) {
  std::string text;
  int depth = 0;
  std::size_t number = 0;
  while (!value.empty()) {
    const StringRef word = value.take_while([](char c) { return isAlnum(c) || c == '.'; });
    if (word.empty()) {
      depth += value[0] == '[' ? 1 : value[0] == ']' ? -1 : 0;
      number += value[0] == ',' && depth == 1;
      text += value[0];
    } else {
      const StringRef what =
          number < op.results.size() ? StringRef(op.results[number].what) : StringRef();
      if (isDigit(word[0]) && what.starts_with("the complex dtype"))
        text += word == "0" ? "0j" : ("(" + word + "+0j)").str();
      else if (isDigit(word[0]) && op.promotion == "floating" && !what.empty() &&
               !what.starts_with("i64") && !word.contains('.'))
        text += (word + ".0").str();
      else text += word;
    }
    value = value.drop_front(std::max<std::size_t>(word.size(), 1));
  }
  return text;
}

std::string pythonExample(const Callable &op) {
  const auto [call, value] = StringRef(op.example).rsplit("->");
  if (!op.givesOne())
    return ">>> [part.tolist() for part in " + callOf(op, call.trim()) + "]\n" +
           listsOf(op, value.trim());
  const StringRef dtype = dtypeOf(op, call, value);
  return ">>> " + callOf(op, call.trim()) + "\n" + Printer(op, dtype)(value.trim());
}

} // namespace weft::tblgen
