// One compiled program on one device: its code, its kernels, and what it captured, as they are
// there.
#pragma once

#include <vector>

#include "Program/CompilerBackend.h"
#include "Runtime/DeviceCalls.h"

namespace weft {

/// A tensor on a device as kernels read it: contiguous, and aligned to kKernelAlignment.
Tensor for_kernels(const Tensor &tensor, Device device);

/// What a program for a GPU keeps on it between calls.
class DeviceProgram {
public:
  /// Loads the kernels of `code`, and copies what the program captured. Throws CompileError and
  /// DeviceError.
  DeviceProgram(const Program &program, CompiledCode code, Device device);

  Device device() const { return code_.runtime().device(); }
  const CompiledCode &compiled() const { return compiled_; }
  DeviceCode &code() { return code_; }
  /// Its captures there (for_kernels), in the program's order.
  const std::vector<Tensor> &captures() const { return captures_; }

private:
  CompiledCode compiled_;
  DeviceCode code_;
  std::vector<Tensor> captures_;
};

/// The inputs of a call on a device (for_kernels): with `moves` wherever they come from, else
/// only single elements move. Throws DeviceError, which names two, for others, and StateError for
/// tensors of a trace.
std::vector<Tensor> inputs_on(Device device, const std::string &function,
                              std::span<detail::TensorImpl *const> inputs, bool moves);

/// Throws DeviceError unless a variable may go to a device where nobody said that all do.
void check_may_move(Device device, const std::string &function, const VariableState &variable);

/// Throws StateError for a tensor of a trace.
void refuse_traced(const std::string &function, const detail::TensorImpl *impl);

} // namespace weft
