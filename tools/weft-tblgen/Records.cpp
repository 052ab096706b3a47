// Reads and checks the records of ops and composites.
#include "Records.h"
#include "DTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace weft::tblgen {

const Record *operatorOf(const DagInit *dag) { return cast<DefInit>(dag->getOperator())->getDef(); }

bool isOperator(const DagInit *dag, StringRef name) { return operatorOf(dag)->getName() == name; }

int OpRecord::operandIndex(StringRef name) const {
  for (auto [i, operand] : enumerate(operands))
    if (operand.name == name) return static_cast<int>(i);
  return -1;
}

int OpRecord::resultIndex(StringRef name) const {
  auto found = find(resultNames, name);
  return found == resultNames.end() ? -1 : static_cast<int>(found - resultNames.begin());
}

static void collectNames(const DagInit *dag, StringSet<> &names) {
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    if (const auto *inner = dyn_cast<DagInit>(dag->getArg(i))) collectNames(inner, names);
    else if (const auto *name = dag->getArgName(i)) names.insert(name->getValue());
  }
}

unsigned OpRecord::saved() const {
  unsigned mask = 0;
  for (unsigned i = 0; i < vjp.size(); ++i) mask |= savedFor(i);
  return mask;
}

unsigned OpRecord::savedFor(unsigned operand) const {
  StringSet<> names;
  collectNames(vjp[operand], names);
  unsigned mask = 0;
  for (auto [i, operand] : enumerate(operands))
    if (names.contains(operand.name)) mask |= 1u << i;
  if (takesSizes && names.contains("sizes")) mask |= 1u << operands.size();
  for (auto [i, result] : enumerate(resultNames))
    if (names.contains(result)) mask |= 1u << (operandRows() + i);
  return mask;
}

bool OpRecord::admitsComplex() const {
  return any_of(operands, [](const Operand &operand) {
    return any_of(operand.dtypes,
                  [](StringRef dtype) { return findDType(dtype)->kind == "complex"; });
  });
}

bool OpRecord::creates() const {
  const auto isStream = [](const Operand &operand) { return operand.isStream; };
  return !hasEffect() && (operands.empty() || llvm::any_of(operands, isStream));
}

bool OpRecord::differentiableBy(unsigned operand) const {
  return operand < vjp.size() && !isOperator(vjp[operand], "no_grad");
}

std::vector<Attribute> Callable::allAttributes() const {
  std::vector<Attribute> all = attributes;
  all.insert(all.end(), callOptions.begin(), callOptions.end());
  return all;
}

bool Callable::isVariadic() const {
  return any_of(operands, [](const Operand &operand) { return operand.variadic; });
}

bool Callable::leads(std::size_t attribute) const {
  if (operands.empty()) return false;
  for (const ParameterRef &ref : order) {
    if (ref.isOperand) return false;
    if (ref.number == attribute) return true;
  }
  return false;
}

std::string Callable::identifier() const {
  return module.empty() ? mnemonic : module + "_" + cppName;
}

std::string Callable::resultsName() const {
  return convertToCamelFromSnakeCase(cppName, /*capitalizeFirst=*/true);
}

std::string Callable::resultType() const {
  if (!results.empty()) return scope() + resultsName();
  return givesOne() ? "Tensor" : "std::vector<Tensor>";
}

std::string origin(const Callable &op) { return op.className + ", " + op.file; }

std::string Operand::dtypeList() const {
  return join(map_range(dtypes, [](const std::string &d) { return findDType(d)->name; }), ", ");
}

std::string promotionInWords(const Callable &op) {
  if (op.promotion == "number") return "A bool becomes an i64.";
  if (op.promotion == "truth") return "A number is true where it is not 0.";
  if (op.promotion == "sum")
    return "A bool becomes an i64, integers of fewer bits than 32 those of 32.";
  std::string words;
  if (op.operands.size() > 1 || (!op.operands.empty() && op.operands[0].variadic))
    words = "Operands take their common dtype";
  if (op.promotion == "floating")
    return words.empty() ? "An integer or bool becomes an f32."
                         : words + ", integers and bools f32.";
  return op.promotion == "common" && !words.empty() ? words + "." : "";
}

/// Tokens order effects in the IR alone; calls have none.
static bool isToken(const Record *type) {
  if (type->isSubClassOf("Optional")) type = type->getValueAsDef("baseType");
  return type->getName() == "Weft_TokenType";
}

