// Writes C headers.
#include "Header.h"

#include "Compiler/Driver.h"
#include "Compiler/Import.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::weft {

/// The C type of an element: bool is one byte.
static StringRef cType(Type element) {
  switch (*dtypeOf(element)) {
  case ::weft::DType::boolean: return "uint8_t";
  case ::weft::DType::i32: return "int32_t";
  case ::weft::DType::i64: return "int64_t";
  case ::weft::DType::f32: return "float";
  case ::weft::DType::f64: return "double";
  }
  return "void";
}

/// What no function or parameter of the header may be called: the words of C and C++, what the
/// program has, and what the header itself uses.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",      "alignof",      "and",           "and_eq",       "asm",
      "auto",         "bitand",       "bitor",         "bool",         "break",
      "case",         "catch",        "char",          "class",        "compl",
      "concept",      "const",        "constexpr",     "const_cast",   "continue",
      "decltype",     "default",      "delete",        "do",           "double",
      "dynamic_cast", "else",         "enum",          "explicit",     "export",
      "extern",       "false",        "float",         "for",          "friend",
      "goto",         "if",           "inline",        "int",          "long",
      "mutable",      "namespace",    "new",           "noexcept",     "not",
      "not_eq",       "nullptr",      "operator",      "or",           "or_eq",
      "private",      "protected",    "public",        "register",     "reinterpret_cast",
      "requires",     "restrict",     "return",        "short",        "signed",
      "sizeof",       "static",       "static_assert", "static_cast",  "struct",
      "switch",       "template",     "this",          "thread_local", "throw",
      "true",         "try",          "typedef",       "typeid",       "typename",
      "typeof",       "union",        "unsigned",      "using",        "virtual",
      "void",         "volatile",     "wchar_t",       "while",        "xor",
      "xor_eq",       "main",         "NULL",          "int32_t",      "int64_t",
      "uint8_t",      "weft_rt_call", "buffers",       "message",      "message_size"};
  return words.contains(name);
}

/// `name` as an identifier of C that is not in `taken`, into which it goes.
static std::string identifier(StringRef name, llvm::StringSet<> &taken) {
  std::string result = symbolName(name);
  while (isReserved(result) || !taken.insert(result).second) result += '_';
  return result;
}

/// The inside of a string literal of C.
static std::string escaped(StringRef text) {
  std::string result;
  llvm::raw_string_ostream(result).write_escaped(text, /*UseHexEscapes=*/false);
  return result;
}

namespace {
struct Parameter {
  std::string declaration, name, comment;
};
} // namespace

static ::weft::Result<std::vector<Parameter>> parametersOf(func::FuncOp function) {
  std::vector<Parameter> parameters;
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = dyn_cast<MemRefType>(function.getArgument(i).getType());
    if (!type || !type.hasStaticShape())
      return ::weft::Fault{
          ::weft::ErrorKind::compile,
          "@" + function.getName().str() +
              " has sizes that are known only at run time; a C header needs all of "
              "them (use the C++ API, or give the types sizes)"};
    auto variable = function.getArgAttrOfType<FlatSymbolRefAttr>(i, "weft.variable");
    const bool output = static_cast<bool>(function.getArgAttr(i, "weft.output"));
    Parameter parameter;
    parameter.name = identifier(variable ? variable.getValue().str()
                                : output ? "result" + std::to_string(i)
                                         : "input" + std::to_string(i),
                                taken);
    // Bool memrefs hold bytes.
    Type element = type.getElementType();
    StringRef c = element.isInteger(8) ? "uint8_t" : cType(element);
    parameter.declaration =
        ((output || variable ? "" : "const ") + c + " *" + parameter.name).str();
    llvm::raw_string_ostream comment(parameter.comment);
    comment << (variable ? "variable, read and written in place, "
                : output ? "output, "
                         : "input, ");
    llvm::interleave(type.getShape(), comment, "x");
    comment << (type.getRank() == 0 ? "scalar" : "");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// The places that the code reports when it fails, as weft_rt_call takes them: "17 step.mlir:7".
static std::vector<std::string> reportedPlaces(ModuleOp module,
                                               ArrayRef<::weft::SourcePlace> places) {
  llvm::SmallSetVector<size_t, 8> reported;
  module.walk([&](func::CallOp call) {
    APInt site;
    if (!call.getCallee().starts_with("weft_rt_") || call.getNumOperands() == 0 ||
        !matchPattern(call.getOperand(0), m_ConstantInt(&site)))
      return;
    const auto number = static_cast<size_t>(site.getSExtValue());
    if (number < places.size() && places[number].known()) reported.insert(number);
  });
  std::vector<std::string> texts;
  for (size_t number : reported)
    texts.push_back(std::to_string(number) + " " + to_string(places[number]));
  return texts;
}

::weft::Result<std::string> emitHeader(ModuleOp module, StringRef guard,
                                       ArrayRef<::weft::SourcePlace> sites) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const std::string symbol = symbolName(guard);
  os << "/* Entries of " << guard << ", written by weft-compile. Link with libweft. */\n#ifndef "
     << symbol << "\n#define " << symbol
     << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n"
        "#endif\n\n"
        "int32_t weft_rt_call(int32_t (*entry)(void *const *, const int64_t *, void *), void "
        "*const "
        "*buffers,\n                     int64_t arena_bytes, const char *function, const char "
        "*const *places,\n                     int64_t place_count, char *message, int64_t "
        "message_size);\n";
  const std::vector<std::string> places = reportedPlaces(module, sites);
  if (!places.empty()) {
    os << "\n/* The lines that errors name, by their numbers in the code. */\n"
          "static const char *const "
       << symbol << "_places[] = {";
    llvm::interleaveComma(places, os,
                          [&](const std::string &place) { os << '"' << escaped(place) << '"'; });
    os << "};\n";
  }
  llvm::StringSet<> taken;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !function.isPublic()) continue;
    auto parameters = parametersOf(function);
    if (!parameters) return parameters.fault();
    auto bytes = function->getAttrOfType<IntegerAttr>("weft.arena_bytes");
    // The entry's symbol may hold characters that a name in C may not.
    const std::string entrySymbol = entryName(function.getName());
    const std::string name = identifier(function.getName(), taken);
    const std::string entry = identifier(name + "_weft_entry", taken);
    os << "\nint32_t " << entry << "(void *const *buffers, const int64_t *dims, void *context)";
    if (entry != entrySymbol) os << " __asm__(\"" << escaped(entrySymbol) << "\")";
    os << ";\n\n"
          "/* Row-major arrays; returns 0, or 1 with the reason in `message` (may be NULL). */\n"
          "static inline int32_t "
       << name << "(";
    for (const Parameter &parameter : *parameters)
      os << "\n    " << parameter.declaration << ", /* " << parameter.comment << " */";
    os << "\n    char *message, int64_t message_size) {\n  void *const buffers[] = {";
    llvm::interleaveComma(*parameters, os,
                          [&](const Parameter &parameter) { os << "(void *)" << parameter.name; });
    if (parameters->empty()) os << "NULL";
    os << "};\n  return weft_rt_call(" << entry << ", buffers, " << (bytes ? bytes.getInt() : 0)
       << ", \"" << escaped(function.getName()) << "\", "
       << (places.empty() ? "NULL" : symbol + "_places") << ", " << places.size()
       << ", message, message_size);\n}\n";
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

} // namespace mlir::weft
