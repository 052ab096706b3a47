// Generates ops and composites as Python functions: their C code, types and docstrings.
#include "Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace weft::tblgen {

namespace {

/// A parameter of a Python function: an operand, an attribute, or one that Python alone has.
struct Parameter {
  std::string name;
  std::string stubType;
  std::string what;
  std::string defaultText = {}; ///< empty: it must be given
  bool keywordOnly = false;
  const Attribute *attribute = nullptr;
  const Operand *operand = nullptr;
  const PythonParameter *ofPython = nullptr;
};

/// Python's word for a default of C++.
std::string defaultOf(const Attribute &attribute) {
  // The word of an enumerator.
  if (attribute.kind == "word")
    return "'" + StringRef(attribute.pythonDefault).rsplit("::").second.str() + "'";
  return StringSwitch<std::string>(attribute.pythonDefault)
      .Case("std::nullopt", "None")
      .Case("{}", "None")
      .Case("false", "False")
      .Case("true", "True")
      .Default(attribute.pythonDefault);
}

std::string stubType(const Attribute &attribute) {
  if (attribute.kind == "dtype") return "DTypeLike";
  if (attribute.kind == "optional_dtype") return "DTypeLike | None";
  if (attribute.cppType == "std::optional<RealList>") return "Sequence[float] | None";
  if (attribute.kind == "pad_width") return "int | Sequence[int] | Sequence[Sequence[int]]";
  if (attribute.kind == "bins") return "int | TensorLike";
  if (attribute.kind == "size")
    return attribute.hasDefault() ? "int | Tensor | None" : "int | Tensor";
  if (attribute.cppType == "Integers") return "Sizes";
  if (attribute.cppType == "double") return "float";
  if (attribute.cppType == "std::optional<double>") return "float | None";
  if (attribute.cppType == "std::optional<std::int64_t>") return "int | None";
  if (attribute.kind == "reals") return "TensorLike";
  if (attribute.kind == "order") return "float | str | None";
  if (attribute.kind == "word" || attribute.kind == "text") return "str";
  if (attribute.kind == "contraction") return "int | Sequence[int | Sequence[int]]";
  if (attribute.cppType == "Axes") return "int | Sequence[int] | None";
  if (attribute.cppType == "Sections") return "int | Sequence[int | Tensor]";
  if (attribute.cppType == "IntList") return "int | Sequence[int]";
  if (attribute.kind == "permutation") return "Sequence[int] | None";
  if (attribute.cppType == "std::optional<Sizes>") return "Sizes | None";
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
                      operand.rest       ? "TensorLike"
                      : operand.variadic ? op.isComposite ? "Sequence[TensorLike] | TensorLike"
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
  if (!op.pythonPair.empty()) {
    list[0].name = op.pythonPair;
    list[0].stubType = "tuple[TensorLike, TensorLike]";
    list[0].what = "a pair of " + list[0].what + "; and " + list[1].what;
    list.erase(list.begin() + 1);
  }
  for (const Attribute &option : op.callOptions) {
    list.push_back({option.pythonName, stubType(option), option.what, defaultOf(option), true});
    list.back().attribute = &option;
  }
  for (const PythonParameter &own : op.pythonParameters) {
    list.push_back({own.name, own.type, own.what, own.defaultText, true});
    list.back().ofPython = &own;
  }
  return list;
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
  os << "\nReturns:\n";
  if (op.results.empty())
    os << "    " << words(op.resultDType) << ", " << words(op.resultShape) << "\n";
  for (const NamedResult &result : op.results)
    os << "    " << result.name << ": " << words(result.what) << "\n";
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
       << "(values[" << (op.takesRest() ? parameters.size() - 1 : 0) << "], {"
       << quoted(op.mnemonic) << ", " << quoted(op.operands[0].name) << "}"
       << (op.isComposite && op.promotion == "none" ? ", false" : "") << ");\n";
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
  const std::size_t first = op.promotion == "none" ? count : op.operands[0].keepsDType();
  const bool optional = !parameters.front().operand ||
                        any_of(op.operands, [](const Operand &o) { return o.optional; });
  // What keeps its dtype takes none from what it stands beside.
  unsigned apart = 0;
  if (first != count)
    for (auto [i, operand] : enumerate(op.operands)) apart |= unsigned(operand.keepsDType()) << i;
  std::string signature = "signature_" + op.identifier(), values = "values";
  if (!op.pythonPair.empty()) {
    // By their own names, one by one.
    os << "  const Pair pair(values[0], {" << quoted(op.mnemonic) << ", " << quoted(op.pythonPair)
       << "});\n  PyObject *const each[] = {pair[0], pair[1]";
    for (std::size_t i = 2; i < count; ++i) os << ", values[" << i - 1 << "]";
    os << "};\n";
    signature = "parts_" + op.identifier();
    values = "each";
  }
  os << "  const " << (optional ? "OptionalOperands<" : "Operands<") << count << "> operands("
     << signature << ", " << values << ", " << first;
  // Lists for an operand of only one dtype take it.
  if (first == count && !optional &&
      any_of(op.operands, [](const Operand &o) { return o.dtypes.size() == 1; })) {
    os << ", {";
    for (auto [i, operand] : enumerate(op.operands))
      os << (i ? ", " : "")
         << (operand.dtypes.size() == 1 ? "DType::" + operand.dtypes[0] : "std::nullopt");
    os << "}";
  }
  if (optional) {
    // Where they are among the parameters, and which take no dtype together with others.
    os << ", {";
    bool isFirst = true;
    for (auto [i, parameter] : enumerate(parameters))
      if (parameter.operand) os << (std::exchange(isFirst, false) ? "" : ", ") << i;
    os << "}";
  } else if (apart != 0) {
    os << ", {}";
  }
  if (apart != 0) os << ", " << apart;
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
    std::string value = "values[" + std::to_string(i) + "]";
    const std::string place = "{" + quoted(op.mnemonic) + ", " + quoted(parameter.name) + "}";
    if (parameter.ofPython && parameter.ofPython->standsFor.empty())
      os << "  " << parameter.ofPython->function << "(" << value << ", " << place << ", "
         << (arguments.empty() ? "{}" : arguments[0]) << ");\n";
    if (!parameter.attribute) continue;
    const Attribute &attribute = *parameter.attribute;
    for (auto [at, other] : enumerate(parameters))
      if (other.ofPython && other.ofPython->standsFor == parameter.name)
        value = "either(" + value + ", values[" + std::to_string(at) + "], " + place + ", " +
                quoted(other.name) + ")";
    if (attribute.hasDefault()) {
      os << "  const auto " << attribute.name << " = given<" << attribute.cppType << ">(" << value
         << ", " << attribute.pythonDefault << ", " << place << ");\n";
      if (attribute.isOption)
        options += (options.empty() ? "." : ", .") + attribute.name + " = " + attribute.name;
      else arguments.push_back(attribute.name);
    } else {
      const std::string from = attribute.kind == "permutation"
                                   ? "to_permutation(" + value + ", operands[0], " + place + ")"
                                   : "to<" + attribute.cppType + ">(" + value + ", " + place + ")";
      os << "  const auto " << attribute.name << " = " << from << ";\n";
      const bool leads = op.leads(static_cast<std::size_t>(&attribute - op.attributes.data()));
      arguments.insert(leads ? arguments.begin() : arguments.end(), attribute.name);
    }
  }
  if (!options.empty()) arguments.push_back("{" + options + "}");
  os << (op.results.empty() ? "  return unlocked(" : "  auto found = unlocked(")
     << (op.isVariadic()         ? "size_of_all(list)"
         : op.mnemonic == "cast" ? "operand.impl()->size"
         : count                 ? "operands.size()"
                                 : "0")
     << ", [&] { return weft::" << op.scope() << op.cppName << "(" << join(arguments, ", ")
     << "); });\n";
  if (op.results.empty()) return;
  os << "  return {";
  for (const NamedResult &result : op.results) os << "std::move(found." << result.name << "), ";
  os << "};\n";
}