static Operand readOperand(const Record *type, StringRef name) {
  Operand operand;
  operand.name = name.str();
  while (!type->isSubClassOf("Weft_TensorOf")) {
    if (type->isSubClassOf("Variadic") || type->isSubClassOf("Weft_List")) {
      operand.variadic = true;
      operand.rest = type->isSubClassOf("Weft_Rest");
      type = type->getValueAsDef("baseType");
    } else if (type->isSubClassOf("Weft_Optional")) {
      operand.optional = true;
      type = type->getValueAsDef("baseType");
    } else if (type->isSubClassOf("OpVariable")) {
      type = type->getValueAsDef("constraint");
    } else {
      operand.variable = true;
      return operand;
    }
  }
  operand.admitsWord = type->getValueAsString("kindName").str();
  operand.role = type->getValueAsString("role").str();
  operand.isStream = type->getValueAsBit("isStream");
  const std::vector<StringRef> admitted = type->getValueAsListOfStrings("admits");
  for (const DTypeRow &row : dtypeRows())
    if (is_contained(admitted, row.kind) || is_contained(admitted, row.enumerator))
      operand.dtypes.push_back(row.enumerator.str());
  return operand;
}

static Attribute readAttribute(const Record *type, StringRef name) {
  Attribute attribute{
      name.str(), type->getValueAsString("attrKind").str(), type->getValueAsString("cppType").str(),
      type->getValueAsString("optionDefault").str(), type->getValueAsString("what").str()};
  if (attribute.kind == "per_axis") attribute.whole = type->getValueAsString("whole").str();
  attribute.pythonDefault = attribute.optionDefault;
  if (const RecordVal *takes = type->getValue("takesValues"))
    attribute.takesValues = cast<BitInit>(takes->getValue())->getValue();
  if (type->isSubClassOf("Weft_Parameter")) {
    attribute.pythonName = type->getValueAsString("pythonName").str();
    attribute.pythonDefault = type->getValueAsString("pythonDefault").str();
  }
  // Python counts axes in the singular.
  if (attribute.pythonName.empty())
    attribute.pythonName = attribute.kind == "axes"          ? "axis"
                           : attribute.kind == "permutation" ? "axes"
                                                             : attribute.name;
  return attribute;
}

/// Operands, what must be given, and options; of these axes may be given by position, as NumPy has
/// it.
static void orderParameters(OpRecord &op) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) op.order.push_back({true, i});
  for (Attribute &attribute : op.attributes) {
    attribute.isOption = attribute.hasDefault();
    attribute.keywordOnly =
        attribute.isOption && attribute.kind != "axis" && attribute.kind != "axes";
  }
  for (bool options : {false, true})
    for (auto [i, attribute] : enumerate(op.attributes))
      if (attribute.isOption == options) op.order.push_back({false, i});
  if (!op.def->getValueAsBit("takesDType")) return;
  if (op.operands.size() != 1 || op.attributes.empty())
    PrintFatalError(op.def,
                    "'" + op.mnemonic + "' takes a dtype, and has not one operand and options");
  Attribute dtype{"dtype", "optional_dtype", "std::optional<DType>", "std::nullopt",
                  "in which dtype it is computed, to which x is cast first"};
  dtype.pythonName = dtype.name;
  dtype.pythonDefault = dtype.optionDefault;
  dtype.isOption = dtype.keywordOnly = true;
  op.callOptions.push_back(std::move(dtype));
}

static void readArguments(OpRecord &op) {
  const DagInit *arguments = op.def->getValueAsDag("arguments");
  for (unsigned i = 0; i < arguments->getNumArgs(); ++i) {
    const Record *type = cast<DefInit>(arguments->getArg(i))->getDef();
    StringRef name = arguments->getArgNameStr(i);
    if (!type->isSubClassOf("Attr")) {
      if (isToken(type)) continue;
      Operand operand = readOperand(type, name);
      // A call carries its variable as an attribute; only the IR has handles.
      if (operand.variable)
        op.attributes.push_back({name.str(), "variable", "VariableRef", "", "the variable"});
      else if (operand.role == "size") op.takesSizes = true;
      else op.operands.push_back(std::move(operand));
      continue;
    }
    op.attributes.push_back(readAttribute(type, name));
  }
  orderParameters(op);
  const DagInit *results = op.def->getValueAsDag("results");
  for (unsigned i = 0; i < results->getNumArgs(); ++i)
    if (!isToken(cast<DefInit>(results->getArg(i))->getDef()))
      op.resultNames.push_back(results->getArgNameStr(i).str());
}

