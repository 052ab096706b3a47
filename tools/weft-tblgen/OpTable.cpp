// Generates OpCode's enumerators and the op table.
#include "Backends.h"
#include "DTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

#include <map>
#include <set>

using namespace llvm;

namespace weft::tblgen {

void emitOpCodes(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "One WEFT_OP(enumerator) per op record.");
  for (const OpRecord &op : readOps(records))
    os << "WEFT_OP(" << op.cppName << ") // " << origin(op) << "\n";
}

/// What the record of an op with an effect says that it does.
static std::string effects(const OpRecord &op) {
  std::string text;
  for (StringRef field : {"reads", "writes", "io", "stops"}) {
    const bool does = op.hasEffect() && op.def->getValueAsBit(field);
    text += (text.empty() ? "" : ", ") + std::string(does ? "true" : "false");
  }
  return "{" + text + "}";
}

void emitOpTable(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The op table.");
  const std::vector<OpRecord> ops = readOps(records);
  os << "namespace {\n";
  for (const OpRecord &op : ops) {
    if (op.operandRows() != 0) {
      os << "constexpr OperandInfo " << op.cppName << "_operands[] = {\n";
      for (auto [i, operand] : enumerate(op.operands)) {
        os << "    {\"" << operand.name << "\", {\"" << operand.admitsWord << "\", 0u";
        for (const std::string &dtype : operand.dtypes)
          os << " | 1u << static_cast<unsigned>(DType::" << dtype << ")";
        os << "}, OperandRole::" << operand.role << ", " << (operand.variadic ? "true" : "false")
           << ", " << (op.differentiableBy(i) ? "true" : "false") << "},\n";
      }
      if (op.takesSizes)
        os << "    {\"sizes\", {\"an integer of 64 bits\", 1u << "
              "static_cast<unsigned>(DType::i64)}, "
              "OperandRole::size, true, false},\n";
      os << "};\n";
    }
    if (!op.attributes.empty()) {
      os << "constexpr AttrInfo " << op.cppName << "_attrs[] = {";
      for (const Attribute &attribute : op.attributes)
        os << "{\"" << attribute.name << "\", AttrKind::" << attribute.kind << ", "
           << (attribute.whole == "size" ? "AttrInfo::kWholeSize" : attribute.whole) << ", "
           << (attribute.takesValues ? "true" : "false") << "}, ";
      os << "};\n";
    }
    if (!op.vjp.empty()) {
      os << "constexpr std::uint32_t " << op.cppName << "_saved[] = {";
      for (unsigned i = 0; i < op.vjp.size(); ++i) os << (i ? ", " : "") << op.savedFor(i);
      os << (op.takesSizes ? ", 0};\n" : "};\n");
    }
  }
  os << "} // namespace\n\nstatic constexpr OpInfo kOpTable[] = {\n";
  for (const OpRecord &op : ops) {
    auto table = [&](bool empty, StringRef suffix, StringRef type) {
      return empty ? ("std::span<const " + type + ">()").str() : op.cppName + suffix.str();
    };
    os << "    // " << origin(op) << "\n    {.op = OpCode::" << op.cppName << ",\n     .name = \""
       << op.mnemonic << "\",\n     .cpp_name = \"" << op.cppName
       << "\",\n     .kind = OpKind::" << op.kind
       << ",\n     .promotion = Promotion::" << op.promotion
       << ",\n     .widening = Widening::" << op.def->getValueAsString("widening")
       << ",\n     .operands = " << table(op.operandRows() == 0, "_operands", "OperandInfo")
       << ",\n     .attrs = " << table(op.attributes.empty(), "_attrs", "AttrInfo")
       << ",\n     .shape_function = "
       << (op.shapeFunction.empty() ? "nullptr" : "&shapes::" + op.shapeFunction)
       << ",\n     .results = " << op.resultNames.size() << ",\n     .cost = " << op.cost
       << ",\n     .effects = " << effects(op)
       << ",\n     .creates = " << (op.creates() ? "true" : "false")
       << ",\n     .differentiable = " << (op.differentiable() ? "true" : "false")
       << ",\n     .inactive = \"" << op.inactive << "\",\n     .saved = " << op.saved()
       << ",\n     .saved_for = " << table(op.vjp.empty(), "_saved", "std::uint32_t")
       << ",\n     .summary = \"";
    os.write_escaped(op.summary) << "\"},\n";
  }
  os << "};\n";
}

