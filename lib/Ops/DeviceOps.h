// Ops whose operands are on a device: where a call runs, what moves by itself, and who runs it.
#pragma once

#include <optional>
#include <string_view>

#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"

namespace weft {

/// Runs an op of which an operand is on a device, as execute_eager does.
Tensor execute_on_device(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                         std::span<Tensor> more);

/// Runs calls on devices as compiled programs of one op; `operands` are all there, and the results
/// of the types in `types` go to `results`. Says false if it has no program for them.
using DeviceOpRunner = bool (*)(const OpCall &call, Device device,
                                std::span<const TensorType> types, std::span<Tensor> results);
/// Gives one to eager calls, once, while the library is loaded.
void set_device_op_runner(DeviceOpRunner runner);

/// While one lives, what creation functions of this thread make goes to the device of the first
/// operand that has one: functions that are made of ops make tensors of their own.
class DeviceOfOperands {
public:
  DeviceOfOperands() = default;
  explicit DeviceOfOperands(std::span<const Tensor> operands) { follow(operands); }
  void follow(const detail::TensorImpl *operand) {
    if (scope_ || operand == nullptr || operand->uncommitted) return;
    // Of traced ones only those know a device that stand for many tensors.
    if (operand->storage == detail::Storage::traced && detail::on_cpu(*operand)) return;
    if (operand->device != default_device()) scope_.emplace(operand->device);
  }
  void follow(const Tensor &operand) { follow(operand.impl()); }
  /// The first that is on no CPU, as others move to it, or else any.
  void follow(std::span<const Tensor> operands) {
    for (const Tensor &operand : operands)
      if (operand.defined() && !detail::on_cpu(operand)) return follow(operand);
    if (default_device() != Device()) [[unlikely]]
      for (const Tensor &operand : operands) follow(operand);
  }

private:
  std::optional<DeviceScope> scope_;
};

/// A CompositeCall of a function whose own tensors belong beside its operands.
class CallBeside {
public:
  template <class... Operands>
  explicit CallBeside(const char *function, const Operand &operand, const Operands &...others)
      : site_(function, operand.where()) {
    for (const detail::TensorImpl *impl : {operand.impl(), others.impl()...})
      if (impl != nullptr && !detail::on_cpu(*impl)) device_.follow(impl);
    for (const detail::TensorImpl *impl : {operand.impl(), others.impl()...}) device_.follow(impl);
  }
  CallBeside(const char *function, const Tensor &operand, const std::source_location &where)
      : site_(function, where) {
    device_.follow(operand);
  }

private:
  CompositeCall site_;
  DeviceOfOperands device_;
};

} // namespace weft
