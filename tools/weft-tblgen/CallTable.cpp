// Generates calls of every public op function with drawn arguments, for `./x fuzz calls`.
#include "Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace weft::tblgen {

/// The member of Draw that draws an operand.
static StringRef drawOf(const Operand &operand) {
  if (operand.variadic) return "tensors";
  if (operand.role == "key") return "key";
  if (operand.optional) return "optional";
  return operand.isStream ? "state" : "operand";
}

/// One call: arguments are drawn in the order of the parameters, so that a seed says all.
static void emitCall(const Callable &op, bool asSpan, raw_ostream &os) {
  os << "{\"" << op.scope() << op.cppName << (asSpan ? " of a span" : "")
     << "\", [](Draw &draw) {\n";
  SmallVector<std::string> arguments, options;
  for (const Operand &operand : op.operands) {
    os << "   const auto " << operand.name << " = draw." << drawOf(operand) << "(\"" << operand.name
       << "\");\n";
    if (!operand.variadic) arguments.push_back(operand.name);
    else if (asSpan) arguments.push_back("std::span<const Tensor>(" + operand.name + ")");
    else arguments.push_back("{" + operand.name + "[0], " + operand.name + "[1]}");
  }
  const std::vector<Attribute> attributes = op.allAttributes();
  for (auto [i, attribute] : enumerate(attributes)) {
    const std::string type = attribute.cppType == "std::string_view" ? "std::string"
                             : attribute.cppType == "Sizes"          ? "Ints"
                                                                     : attribute.cppType;
    os << "   const auto " << attribute.name << " = draw.value<" << type << ">(\"" << attribute.name
       << "\");\n";
    if (attribute.isOption) options.push_back(attribute.name);
    else arguments.insert(op.leads(i) ? arguments.begin() : arguments.end(), attribute.name);
  }
  if (!options.empty()) arguments.push_back("{" + join(options, ", ") + "}");
  const std::string call = op.scope() + op.cppName + "(" + join(arguments, ", ") + ")";
  if (op.results.empty()) {
    os << "   return results(" << call;
  } else {
    os << "   const auto found = " << call << ";\n   return results(std::vector<Tensor>{";
    for (const NamedResult &result : op.results) os << "found." << result.name << ", ";
    os << "}";
  }
  os << ");\n },\n true, true, errors({";
  for (const Raised &raised : op.raises) os << "ErrorKind::" << raised.kind << ", ";
  // An argument may be no enumerator.
  if (any_of(attributes,
             [](const Attribute &a) { return a.kind == "dtype" || a.kind == "optional_dtype"; }))
    os << "ErrorKind::dtype";
  os << "})" << (op.openSizes ? "" : ", false") << "},\n";
}

void emitCallTable(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Calls of the C++ functions of ops and composites with drawn arguments.");
  const std::vector<OpRecord> ops = readOps(records);
  const std::vector<CompositeRecord> composites = readComposites(records);
  for (const Callable *op : functionsOf(ops, composites)) {
    os << "// " << origin(*op) << "\n";
    emitCall(*op, false, os);
    if (op->isVariadic()) emitCall(*op, true, os);
  }
}

} // namespace weft::tblgen