/// Checks that a derivative's dag is made of known ops, rules and values.
static void checkDag(const OpRecord &op, const DagInit *dag, const StringSet<> &values,
                     const std::vector<OpRecord> &ops) {
  const Record *head = operatorOf(dag);
  if (head->isSubClassOf("Emit")) {
    StringRef mnemonic = head->getValueAsString("mnemonic");
    if (none_of(ops, [&](const OpRecord &other) {
          return other.mnemonic == mnemonic && (!other.inactive.empty() || !other.vjp.empty());
        }))
      PrintFatalError(op.def, "the derivative of '" + op.mnemonic + "' emits '" + mnemonic +
                                  "', which has neither a derivative nor an inactive mark");
  }
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    if (const auto *inner = dyn_cast<DagInit>(dag->getArg(i))) {
      checkDag(op, inner, values, ops);
      continue;
    }
    const StringInit *name = dag->getArgName(i);
    if (name && !values.contains(name->getValue()))
      PrintFatalError(op.def, "the derivative of '" + op.mnemonic + "' mentions $" +
                                  name->getValue() + ", which is no operand, result or cotangent");
  }
}

static void checkDerivative(const OpRecord &op, const std::vector<OpRecord> &ops) {
  if (!op.inactive.empty()) {
    if (!op.vjp.empty())
      PrintFatalError(op.def, "'" + op.mnemonic + "' has a derivative and is marked inactive");
    return;
  }
  if (op.vjp.size() != op.operands.size())
    PrintFatalError(op.def, "'" + op.mnemonic + "' has " + Twine(op.vjp.size()) +
                                " derivatives for " + Twine(op.operands.size()) +
                                " operands; an op without one says why in `inactive`");
  StringSet<> reverse, forward;
  for (const Operand &operand : op.operands) {
    reverse.insert(operand.name);
    forward.insert(operand.name);
    forward.insert("d" + operand.name);
  }
  if (op.takesSizes) reverse.insert("sizes");
  for (const std::string &result : op.resultNames) {
    reverse.insert(result);
    reverse.insert("d" + result);
    forward.insert(result);
  }
  if (op.hasSeveral() && !operatorOf(op.jvp)->isSubClassOf("Rule"))
    PrintFatalError(op.def, "'" + op.mnemonic +
                                "' has several results: its `jvp` is a rule that gives a tangent "
                                "of each");
  for (const DagInit *dag : op.vjp) checkDag(op, dag, reverse, ops);
  checkDag(op, op.jvp, forward, ops);
}

/// Checks that an op which admits complex numbers says how they are computed, in a way that ops of
/// its kind are. Effects show or keep them as they are.
static void checkComplex(const OpRecord &op) {
  const auto fail = [&](const Twine &what) {
    PrintFatalError(op.def, "'" + Twine(op.mnemonic) + "' " + what);
  };
  if (op.onComplex == "none" && op.kind != "effect" && op.admitsComplex())
    fail("admits complex numbers, and does not say how they are computed (`onComplex`): " +
         Twine(op.elementwise() ? "a Formula, or each_part"
               : op.isRoutine() ? "whole_elements"
                                : "each_part, or an OwnFunction"));
  if (op.isRoutine() && op.onComplex != "none" && op.onComplex != "whole_elements")
    fail("is a routine: for complex numbers it says whole_elements");
  if (!op.isRoutine() && op.onComplex == "whole_elements")
    fail("is no routine, and says whole_elements for complex numbers");
  if (op.onComplex == "formula" && !op.elementwise())
    fail("is not elementwise, and names a Formula for complex numbers");
  if (op.onComplex == "own_function" && op.elementwise())
    fail("is elementwise: for complex numbers it names a Formula, not an OwnFunction");
}

/// Whether an operand may come with a dtype that it does not admit, after promotion.
static bool mayRefuseDType(const Callable &op, const Operand &operand) {
  if (operand.keepsDType()) return true;
  if (op.promotion == "truth") return false;
  return any_of(dtypeRows(), [&](const DTypeRow &row) {
    if (op.promotion == "floating" && !isInexact(row)) return false;
    if ((op.promotion == "number" || op.promotion == "sum") && row.kind == "boolean") return false;
    return !is_contained(operand.dtypes, row.enumerator);
  });
}

