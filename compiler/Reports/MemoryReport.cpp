// Reads copies and allocations off a bufferized function, and finds out why they are there.
#include "Reports/MemoryReport.h"

#include "Weft/IR/Bridge.h"
#include "Weft/IR/Buffers.h"
#include "Weft/IR/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::weft {

using ::weft::MemoryNote;

namespace {

/// The user's "train.cpp:41", or "".
std::string lineOf(Location location) { return to_string(placeOf(location)); }

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string formula(Value size);

std::string joined(Operation *op, StringRef symbol) {
  return "(" + formula(op->getOperand(0)) + " " + symbol.str() + " " + formula(op->getOperand(1)) +
         ")";
}

/// A size as the user can compute it: from numbers and the sizes of arguments.
std::string formula(Value size) {
  if (auto number = getConstantIntValue(size)) return std::to_string(*number);
  Operation *op = size.getDefiningOp();
  if (!op) return "?";
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    Value source = dim.getSource();
    while (auto cast = source.getDefiningOp<memref::CastOp>()) source = cast.getSource();
    auto argument = dyn_cast<BlockArgument>(source);
    auto axis = getConstantIntValue(dim.getDimension());
    if (argument && axis && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return "argument " + std::to_string(argument.getArgNumber()) + ".size(" +
             std::to_string(*axis) + ")";
    return "?";
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return formula(op->getOperand(0));
  if (isa<arith::AddIOp>(op)) return joined(op, "+");
  if (isa<arith::SubIOp>(op)) return joined(op, "-");
  if (isa<arith::MulIOp>(op)) return joined(op, "*");
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op)) return joined(op, "/");
  return "?";
}

/// The sizes of a buffer that its type does not know.
SmallVector<Value> unknownSizes(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return SmallVector<Value>(alloc.getDynamicSizes());
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      SmallVector<Value> sizes;
      for (OpFoldResult size : view.getMixedSizes())
        if (auto value = dyn_cast<Value>(size)) sizes.push_back(value);
      return sizes;
    }
    auto cast = dyn_cast<memref::CastOp>(op);
    if (!cast) break;
    buffer = cast.getSource();
  }
  return {};
}

/// Fills in how many bytes a buffer has.
void setSize(MemoryNote &note, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto known = static_cast<uint64_t>(elementBytes(type.getElementType()));
  std::string unknown;
  auto argument = dyn_cast<BlockArgument>(buffer);
  SmallVector<Value> sizes = unknownSizes(buffer);
  size_t next = 0;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      known = llvm::SaturatingMultiply(known, static_cast<uint64_t>(size));
      continue;
    }
    unknown += " * ";
    if (next < sizes.size()) unknown += formula(sizes[next++]);
    else if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      unknown += "argument " + std::to_string(argument.getArgNumber()) + ".size(" +
                 std::to_string(axis) + ")";
    else unknown += "?";
  }
  // Without elements whatever the size beside it is, and no size that there is otherwise.
  if (llvm::is_contained(type.getShape(), 0)) known = 0;
  known = std::min<uint64_t>(known, std::numeric_limits<int64_t>::max());
  if (unknown.empty()) note.bytes = static_cast<int64_t>(known);
  else note.formula = std::to_string(known) + unknown;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Everything that uses a buffer or a view of it.
void collectUsers(Value buffer, llvm::SmallSetVector<Operation *, 8> &users) {
  for (Operation *user : buffer.getUsers()) {
    if (!users.insert(user)) continue;
    if (isa<ViewLikeOpInterface, memref::ExtractAlignedPointerAsIndexOp, arith::IndexCastOp>(user))
      for (Value result : user->getResults()) collectUsers(result, users);
  }
}

class Report {
public:
  explicit Report(func::FuncOp function) : function(function) {}

  std::vector<MemoryNote> take() {
    noteOutputs();
    noteVariables();
    function.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) noteAllocation(alloc);
      else if (auto copy = dyn_cast<memref::CopyOp>(op)) noteCopy(copy);
    });
    return std::move(notes);
  }

