// Ops on devices: views are made here, other ops run as compiled programs, or on the host.
#include "Ops/DeviceOps.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "Ops/Eager.h"
#include "Support/Fault.h"
#include "Support/Profile.h"

namespace weft {

namespace {

std::atomic<DeviceOpRunner> device_op_runner = nullptr;

/// On the host, on copies of the operands, with copies of the results.
void run_staged(const OpCall &call, Device device, std::span<Tensor> results) {
  std::vector<Tensor> operands;
  for (const Tensor &operand : call.operands) operands.push_back(detail::on_host(operand));
  const DeviceScope host{Device()};
  results[0] = execute_eager(call.op, operands, call.attrs, results.subspan(1));
  for (Tensor &result : results)
    if (result.defined()) result = detail::moved(result, device);
}

} // namespace

void set_device_op_runner(DeviceOpRunner runner) { device_op_runner = runner; }

Tensor execute_on_device(const OpInfo &info, std::span<const Tensor> given, const Attrs &attrs,
                         std::span<Tensor> more) {
  const EagerFunction function = eager::function_of(info.op);
  std::vector<TensorType> types, result_types(1 + more.size());
  for (const Tensor &operand : given) types.push_back(detail::type_of(operand));
  Result<TensorType> type = infer({info.op, types, attrs, std::span(result_types).subspan(1)});
  if (!type) raise(type.fault().kind, std::string(info.name) + ": " + type.fault().message);
  // Effects are the host's, which brings what it looks at there.
  if (info.results == 0 || info.kind == OpKind::collective)
    return function(info, given, attrs, *type);
  std::vector<Tensor> operands(given.begin(), given.end());
  const Device device = gather_on_one_device(info.name, operands, [&](std::size_t i) {
    const std::size_t last = info.operands.size() - 1;
    const std::string name(info.operands[std::min(i, last)].name);
    return info.operands[last].variadic && i >= last ? name + "[" + std::to_string(i - last) + "]"
                                                     : name;
  });
  if (device == Device()) return execute_eager(info.op, operands, attrs, more);
  result_types[0] = *type;
  const profile::Scope scope(profile::Kind::op, info.name);
  if (eager::gives_views(function)) return function(info, operands, attrs, *type);
  const OpCall call{info.op, operands, attrs};
  std::vector<Tensor> results(1 + more.size());
  const DeviceOpRunner runner = device_op_runner;
  try {
    if (runner == nullptr || !runner(call, device, result_types, results))
      run_staged(call, device, results);
  } catch (const OutOfMemory &error) { // of the device, which does not know whose memory it is
    if (!error.message().starts_with("gpu:")) throw;
    raise(ErrorKind::out_of_memory, std::string(info.name) + ": " + std::string(error.message()));
  }
  std::move(results.begin() + 1, results.end(), more.begin());
  return std::move(results[0]);
}

} // namespace weft