/// Whether operands may come with dtypes that have none in common, u64 beside an integer with a
/// sign. Comparisons that are ops go by value.
static bool mayHaveNoCommonDType(const Callable &op) {
  if (op.promotion == "none" || (!op.isComposite && op.resultDType == "bool")) return false;
  std::size_t meeting = 0;
  for (const Operand &operand : op.operands)
    if (!operand.keepsDType()) meeting += operand.variadic ? 2 : 1;
  return meeting > 1;
}

/// Reads what the record says in words of shapes, dtypes and errors.
static void readWords(Callable &op, bool hasResult) {
  const auto fail = [&](const Twine &what) {
    PrintFatalError(op.def, "'" + Twine(op.mnemonic) + "' " + what);
  };
  const auto isSet = [&](StringRef field) { return !isa<UnsetInit>(op.def->getValueInit(field)); };
  if (!isSet("operandShapes") || !isSet("raises"))
    fail("says nothing of its operands' shapes (`operandShapes`) or of its errors (`raises`)");
  const std::vector<StringRef> shapes = op.def->getValueAsListOfStrings("operandShapes");
  if (shapes.size() != op.operands.size())
    fail("says of " + Twine(shapes.size()) + " operands what shape they have, and has " +
         Twine(op.operands.size()));
  for (auto [operand, shape] : zip(op.operands, shapes)) operand.shape = shape.str();
  if (hasResult) {
    if (!isSet("resultShape") || !isSet("resultDType"))
      fail("does not say what shape (`resultShape`) and dtype (`resultDType`) its result has");
    op.resultShape = op.def->getValueAsString("resultShape").str();
    op.resultDType = op.def->getValueAsString("resultDType").str();
  }
  for (const Operand &operand : op.operands) {
    if (!mayRefuseDType(op, operand)) continue;
    const std::string words = " is not " + operand.admitsWord;
    if (!op.raises.empty() && StringRef(op.raises.back().when).ends_with(words))
      op.raises.back().when = StringRef(op.raises.back().when).drop_back(words.size()).str() +
                              " or " + operand.name + words;
    else op.raises.push_back({"DTypeError", "dtype", operand.name + words});
  }
  if (mayHaveNoCommonDType(op))
    op.raises.push_back({"DTypeError", "dtype", "u64 meets an integer with a sign"});
  for (const Record *raised : op.def->getValueAsListOfDefs("raises")) {
    const Record *error = raised->getValueAsDef("error");
    op.raises.push_back({error->getName().str(), error->getValueAsString("kind").str(),
                         raised->getValueAsString("when").str()});
  }
}

/// Every op that computes something is tested on samples, against NumPy.
static void checkSamples(const Callable &op) {
  for (StringRef field : {"samples", "numpy"})
    if (isa<UnsetInit>(op.def->getValueInit(field)))
      PrintFatalError(op.def, "'" + op.mnemonic + "' has no `" + field +
                                  "`, by which the tests of every op test it");
}

/// The records of a class, in the order of the files.
static std::vector<const Record *> recordsOf(const RecordKeeper &records, StringRef of) {
  std::vector<const Record *> defs(records.getAllDerivedDefinitions(of));
  sort(defs, [](const Record *a, const Record *b) { return a->getID() < b->getID(); });
  return defs;
}

/// What Weft_Callable has, and every record.
static void readCallable(Callable &op, const Record *def) {
  op.def = def;
  op.className = def->getName().drop_front(StringRef("Weft_").size()).str();
  op.promotion = def->getValueAsString("promotion").str();
  op.summary = def->getValueAsString("summary").str();
  op.description = def->getValueAsString("description").str();
  op.example = def->getValueAsString("example").str();
  op.method = def->getValueAsBit("method");
  for (const Record *name : def->getValueAsListOfDefs("names"))
    op.names.push_back(name->getValueAsString("name").str());
  for (const Record *parameter : def->getValueAsListOfDefs("pythonParameters"))
    op.pythonParameters.push_back(
        {parameter->getValueAsString("name").str(), parameter->getValueAsString("type").str(),
         parameter->getValueAsString("pythonDefault").str(),
         parameter->getValueAsString("what").str(), parameter->getValueAsString("function").str(),
         parameter->isSubClassOf("Weft_OtherName") ? parameter->getValueAsString("standsFor").str()
                                                   : ""});
  // Without the line: a record that moves would change every generated file and all that is built
  // of them.
  StringRef file = SrcMgr.getMemoryBuffer(SrcMgr.FindBufferContainingLoc(def->getLoc()[0]))
                       ->getBufferIdentifier();
  op.file = sys::path::filename(file).str();
}

