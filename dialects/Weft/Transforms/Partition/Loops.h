// The loops of an op, along which ranks may share its work: what -weft-partition knows of each op.
#pragma once

#include "OpDefs/OpInfo.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace mlir::weft {

/// How the parts of a result that several ranks have, each by its part of a loop, become the
/// result.
enum class Joined {
  along,    ///< they stand one behind the other
  added,    ///< the loop is summed over
  averaged, ///< its mean is taken
  reduced   ///< it is reduced in another way, by `reducedBy` over the ranks
};

/// An op as nested loops over positions of its operands and its result: with each loop cut into
/// equal parts, an op of the same kind on the parts of the operands gives the parts of the result.
struct Loops {
  static constexpr int whole = -1;

  SmallVector<Joined> joined;
  /// Those that nobody may cut, as a size along them is not known.
  SmallVector<bool> open;
  ::weft::OpCode reducedBy = {};
  /// The loop along each axis of each operand, and of the result; `whole` for axes that no part is
  /// enough of.
  SmallVector<SmallVector<int>> operands;
  SmallVector<int> result;
};

/// The loops of an op with one result; nothing of an op that ranks do not share.
std::optional<Loops> loopsOf(Operation *op);

/// The op on parts of its operands: what its attributes say of sizes becomes that of `result`.
Operation *cloneOnParts(OpBuilder &b, Operation *op, ValueRange operands, RankedTensorType result);

} // namespace mlir::weft
