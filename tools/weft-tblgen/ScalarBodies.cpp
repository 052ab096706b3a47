// Generates builders of scalar code from the records' bodies.
#include "Backends.h"

#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace weft::tblgen {

static std::string expression(const OpRecord &op, const DagInit *dag);

static std::string argument(const OpRecord &op, const Init *value, const StringInit *name) {
  if (const auto *inner = dyn_cast<DagInit>(value)) return expression(op, inner);
  if (const auto *integer = dyn_cast<IntInit>(value))
    return "s.constant(" + std::to_string(integer->getValue()) + ", args[0].getType())";
  if (op.accumulates() && name->getValue() == "acc") return "args[0]";
  if (int index = op.operandIndex(name->getValue()); index >= 0)
    return "args[" + std::to_string(index + (op.accumulates() ? 1 : 0)) + "]";
  PrintFatalError(op.def,
                  "the body of '" + op.mnemonic + "' mentions the unknown $" + name->getValue());
}

static std::string expression(const OpRecord &op, const DagInit *dag) {
  const Record *head = operatorOf(dag);
  if (!head->isSubClassOf("Scalar"))
    PrintFatalError(op.def, "'" + head->getName() + "' is no scalar function");
  const bool special = head->isSubClassOf("Special");
  std::string text = "s." + std::string(special ? "special(SpecialFunction::" : "") +
                     head->getValueAsString("function").str() + (special ? ", {" : "(");
  for (unsigned i = 0; i < dag->getNumArgs(); ++i)
    text += (i ? ", " : "") + argument(op, dag->getArg(i), dag->getArgName(i));
  if (head->getName() == "s_cast") text += ", resultType";
  return text + (special ? "})" : ")");
}

void emitScalarBodies(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Scalar code of the ops, as a switch over the op.");
  os << "mlir::Value buildScalarBody(::weft::OpCode op, ScalarBuilder &s, mlir::ValueRange args,\n"
        "                            [[maybe_unused]] mlir::Type resultType) {\n  switch (op) {\n";
  for (const OpRecord &op : readOps(records)) {
    if (isOperator(op.body, "absent")) continue;
    os << "  case ::weft::OpCode::" << op.cppName << ": // " << origin(op) << "\n    return "
       << expression(op, op.body) << ";\n";
  }
  os << "  default: return {};\n  }\n}\n\n"
        "mlir::Value buildReductionInit(::weft::OpCode op, ScalarBuilder &s, mlir::Type type) {\n"
        "  switch (op) {\n";
  for (const OpRecord &op : readOps(records)) {
    if (!op.accumulates()) continue;
    os << "  case ::weft::OpCode::" << op.cppName << ": return s." << op.init << "(type);\n";
  }
  os << "  default: return {};\n  }\n}\n";
}

} // namespace weft::tblgen
