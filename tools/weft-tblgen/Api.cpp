// Generates the public C++ functions.
#include "Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace weft::tblgen {

std::string optionsName(const Callable &op) {
  return convertToCamelFromSnakeCase(op.cppName, /*capitalizeFirst=*/true) + "Options";
}

bool hasOptions(const Callable &op) {
  return any_of(op.attributes, [](const Attribute &a) { return a.isOption; });
}

/// The parameter list; `declaration` adds default arguments. A variadic operand is a list of
/// operands written in the call, or a span of tensors.
std::string parametersInCpp(const Callable &op, bool declaration, bool asSpan) {
  std::vector<std::string> list;
  const auto add = [&](const Attribute &attribute) {
    list.push_back(attribute.parameterType() + attribute.name +
                   (attribute.hasDefault() && declaration ? " = " + attribute.optionDefault : ""));
  };
  for (auto [i, attribute] : enumerate(op.attributes))
    if (op.leads(i)) add(attribute);
  // What must be given may stand behind an operand that may be left out, which then is given as {}.
  bool more = false;
  for (auto [i, attribute] : enumerate(op.attributes))
    more |= !attribute.isOption && !attribute.hasDefault() && !op.leads(i);
  for (const Operand &operand : op.operands) {
    StringRef type = operand.optional    ? "const OptionalOperand &"
                     : !operand.variadic ? "const Operand &"
                     : asSpan            ? "std::span<const Tensor> "
                                         : "std::initializer_list<Operand> ";
    list.push_back(
        (type + operand.name + (operand.optional && declaration && !more ? " = {}" : "")).str());
  }
  for (auto [i, attribute] : enumerate(op.attributes))
    if (!attribute.isOption && !op.leads(i)) add(attribute);
  if (hasOptions(op)) list.push_back(optionsName(op) + " options" + (declaration ? " = {}" : ""));
  if (op.takesLine())
    list.push_back(std::string("std::source_location where") + (declaration ? " = WEFT_HERE" : ""));
  return join(list, ", ");
}

/// A list of words as one docstring: "/// ...", with an indent.
static void emitLine(const Twine &text, raw_ostream &os, StringRef indent = "") {
  os << indent << "/// " << text << "\n";
}

static void emitDocstring(const Callable &op, raw_ostream &os) {
  emitLine(op.summary, os);
  SmallVector<StringRef> lines;
  StringRef(op.description).trim().split(lines, '\n');
  for (StringRef line : lines)
    if (!op.description.empty()) emitLine(line.trim(), os);
  if (std::string words = promotionInWords(op); !words.empty()) emitLine(words, os);
  for (const Operand &operand : op.operands)
    emitLine("\\param " + operand.name + " " + operand.admitsWord + " (" + operand.dtypeList() +
                 "), " + operand.shape,
             os);
  for (const Attribute &attribute : op.attributes)
    if (!attribute.isOption) emitLine("\\param " + attribute.name + " " + attribute.what, os);
  if (op.results.empty()) emitLine("\\return " + op.resultDType + ", " + op.resultShape, os);
  for (const Raised &raised : op.raises)
    emitLine("\\throws " + raised.error + " if " + raised.when, os);
  if (!op.example.empty()) emitLine("\\code " + op.example + " \\endcode", os);
  emitLine("(" + origin(op) + ")", os);
}

