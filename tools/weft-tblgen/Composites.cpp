// Generates composites: their declarations, and definitions that promote operands and compute the
// body.
#include "Backends.h"
#include "DTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace weft::tblgen {

namespace {

/// Writes a body as an expression of C++.
class Body {
public:
  Body(const CompositeRecord &composite, ArrayRef<OpRecord> ops)
      : composite_(composite), ops_(ops) {}

  std::string of(const DagInit *dag) const {
    const Record *head = operatorOf(dag);
    std::vector<std::string> arguments;
    for (unsigned i = 0; i < dag->getNumArgs(); ++i)
      arguments.push_back(argument(dag->getArg(i), dag->getArgName(i)));
    if (head->getName() == "if_given")
      return "(" + arguments[0] + ".defined() ? " + arguments[1] + " : " + arguments[2] + ")";
    return function(head) + "(" + join(arguments, ", ") + ")";
  }

private:
  std::string argument(const Init *value, const StringInit *name) const {
    if (const auto *inner = dyn_cast<DagInit>(value)) return of(inner);
    if (const auto *number = dyn_cast<IntInit>(value)) return std::to_string(number->getValue());
    if (const auto *number = dyn_cast<StringInit>(value)) return number->getValue().str();
    return "given[" + std::to_string(index_of(name->getValue())) + "]";
  }

  std::size_t index_of(StringRef name) const {
    for (auto [i, operand] : enumerate(composite_.operands))
      if (operand.name == name) return i;
    PrintFatalError(composite_.def, "the body mentions $" + name);
  }

  /// The C++ function that the word of a dag stands for.
  std::string function(const Record *head) const {
    if (head->isSubClassOf("Weft_CompositeFn")) {
      StringRef module = head->getValueAsString("module");
      return (module + (module.empty() ? "" : "::") + head->getValueAsString("cppName")).str();
    }
    if (!head->isSubClassOf("Emit")) return head->getName().str();
    StringRef mnemonic = head->getValueAsString("mnemonic");
    for (const OpRecord &op : ops_)
      if (op.mnemonic == mnemonic) return op.cppName;
    PrintFatalError(composite_.def, "the body calls '" + mnemonic + "', which is no op");
  }

