// Generates the reference of ops and composites, and the tests of its examples.
#include "Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace weft::tblgen {

/// The text between the lines of a description without their common indentation.
static std::string paragraph(StringRef text) {
  std::string result;
  SmallVector<StringRef> lines;
  text.rtrim().split(lines, '\n');
  while (!lines.empty() && lines.front().trim().empty()) lines.erase(lines.begin());
  std::size_t common = StringRef::npos;
  for (StringRef line : lines)
    if (!line.trim().empty()) common = std::min(common, line.find_first_not_of(' '));
  for (StringRef line : lines)
    result += line.substr(std::min(common, line.size())).rtrim().str() + "\n";
  return result;
}

/// How an op is written in a program, in the words of its declaration.
static void emitSyntax(const Record &def, raw_ostream &os) {
  const std::optional<StringRef> format = def.getValueAsOptionalString("assemblyFormat");
  if (!format) {
    os << "It has a syntax of its own.\n\n";
    return;
  }
  SmallVector<StringRef> words;
  SplitString(*format, words);
  os << "```\n`weft." << def.getValueAsString("opName") << "` " << join(words, " ") << "\n```\n\n";
}

/// The type of an argument or result in words, and the mark of one that may be left out.
static std::string typeInWords(const Record *type) {
  if (type->isSubClassOf("OpVariable")) return typeInWords(type->getValueAsDef("constraint"));
  for (auto [name, words] :
       {std::pair("Optional", ", or none"), std::pair("Variadic", ", any number"),
        std::pair("OptionalAttr", ", or none")})
    if (type->isSubClassOf(name))
      return typeInWords(
                 type->getValueAsDef(type->isSubClassOf("Attr") ? "baseAttr" : "baseType")) +
             words;
  std::string words = type->getValueAsOptionalString("summary").value_or("").str();
  return words.empty() ? type->getName().str() : words;
}

/// The page of an op that exists in the IR alone.
static void emitPage(const Record &def, raw_ostream &os) {
  os << "## `weft." << def.getValueAsString("opName") << "`\n\n"
     << def.getValueAsString("summary") << "\n\n";
  emitSyntax(def, os);
  if (StringRef text = def.getValueAsString("description"); !text.trim().empty())
    os << paragraph(text) << "\n";
  const DagInit *arguments = def.getValueAsDag("arguments"),
                *results = def.getValueAsDag("results");
  if (arguments->getNumArgs() + results->getNumArgs() == 0) return;
  os << "| name | what | type |\n|---|---|---|\n";
  auto row = [&](const DagInit *dag, unsigned i, StringRef operands) {
    const Record *type = cast<DefInit>(dag->getArg(i))->getDef();
    std::string words = typeInWords(type);
    for (std::size_t at = 0; (at = words.find('|', at)) != words.npos; at += 2)
      words.insert(at, "\\");
    os << "| `" << dag->getArgNameStr(i) << "` | "
       << (type->isSubClassOf("Attr") ? "attribute" : operands) << " | " << words << " |\n";
  };
  for (unsigned i = 0; i < arguments->getNumArgs(); ++i) row(arguments, i, "operand");
  for (unsigned i = 0; i < results->getNumArgs(); ++i) row(results, i, "result");
  os << "\n";
}

/// What ops and composites have in common: all but derivatives. `def` is the declaration of an op.
static void emitCallable(const Callable &op, StringRef title, const Record *def, bool callable,
                         bool hasResult, raw_ostream &os) {
  os << "## `" << title << "`\n\n" << op.summary << "\n\n";
  if (def != nullptr) emitSyntax(*def, os);
  if (!op.description.empty()) os << paragraph(op.description) << "\n";
  if (!op.example.empty()) os << "```\n" << op.example << "\n```\n\n";
  os << "C++: `" << op.scope() << op.cppName << "`. Record: " << origin(op) << ".\n\n";
  if (!op.operands.empty() || !op.attributes.empty()) {
    os << "| argument | what | admits |\n|---|---|---|\n";
    for (const Operand &operand : op.operands)
      os << "| `" << operand.name << "` | " << (operand.optional ? "optional " : "")
         << (operand.variadic ? "operands" : "operand") << ", " << operand.admitsWord << ", "
         << operand.shape << " | " << operand.dtypeList() << " |\n";
    for (const Attribute &attribute : op.allAttributes())
      os << "| `" << attribute.name << "` | attribute: " << attribute.what << " | "
         << attribute.cppType
         << (attribute.hasDefault() ? ", default " + attribute.optionDefault : "") << " |\n";
    os << "\n";
  }
  if (std::string words = promotionInWords(op); !words.empty() && callable)
    os << "In C++: " << static_cast<char>(toLower(words[0])) << words.substr(1) << "\n\n";
  if (!op.results.empty()) {
    os << "Results, a `" << op.resultsName() << "`:\n\n";
    for (const NamedResult &result : op.results)
      os << "- `" << result.name << "`: " << result.what << "\n";
    os << "\n";
  } else if (hasResult) {
    os << "Result: " << op.resultDType << ", " << op.resultShape << ".\n\n";
  }
  if (!op.raises.empty()) {
    os << "Errors:\n\n";
    for (const Raised &raised : op.raises)
      os << "- " << raised.error << " if " << raised.when << "\n";
    os << "\n";
  }
}

