// Generates ops and composites as Python functions: their C code, their docstrings, and the text of
// their stubs.
#include "Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace weft::tblgen {

namespace {

/// A parameter of a Python function: an operand or an attribute.
struct Parameter {
  std::string name;
  std::string stubType;
  std::string what;
  std::string defaultText = {}; ///< empty: it must be given
  bool keywordOnly = false;
  const Attribute *attribute = nullptr;
  const Operand *operand = nullptr;
};

/// Python's word for a default of C++.
std::string defaultOf(const Attribute &attribute) {
  // The word of an enumerator.
  if (attribute.kind == "word")
    return "'" + StringRef(attribute.optionDefault).rsplit("::").second.str() + "'";
  return StringSwitch<std::string>(attribute.optionDefault)
      .Case("std::nullopt", "None")
      .Case("{}", "None")
      .Case("false", "False")
      .Case("true", "True")
      .Default(attribute.optionDefault);
}

std::string stubType(const Attribute &attribute) {
  if (attribute.kind == "dtype") return "DTypeLike";
  if (attribute.cppType == "double") return "float";
  if (attribute.cppType == "std::optional<double>") return "float | None";
  if (attribute.cppType == "std::optional<std::int64_t>") return "int | None";
  if (attribute.kind == "reals") return "TensorLike";
  if (attribute.kind == "order") return "float | str | None";
  if (attribute.kind == "word") return "str";
  if (attribute.cppType == "Axes") return "int | Sequence[int] | None";
  if (attribute.cppType == "Sections" || attribute.cppType == "IntList")
    return "int | Sequence[int]";
  if (attribute.kind == "permutation") return "Sequence[int] | None";
  if (attribute.kind == "shape" || attribute.takesValues) return "Sizes";
  if (attribute.isList()) return "int | Sequence[int]";
  return attribute.kind == "flag" ? "builtins.bool" : "int";
}

/// Python counts axes in the singular, and turns a tensor round where no permutation is given.
std::vector<Parameter> parametersOf(const Callable &op) {
  std::vector<Parameter> list;
  for (const ParameterRef &ref : op.order) {
    if (ref.isOperand) {
      const Operand &operand = op.operands[ref.number];
      list.push_back({operand.name,
                      operand.variadic   ? op.isComposite ? "Sequence[TensorLike] | TensorLike"
                                                          : "Sequence[TensorLike]"
                      : operand.optional ? "TensorLike | None"
                                         : "TensorLike",
                      operand.admitsWord + " (" + operand.dtypeList() + "), " + operand.shape});
      list.back().operand = &operand;
      if (operand.optional) list.back().defaultText = "None";
      continue;
    }
    const Attribute &attribute = op.attributes[ref.number];
    list.push_back({attribute.pythonName, stubType(attribute), attribute.what});
    Parameter &parameter = list.back();
    parameter.attribute = &attribute;
    if (attribute.hasDefault()) parameter.defaultText = defaultOf(attribute);
    if (attribute.kind == "permutation") parameter.defaultText = "None";
    parameter.keywordOnly = attribute.keywordOnly;
  }
  return list;
}

std::string signatureOf(ArrayRef<Parameter> parameters, bool typed) {
  std::string text;
  bool starred = false;
  for (const Parameter &parameter : parameters) {
    text += text.empty() ? "" : ", ";
    if (parameter.keywordOnly && !std::exchange(starred, true)) text += "*, ";
    text += parameter.name;
    if (typed) text += ": " + parameter.stubType;
    if (!parameter.defaultText.empty())
      text += (typed ? " = " : "=") + (typed ? std::string("...") : parameter.defaultText);
  }
  return text;
}

std::string docstringOf(const Callable &op, ArrayRef<Parameter> parameters) {
  std::string text;
  raw_string_ostream os(text);
  const auto words = [](StringRef text) { return inPython(text, ""); };
  os << words(op.summary) << "\n";
  if (!op.description.empty()) {
    os << "\n";
    SmallVector<StringRef> lines;
    StringRef(op.description).trim().split(lines, '\n');
    for (StringRef line : lines) os << words(line.trim()) << "\n";
  }
  if (std::string promotion = promotionInWords(op); !promotion.empty())
    os << "\n" << words(promotion) << "\n";
  if (!parameters.empty()) os << "\nArgs:\n";
  for (const Parameter &parameter : parameters)
    os << "    " << parameter.name << ": " << words(parameter.what) << "\n";
  os << "\nReturns:\n    " << words(op.resultDType) << ", " << words(op.resultShape) << "\n";
  if (!op.raises.empty()) os << "\nRaises:\n";
  for (const Raised &raised : op.raises)
    os << "    "
       << StringSwitch<StringRef>(raised.error)
              .Case("IndexError", "OutOfRangeError")
              .Default(raised.error)
       << ": if " << words(raised.when) << "\n";
  if (!op.example.empty()) {
    os << "\nExample:\n";
    SmallVector<StringRef> lines;
    const std::string example = pythonExample(op);
    StringRef(example).split(lines, '\n');
    for (StringRef line : lines) os << "    " << line << "\n";
  }
  return text;
}

std::string quoted(StringRef text) {
  std::string result = "\"";
  raw_string_ostream os(result);
  for (char c : text)
    if (c == '\n') os << "\\n";
    else if (c == '"' || c == '\\') os << '\\' << c;
    else os << c;
  return result + "\"";
}

/// The operands of a call, as the names by which the C++ function is given them.
SmallVector<std::string> emitOperands(const Callable &op, ArrayRef<Parameter> parameters,
                                      raw_ostream &os) {
  SmallVector<std::string> arguments;
  const std::size_t count = op.operands.size();
  if (op.isVariadic()) {
    os << "  const std::vector<Tensor> list = " << (op.isComposite ? "tensors_of" : "to_tensors")
       << "(values[0], {" << quoted(op.mnemonic) << ", " << quoted(parameters[0].name) << "});\n";
    return {"std::span<const Tensor>(list)"};
  }
  if (count == 0) return arguments;
  if (op.mnemonic == "cast") {
    // Numbers are cast as they are, not as the dtype that they have alone.
    os << "  const Place place{\"cast\", \"x\"};\n"
          "  if (values[0] == Py_None) refuse_object(values[0], place);\n"
          "  const Tensor operand = to_tensor_for_cast(values[0], to<DType>(values[1], {\"cast\", "
          "\"dtype\"}), place);\n";
    return {"operand"};
  }
  // A list of numbers is weak beside a tensor where operands take a common dtype.
  const std::size_t first = op.promotion == "none" ? count : op.operands[0].role == "predicate";
  const bool optional = any_of(op.operands, [](const Operand &o) { return o.optional; });
  os << "  const " << (optional ? "OptionalOperands<" : "Operands<") << count
     << "> operands(signature_" << op.mnemonic << ", values, " << first;
  // Lists for an operand of only one dtype take it.
  if (first == count &&
      any_of(op.operands, [](const Operand &o) { return o.dtypes.size() == 1; })) {
    os << ", {";
    for (auto [i, operand] : enumerate(op.operands))
      os << (i ? ", " : "")
         << (operand.dtypes.size() == 1 ? "DType::" + operand.dtypes[0] : "std::nullopt");
    os << "}";
  }
  if (optional) {
    // Where they are among the parameters.
    os << ", {";
    bool isFirst = true;
    for (auto [i, parameter] : enumerate(parameters))
      if (parameter.operand) os << (std::exchange(isFirst, false) ? "" : ", ") << i;
    os << "}";
  }
  os << ");\n";
  for (std::size_t i = 0; i < count; ++i)
    arguments.push_back((op.operands[i].optional ? "operands.optional(" : "operands[") +
                        std::to_string(i) + (op.operands[i].optional ? ")" : "]"));
  return arguments;
}

/// The call of the C++ function with the arguments of the Python one.
void emitCall(const Callable &op, ArrayRef<Parameter> parameters, raw_ostream &os) {
  const std::size_t count = op.operands.size();
  SmallVector<std::string> arguments = emitOperands(op, parameters, os);
  std::string options;
  for (auto [i, parameter] : enumerate(parameters)) {
    if (!parameter.attribute) continue;
    const Attribute &attribute = *parameter.attribute;
    const std::string value = "values[" + std::to_string(i) + "]";
    const std::string place = "{" + quoted(op.mnemonic) + ", " + quoted(parameter.name) + "}";
    if (attribute.hasDefault()) {
      os << "  const auto " << attribute.name << " = given<" << attribute.cppType << ">(" << value
         << ", " << attribute.optionDefault << ", " << place << ");\n";
      if (attribute.isOption)
        options += (options.empty() ? "." : ", .") + attribute.name + " = " + attribute.name;
      else arguments.push_back(attribute.name);
    } else {
      const std::string from = attribute.kind == "permutation"
                                   ? "to_permutation(" + value + ", operands[0], " + place + ")"
                                   : "to<" + attribute.cppType + ">(" + value + ", " + place + ")";
      os << "  const auto " << attribute.name << " = " << from << ";\n";
      arguments.push_back(attribute.name);
    }
  }
  if (!options.empty()) arguments.push_back("{" + options + "}");
  os << "  return unlocked("
     << (op.isVariadic()         ? "size_of_all(list)"
         : op.mnemonic == "cast" ? "operand.impl()->size"
         : count                 ? "operands.size()"
                                 : "0")
     << ", [&] { return weft::" << op.cppName << "(" << join(arguments, ", ") << "); });\n";
}

/// The C function of a Python function, with its signature.
void emitFunction(const Callable &op, raw_ostream &os) {
  const std::vector<Parameter> parameters = parametersOf(op);
  std::string names;
  for (const Parameter &parameter : parameters)
    names += (names.empty() ? "" : ", ") + quoted(parameter.name);
  const auto positional = count_if(parameters, [](const Parameter &p) { return !p.keywordOnly; });
  const auto required =
      count_if(parameters, [](const Parameter &p) { return p.defaultText.empty(); });
  os << "// " << origin(op) << "\n"
     << "Signature signature_" << op.mnemonic << "{" << quoted(op.mnemonic) << ", {" << names
     << "}, " << parameters.size() << ", " << positional << ", " << required << "};\n"
     << (op.givesOne() ? "Tensor" : "std::vector<Tensor>") << " call_" << op.mnemonic
     << "(PyObject *const *values) {\n";
  emitCall(op, parameters, os);
  os << "}\n\n";
}

/// Its row in a table of functions.
void emitRow(const Callable &op, raw_ostream &os) {
  const std::vector<Parameter> parameters = parametersOf(op);
  os << "    "
     << (op.givesOne()         ? "method<"
         : op.gives == "tuple" ? "tuple_method<"
                               : "list_method<")
     << "signature_" << op.mnemonic << ", call_" << op.mnemonic << ">("
     << quoted(op.mnemonic + "(" + signatureOf(parameters, false) + ")\n--\n\n" +
               docstringOf(op, parameters))
     << "),\n";
}

void emitTable(StringRef name, ArrayRef<const Callable *> functions, raw_ostream &os) {
  os << "PyMethodDef " << name << "[] = {\n";
  for (const Callable *function : functions) emitRow(*function, os);
  os << "    {nullptr, nullptr, 0, nullptr}};\n";
}

void emitStub(const Callable &op, raw_ostream &os) {
  const std::vector<Parameter> parameters = parametersOf(op);
  os << "def " << op.mnemonic << "(" << signatureOf(parameters, true) << ") -> "
     << (op.givesOne()         ? "Tensor"
         : op.gives == "tuple" ? "tuple[Tensor, ...]"
                               : "list[Tensor]")
     << ":\n";
  SmallVector<StringRef> lines;
  const std::string text = docstringOf(op, parameters);
  StringRef(text).rtrim().split(lines, '\n');
  for (auto [i, line] : enumerate(lines))
    os << (line.empty() ? "" : "    ") << (i == 0 ? "\"\"\"" : "") << line << "\n";
  os << "    \"\"\"\n\n";
}

} // namespace

