// Buffers as the runtime takes them.
#pragma once

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

/// The buffer of `tensor` with row-major elements: a copy if its own has gaps.
FailureOr<Value> contiguousBuffer(ImplicitLocOpBuilder &b, RewriterBase &rewriter, Value tensor,
                                  const bufferization::BufferizationOptions &options,
                                  bufferization::BufferizationState &state);

} // namespace mlir::weft