/// The type of what it gives in stubs.
std::string resultOf(const Callable &op) {
  return !op.results.empty()   ? op.resultsName()
         : op.givesOne()       ? "Tensor"
         : op.gives == "tuple" ? "tuple[Tensor, ...]"
         : op.gives == "list"  ? "list[Tensor]"
                               : "Any";
}

/// The C function of a Python function, with its signature. What is given one by one is the last
/// value.
void emitFunction(const Callable &op, raw_ostream &os) {
  std::vector<Parameter> parameters = parametersOf(op);
  const auto isRest = [](const Parameter &p) { return p.operand != nullptr && p.operand->rest; };
  std::string list;
  bool starred = false;
  for (const Parameter &parameter : parameters) {
    list += list.empty() ? "" : ", ";
    if (isRest(parameter)) starred = true;
    else if (parameter.keywordOnly && !std::exchange(starred, true)) list += "\"*\", ";
    list += "{" + quoted((isRest(parameter) ? "*" : "") + parameter.name) + ", " +
            quoted(parameter.stubType);
    if (!parameter.defaultText.empty()) list += ", " + quoted(parameter.defaultText);
    list += "}";
  }
  std::stable_partition(parameters.begin(), parameters.end(), std::not_fn(isRest));
  os << "// " << origin(op) << "\n"
     << "const Signature signature_" << op.identifier() << "{" << quoted(op.mnemonic) << ", {"
     << list << "}, " << quoted(resultOf(op)) << "};\n";
  if (!op.pythonPair.empty()) {
    os << "const Signature parts_" << op.identifier() << "{" << quoted(op.mnemonic) << ", {";
    for (const Operand &operand : op.operands)
      os << "{" << quoted(operand.name) << ", \"TensorLike\"}, ";
    os << "}, " << quoted(resultOf(op)) << "};\n";
  }
  os << (op.givesOne() ? "Tensor" : "std::vector<Tensor>") << " call_" << op.identifier()
     << "(PyObject *const *values) {\n";
  emitCall(op, parameters, os);
  os << "}\n\n";
  if (op.results.empty()) return;
  os << "NamedTuple results_" << op.identifier() << "{"
     << quoted((op.module.empty() ? "" : op.module + ".") + op.resultsName()) << ", "
     << quoted("What `" + op.mnemonic + "` gives.") << ", {";
  for (const NamedResult &result : op.results) os << quoted(result.name) << ", ";
  os << "}};\n\n";
}

