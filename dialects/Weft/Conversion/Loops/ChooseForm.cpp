// Chooses the form of a nest: along which loop vectors run, and whether in tiles.

#include "Weft/Conversion/Cost.h"
#include "Weft/Conversion/Loops/Body.h"
#include "Weft/Conversion/Loops/LoopNest.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::weft;

Walk mlir::weft::walkAlong(const Access &access, unsigned dim) {
  /// Beyond this the vectors that are read whole cost more than their few wanted elements.
  constexpr int64_t kMostStride = 8;
  const Product &stride = access.strides[dim];
  if (stride.isZero()) return Walk::same;
  if (!stride.isStatic()) return Walk::lanes;
  if (stride.constant == 1) return Walk::contiguous;
  if (stride.constant == -1) return Walk::reversed;
  return stride.constant > 1 && stride.constant <= kMostStride ? Walk::strided : Walk::lanes;
}

Walk LoopNest::walk(const Access &access) const { return walkAlong(access, vectorDim); }

bool LoopNest::isTransposed(const Access &access) const {
  if (form != NestForm::tiled || !access.strides[tileDim].isConstant(1)) return false;
  Walk along = walk(access);
  return along == Walk::strided || along == Walk::lanes;
}

namespace {

constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::max();

int64_t sizeOf(const LoopDim &dim) {
  return dim.size.isStatic() ? dim.size.constant : kUnknownSize;
}

/// What a nest costs per element, in simple instructions.
struct Cost {
  double perElement = std::numeric_limits<double>::infinity();
  int64_t size = 0;

  /// Of two that cost the same, longer vectors have shorter rests.
  bool operator<(const Cost &other) const {
    return perElement != other.perElement ? perElement < other.perElement : size > other.size;
  }
};

/// Weighs the forms of one nest.
class Chooser {
public:
  Chooser(LoopNest &nest, int64_t vectorBytes) : nest_(nest), vectorBytes_(vectorBytes) {}

  void choose();

private:
  void reductionForm();
  bool isContiguousAlong(unsigned dim);
  bool storesAlong(unsigned dim);
  double loadCost(const Access &access, unsigned dim, int64_t lanes);
  double storeCost(const Access &access, unsigned dim, int64_t lanes);
  double bodyCost(unsigned dim, int64_t lanes);
  Cost scalarCost();
  Cost vectorCost(unsigned dim);
  void tiles();
  void halves();

  LoopNest &nest_;
  int64_t vectorBytes_;
};

/// Whether vectors can run along `dim` without a step aside: inputs are contiguous or constant.
bool Chooser::isContiguousAlong(unsigned dim) {
  return llvm::all_of(nest_.inputs(), [&](const Access &access) {
    Walk walk = walkAlong(access, dim);
    return walk == Walk::contiguous || walk == Walk::same;
  });
}

/// Whether no lane of `dim` stores where another one does.
bool Chooser::storesAlong(unsigned dim) {
  return llvm::all_of(nest_.outputs(),
                      [&](const Access &access) { return !access.strides[dim].isZero(); });
}

/// Instructions for `lanes` elements.
double Chooser::loadCost(const Access &access, unsigned dim, int64_t lanes) {
  switch (walkAlong(access, dim)) {
  case Walk::same: return 0;
  case Walk::contiguous: return 1;
  case Walk::reversed: return 2;
  case Walk::strided: return std::min<double>(2 * access.strides[dim].constant - 1, 2 * lanes);
  case Walk::lanes: return 2 * lanes;
  }
  llvm_unreachable("walks are all listed");
}

/// The same for an output; what lies between its lanes stays as it is.
double Chooser::storeCost(const Access &access, unsigned dim, int64_t lanes) {
  Walk walk = walkAlong(access, dim);
  return walk == Walk::contiguous ? 1 : walk == Walk::reversed ? 2 : 3 * lanes;
}

double Chooser::bodyCost(unsigned dim, int64_t lanes) {
  double cost = 0;
  LaneSteps steps(*nest_.op.getBlock(), nest_.dims[dim].source, [&](unsigned argument) {
    return nest_.accesses[argument].strides[dim].isZero();
  });
  for (Operation &op : nest_.op.getBlock()->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      std::optional<int64_t> step = steps.ofLoad(load);
      cost += !step ? 3 * lanes : *step == 0 ? 1 : *step == 1 ? 1 : 2;
    } else {
      // Lane by lane means taking two vectors apart and putting one together.
      constexpr int64_t kTakenApart = 8;
      cost +=
          static_cast<double>(hasVectorForm(op) ? costOf(op) : (costOf(op) + kTakenApart) * lanes);
    }
  }
  return cost;
}

Cost Chooser::scalarCost() {
  double cost = 1; // the loop itself
  cost += static_cast<double>(costOf(*nest_.op.getBlock()));
  return {cost + static_cast<double>(nest_.accesses.size()), 0};
}

Cost Chooser::vectorCost(unsigned dim) {
  const int64_t size = sizeOf(nest_.dims[dim]), lanes = std::min(nest_.lanes, size);
  double cost = 1 + bodyCost(dim, lanes);
  for (const Access &access : nest_.inputs()) cost += loadCost(access, dim, lanes);
  for (const Access &access : nest_.outputs()) cost += storeCost(access, dim, lanes);
  return {cost / static_cast<double>(lanes), size};
}

