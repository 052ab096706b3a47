// Records of ops and composites as the generators see them: read once from TableGen, checked, in
// plain structs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llvm/TableGen/Record.h"

namespace weft::tblgen {

using llvm::StringRef;

struct Operand {
  std::string name;
  std::string admitsWord;
  std::vector<std::string> dtypes;
  std::string role;  ///< enumerator of weft::OperandRole, or of composites "key"
  std::string shape; ///< in words
  bool variadic = false;
  bool variable = false; ///< a handle, not a tensor
  bool optional = false; ///< may be left out
  bool rest = false;     ///< a list that Python is given one by one
  bool isStream = false; ///< the seed and the number of a random stream

  /// Whether it takes no dtype together with the others.
  bool keepsDType() const { return role == "predicate" || role == "index" || role == "key"; }
  /// "f32, f64", as users write them.
  std::string dtypeList() const;
};

struct Attribute {
  std::string name;
  std::string kind;    ///< enumerator of weft::AttrKind
  std::string cppType; ///< in the C++ call
  std::string optionDefault;
  std::string what;        ///< in words
  std::string whole = "0"; ///< of a per_axis list: the entry of an axis that stays as it is
  std::string pythonName = {};
  std::string pythonDefault = {};
  bool isOption = false;    ///< a member of the options struct in C++
  bool keywordOnly = false; ///< in Python
  bool takesValues = false; ///< sizes that are operands may stand in it
  bool hasDefault() const { return !optionDefault.empty(); }
  bool isList() const {
    return cppType == "Axes" || cppType == "Sizes" || StringRef(cppType).contains("Ints");
  }
  /// Its type as a parameter of a C++ function.
  std::string parameterType() const {
    return cppType == "Ints" || cppType == "Sizes" ? "const " + cppType + " &" : cppType + " ";
  }
};

/// An error that an op raises, in words.
struct Raised {
  std::string error; ///< the class, "ShapeError"
  std::string kind;  ///< enumerator of weft::ErrorKind
  std::string when;
};

/// A parameter of a function as users write it: an operand or an attribute, by its number.
struct ParameterRef {
  bool isOperand;
  std::size_t number;
};

/// A parameter that Python alone has.
struct PythonParameter {
  std::string name, type, defaultText, what;
  std::string function;  ///< which looks at its value
  std::string standsFor; ///< the parameter of which it is another name, in place of a function
};

/// One of several results of a function, in words.
struct NamedResult {
  std::string name, what;
};

/// What ops and composites have in common: a function that users call.
struct Callable {
  const llvm::Record *def;
  std::string mnemonic, cppName, className, promotion, summary, description, example, file,
      resultShape, resultDType;
  std::vector<Operand> operands;
  std::vector<Attribute> attributes;
  std::vector<Attribute> callOptions; ///< of the call alone, which no op has as an attribute
  std::vector<ParameterRef> order;    ///< of the parameters in Python
  std::vector<PythonParameter> pythonParameters; ///< behind them
  std::vector<Raised> raises;       ///< with that for a dtype that an operand does not admit
  std::string gives = "tensor";     ///< or a list, or a tuple of them, which may be named
  std::vector<NamedResult> results; ///< of those that are named
  std::string module;               ///< whose function it is; of most none
  bool isComposite = false;
  bool openSizes = true;          ///< does the same where sizes are not known
  bool method = false;            ///< of tensors of Python
  std::vector<std::string> names; ///< of NumPy, besides its own
  std::string pythonPair;         ///< the argument of Python that the first two operands are