/// What a routine is given: tensors, and attributes that are one integer each. That values make it
/// throw is known of its op: so variables are seen to before it runs.
static void checkRoutine(const OpRecord &op) {
  if (op.operands.empty() || op.isVariadic() || op.takesSizes || !op.hasResult())
    PrintFatalError(op.def, "'" + op.mnemonic +
                                "' is a routine: it has operands of a fixed number, and a result");
  for (const Attribute &attribute : op.attributes)
    if (!is_contained({"flag", "axis", "count", "number"}, attribute.kind))
      PrintFatalError(op.def, "'" + op.mnemonic +
                                  "' is a routine, whose attributes are flags, axes, "
                                  "counts and numbers: '" +
                                  attribute.name + "' is none");
  const bool stops = any_of(op.def->getValueAsListOfDefs("traits"), [](const Record *trait) {
    return trait->getName() == "Weft_StopsCall";
  });
  for (const Raised &raised : op.raises)
    if (!stops && is_contained({"linalg", "io"}, raised.kind))
      PrintFatalError(op.def, "'" + op.mnemonic + "' is a routine that raises " + raised.error +
                                  ", so it may stop a call (`Weft_StopsCall`)");
}

/// What the record says in words of each of several results.
static void readResults(OpRecord &op) {
  constexpr std::size_t kMostResults = 4; // of OpDefs/OpInfo.h
  const std::vector<StringRef> words = op.def->getValueAsListOfStrings("resultWords");
  if (!op.isRoutine() || !op.handwrittenApi || op.resultNames.size() > kMostResults)
    PrintFatalError(op.def, "'" + op.mnemonic + "' has " + Twine(op.resultNames.size()) +
                                " results: routines without a C++ function of their own "
                                "(`handwrittenApi`) alone have several, at most " +
                                Twine(kMostResults));
  if (words.size() != op.resultNames.size())
    PrintFatalError(op.def, "'" + op.mnemonic + "' says of " + Twine(words.size()) +
                                " results what they are (`resultWords`), and has " +
                                Twine(op.resultNames.size()));
  for (auto [name, what] : zip(op.resultNames, words)) op.results.push_back({name, what.str()});
  op.gives = "named";
}

std::vector<OpRecord> readOps(const RecordKeeper &records) {
  std::vector<OpRecord> ops;
  for (const Record *def : recordsOf(records, "Weft_Op")) {
    OpRecord op;
    readCallable(op, def);
    op.mnemonic = def->getValueAsString("opName").str();
    op.cppName = def->getValueAsString("cppName").str();
    op.kind = def->getValueAsString("kind").str();
    op.shapeFunction = def->getValueAsOptionalString("shapeFunction").value_or("").str();
    op.batching = def->getValueAsString("batching").str();
    op.init = def->getValueAsString("init").str();
    op.inactive = def->getValueAsString("inactive").str();
    const Record *onComplex = def->getValueAsDef("onComplex");
    op.onComplex = onComplex->getValueAsString("way").str();
    op.complexFunction = onComplex->getValueAsString("function").str();
    op.handwrittenApi = def->getValueAsBit("handwrittenApi");
    op.staysInLinalg = any_of(*def->getValueAsListInit("traits"), [](const Init *trait) {
      return cast<DefInit>(trait)->getDef()->getName() == "Weft_StaysInLinalg";
    });
    op.cost = static_cast<int>(def->getValueAsInt("cost"));
    op.body = def->getValueAsDag("body");
    op.jvp = def->getValueAsDag("jvp");
    for (const Init *dag : *def->getValueAsListInit("vjp")) op.vjp.push_back(cast<DagInit>(dag));
    readArguments(op);
    if (op.hasSeveral()) readResults(op);
    readWords(op, op.resultNames.size() == 1);
    if (op.isRoutine()) checkRoutine(op);
    ops.push_back(std::move(op));
  }
  for (const OpRecord &op : ops) {
    checkDerivative(op, ops);
    checkComplex(op);
    if (op.hasSamples()) checkSamples(op);
  }
  return ops;
}

