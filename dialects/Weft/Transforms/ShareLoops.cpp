// The pass weft-share-loops: loops that do the same to other buffers become calls of one function.
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RowLoop.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SHARELOOPSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Below so many iterations a call is a part of the work that can be felt.
constexpr int64_t kFewestIterations = 64;

/// What a loop takes from around it, and for the value of the first loop that of another.
using Captures = llvm::MapVector<Value, Value>;

/// Whether `op` is all of one loop: a structured op on buffers, or a loop over blocks of rows.
bool isUnit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) return loop->hasAttr(kRowLoop);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureBufferSemantics()) return false;
  int64_t iterations = 1;
  for (int64_t size : structured.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size)) return true;
    iterations *= size;
  }
  return iterations >= kFewestIterations;
}

bool isOutside(Value value, Operation *unit) {
  return !unit->isAncestor(value.getParentBlock()->getParentOp());
}

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

llvm::hash_code hashOf(Operation *unit) {
  llvm::hash_code hash(0);
  unit->walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

/// The type of both buffers with the place where they begin left open, if that is all they differ
/// in; null if not.
MemRefType commonType(Type a, Type b) {
  auto first = dyn_cast<MemRefType>(a), second = dyn_cast<MemRefType>(b);
  if (!first || !second || first.getShape() != second.getShape() ||
      first.getElementType() != second.getElementType() ||
      first.getMemorySpace() != second.getMemorySpace())
    return {};
  if (first == second) return first;
  SmallVector<int64_t> strides, others;
  int64_t offset, otherOffset;
  if (failed(first.getStridesAndOffset(strides, offset)) ||
      failed(second.getStridesAndOffset(others, otherOffset)) || strides != others)
    return {};
  auto layout = StridedLayoutAttr::get(a.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(first.getShape(), first.getElementType(), layout, first.getMemorySpace());
}

/// All operands of `unit` and of the ops in it, in order.
SmallVector<Value> operandsOf(Operation *unit) {
  SmallVector<Value> operands;
  unit->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { llvm::append_range(operands, op->getOperands()); });
  return operands;
}

/// Whether `other` does to its captures what `unit` does to its own; fills in `captures`.
bool isSame(Operation *unit, Operation *other, Captures &captures) {
  llvm::DenseMap<Value, Value> inside;
  auto check = [&](Value a, Value b) {
    if (isOutside(a, unit)) return success(isOutside(b, other));
    auto known = inside.find(a);
    return success(known == inside.end() ? !isOutside(b, other) : known->second == b);
  };
  // The ops themselves by hand: their operands may differ in type.
  if (unit->getName() != other->getName() || unit->getNumOperands() != other->getNumOperands() ||
      unit->getDiscardableAttrDictionary() != other->getDiscardableAttrDictionary() ||
      !unit->getName().compareOpProperties(unit->getPropertiesStorage(),
                                           other->getPropertiesStorage()))
    return false;
  for (auto [region, counterpart] : llvm::zip_equal(unit->getRegions(), other->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &region, &counterpart, check, [&](Value a, Value b) { inside[a] = b; },
            OperationEquivalence::IgnoreLocations))
      return false;
  // Views are made of buffers inside of loops over rows: their types hang on those of the buffers.
  const bool anyOffset = isa<linalg::LinalgOp>(unit);
  return llvm::all_of(llvm::zip_equal(operandsOf(unit), operandsOf(other)), [&](auto pair) {
    auto [a, b] = pair;
    if (!isOutside(a, unit)) return true;
    Attribute value, wanted;
    if (matchPattern(a, m_Constant(&value)))
      return matchPattern(b, m_Constant(&wanted)) && value == wanted;
    if (isConstant(b)) return false;
    if (a.getType() != b.getType() && !(anyOffset && commonType(a.getType(), b.getType())))
      return false;
    auto [known, added] = captures.insert({a, b});
    return added || known->second == b;
  });
}

/// Loops that are the same.
struct Family {
  SmallVector<Operation *> members;
  /// Per member the values that it takes for the captures of the first one.
  SmallVector<SmallVector<Value>> arguments;
};

/// What `unit` takes from around it, constants aside.
SmallVector<Value> capturesOf(Operation *unit) {
  llvm::SetVector<Value> found;
  for (Value operand : operandsOf(unit))
    if (isOutside(operand, unit) && !isConstant(operand)) found.insert(operand);
  return found.takeVector();
}

struct ShareLoopsPass : impl::ShareLoopsPassBase<ShareLoopsPass> {
  void runOnOperation() final {
    llvm::MapVector<llvm::hash_code, SmallVector<Family, 1>> families;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isUnit(op)) return WalkResult::advance();
      add(families[hashOf(op)], op);
      return WalkResult::skip();
    });
    std::optional<SymbolTable> symbols;
    for (auto &[hash, some] : families)
      for (Family &family : some)
        if (family.members.size() > 1) {
          if (!symbols) symbols.emplace(getOperation());
          share(family, *symbols);
        }
  }

  static void add(SmallVectorImpl<Family> &families, Operation *op) {
    for (Family &family : families) {
      Captures captures;
      if (!isSame(family.members.front(), op, captures)) continue;
      SmallVector<Value> arguments;
      for (Value capture : family.arguments.front()) arguments.push_back(captures.lookup(capture));
      family.members.push_back(op);
      family.arguments.push_back(std::move(arguments));
      return;
    }
    families.push_back({{op}, {capturesOf(op)}});
  }

  void share(Family &family, SymbolTable &symbols) {
    Operation *first = family.members.front();
    SmallVector<Type> types;
    for (size_t i = 0; i < family.arguments.front().size(); ++i) {
      Type type = family.arguments.front()[i].getType();
      for (const SmallVector<Value> &arguments : family.arguments)
        if (arguments[i].getType() != type) type = commonType(type, arguments[i].getType());
      types.push_back(type);
    }
    auto parent = first->getParentOfType<func::FuncOp>();
    OpBuilder builder(parent);
    auto function =
        func::FuncOp::create(builder, first->getLoc(), (parent.getName() + "_loop").str(),
                             builder.getFunctionType(types, {}));
    function.setPrivate();
    symbols.insert(function);
    // Of buffers whose layout is known the address says all.
    if (llvm::all_of(types, [](Type type) {
          auto buffer = dyn_cast<MemRefType>(type);
          return !buffer || (buffer.hasStaticShape() && buffer.getLayout().isIdentity());
        }))
      function->setAttr("llvm.bareptr", builder.getUnitAttr());

    builder.setInsertionPointToStart(function.addEntryBlock());
    IRMapping map;
    map.map(family.arguments.front(), function.getArguments());
    first->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (isOutside(operand, first) && !map.contains(operand))
          builder.clone(*operand.getDefiningOp(), map);
    });
    builder.clone(*first, map);
    func::ReturnOp::create(builder, first->getLoc());

    for (auto [member, arguments] : llvm::zip_equal(family.members, family.arguments)) {
      OpBuilder at(member);
      for (auto [argument, type] : llvm::zip_equal(arguments, types))
        if (argument.getType() != type)
          argument = memref::CastOp::create(at, member->getLoc(), type, argument);
      func::CallOp::create(at, member->getLoc(), function, arguments);
      member->erase();
    }
  }
};

} // namespace

} // namespace mlir::weft