  bool givesOne() const { return gives == "tensor"; }
  /// Attributes and options of the call.
  std::vector<Attribute> allAttributes() const;
  /// "linalg::", of a function of a module.
  std::string scope() const { return module.empty() ? "" : module + "::"; }
  /// The mnemonic as a part of names of C++.
  std::string identifier() const;
  /// What it gives in C++: a Tensor, a vector of them, or a struct.
  std::string resultType() const;
  /// That of several results with names, in C++ and in Python: "TopK".
  std::string resultsName() const;
  bool isVariadic() const;
  /// Whether Python is given the operands one by one.
  bool takesRest() const { return !operands.empty() && operands[0].rest; }
  /// Whether the attribute is given in front of the operands.
  bool leads(std::size_t attribute) const;
  /// Whether the function takes the caller's line itself: where there may be no operand that knows
  /// it.
  bool takesLine() const { return operands.empty() || isVariadic(); }
};

/// A function made of ops.
struct CompositeRecord : Callable {
  const llvm::DagInit *body = nullptr;
  std::string cppBody; ///< its function in weft::composites; empty where there is a body
  bool moves = false;  ///< whether it gives elements as they are
  bool inPython = true;
};

struct OpRecord : Callable {
  std::string kind, shapeFunction, batching, init, inactive;
  std::string onComplex; ///< how it is computed on complex numbers: the way, a word of OnComplex
  std::string complexFunction; ///< the formula or function that this names
  std::vector<std::string> resultNames;
  const llvm::DagInit *body = nullptr;
  std::vector<const llvm::DagInit *> vjp;
  const llvm::DagInit *jvp = nullptr;
  bool handwrittenApi;
  bool staysInLinalg;      ///< has the trait Weft_StaysInLinalg
  bool takesSizes = false; ///< behind its other operands, for its lists of sizes
  int cost;

  bool differentiable() const { return inactive.empty(); }
  /// Whether its elements are new: it draws them, or is no function of tensors.
  bool creates() const;
  /// How many rows its operands have in the op table: one for all sizes.
  std::size_t operandRows() const { return operands.size() + (takesSizes ? 1 : 0); }
  /// Whether an operand may be complex numbers.
  bool admitsComplex() const;
  /// Whether a gradient flows to that operand.
  bool differentiableBy(unsigned operand) const;
  bool elementwise() const { return kind == "elementwise"; }
  bool isRoutine() const { return kind == "routine"; }
  bool isCollective() const { return kind == "collective"; }
  bool hasEffect() const { return kind == "effect" || isCollective(); }
  /// Whether it computes something that the tests of every op look at.
  bool hasSamples() const { return kind != "effect" && hasResult(); }
  /// Whether the body combines an accumulator with the operands' elements.
  bool accumulates() const { return kind == "reduction" || kind == "cumulative"; }
  bool hasResult() const { return !resultNames.empty(); }
  /// Whether it has several results, of which C++ gives a struct.
  bool hasSeveral() const { return resultNames.size() > 1; }
  /// Bits of operands (and, after them, the results) that the derivative's dags mention.
  unsigned saved() const;
  /// The same of the derivative by one operand.
  unsigned savedFor(unsigned operand) const;
  int operandIndex(llvm::StringRef name) const;
  int resultIndex(llvm::StringRef name) const;
};

/// Every op record, in the order of the files. Stops with TableGen's own error, at the record, when
/// a derivative is missing, names an unknown value, or emits an op that has neither a rule nor an
/// inactive mark, and when shapes or errors are not said in words.
std::vector<OpRecord> readOps(const llvm::RecordKeeper &records);

/// Every composite, in the order of the files.
std::vector<CompositeRecord> readComposites(const llvm::RecordKeeper &records);
/// The records that Python and C++ call by generated functions: ops and composites.
std::vector<const Callable *> functionsOf(const std::vector<OpRecord> &ops,
                                          const std::vector<CompositeRecord> &composites);

/// "AddOp, ElementwiseOps.td": where a generated piece comes from. Without the line, which every
/// edit of another record above would move.
std::string origin(const Callable &op);
/// What becomes of the operands' dtypes before a C++ call, in words; empty if they stay.
std::string promotionInWords(const Callable &op);

/// The operator of a dag.
const llvm::Record *operatorOf(const llvm::DagInit *dag);
/// Whether the dag's operator is the record of that name.
bool isOperator(const llvm::DagInit *dag, llvm::StringRef name);

} // namespace weft::tblgen