  const CompositeRecord &composite_;
  ArrayRef<OpRecord> ops_;
};

/// `{"x", admits("a number", {DType::i32, ..}), true}`: a row of call::ParameterInfo.
void emitInfo(const Operand &operand, raw_ostream &os) {
  os << "{\"" << operand.name << "\", call::admits(\"" << operand.admitsWord << "\", {";
  for (auto [i, dtype] : enumerate(operand.dtypes)) os << (i ? ", " : "") << "DType::" << dtype;
  os << "}), " << (operand.role == "value" ? "true" : "false") << "}";
}

/// Counts axes from the front.
void emitAxes(const CompositeRecord &composite, raw_ostream &os) {
  for (const Attribute &attribute : composite.attributes) {
    if (attribute.kind != "axis" && attribute.kind != "axes") continue;
    const std::string name = (attribute.isOption ? "options." : "") + attribute.name;
    os << "  " << name << " = call::checked_" << attribute.kind << "(\"" << composite.mnemonic
       << "\", \"" << attribute.pythonName << "\", " << name << ", given[0].rank());\n";
  }
}

/// The dtypes that all operands admit and kernels are compiled for.
std::vector<StringRef> sharedDTypes(const CompositeRecord &composite) {
  std::vector<StringRef> shared;
  for (StringRef dtype : composite.operands[0].dtypes)
    if (hasFusedKernels(*findDType(dtype)) &&
        all_of(composite.operands,
               [&](const Operand &operand) { return is_contained(operand.dtypes, dtype); }))
      shared.push_back(dtype);
  return shared;
}

/// Whether weft-kernelgen compiles it as one kernel, for operands that are all given and attributes
/// of their defaults: what gives one element for one of each operand, of which there are no more
/// than elementwise kernels take.
bool isFused(const CompositeRecord &composite) {
  constexpr std::size_t kMostOperands = 3;
  return composite.def->isSubClassOf("Weft_ElementwiseFn") && composite.givesOne() &&
         !composite.isVariadic() && !composite.operands.empty() &&
         composite.operands.size() <= kMostOperands && !sharedDTypes(composite).empty() &&
         all_of(composite.attributes, [](const Attribute &attribute) {
           return attribute.hasDefault() && attribute.optionDefault != "{}";
         });
}

/// The result as it is returned: rounded to the dtype of operands that are computed in another.
std::string rounded(const CompositeRecord &composite, const std::string &result) {
  if (composite.moves) return result;
  std::string text = "rounding.of(" + result;
  for (const auto &named : composite.results)
    text += ", &" + composite.resultType() + "::" + named.name;
  return text + ")";
}

/// Casts operands to the dtype in which the body is computed, where new tensors are beside them.
void emitRounding(const CompositeRecord &composite, raw_ostream &os) {
  if (composite.moves) {
    os << "  const DeviceOfOperands device(given);\n";
    return;
  }
  os << "  const call::Rounding rounding(given";
  for (const Attribute &attribute : composite.attributes)
    if (attribute.kind == "optional_dtype")
      os << ", " << (attribute.isOption ? "options." : "") << attribute.name << ".has_value()";
  os << ");\n";
}

/// Takes the kernel where it gives what the body would.
void emitFusedCall(const CompositeRecord &composite, raw_ostream &os) {
  SmallVector<std::string> conditions;
  for (const Attribute &attribute : composite.attributes)
    conditions.push_back((attribute.isOption ? "options." : "") + attribute.name +
                         " == " + attribute.optionDefault);
  conditions.push_back("call::fuses(given)");
  os << "  if (" << join(conditions, " && ")
     << ")\n    if (Tensor fused = call::fused(Fused::" << composite.cppName
     << ", given); fused.defined()) return " << rounded(composite, "fused") << ";\n";
}

void emitDefinition(const CompositeRecord &composite, ArrayRef<OpRecord> ops, bool asSpan,
                    raw_ostream &os) {
  os << composite.resultType() << " " << composite.scope() << composite.cppName << "("
     << parametersInCpp(composite, false, asSpan) << ") {\n  static constexpr call::ParameterInfo ";
  const StringRef kept = composite.moves ? "const " : "";
  if (composite.isVariadic()) {
    os << "info = ";
    emitInfo(composite.operands[0], os);
    os << ";\n  const CompositeCall site(\"" << composite.mnemonic << "\", where);\n  " << kept
       << "std::vector<Tensor> given = call::tensors_of(\"" << composite.mnemonic
       << "\", Promotion::" << composite.promotion << ", info, " << composite.operands[0].name
       << ");\n";
  } else {
    os << "infos[] = {";
    for (auto [i, operand] : enumerate(composite.operands)) {
      os << (i ? ", " : "");
      emitInfo(operand, os);
    }
    os << "};\n  const Operand *const operands[] = {";
    for (auto [i, operand] : enumerate(composite.operands))
      os << (i ? ", " : "") << (operand.optional ? operand.name + ".get()" : "&" + operand.name);
    os << "};\n  const CompositeCall site(\"" << composite.mnemonic
       << "\", call::line_of(operands));\n  " << kept << "std::array given = call::tensors_of(\""
       << composite.mnemonic << "\", Promotion::" << composite.promotion << ", infos, operands);\n";
  }
  emitRounding(composite, os);
  emitAxes(composite, os);
  if (isFused(composite)) emitFusedCall(composite, os);
  if (composite.cppBody.empty()) {
    os << "  return " << rounded(composite, Body(composite, ops).of(composite.body)) << ";\n}\n";
    return;
  }
  SmallVector<std::string> arguments;
  for (auto [i, attribute] : enumerate(composite.attributes))
    if (composite.leads(i)) arguments.push_back(attribute.name);
  if (composite.isVariadic()) arguments.push_back("given");
  else
    for (std::size_t i = 0; i < composite.operands.size(); ++i)
      arguments.push_back("given[" + std::to_string(i) + "]");
  for (auto [i, attribute] : enumerate(composite.attributes))
    if (!attribute.isOption && !composite.leads(i)) arguments.push_back(attribute.name);
  if (hasOptions(composite)) arguments.push_back("options");
  const std::string body = "composites::" + composite.cppBody + "(" + join(arguments, ", ") + ")";
  os << "  return " << rounded(composite, body) << ";\n}\n";
}

} // namespace

