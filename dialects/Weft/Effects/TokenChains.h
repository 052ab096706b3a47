// Which tokens come after which, and the joins of those that an op must wait for.
#pragma once

#include "Weft/IR/Weft.h"

namespace mlir::weft {

/// Knows of each token which ones its op waited for, and so leaves out of a join what another part
/// of it comes after anyway.
class TokenGraph {
public:
  /// Says that `token` comes after all of `before`.
  void add(Value token, ArrayRef<Value> before);

  /// Leaves of the tokens, of which there may be none, those that no other comes after. The token
  /// of a weft.begin stays only where it is the last.
  void reduce(SmallVectorImpl<Value> &tokens) const;

  /// One token after all of `tokens`, of which there is at least one: one of them, or a weft.join
  /// made at the builder's place. They are reduced first.
  Value join(OpBuilder &builder, Location location, SmallVectorImpl<Value> &tokens) const;

private:
  unsigned levelOf(Value token) const;

  struct Node {
    unsigned level; ///< the longest way to it
    SmallVector<Value, 2> before;
  };
  DenseMap<Value, Node> nodes;
};

} // namespace mlir::weft