static void emitPage(const OpRecord &op, raw_ostream &os) {
  emitCallable(op, "weft." + op.mnemonic, op.def, !op.handwrittenApi, op.hasResult(), os);
  if (!op.differentiable()) {
    os << "No derivative: " << op.inactive << ".\n\n";
    return;
  }
  os << "Derivative, per operand:\n\n";
  for (auto [operand, dag] : zip(op.operands, op.vjp))
    os << "- `" << operand.name << "`: `" << dag->getAsString() << "`\n";
  std::vector<std::string> saved;
  for (auto [i, operand] : enumerate(op.operands))
    if (op.saved() >> i & 1) saved.push_back("`" + operand.name + "`");
  for (auto [i, result] : enumerate(op.resultNames))
    if (op.saved() >> (op.operandRows() + i) & 1) saved.push_back("`" + result + "`");
  os << "\nSaved for it: " << (saved.empty() ? "nothing" : join(saved, ", ")) << ".\n\n";
}

void emitDocs(const RecordKeeper &records, raw_ostream &os) {
  os << "# Ops\n\nGenerated by weft-tblgen from dialects/Weft/IR/*.td; do not edit.\n\n"
        "Besides what is said of each op, all of them throw a StateError for an undefined tensor, "
        "a "
        "ShapeError for more\ndimensions or bytes than a tensor may have, a ValueError or "
        "DTypeError "
        "for a number or DType of C++ that no dtype is,\nand OutOfMemory.\n\n";
  const std::vector<OpRecord> ops = readOps(records);
  os << "| op | what it does |\n|---|---|\n";
  for (const OpRecord &op : ops)
    os << "| [`weft." << op.mnemonic << "`](#weft" << op.mnemonic << ") | " << op.summary << " |\n";
  std::vector<const Record *> others;
  for (const Record *def : records.getAllDerivedDefinitions("Op"))
    if (def->getValueAsDef("opDialect")->getName() == "Weft_Dialect" &&
        !def->isSubClassOf("Weft_Op"))
      others.push_back(def);
  sort(others, [](const Record *a, const Record *b) { return a->getID() < b->getID(); });
  for (const Record *def : others) {
    StringRef name = def->getValueAsString("opName");
    os << "| [`weft." << name << "`](#weft" << name << ") | " << def->getValueAsString("summary")
       << " |\n";
  }
  os << "\nThe block below each name is how the op is written, in the words of MLIR's declarative "
        "format: `$x` is an operand or attribute,\nwhat stands in backticks is written as it is, "
        "and `(..)?` may be left out.\n\n";
  for (const OpRecord &op : ops) emitPage(op, os);
  os << "# Ops of the IR alone\n\nWhat programs as text have besides, and what the phases of "
        "compilation leave for each other.\n\n";
  for (const Record *def : others) emitPage(*def, os);
  os << "# Functions made of ops\n\nTapes, traces and `vmap` see the ops that they are made "
        "of.\n\n";
  const std::vector<CompositeRecord> composites = readComposites(records);
  os << "| function | what it does |\n|---|---|\n";
  for (const CompositeRecord &composite : composites)
    os << "| [`" << composite.scope() << composite.cppName << "`](#" << composite.module
       << composite.cppName << ") | " << composite.summary << " |\n";
  os << "\n";
  for (const CompositeRecord &composite : composites)
    emitCallable(composite, composite.scope() + composite.cppName, nullptr, true, true, os);
}

/// A call with each outermost [..] replaced by a literal of the dtype its operand wants.
static std::string withLiterals(const Callable &op, StringRef text) {
  std::string result;
  int depth = 0, braces = 0;
  std::size_t operand = 0;
  std::string literal;
  for (char c : text) {
    if (c == '{' || c == '}') braces += c == '{' ? 1 : -1;
    if (c == ',' && depth == 0 && braces == 0) ++operand;
    if (c == '[' && depth++ == 0) literal.clear();
    if (depth > 0) literal += c;
    else result += c;
    if (c != ']' || --depth != 0) continue;
    const StringRef word =
        operand < op.operands.size() ? op.operands[operand].admitsWord : StringRef();
    result += "literal(\"" + literal + "\"" +
              (word == "an integer" || word == "an integer or bool" ? ", DType::i32)"
               : word == "an integer of 64 bits"                    ? ", DType::i64)"
                                                                    : ")");
  }
  return result;
}

/// The entries of a list, a literal each.
static SmallVector<std::string> partsOf(StringRef list) {
  SmallVector<std::string> parts;
  int depth = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth != 0)) continue;
    parts.push_back("literal(\"" + list.slice(first, i).trim().str() + "\")");
    first = i + 1;
  }
  return parts;
}

void emitExampleTests(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The examples of the records, run.");
  const std::vector<OpRecord> ops = readOps(records);
  const std::vector<CompositeRecord> composites = readComposites(records);
  std::vector<const Callable *> all;
  for (const OpRecord &op : ops) all.push_back(&op);
  for (const CompositeRecord &composite : composites) all.push_back(&composite);
  for (const Callable *op : all) {
    if (op->example.empty()) continue;
    auto [call, value] = StringRef(op->example).rsplit("->");
    if (value.empty())
      PrintFatalError(op->def, "the example of '" + op->mnemonic + "' lacks '-> value'");
    std::string call_text = op->scope() + withLiterals(*op, call.trim());
    os << "TEST(Examples, " << op->className << ") { // " << origin(*op) << "\n";
    if (!op->results.empty()) {
      const std::string names =
          join(map_range(op->results, [](const NamedResult &result) { return result.name; }), ", ");
      os << "  const auto [" << names << "] = " << call_text << ";\n";
      call_text = "{" + names + "}";
    }
    os << "  expect_example(" << call_text << ", ";
    if (op->givesOne()) os << "literal(\"" << value.trim() << "\")";
    else os << "{" << join(partsOf(value.trim().drop_front().drop_back()), ", ") << "}";
    os << ");\n}\n";
  }
}

} // namespace weft::tblgen