static std::vector<CompositeRecord> compositesOfPython(const RecordKeeper &records) {
  std::vector<CompositeRecord> composites = readComposites(records);
  erase_if(composites, [](const CompositeRecord &composite) { return !composite.inPython; });
  return composites;
}

void emitPythonOps(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Ops and composites as functions of Python.");
  const std::vector<OpRecord> ops = readOps(records);
  const std::vector<CompositeRecord> composites = compositesOfPython(records);
  const std::vector<const Callable *> opFunctions = functionsOf(ops, {}),
                                      compositeFunctions = functionsOf({}, composites);
  for (const auto *functions : {&opFunctions, &compositeFunctions})
    for (const Callable *function : *functions) emitFunction(*function, os);
  emitTable("op_methods", opFunctions, os);
  emitTable("composite_methods", compositeFunctions, os);
  os << "\n/// Composites that tensors have as methods.\nconstexpr std::array "
        "kCompositeMethods = {";
  bool first = true;
  for (const CompositeRecord &composite : composites)
    if (composite.method)
      os << (std::exchange(first, false) ? "" : ", ") << quoted(composite.mnemonic);
  os << "};\n\n/// Names of NumPy for composites that have others.\n"
        "constexpr std::array<std::array<const char *, 2>, ";
  std::string aliases;
  std::size_t count = 0;
  for (const CompositeRecord &composite : composites)
    for (const std::string &name : composite.names) {
      aliases += "    {" + quoted(name) + ", " + quoted(composite.mnemonic) + "},\n";
      ++count;
    }
  os << count << "> kAliases = {{\n" << aliases << "}};\n";
}

void emitPythonStubs(const RecordKeeper &records, raw_ostream &os) {
  os << "# The ops and the functions made of them, in the order of their records. Generated by "
        "weft-tblgen from dialects/Weft/IR/*.td; do not edit.\n\n";
  const std::vector<OpRecord> ops = readOps(records);
  const std::vector<CompositeRecord> composites = compositesOfPython(records);
  const std::vector<const Callable *> functions = functionsOf(ops, composites);
  os << "__all__ += [\n";
  for (const Callable *function : functions) os << "    \"" << function->mnemonic << "\",\n";
  for (const CompositeRecord &composite : composites)
    for (const std::string &name : composite.names) os << "    \"" << name << "\",\n";
  os << "]\n\n";
  for (const Callable *function : functions) emitStub(*function, os);
  for (const CompositeRecord &composite : composites)
    for (const std::string &name : composite.names)
      os << name << " = " << composite.mnemonic << "\n";
}

} // namespace weft::tblgen
