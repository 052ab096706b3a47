// Ops whose operands are on a device: where a call runs, what moves by itself, and who runs it.
#pragma once

#include <optional>
#include <string_view>

#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"

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
/// operand: functions that are made of ops make tensors of their own.
class DeviceOfOperands {
public:
  DeviceOfOperands() = default;
  explicit DeviceOfOperands(std::span<const Tensor> operands) { follow(operands); }
  void follow(const Tensor &operand) {
    if (scope_ || !operand.defined() || operand.traced()) return;
    const Device device = operand.impl()->device;
    if (device != default_device()) scope_.emplace(device);
  }
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

} // namespace weft
