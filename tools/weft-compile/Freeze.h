// Values that become a part of the object: variables, and inputs such as captured tensors.
#pragma once

#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::weft {

/// Makes variables and inputs of the entries of a module after phase `lift-state` constants. Each
/// of `wanted` is "w", a variable that has a value in the text; "w=FILE.npy"; "input1=FILE.npy", an
/// input of the only entry; "step.input1=FILE.npy", of one of several; or "": all variables with a
/// value in the text that no entry assigns. A fault if there is no such variable or input, if it is
/// assigned or wanted twice, and if the value does not fit. Throws what load_npy throws.
::weft::Check freeze(ModuleOp module, ArrayRef<std::string> wanted);

/// The files that `wanted` names.
std::vector<std::string> frozenFiles(ArrayRef<std::string> wanted);

} // namespace mlir::weft
