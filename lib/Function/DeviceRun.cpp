// What compiled programs have on a device, and what may go there.
#include "Function/DeviceRun.h"

#include <utility>

#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/Fault.h"

namespace weft {

Tensor for_kernels(const Tensor &tensor, Device device) {
  Tensor dense = detail::moved(tensor, device).contiguous();
  const bool aligned = reinterpret_cast<std::uintptr_t>(dense.impl()->data) % kKernelAlignment == 0;
  return aligned ? dense : detail::copy_of(dense);
}

DeviceProgram::DeviceProgram(const Program &program, CompiledCode code, Device device)
    : compiled_(std::move(code)), code_(device::runtime_of(device), compiled_.ptx, program.name) {
  for (const Tensor &capture : program.captures) captures_.push_back(for_kernels(capture, device));
}

void refuse_traced(const std::string &function, const detail::TensorImpl *impl) {
  if (impl->storage == detail::Storage::traced)
    throw StateError(function + ": an argument is a tensor of the traced function '" +
                     static_cast<detail::TraceRef *>(impl->base)->name +
                     "', whose trace has ended: a tensor may not leave its trace; return it "
                     "instead");
}

std::vector<Tensor> inputs_on(Device device, const std::string &function,
                              std::span<detail::TensorImpl *const> inputs, bool moves) {
  std::vector<Tensor> tensors;
  for (detail::TensorImpl *impl : inputs) {
    refuse_traced(function, impl);
    detail::retain(impl);
    tensors.push_back(moves ? detail::moved(Tensor(impl), device) : Tensor(impl));
  }
  if (!moves)
    gather_on_one_device(function, tensors,
                         [](std::size_t i) { return "argument " + std::to_string(i); });
  for (std::size_t i = 0; i < tensors.size() && !moves; ++i)
    if (tensors[i].device() != device && !moves_by_itself(tensors[i]))
      raise(ErrorKind::device, function + ": argument " + std::to_string(i) + " is on " +
                                   to_string(tensors[i].device()) +
                                   " and what the function uses on " + to_string(device) +
                                   ": move one with .to()");
  for (Tensor &tensor : tensors) tensor = for_kernels(tensor, device);
  return tensors;
}

void check_may_move(Device device, const std::string &function, const VariableState &variable) {
  const Device its = variable.device();
  if (its == device || (its == Device() && Shape(variable.type().shape).empty())) return;
  raise(ErrorKind::device, function + ": an argument is on " + to_string(device) +
                               " and the variable '" + variable.name() + "' on " + to_string(its) +
                               ": make it there (DeviceScope), or let the function have all there "
                               "by its option device");
}

} // namespace weft