/// The alternative of weft::Attr that holds an attribute.
static StringRef attrType(const Attribute &attribute) {
  if (attribute.isList()) return "Ints";
  return attribute.kind == "text" ? StringRef("std::string") : StringRef(attribute.cppType);
}

/// The members of an op's attribute struct; `name` is the struct's.
static std::string attrStruct(const OpRecord &op, StringRef name) {
  std::string members, inits;
  for (auto [i, attribute] : enumerate(op.attributes)) {
    StringRef type = attrType(attribute);
    members += ("  const " + type + " &" + attribute.name + ";\n").str();
    inits += (Twine(i ? ", " : "") + attribute.name + "(std::get<" + type + ">(attrs[" + Twine(i) +
              "]))")
                 .str();
  }
  return ("struct " + name + " {\n  explicit " + name + "(const Attrs &attrs) : " + inits +
          " {}\n" + members + "};\n")
      .str();
}

void emitAttrStructs(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The attributes of op calls by name.");
  std::map<std::string, std::string> known;
  for (const OpRecord &op : readOps(records)) {
    if (op.attributes.empty()) continue;
    std::string name = op.def->getValueAsString("attrStruct").str();
    if (name.empty()) name = op.className.substr(0, op.className.size() - 2) + "Attrs";
    std::string text = attrStruct(op, name);
    auto [found, fresh] = known.try_emplace(name, text);
    if (!fresh && found->second != text)
      PrintFatalError(op.def, "the struct '" + name + "' has other attributes in another record");
    if (fresh) os << "/// Of " << op.cppName << " (" << origin(op) << ").\n" << text << "\n";
  }
}

static std::string eagerFunction(const OpRecord &op) {
  StringRef named = op.def->getValueAsString("eagerFunction");
  if (!named.empty()) return named.str();
  return op.elementwise() || op.accumulates() || op.isRoutine() ? op.kind : op.cppName;
}

/// Who executes a call with complex numbers. A function that is named, or is the op's alone, takes
/// them as it takes others.
static std::string complexEagerFunction(const OpRecord &op) {
  if (op.onComplex == "own_function") return "complex_" + op.complexFunction;
  const bool named = !op.def->getValueAsString("eagerFunction").empty();
  if (op.onComplex == "none" || named) return eagerFunction(op);
  if (op.elementwise()) return "complex_elementwise";
  return op.accumulates() ? "complex_each_part" : eagerFunction(op);
}

void emitEagerTable(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Who executes each op eagerly.");
  const std::vector<OpRecord> ops = readOps(records);
  std::set<std::string> declared;
  os << "namespace eager {\n";
  for (const OpRecord &op : ops)
    for (const std::string &function : {eagerFunction(op), complexEagerFunction(op)})
      if (declared.insert(function).second)
        os << "Tensor " << function
           << "(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);\n";
  os << "} // namespace eager\n\n#ifdef WEFT_EAGER_TABLE\n";
  const auto emitTable = [&](StringRef name, std::string (*function)(const OpRecord &)) {
    os << "static constexpr EagerFunction " << name << "[] = {\n";
    for (const OpRecord &op : ops)
      os << "    &eager::" << function(op) << ", // " << op.cppName << ": " << origin(op) << "\n";
    os << "};\n";
  };
  emitTable("kEagerFunctions", &eagerFunction);
  emitTable("kComplexEagerFunctions", &complexEagerFunction);
  os << "#endif // WEFT_EAGER_TABLE\n";
}

void emitComplexFormulas(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The formulas of elementwise ops on complex numbers, as a switch over the op.");
  for (const OpRecord &op : readOps(records))
    if (op.onComplex == "formula")
      os << "case OpCode::" << op.cppName << ": return formula(&Formulas<E>::" << op.complexFunction
         << "); // " << origin(op) << "\n";
}