/// The axis or axes without their option: `sum(x, 1)`, `sum(x, {0, 1})`, `concatenate({x, y}, 0)`.
static void emitShortForms(const Callable &op, StringRef result, raw_ostream &os) {
  const auto axis = find_if(op.attributes, [](const Attribute &a) {
    return a.isOption && (a.kind == "axes" || a.kind == "axis");
  });
  if (axis == op.attributes.end()) return;
  const auto emit = [&](StringRef templated, StringRef type, StringRef value, bool asSpan) {
    std::string parameters, arguments;
    for (const Operand &operand : op.operands) {
      if (operand.optional) return; // that is given by position, in front of the axis
      parameters += (!operand.variadic ? "const Operand &"
                     : asSpan          ? "std::span<const Tensor> "
                                       : "std::initializer_list<Operand> ") +
                    operand.name + ", ";
      arguments += operand.name + ", ";
    }
    for (const Attribute &attribute : op.attributes)
      if (!attribute.isOption) {
        parameters += attribute.parameterType() + attribute.name + ", ";
        arguments += attribute.name + ", ";
      }
    os << templated << "inline " << result << op.cppName << "(" << parameters << type << axis->name
       << (op.takesLine() ? ", std::source_location where = WEFT_HERE" : "") << ") {\n  "
       << optionsName(op) << " options;\n  options." << axis->name << " = " << value
       << ";\n  return " << op.cppName << "(" << arguments << "std::move(options)"
       << (op.takesLine() ? ", where" : "") << ");\n}\n";
  };
  const StringRef integer = "template <class Axis, class = detail::IfInteger<Axis>>\n";
  if (axis->kind == "axes") {
    emit("template <class Given, class = detail::IfAxes<Given>>\n", "const Given &", axis->name,
         false);
    // A template, as g++ takes braces with designators for a list of integers too.
    emit(integer, "std::initializer_list<Axis> ", "Axes(Ints(" + axis->name + "))", false);
    return;
  }
  const std::string one = "static_cast<std::int64_t>(" + axis->name + ")";
  emit(integer, "Axis ", one, false);
  if (op.isVariadic()) emit(integer, "Axis ", one, true);
}

/// The operands one by one behind a text, without braces: `einsum("ij,jk", x, y)`.
static void emitOneByOne(const Callable &op, StringRef result, raw_ostream &os) {
  if (!op.takesRest() || op.attributes.empty() || !op.leads(0)) return;
  const StringRef text = op.attributes[0].name;
  os << "template <class First, class... Rest,\n          class = "
        "std::enable_if_t<std::is_constructible_v<Operand, const First &, "
        "std::source_location>>>\ninline "
     << result << op.cppName << "(detail::LocatedText " << text
     << ", const First &first, const Rest &...rest) {\n  static_assert((std::is_constructible_v<"
        "Operand, const Rest &, std::source_location> && ...),\n                \""
     << op.cppName << ": the operands are tensors, variables and numbers\");\n  return "
     << op.cppName << "(" << text << ".text, {Operand(first, " << text << ".where), Operand(rest, "
     << text << ".where)...}, " << text << ".where);\n}\n";
}

void emitDeclaration(const Callable &op, raw_ostream &os) {
  if (hasOptions(op)) {
    os << "/// Options of `" << op.cppName << "`.\nstruct " << optionsName(op) << " {\n";
    for (const Attribute &attribute : op.allAttributes()) {
      if (!attribute.isOption) continue;
      emitLine(attribute.what, os, "  ");
      os << "  " << attribute.cppType << " " << attribute.name << " = " << attribute.optionDefault
         << ";\n";
    }
    os << "};\n";
  }
  if (!op.results.empty()) {
    os << "/// What `" << op.cppName << "` gives.\nstruct " << op.resultsName() << " {\n";
    std::string names;
    for (const NamedResult &result : op.results) {
      os << "  Tensor " << result.name << "; ///< " << result.what << "\n";
      names += ", " + result.name;
    }
    os << "  WEFT_FIELDS(" << op.resultsName() << names << ")\n};\n";
  }
  emitDocstring(op, os);
  const std::string result = op.resultType() + " ";
  os << result << op.cppName << "(" << parametersInCpp(op, true, false) << ");\n";
  if (op.isVariadic())
    os << result << op.cppName << "(" << parametersInCpp(op, true, true) << ");\n";
  emitShortForms(op, result, os);
  emitOneByOne(op, result, os);
  os << "\n";
}