/// The parameters of a composite. Those behind `star` are given by keyword alone.
static void readParameters(CompositeRecord &composite) {
  const DagInit *parameters = composite.def->getValueAsDag("parameters");
  bool starred = false;
  for (unsigned i = 0; i < parameters->getNumArgs(); ++i) {
    const Record *type = cast<DefInit>(parameters->getArg(i))->getDef();
    StringRef name = parameters->getArgNameStr(i);
    if (type->getName() == "star") {
      starred = true;
    } else if (type->getValue("attrKind") == nullptr) {
      composite.order.push_back({true, composite.operands.size()});
      composite.operands.push_back(readOperand(type, name));
    } else {
      composite.order.push_back({false, composite.attributes.size()});
      composite.attributes.push_back(readAttribute(type, name));
      composite.attributes.back().keywordOnly = starred || composite.takesRest();
    }
  }
  for (Attribute &attribute : composite.attributes)
    attribute.isOption = starred && attribute.hasDefault();
}

/// Checks that a body is made of ops, composites and parameters.
static void checkBody(const CompositeRecord &composite, const DagInit *dag) {
  const auto fail = [&](const Twine &what) {
    PrintFatalError(composite.def, "the body of '" + composite.mnemonic + "' " + what);
  };
  const Record *head = operatorOf(dag);
  if (!head->isSubClassOf("Emit") && !head->isSubClassOf("Weft_CompositeFn") &&
      head->getName() != "if_given" && head->getName() != "square")
    fail("calls '" + head->getName() + "', which is neither an op nor a composite");
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    if (const auto *inner = dyn_cast<DagInit>(dag->getArg(i))) {
      checkBody(composite, inner);
    } else if (const StringInit *name = dag->getArgName(i)) {
      if (none_of(composite.operands, [&](const Operand &o) { return o.name == name->getValue(); }))
        fail("mentions $" + name->getValue() + ", which is no operand");
    }
  }
}

std::vector<CompositeRecord> readComposites(const RecordKeeper &records) {
  std::vector<CompositeRecord> composites;
  for (const Record *def : recordsOf(records, "Weft_CompositeFn")) {
    CompositeRecord composite;
    readCallable(composite, def);
    composite.isComposite = true;
    composite.module = def->getValueAsString("module").str();
    composite.mnemonic = (composite.module.empty() ? "" : composite.module + ".") +
                         def->getValueAsString("name").str();
    composite.cppName = def->getValueAsString("cppName").str();
    composite.body = def->getValueAsDag("body");
    composite.cppBody = def->getValueAsString("cppBody").str();
    composite.moves = def->getValueAsBit("moves");
    composite.gives = def->getValueAsString("gives").str();
    for (const Record *result : def->getValueAsListOfDefs("results"))
      composite.results.push_back(
          {result->getValueAsString("name").str(), result->getValueAsString("what").str()});
    if (!composite.results.empty()) composite.gives = "named";
    composite.openSizes = def->getValueAsBit("openSizes");
    composite.inPython = def->getValueAsBit("inPython");
    composite.pythonPair = def->getValueAsString("pythonPair").str();
    readParameters(composite);
    if (!composite.pythonPair.empty() &&
        (composite.operands.size() < 2 || composite.isVariadic() ||
         any_of(composite.operands, [](const Operand &operand) { return operand.optional; }) ||
         any_of(ArrayRef(composite.order).take_front(2),
                [](const ParameterRef &ref) { return !ref.isOperand; })))
      PrintFatalError(def, "'" + composite.mnemonic +
                               "' has a pair in Python: its first two parameters are operands, and "
                               "none is optional");
    readWords(composite, composite.results.empty());
    checkSamples(composite);
    if (isOperator(composite.body, "absent") == composite.cppBody.empty())
      PrintFatalError(def, "'" + composite.mnemonic + "' has a `body`, or a `cppBody` in C++");
    if (composite.cppBody.empty()) checkBody(composite, composite.body);
    composites.push_back(std::move(composite));
  }
  return composites;
}

std::vector<const Callable *> functionsOf(const std::vector<OpRecord> &ops,
                                          const std::vector<CompositeRecord> &composites) {
  std::vector<const Callable *> functions;
  for (const OpRecord &op : ops)
    if (!op.handwrittenApi && op.hasResult()) functions.push_back(&op);
  for (const CompositeRecord &composite : composites) functions.push_back(&composite);
  return functions;
}

} // namespace weft::tblgen