/// Its row in a table of functions.
void emitRow(const Callable &op, raw_ostream &os) {
  const std::vector<Parameter> parameters = parametersOf(op);
  os << "    ";
  if (op.givesOne() && !op.takesRest()) os << "method<";
  else if (!op.results.empty()) os << "named_method<results_" << op.identifier() << ", ";
  else
    os << "composite_method<Gives::" << op.gives << ", " << (op.takesRest() ? "true" : "false")
       << ", ";
  os << "signature_" << op.identifier() << ", call_" << op.identifier() << ">("
     << quoted(docstringOf(op, parameters)) << "),\n";
}

void emitTable(StringRef name, ArrayRef<const Callable *> functions, raw_ostream &os) {
  os << "PyMethodDef " << name << "[] = {\n";
  for (const Callable *function : functions) emitRow(*function, os);
  os << "    {nullptr, nullptr, 0, nullptr}};\n";
}

} // namespace

static std::vector<CompositeRecord> compositesOfPython(const RecordKeeper &records) {
  std::vector<CompositeRecord> composites = readComposites(records);
  erase_if(composites, [](const CompositeRecord &composite) { return !composite.inPython; });
  return composites;
}

/// The ops and composites that Python has, by their names there.
static std::vector<OpRecord> opsOfPython(const RecordKeeper &records) {
  std::vector<OpRecord> ops = readOps(records);
  for (OpRecord &op : ops) op.mnemonic = op.def->getValueAsString("pythonName").str();
  erase_if(ops, [](const OpRecord &op) { return op.mnemonic.empty(); });
  return ops;
}

void emitPythonOps(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Ops and composites as functions of Python.");
  const std::vector<OpRecord> ops = opsOfPython(records);
  const std::vector<CompositeRecord> composites = compositesOfPython(records);
  const std::vector<const Callable *> opFunctions = functionsOf(ops, {}),
                                      compositeFunctions = functionsOf({}, composites);
  std::string methods, aliases;
  std::size_t count = 0;
  for (const auto *functions : {&opFunctions, &compositeFunctions})
    for (const Callable *function : *functions) {
      emitFunction(*function, os);
      if (function->method) methods += (methods.empty() ? "" : ", ") + quoted(function->mnemonic);
      count += function->names.size();
      for (const std::string &name : function->names)
        aliases += "    {" + quoted(name) + ", " + quoted(function->mnemonic) + "},\n";
    }
  emitTable("op_methods", opFunctions, os);
  emitTable("composite_methods", compositeFunctions, os);
  os << "\n/// Functions that tensors have as methods.\nconstexpr std::array kMethods = {"
     << methods
     << "};\n\n/// Names of NumPy for functions that have others.\n"
        "constexpr std::array<std::array<const char *, 2>, "
     << count << "> kAliases = {{\n"
     << aliases << "}};\n";
}

} // namespace weft::tblgen
