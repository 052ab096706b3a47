// Which variables, and what else of the world, an op may touch: through handles, regions and calls.
#pragma once

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::weft {

/// What effects are on, as seen from within one function.
class Touched {
public:
  enum Kind : unsigned {
    io,          ///< what a person sees
    anyVariable, ///< each variable there is, where a handle is of unknown origin
    variable,    ///< one of the module, by its number
    argument,    ///< the variable whose handle is an argument of the function, by its number
  };
  Touched(Kind kind, unsigned index = 0) : bits(kind << 28 | index) {}
  Kind kind() const { return static_cast<Kind>(bits >> 28); }
  unsigned index() const { return bits & ((1u << 28) - 1); }
  bool isVariable() const { return kind() != io; }
  auto operator<=>(const Touched &) const = default;

private:
  unsigned bits;
};

enum class Access { read, write };

/// What an op does to each thing it touches, in a fixed order.
class Touches {
public:
  using Entry = std::pair<Touched, Access>;
  /// Returns whether this said something new.
  bool add(Touched what, Access access);
  bool add(const Touches &others);
  bool empty() const { return entries.empty(); }
  const Entry *begin() const { return entries.begin(); }
  const Entry *end() const { return entries.end(); }

private:
  SmallVector<Entry, 2> entries; ///< sorted
};

/// All that a handle may be, sorted.
using Roots = SmallVector<Touched, 2>;

/// The analysis of a module. Functions call each other by symbol; what they touch is summarised
/// from callees to callers, to a fixed point where they are recursive.
class ResourceAnalysis {
public:
  explicit ResourceAnalysis(ModuleOp module);

  /// Where a handle may come from: variables, arguments of its function, or anyVariable.
  ArrayRef<Touched> rootsOf(Value handle) const;

  /// What `op`, with its regions and the functions it calls, may touch.
  Touches touchesOf(Operation *op) const;
  /// What a call of the function may touch, with its own handles as arguments.
  const Touches &summaryOf(func::FuncOp function) const;
  /// The same in the words of the caller.
  Touches substitute(const Touches &ofCallee, func::CallOp call) const;

  /// Whether two things that ops of one function touch can be the same.
  bool mayAlias(func::FuncOp function, Touched a, Touched b) const;
  /// Whether two ops of one function may not trade places.
  bool conflict(func::FuncOp function, const Touches &a, const Touches &b) const;

  /// The op in the function, or in one that it calls, whose effects are of a kind that tokens do
  /// not order; null if there is none.
  Operation *foreignEffectIn(func::FuncOp function) const;

  /// The function that is called, if it has a body.
  func::FuncOp calleeOf(Operation *op) const;
  VariableOp variable(unsigned index) const { return variables[index]; }
  ArrayRef<VariableOp> allVariables() const { return variables; }

private:
  struct Summary {
    Touches touches;
    Operation *foreign = nullptr;
    /// For each argument that is a handle, all it can be.
    SmallVector<Roots> pointsTo;
  };

  void findRoots();
  bool mergeSources(Value handle);
  bool mergeRoots(Value handle, ArrayRef<Touched> more);
  void orderFunctions();
  bool summarize(func::FuncOp function);
  bool bindArguments(func::FuncOp caller);
  Touches computeTouches(Operation *op, Summary &summary);

  ModuleOp module;
  SmallVector<VariableOp> variables;
  DenseMap<Attribute, unsigned> numbers; ///< of variables, by name
  DenseMap<StringAttr, func::FuncOp> functions;
  SmallVector<func::FuncOp> calleesFirst;
  DenseMap<Operation *, Summary> summaries;
  DenseMap<Value, Roots> roots;
  SmallVector<Value> derived;            ///< handles that are not a weft.handle's result
  DenseMap<Operation *, Touches> nested; ///< of ops with regions
  bool recursive = false;
};

} // namespace mlir::weft