void emitCompositeHeader(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Functions made of ops.");
  std::string open;
  for (const CompositeRecord &composite : readComposites(records)) {
    if (composite.module != open) {
      if (!open.empty()) os << "} // namespace " << open << "\n\n";
      open = composite.module;
      if (!open.empty()) os << "namespace " << open << " {\n\n";
    }
    emitDeclaration(composite, os);
  }
  if (!open.empty()) os << "} // namespace " << open << "\n";
}

void emitUsingDeclarations(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The functions of records, one by one.");
  for (const OpRecord &op : readOps(records))
    if (!op.handwrittenApi) os << "using weft::" << op.cppName << ";\n";
  for (const CompositeRecord &composite : readComposites(records))
    if (composite.module.empty()) os << "using weft::" << composite.cppName << ";\n";
}

void emitCompositeSource(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Functions made of ops: each promotes its operands and computes its body.");
  os << "#include <array>\n\n#include <weft/composites.h>\n\n"
        "#include \"Ops/Composites/Composites.h\"\n#include \"Ops/Fused.h\"\n"
        "#include \"Support/CallSite.h\"\n\n"
        "namespace weft {\n\n";
  const std::vector<OpRecord> ops = readOps(records);
  for (const CompositeRecord &composite : readComposites(records)) {
    os << "// " << origin(composite) << "\n";
    emitDefinition(composite, ops, false, os);
    if (composite.isVariadic()) emitDefinition(composite, ops, true, os);
    os << "\n";
  }
  os << "} // namespace weft\n";
}

void emitFusedTable(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Rows of lib/Ops/Fused.def.");
  for (const CompositeRecord &composite : readComposites(records)) {
    if (!isFused(composite)) continue;
    os << "WEFT_FUSED(" << composite.cppName << ", " << composite.operands.size() << ", ("
       << composite.cppName << "(";
    for (std::size_t i = 0; i < composite.operands.size(); ++i)
      os << (i ? ", " : "") << "x[" << i << "]";
    os << "))";
    for (StringRef dtype : sharedDTypes(composite)) os << ", DType::" << dtype;
    os << ") // " << origin(composite) << "\n";
  }
}

void emitCompositeBodies(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "What computes composites that have no body in their record.");
  for (const CompositeRecord &composite : readComposites(records)) {
    if (composite.cppBody.empty()) continue;
    std::vector<std::string> parameters;
    const auto add = [&](bool leading) {
      for (auto [i, attribute] : enumerate(composite.attributes))
        if (!attribute.isOption && composite.leads(i) == leading)
          parameters.push_back(attribute.parameterType() + attribute.name);
    };
    add(true);
    for (const Operand &operand : composite.operands)
      parameters.push_back((operand.variadic ? "std::span<const Tensor> " : "const Tensor &") +
                           operand.name);
    add(false);
    if (hasOptions(composite))
      parameters.push_back("const " + composite.scope() + optionsName(composite) + " &options");
    os << composite.resultType() << " " << composite.cppBody << "(" << join(parameters, ", ")
       << "); // " << origin(composite) << "\n";
  }
}

} // namespace weft::tblgen
