// Writes C headers.
#include "Header.h"

#include "Compiler/Driver.h"
#include "Compiler/Import.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

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

namespace {
struct Parameter {
  std::string declaration, name, comment;
};
} // namespace

static ::weft::Result<std::vector<Parameter>> parametersOf(func::FuncOp function) {
  std::vector<Parameter> parameters;
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
    parameter.name = variable ? symbolName(variable.getValue())
                     : output ? "result" + std::to_string(i)
                              : "input" + std::to_string(i);
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

::weft::Result<std::string> emitHeader(ModuleOp module, StringRef guard) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const std::string symbol = symbolName(guard);
  os << "/* Entries of " << guard << ", written by weft-compile. Link with libweft. */\n#ifndef "
     << symbol << "\n#define " << symbol
     << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n"
        "#endif\n\n"
        "int32_t weft_rt_call(int32_t (*entry)(void *const *, const int64_t *, void *), void "
        "*const "
        "*buffers,\n                     int64_t arena_bytes, const char *function, char *message, "
        "int64_t message_size);\n";
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !function.isPublic()) continue;
    auto parameters = parametersOf(function);
    if (!parameters) return parameters.fault();
    auto bytes = function->getAttrOfType<IntegerAttr>("weft.arena_bytes");
    const std::string entry = entryName(function.getName());
    os << "\nint32_t " << entry
       << "(void *const *buffers, const int64_t *dims, void *context);\n\n"
          "/* Row-major arrays; returns 0, or 1 with the reason in `message` (may be NULL). */\n"
          "static inline int32_t "
       << function.getName() << "(";
    for (const Parameter &parameter : *parameters)
      os << "\n    " << parameter.declaration << ", /* " << parameter.comment << " */";
    os << "\n    char *message, int64_t message_size) {\n  void *const buffers[] = {";
    llvm::interleaveComma(*parameters, os,
                          [&](const Parameter &parameter) { os << "(void *)" << parameter.name; });
    if (parameters->empty()) os << "NULL";
    os << "};\n  return weft_rt_call(" << entry << ", buffers, " << (bytes ? bytes.getInt() : 0)
       << ", \"" << function.getName() << "\", message, message_size);\n}\n";
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

} // namespace mlir::weft