void emitComplexExpansions(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The functions of weft-expand-complex for ops that have one of their own.");
  for (const OpRecord &op : readOps(records))
    if (op.onComplex == "own_function")
      os << "case OpCode::" << op.cppName << ": return expand"
         << convertToCamelFromSnakeCase(op.complexFunction, /*capitalizeFirst=*/true)
         << "(op, operands, attrs); // " << origin(op) << "\n";
}

/// Declares each of these names once, and those of all ops without one not at all.
static void declareOnce(const std::vector<OpRecord> &ops, std::string OpRecord::*name,
                        StringRef result, StringRef parameters, raw_ostream &os) {
  std::set<std::string> declared;
  for (const OpRecord &op : ops)
    if (!(op.*name).empty() && declared.insert(op.*name).second)
      os << result << " " << op.*name << "(" << parameters << ");\n";
}

void emitShapeFunctions(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The shape functions that records name.");
  declareOnce(readOps(records), &OpRecord::shapeFunction, "Result<TensorType>",
              "const InferContext &call", os);
}

/// The dtypes that a routine is compiled for: where others are computed in these, not for them, and
/// not for complex numbers that are computed by their parts.
static std::vector<std::string> routineDTypes(const OpRecord &op) {
  std::vector<std::string> dtypes = op.operands.front().dtypes;
  const StringRef widening = op.def->getValueAsString("widening");
  erase_if(dtypes, [&](StringRef dtype) {
    const DTypeRow &row = *findDType(dtype);
    if (row.kind == "complex") return op.onComplex != "whole_elements";
    return row.compute != dtype && (widening == "floats" ? !isInteger(row) : widening != "none");
  });
  return dtypes;
}

void emitCumulativeRoutines(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The cumulative ops as routines for compiled code (Kernels/Cumulative.h).");
  for (const OpRecord &op : readOps(records)) {
    if (op.kind != "cumulative") continue;
    std::string parameters, names;
    for (const Operand &operand : op.operands) {
      parameters += "const void *" + operand.name + ", ";
      names += (names.empty() ? "" : ", ") + operand.name;
    }
    for (const std::string &dtype : routineDTypes(op))
      os << "extern \"C\" void weft_rt_" << op.mnemonic << "_" << dtype
         << "(const std::int64_t *numbers, " << parameters << "void *result) {\n"
         << "  const void *operands[] = {" << names << "};\n"
         << "  weft::kernels::cumulative(WEFT_CUMULATIVE_CALL(" << op.cppName << ", " << dtype
         << ", " << op.cost << "), operands, result);\n}\n";
  }
}

/// The ops that routines compute.
static std::vector<OpRecord> routinesOf(const RecordKeeper &records) {
  std::vector<OpRecord> ops = readOps(records);
  erase_if(ops, [](const OpRecord &op) { return !op.isRoutine(); });
  return ops;
}

void emitRoutineAttrs(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The attributes of calls of routines by name.");
  for (const OpRecord &op : routinesOf(records)) {
    if (op.attributes.empty()) continue;
    const std::string name =
        StringRef(op.className).drop_back(StringRef("Op").size()).str() + "RoutineAttrs";
    std::string members, inits;
    for (auto [i, attribute] : enumerate(op.attributes)) {
      const bool isFlag = attribute.kind == "flag";
      members += std::string("  ") + (isFlag ? "bool " : "std::int64_t ") + attribute.name + ";\n";
      inits += (i ? ", " : "") + attribute.name + "(call.attrs[" + std::to_string(i) + "]" +
               (isFlag ? " != 0)" : ")");
    }
    os << "/// Of " << op.cppName << " (" << origin(op) << ").\nstruct " << name
       << " {\n  explicit " << name << "(const RoutineCall &call) : " << inits << " {}\n"
       << members << "};\n\n";
  }
}