void emitApiHeader(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The ops as C++ functions.");
  os << "#pragma once\n\n#include <initializer_list>\n#include <optional>\n#include "
        "<span>\n#include <utility>\n\n"
        "#include <weft/size.h>\n#include <weft/tensor.h>\n\nnamespace weft {\n\n"
        "// Besides what is said of each function, all of them throw a StateError for an undefined "
        "tensor, a\n// ShapeError for more dimensions or bytes than a tensor may have, a "
        "ValueError "
        "or DTypeError for a\n// number or DType of C++ that no dtype is, and OutOfMemory.\n\n";
  for (const OpRecord &op : readOps(records))
    if (!op.handwrittenApi) emitDeclaration(op, os);
  os << "} // namespace weft\n";
}

/// The attributes of the call, axes counted from the front.
static std::string attributes(const OpRecord &op) {
  std::string rank = "static_cast<std::int64_t>(shape.size())";
  if (!op.operands.empty())
    rank = "call::rank_of(OpCode::" + op.cppName + ", " + op.operands[0].name + ")";
  std::string text;
  for (const Attribute &attribute : op.attributes) {
    std::string value = (attribute.isOption ? "options." : "") + attribute.name;
    if (attribute.kind == "axes") value = "call::resolve_axes(" + value + ", " + rank + ")";
    else if (attribute.kind == "axis") value = "normalize_axis(" + value + ", " + rank + ")";
    else if (attribute.takesValues) value += ".numbers()";
    text += (text.empty() ? "Attr(" : ", Attr(") + value + ")";
  }
  return "Attrs{" + text + "}";
}

static void emitDefinition(const OpRecord &op, bool asSpan, raw_ostream &os) {
  os << "Tensor " << op.cppName << "(" << parametersInCpp(op, false, asSpan) << ") {\n";
  std::string code = "OpCode::" + op.cppName;
  if (op.elementwise() && op.attributes.empty() && op.operands.size() <= 2) {
    os << "  return " << (op.operands.size() == 1 ? "call::unary(" : "call::binary(") << code;
    for (const Operand &operand : op.operands) os << ", " << operand.name;
    os << ");\n}\n";
    return;
  }
  std::string operands = "{";
  for (auto [i, operand] : enumerate(op.operands)) operands += (i ? ", &" : "&") + operand.name;
  operands += "}";
  // Before attributes are looked at, whose errors name the line too.
  os << "  const CallSite site("
     << (op.takesLine()
             ? "where"
             : "call::where_of(" + (op.isVariadic() ? op.operands[0].name : operands) + ")")
     << ");\n  return ";
  if (op.isVariadic())
    os << "call::variadic(" << code << ", " << op.operands[0].name << ", " << attributes(op);
  else os << "call::general(" << code << ", " << operands << ", " << attributes(op);
  for (const Attribute &option : op.callOptions) os << ", options." << option.name;
  if (op.takesSizes) {
    std::string lists;
    for (const Attribute &attribute : op.attributes)
      if (attribute.takesValues) lists += (lists.empty() ? "&" : ", &") + attribute.name;
    os << ", {" << lists << "}";
  }
  os << ");\n}\n";
}

void emitApiSource(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "The ops as C++ functions: each hands its call to lib/Ops/Call.h.");
  os << "#include <weft/ops.h>\n\n#include \"OpDefs/ShapeFunctions.h\"\n#include "
        "\"Ops/Call.h\"\n#include \"Support/CallSite.h\"\n\n"
        "namespace weft {\n\n";
  for (const OpRecord &op : readOps(records)) {
    if (op.handwrittenApi) continue;
    os << "// " << origin(op) << "\n";
    emitDefinition(op, false, os);
    if (op.isVariadic()) emitDefinition(op, true, os);
    os << "\n";
  }
  os << "} // namespace weft\n";
}

} // namespace weft::tblgen
