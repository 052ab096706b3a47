// Addresses of buffers for the runtime, and its functions that know of no device.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

/// Of a kernel: how many bytes of shared memory its launches give it besides what it declares.
inline constexpr llvm::StringLiteral kDynamicSharedBytes = "weft.dynamic_shared_bytes";

/// The address where a buffer begins, as a number of 64 bits; without `offset` that of the memory
/// it is a view of.
Value deviceAddress(ImplicitLocOpBuilder &b, Value buffer, bool offset);
/// A pointer to the first element of a buffer.
Value pointerTo(ImplicitLocOpBuilder &b, Value buffer);

/// Whether a function of the runtime looks for itself whether elements are a device's. Of these,
/// weft_rt_host_take alone writes buffers.
bool knowsDevices(StringRef name);

/// Makes a call of one of the library's routines one on copies in the host's memory; other calls
/// stay what they are.
void bringToHost(func::CallOp call);
/// Afterwards: routines are declared to take pointers, as they are called with now.
void takePointers(ModuleOp module);

} // namespace mlir::weft