private:
  MemoryNote &note(MemoryNote::Kind kind, std::string what, Value buffer, Location location) {
    MemoryNote &created = notes.emplace_back();
    created.kind = kind;
    created.what = std::move(what);
    created.location = lineOf(location);
    setSize(created, buffer);
    return created;
  }

  Attribute attributeOf(Value root, StringRef name) const {
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument || argument.getOwner() != &function.getBody().front()) return {};
    return function.getArgAttr(argument.getArgNumber(), name);
  }

  /// The number of a result of unknown size, counted among all.
  int64_t resultNumber(int64_t amongUnknown) const {
    llvm::SmallDenseSet<int64_t> known;
    for (BlockArgument argument : function.getArguments())
      if (auto output = dyn_cast_or_null<IntegerAttr>(attributeOf(argument, "weft.output")))
        known.insert(output.getInt());
    int64_t number = 0;
    for (;; ++number)
      if (!known.contains(number) && amongUnknown-- == 0) return number;
  }

  /// What a person calls a buffer.
  std::string nameOf(Value buffer) const {
    Value root = rootOf(buffer);
    if (auto variable = dyn_cast_or_null<FlatSymbolRefAttr>(attributeOf(root, "weft.variable")))
      return "@" + variable.getValue().str();
    if (auto output = dyn_cast_or_null<IntegerAttr>(attributeOf(root, "weft.output")))
      return "result " + std::to_string(output.getInt());
    if (auto argument = dyn_cast<BlockArgument>(root))
      return argument.getOwner() == &function.getBody().front()
                 ? "argument " + std::to_string(argument.getArgNumber())
                 : "the state of a loop";
    if (root.getDefiningOp<memref::GetGlobalOp>()) return "a constant";
    if (auto alloc = root.getDefiningOp<memref::AllocOp>())
      if (auto output = alloc->getAttrOfType<IntegerAttr>("weft.output"))
        return "result " + std::to_string(resultNumber(output.getInt()));
    return "a temporary";
  }

  static std::string nameOf(Operation *op) {
    std::string name = op->getName().getStringRef().str();
    if (auto call = dyn_cast<func::CallOp>(op)) name = call.getCallee().str();
    const std::string line = lineOf(op->getLoc());
    return line.empty() ? name : name + " (" + line + ")";
  }

  void noteOutputs() {
    for (BlockArgument argument : function.getArguments())
      if (attributeOf(argument, "weft.output"))
        note(MemoryNote::Kind::output, nameOf(argument), argument, function.getLoc())
            .location.clear();
    function.walk([&](memref::AllocOp alloc) {
      if (alloc->hasAttr("weft.output"))
        note(MemoryNote::Kind::output, nameOf(alloc.getResult()), alloc, alloc.getLoc());
    });
  }

  /// A variable is updated in place unless a copy brings its new value.
  void noteVariables() {
    for (BlockArgument argument : function.getArguments()) {
      if (!attributeOf(argument, "weft.updated")) continue;
      MemoryNote &created =
          note(MemoryNote::Kind::update, nameOf(argument), argument, function.getLoc());
      created.location.clear();
      function.walk([&](memref::CopyOp copy) {
        if (rootOf(copy.getTarget()) != argument) return;
        created.reason = reasonOf(copy);
        created.location = lineOf(copy.getLoc());
      });
    }
  }

  void noteAllocation(memref::AllocOp alloc) {
    if (alloc->hasAttr("weft.output") || alloc->hasAttr("weft.arena_offset")) return;
    llvm::SmallSetVector<Operation *, 8> users;
    collectUsers(alloc, users);
    // Users come in no order.
    Operation *first = nullptr;
    for (Operation *user : users) {
      Operation *top = alloc->getBlock()->findAncestorOpInBlock(*user);
      if (top && !isa<ViewLikeOpInterface, memref::DeallocOp, memref::DimOp>(top) &&
          (!first || top->isBeforeInBlock(first)))
        first = top;
    }
    MemoryNote &created = note(MemoryNote::Kind::allocation, first ? nameOf(first) : "memref.alloc",
                               alloc, alloc.getLoc());
    created.reason = created.bytes < 0 ? "its size is known only when it runs"
                                       : "each iteration of the loop needs memory of its own";
  }

  void noteCopy(memref::CopyOp copy) {
    std::string what = nameOf(copy.getTarget());
    // A temporary has no name; the op that wants it has.
    if (what == "a temporary")
      if (Operation *next = nextUser(copy, rootOf(copy.getTarget())))
        what = next->getName().getStringRef().str();
    note(MemoryNote::Kind::copy, what, copy.getTarget(), copy.getLoc()).reason = reasonOf(copy);
  }

  //===--------------------------------------------------------------------===//
  // Reasons
  //===--------------------------------------------------------------------===//

  std::string reasonOf(memref::CopyOp copy) const {
    if (auto told = copy->getAttrOfType<StringAttr>("weft.reason")) return told.str();
    Value source = rootOf(copy.getSource()), target = rootOf(copy.getTarget());
    const bool isResult =
        attributeOf(target, "weft.output") ||
        (target.getDefiningOp() && target.getDefiningOp()->hasAttr("weft.output"));
    const bool isVariable = static_cast<bool>(attributeOf(target, "weft.variable"));
    const std::string from = nameOf(copy.getSource()), to = nameOf(copy.getTarget());
    if (!isResult && !isVariable) return whyChanged(copy, source, target);
    if (copy.getTarget().getDefiningOp<memref::SubViewOp>())
      return from + " becomes a part of " + to;
    if (from == "a temporary" || from == "the state of a loop")
      return whyLate(copy, source, target);
    if (isResult) return to + " is the value of " + from;
    return to + " is given the value of " + from;
  }

  /// The ops of the block of `copy` that use `buffer` directly, or in their regions, in order.
  static SmallVector<Operation *> usersAround(memref::CopyOp copy, Value buffer) {
    llvm::SmallSetVector<Operation *, 8> users;
    collectUsers(buffer, users);
    llvm::SmallSetVector<Operation *, 8> tops;
    for (Operation *user : users) {
      Operation *top = copy->getBlock()->findAncestorOpInBlock(*user);
      if (top && top != copy && !isa<ViewLikeOpInterface, memref::DeallocOp>(top)) tops.insert(top);
    }
    SmallVector<Operation *> ordered = tops.takeVector();
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return ordered;
  }

  /// The first op after the copy, in its block, that uses `buffer`; null if there is none.
  static Operation *nextUser(memref::CopyOp copy, Value buffer) {
    for (Operation *user : usersAround(copy, buffer))
      if (copy->isBeforeInBlock(user)) return user;
    return nullptr;
  }

  /// Why an op works on a copy of what it changes.
  std::string whyChanged(memref::CopyOp copy, Value source, Value target) const {
    Operation *next = nextUser(copy, target);
    const std::string from = nameOf(source);
    if (!next) return "a copy of " + from;
    if (auto onwards = dyn_cast<memref::CopyOp>(next);
        onwards && rootOf(onwards.getSource()) == target)
      return from + " is set aside until " + nameOf(onwards.getTarget()) + " is free";
    for (Operation *user : usersAround(copy, source))
      if (next->isBeforeInBlock(user))
        return nameOf(next) + " changes it, and " + nameOf(user) + " still reads " + from;
    return nameOf(next) + " changes it, and " + from + " must stay as it is";
  }

  /// Whether a call may end with this op.
  static bool mayLeave(Operation *op) {
    return op
        ->walk([](func::CallOp call) {
          // What throws is told the context.
          auto callee =
              SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
          return callee && callee->hasAttr("weft.context") ? WalkResult::interrupt()
                                                           : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Why a value was not computed where it belongs.
  std::string whyLate(memref::CopyOp copy, Value source, Value target) const {
    const std::string to = nameOf(target);
    Operation *creator = nullptr; // what first has the value
    for (Operation *user : usersAround(copy, source))
      if (user->isBeforeInBlock(copy)) {
        creator = user;
        break;
      }
    if (!creator) return to + " is computed in other memory";
    bool reads = false;
    for (Operation *user : usersAround(copy, target)) {
      reads |= user == creator;
      if (creator->isBeforeInBlock(user) && user->isBeforeInBlock(copy))
        return "its old value is still needed by " + nameOf(user) +
               " after the new one is computed";
    }
    for (Operation *op = creator; op && op != copy; op = op->getNextNode())
      if (attributeOf(target, "weft.variable") && mayLeave(op))
        return "the call may end before" +
               (lineOf(op->getLoc()).empty() ? "" : ", at " + lineOf(op->getLoc())) +
               ", and its old value must be there then";
    if (reads) return nameOf(creator) + " needs its whole old value to compute the new one";
    return to + " is computed in other memory, by " + nameOf(creator);
  }

  mutable func::FuncOp function; // a handle, which says const where it means non-const
  std::vector<MemoryNote> notes;
};

} // namespace

std::vector<MemoryNote> memoryNotesOf(func::FuncOp function) { return Report(function).take(); }

::weft::CompileReport memoryReportOf(func::FuncOp function) {
  ::weft::CompileReport report;
  report.memory = memoryNotesOf(function);
  if (auto bytes = function->getAttrOfType<IntegerAttr>("weft.arena_bytes"))
    report.arena_bytes = static_cast<std::size_t>(bytes.getInt());
  return report;
}

} // namespace mlir::weft