void emitRoutines(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os,
             "The ops that routines compute: the templates and which is whose (Kernels/Routine.h), "
             "and a symbol of each for compiled code by dtype (Runtime/Routines.cpp).");
  const std::vector<OpRecord> ops = routinesOf(records);
  os << "#ifdef WEFT_ROUTINE_TABLE\nnamespace weft::kernels {\nnamespace routines {\n";
  for (const OpRecord &op : ops)
    os << "template <class T>\nvoid " << op.cppName << "(const RoutineCall &call); // "
       << origin(op) << "\n";
  os << "} // namespace routines\n\nRoutine routine_of(OpCode op, DType dtype) {\n  switch (op) "
        "{\n";
  for (const OpRecord &op : ops) {
    os << "  case OpCode::" << op.cppName << ":\n    switch (dtype) {\n";
    for (const std::string &dtype : routineDTypes(op))
      os << "    case DType::" << dtype << ": return &routines::" << op.cppName << "<"
         << findDType(dtype)->cpp << ">;\n";
    os << "    default: return nullptr;\n    }\n";
  }
  os << "  default: return nullptr;\n  }\n}\n} // namespace weft::kernels\n#endif // "
        "WEFT_ROUTINE_TABLE\n#ifdef WEFT_ROUTINE_DOORS\n";
  for (const OpRecord &op : ops) {
    std::string parameters, names;
    for (const Operand &operand : op.operands) {
      parameters += "const void *" + operand.name + ", ";
      names += "const_cast<void *>(" + operand.name + "), ";
    }
    for (auto [i, result] : enumerate(op.resultNames)) {
      parameters += (i ? ", void *" : "void *") + result;
      names += (i ? ", " : "") + result;
    }
    for (const std::string &dtype : routineDTypes(op))
      os << "extern \"C\" void weft_rt_" << op.mnemonic << "_" << dtype
         << "(weft::CallContext *context, std::int64_t site, const std::int64_t *numbers, "
         << parameters << ") {\n  run_routine(context, site, weft::OpCode::" << op.cppName
         << ", weft::DType::" << dtype << ", numbers, {" << names << "});\n}\n";
  }
  os << "#endif // WEFT_ROUTINE_DOORS\n";
}

void emitBatchRules(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "How each op is done on batches.");
  const std::vector<OpRecord> ops = readOps(records);
  os << "namespace batching {\n";
  declareOnce(ops, &OpRecord::batching, "Tensor", "BatchedCall &call", os);
  os << "} // namespace batching\n\nstatic constexpr BatchRule kBatchRules[] = {\n";
  for (const OpRecord &op : ops)
    os << "    " << (op.batching.empty() ? "nullptr" : "&batching::" + op.batching) << ", // "
       << op.cppName << ": " << origin(op) << "\n";
  os << "};\n";
}

void emitCollectives(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "WEFT_COLLECTIVE(op, function, same): the function that users call, and whether "
                 "all ranks get the same.");
  for (const OpRecord &op : readOps(records))
    if (op.isCollective())
      os << "WEFT_COLLECTIVE(" << op.cppName << ", " << op.def->getValueAsString("function") << ", "
         << (op.def->getValueAsBit("givesTheSame") ? "true" : "false") << ") // " << origin(op)
         << "\n";
}

/// "lowerGather" of GatherOp.
static std::string loweringOf(const OpRecord &op) {
  StringRef name = op.className;
  name.consume_back("Op");
  return ("lower" + name).str();
}

void emitLowerings(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "What lowers each structural op and each routine to linalg.");
  std::string cases;
  raw_string_ostream caseStream(cases);
  os << "#ifdef WEFT_LOWERING_DECLARATIONS\n";
  for (const OpRecord &op : readOps(records)) {
    if ((op.kind != "structural" && !op.isRoutine()) || op.staysInLinalg) continue;
    os << (op.hasSeveral() ? "SmallVector<Value> " : "Value ") << loweringOf(op)
       << "(LinalgBuilder &b, " << op.className << " op); // " << op.file << "\n";
    caseStream << ".Case([&](" << op.className << " op) { return " << loweringOf(op)
               << "(b, op); })\n";
  }
  os << "#endif // WEFT_LOWERING_DECLARATIONS\n#ifdef WEFT_LOWERING_CASES\n"
     << cases << "#endif // WEFT_LOWERING_CASES\n";
}

} // namespace weft::tblgen
