// Arguments of weft-run: tensors from literals, files and generators.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include <weft/tensor.h>

namespace mlir::weft {

/// The tensor that `text` describes:
///   FILE.npy                              what numpy.save wrote
///   dense<[1, 2]> : tensor<2xi32>         a literal as in programs
///   random<SEED> : tensor<64x8xf32>       uniform in [0, 1) (floating), or in [0, 10) (integer)
///   iota : tensor<8xf32>                  0, 1, 2, ...
/// Throws ValueError or IOError.
::weft::Tensor parseArgument(llvm::StringRef text, MLIRContext &context);

} // namespace mlir::weft
