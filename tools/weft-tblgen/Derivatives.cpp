// Generates the emitter's methods and the derivative rules, as templates for tape and pass alike.
#include "Backends.h"
#include "DTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace weft::tblgen {

//===----------------------------------------------------------------------===//
// Emitter methods
//===----------------------------------------------------------------------===//

static std::string emitterType(const Attribute &attribute) {
  if (attribute.takesValues) return "const SizeList<Value> &";
  if (attribute.isList()) return "Ints";
  if (attribute.kind == "axis") return "std::int64_t";
  return attribute.cppType;
}

void emitEmitterOps(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Methods of EmitterOps: every op that a derivative rule may emit.");
  for (const OpRecord &op : readOps(records)) {
    if (op.kind == "effect" || !op.hasResult() || (op.operands.empty() && op.handwrittenApi))
      continue;
    os << "/// " << op.summary << " (" << origin(op) << ")\n"
       << (op.hasSeveral() ? "std::vector<Value> " : "Value ") << op.cppName << "(";
    std::string operands;
    bool first = true, variadic = false;
    for (const Operand &operand : op.operands) {
      os << (first ? "" : ", ") << (operand.variadic ? "std::span<const Value> " : "const Value &")
         << operand.name;
      operands += (first ? "" : ", ") + operand.name;
      variadic |= operand.variadic;
      first = false;
    }
    std::string attrs, lists;
    for (const Attribute &attribute : op.attributes) {
      os << (first ? "" : ", ") << emitterType(attribute) << " " << attribute.name;
      if (attribute.takesValues) lists += (lists.empty() ? "&" : ", &") + attribute.name;
      if (attribute.kind == "flag") os << " = false";
      if (attribute.kind == "count") os << " = -1";
      attrs += (attrs.empty() ? "Attr(" : ", Attr(") + attribute.name +
               (attribute.takesValues ? ".numbers)" : ")");
      first = false;
    }
    os << ") {\n";
    const std::string call = "  return " +
                             std::string(op.takesSizes     ? "emit_sized"
                                         : op.hasSeveral() ? "self().emit_all"
                                                           : "self().emit") +
                             "(OpCode::" + op.cppName;
    if (variadic) os << call << ", " << operands;
    else if (op.operands.empty()) os << call << ", std::span<const Value>()";
    else
      os << "  const Value operands[] = {" << operands << "};\n"
         << call << ", std::span<const Value>(operands)";
    if (op.takesSizes) os << ", {" << lists << "}";
    os << ", Attrs{" << attrs << "});\n}\n";
  }
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {

/// Prints a derivative dag as C++; `forwardOperand` >= 0 replaces the cotangent by the tangent of
/// that operand. In reverse complex values are given conjugated: with real coefficients the
/// derivative at a conjugated number is the derivative conjugated.
class RulePrinter {
public:
  RulePrinter(const OpRecord &op, unsigned operand, bool forward)
      : op(op), operand(operand), forward(forward) {}

  std::string print(const DagInit *dag) {
    StringRef name = operatorOf(dag)->getName();
    if (name == "one") return "e.scalar(1, call.cotangent_dtype())";
    if (name == "zero") return "e.scalar(0, call.cotangent_dtype())";
    if (name == "copy") return argument(dag, 0);
    if (name == "square") return "rules::squared(e, " + argument(dag, 0) + ")";
    const Record *head = operatorOf(dag);
    const bool outer = conjugates;
    if (head->isSubClassOf("Rule")) conjugates = head->getValueAsBit("takesConjugates");
    std::string text;
    if (head->isSubClassOf("Emit")) {
      text = "e." + head->getValueAsString("cppName").str() + "(";
    } else {
      text = "rules::" + head->getValueAsString("function").str() + "(e, call, " +
             std::to_string(operand) + (dag->getNumArgs() ? ", " : "");
    }
    for (unsigned i = 0; i < dag->getNumArgs(); ++i) text += (i ? ", " : "") + argument(dag, i);
    conjugates = outer;
    return text + ")";
  }

private:
  std::string argument(const DagInit *dag, unsigned i) {
    const Init *value = dag->getArg(i);
    if (const auto *inner = dyn_cast<DagInit>(value)) return print(inner);
    if (const auto *integer = dyn_cast<IntInit>(value))
      return "e.scalar(" + std::to_string(integer->getValue()) + ", call.cotangent_dtype())";
    if (const auto *number = dyn_cast<StringInit>(value))
      return "e.scalar(" + number->getValue().str() + ", call.cotangent_dtype())";
    StringRef name = dag->getArgName(i)->getValue();
    if (int index = op.resultIndex(name); index >= 0)
      return saved("call.result(" + (op.hasSeveral() ? std::to_string(index) : "") + ")",
                   /*mayBeComplex=*/true);
    if (int index = name.starts_with("d") ? op.resultIndex(name.drop_front()) : -1; index >= 0) {
      if (forward) return "call.tangent(" + std::to_string(operand) + ")";
      return op.hasSeveral() ? "rules::cotangent_or_zeros(e, call, " + std::to_string(index) + ")"
                             : "call.cotangent()";
    }
    if (name == "sizes" && op.takesSizes) return "call.sizes()";
    if (int index = op.operandIndex(name); index >= 0)
      return saved("call.operand(" + std::to_string(index) + ")",
                   any_of(op.operands[index].dtypes,
                          [](StringRef dtype) { return findDType(dtype)->kind == "complex"; }));
    return "call.tangent(" + std::to_string(op.operandIndex(name.drop_front())) + ")";
  }

  /// A value that was saved for the rule.
  std::string saved(std::string value, bool mayBeComplex) const {
    if (forward || !conjugates || !mayBeComplex || !admitsComplex()) return value;
    return "rules::conjugated(e, " + value + ")";
  }

  bool admitsComplex() const {
    return any_of(op.operands, [](const Operand &operand) {
      return any_of(operand.dtypes,
                    [](StringRef dtype) { return findDType(dtype)->kind == "complex"; });
    });
  }

  const OpRecord &op;
  unsigned operand;
  bool forward;
  bool conjugates = true;
};

} // namespace

static void emitReverse(const OpRecord &op, raw_ostream &os) {
  os << "/// " << origin(op) << "\ntemplate <class E>\nvoid vjp_" << op.cppName
     << "(E &e, VjpCall<E> &call) {\n";
  for (auto [i, dag] : enumerate(op.vjp)) {
    if (isOperator(dag, "no_grad")) continue;
    if (op.operands[i].variadic) {
      os << "  for (std::size_t i = 0; i < call.operand_count(); ++i)\n"
            "    if (call.wants(i)) call.give(i, rules::"
         << operatorOf(dag)->getValueAsString("function") << "(e, call, i, call.cotangent()));\n";
      continue;
    }
    std::string value = RulePrinter(op, i, false).print(dag);
    if (op.elementwise())
      value = "rules::unbroadcast(e, " + value + ", call.operand_type(" + std::to_string(i) + "))";
    os << "  if (call.wants(" << i << ")) call.give(" << i << ", " << value << ");\n";
  }
  os << "}\n\n";
}

static void emitForward(const OpRecord &op, raw_ostream &os) {
  os << "/// " << origin(op) << "\ntemplate <class E>\ntypename E::Value jvp_" << op.cppName
     << "(E &e, JvpCall<E> &call) {\n";
  if (isOperator(op.jvp, "linear")) {
    uint64_t fixed = 0;
    for (auto [i, dag] : enumerate(op.vjp))
      if (isOperator(dag, "no_grad")) fixed |= uint64_t(1) << i;
    os << "  return rules::linear(e, call, " << fixed << ");\n";
  } else if (isOperator(op.jvp, "bilinear")) {
    os << "  return rules::bilinear(e, call);\n";
  } else if (isOperator(op.jvp, "from_vjp")) {
    os << "  typename E::Value sum{};\n  bool some = false;\n";
    for (auto [i, dag] : enumerate(op.vjp)) {
      if (isOperator(dag, "no_grad")) continue;
      os << "  if (call.has_tangent(" << i << ")) rules::accumulate(e, sum, some, "
         << RulePrinter(op, i, true).print(dag) << ");\n";
    }
    os << "  return rules::broadcast_tangent(e, call, sum);\n";
  } else {
    const std::string tangents = RulePrinter(op, 0, true).print(op.jvp);
    os << "  return " << (op.hasSeveral() ? "call.give(" + tangents + ")" : tangents) << ";\n";
  }
  os << "}\n\n";
}

void emitDerivatives(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Derivative rules: reverse (vjp_*) and forward (jvp_*).");
  const std::vector<OpRecord> ops = readOps(records);
  for (const OpRecord &op : ops) {
    if (!op.differentiable()) continue;
    emitReverse(op, os);
    emitForward(op, os);
  }
  for (bool forward : {false, true}) {
    os << "/// Runs the " << (forward ? "forward" : "reverse") << " rule of `op`.\n"
       << "template <class E>\n"
       << (forward ? "typename E::Value jvp(E &e, OpCode op, JvpCall<E> &call) {\n"
                   : "void vjp(E &e, OpCode op, VjpCall<E> &call) {\n")
       << "  switch (op) {\n";
    for (const OpRecord &op : ops)
      if (op.differentiable())
        os << "  case OpCode::" << op.cppName << ": return " << (forward ? "jvp_" : "vjp_")
           << op.cppName << "(e, call);\n";
    os << "  default: raise(ErrorKind::internal, std::string(op_info(op).name) + \" has no "
          "derivative\");\n  }\n}\n\n";
  }
}

} // namespace weft::tblgen