/// Puts vectors into tiles if an input would be read lane by lane, and is contiguous along another
/// loop.
void Chooser::tiles() {
  int64_t bytes = 1;
  for (const Access &access : nest_.accesses)
    bytes = std::max(bytes, elementBytes(access.elementType));
  const int64_t lanes = std::min<int64_t>(vectorBytes_ / bytes, 16);
  if (lanes < 4 || sizeOf(nest_.dims[nest_.vectorDim]) < lanes) return;
  if (!llvm::all_of(nest_.outputs(),
                    [&](const Access &access) { return nest_.walk(access) == Walk::contiguous; }))
    return;
  for (auto [d, dim] : llvm::enumerate(nest_.dims)) {
    if (dim.reduction || d == nest_.vectorDim || sizeOf(dim) < lanes) continue;
    nest_.form = NestForm::tiled;
    nest_.tileDim = d;
    nest_.tile = lanes;
    if (llvm::any_of(nest_.inputs(), [&](const Access &a) { return nest_.isTransposed(a); }))
      return;
    nest_.form = NestForm::parallelVector;
  }
}

/// Twice as many lanes where what is stored has 16 bits, so that whole vectors are. Where the body
/// computes in words, as of floats of 16 bits, it takes pairs if its inputs have 16 bits too.
void Chooser::halves() {
  constexpr int64_t kSmallBody = 24; // more would run out of registers
  if (sizeOf(nest_.dims[nest_.vectorDim]) < vectorBytes_ / 2) return;
  unsigned widest = 16;
  const auto fits = [&](Type type) {
    const unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
    widest = std::max(widest, bits);
    return bits <= 32;
  };
  for (const Access &access : nest_.accesses) {
    const bool same = nest_.walk(access) == Walk::same;
    if (!same && nest_.walk(access) != Walk::contiguous) return;
    if (!same && (!fits(access.elementType) || access.elementType.getIntOrFloatBitWidth() < 16))
      return;
  }
  const bool narrow = widest == 16;
  for (const Access &access : nest_.outputs())
    if (nest_.walk(access) == Walk::same || !access.elementType.isInteger(16) ||
        !nest_.op.getBlock()->getArgument(access.operand->getOperandNumber()).use_empty())
      return;
  for (Operation &op : nest_.op.getBlock()->without_terminator())
    if (isa<linalg::IndexOp, memref::LoadOp>(op) || !hasVectorForm(op) ||
        !llvm::all_of(op.getResultTypes(), fits))
      return;
  if (!narrow && costOf(*nest_.op.getBlock()) > kSmallBody) return;
  nest_.lanes = vectorBytes_ / 2;
  nest_.pairs = narrow && widest == 32;
}

/// Vectors along a reduction. The forms of reductions that run along contiguous elements come
/// first, whatever they cost: results hang on their order.
void Chooser::reductionForm() {
  for (unsigned i = 0; i < nest_.op.getNumDpsInits(); ++i) {
    Operation *combiner = findCombiner(nest_.op, i);
    if (!combiner) return;
    nest_.combiners.push_back(combiner);
  }
  for (unsigned d = 0; d < nest_.dims.size(); ++d) {
    if (!nest_.dims[d].reduction || !isContiguousAlong(d)) continue;
    if (!llvm::all_of(nest_.outputs(),
                      [&](const Access &access) { return access.strides[d].isZero(); }))
      continue;
    nest_.form = NestForm::reductionVector;
    nest_.vectorDim = d;
  }
}

void Chooser::choose() {
  Block &body = *nest_.op.getBlock();
  if (!isVectorizableBody(body)) return;
  nest_.maskable = llvm::all_of(body, [](Operation &op) { return hasVectorForm(op); });
  bool bytes = llvm::all_of(nest_.accesses, [](const Access &access) {
    return access.elementType.isIntOrFloat() && access.elementType.getIntOrFloatBitWidth() <= 8;
  });
  for (Operation &op : body.without_terminator())
    for (Type type : op.getResultTypes())
      bytes &= type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 8;
  nest_.lanes = vectorBytes_ / 4;

  const bool reduces = nest_.isReduction();
  Cost best = scalarCost();
  // Reductions along contiguous lanes are taken whatever they cost.
  bool contiguous = false;
  for (unsigned d = 0; d < nest_.dims.size(); ++d) {
    const LoopDim &dim = nest_.dims[d];
    if (dim.reduction || sizeOf(dim) <= 1 || !storesAlong(d)) continue;
    const bool straight = isContiguousAlong(d) && llvm::all_of(nest_.outputs(), [&](auto &access) {
                            return walkAlong(access, d) == Walk::contiguous;
                          });
    if (reduces && !straight) continue;
    Cost cost = vectorCost(d);
    if (reduces) cost.perElement = 0;
    if (!(cost < best)) continue;
    best = cost;
    contiguous |= straight;
    nest_.form = NestForm::parallelVector;
    nest_.vectorDim = d;
  }
  if (reduces && !contiguous) reductionForm();
  if (nest_.form == NestForm::parallelVector && !reduces) tiles();
  if (nest_.form == NestForm::scalar) return;
  if (bytes && sizeOf(nest_.dims[nest_.vectorDim]) >= vectorBytes_) nest_.lanes = vectorBytes_;
  if (nest_.form == NestForm::parallelVector && !reduces) halves();
  nest_.maskable &= llvm::all_of(nest_.accesses, [&](const Access &access) {
    Walk walk = nest_.walk(access);
    return walk == Walk::same || walk == Walk::contiguous;
  });
}

} // namespace

void mlir::weft::chooseForm(LoopNest &nest, int64_t vectorBytes) {
  Chooser(nest, vectorBytes).choose();
  // A vector's worth of instructions is one, but processors divide integers one by one.
  int64_t ofVectors = 0;
  for (Operation &op : nest.op.getBlock()->without_terminator()) {
    const bool alone = nest.form == NestForm::scalar ||
                       isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
    (alone ? nest.cost : ofVectors) += costOf(op);
  }
  nest.cost += ofVectors / 16;
}
