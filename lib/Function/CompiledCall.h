// One compiled program with what it captured: checks nothing, lays out buffers, calls the entry.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "Function/DeviceRun.h"
#include "Function/ProfiledCode.h"
#include "Program/CompilerBackend.h"
#include "Program/Ranks.h"
#include "Runtime/Variable.h"
#include "Support/Fork.h"
#include <weft/detail/signature.h>

namespace weft {

class CompiledCall {
public:
  /// `source` is what the code was compiled from, if that is not `program`; `locations` tells the
  /// lines of its sites, if not the source. With a GPU as `device`, which the code is for then, all
  /// that a call uses is moved there; else calls run where their operands are.
  CompiledCall(std::shared_ptr<const Program> program, CompiledCode code,
               std::shared_ptr<const Program> source = nullptr,
               std::shared_ptr<const LocationTable> locations = nullptr, Device device = {});
  CompiledCall(const CompiledCall &) = delete;

  /// Runs the code. `inputs` have the program's input types, and `variables` are what its
  /// parameters stand for. Throws what asserts, index checks and host calls inside throw, and
  /// DeviceError where operands are on several devices.
  std::vector<Tensor> run(std::span<detail::TensorImpl *const> inputs,
                          std::span<const detail::VariablePointer> variables = {});

private:
  /// Runs it, whatever other ranks do.
  std::vector<Tensor> run_alone(std::span<detail::TensorImpl *const> inputs,
                                std::span<const detail::VariablePointer> variables);
  /// Where a call runs.
  Device place_of(std::span<detail::TensorImpl *const> inputs,
                  std::span<const detail::VariablePointer> variables) const;
  /// The program on a device, compiled for it if it is not yet.
  DeviceProgram &on(Device device);
  std::vector<Tensor> run_on(DeviceProgram &there, std::span<detail::TensorImpl *const> inputs,
                             std::span<const detail::VariablePointer> variables);
  template <class Buffers, class Make>
  std::size_t make_results(std::vector<Tensor> &results, Buffers &buffers, const Make &make) const;
  /// Puts the results that the code has made in their places.
  void take_sized(std::vector<Tensor> &results, std::vector<Tensor> &sized) const;
  /// What a call's context has of the program.
  void fill(CallContext &context) const;

  /// A variable of the program in this call.
  VariableState &variable(std::size_t index,
                          std::span<const detail::VariablePointer> variables) const {
    const std::int32_t parameter = parameter_[index];
    VariableState &state =
        parameter < 0 ? *variables_[index] : **variables[static_cast<std::size_t>(parameter)];
    return state.for_call(program_->written[index]);
  }

  std::shared_ptr<const Program> program_;
  std::vector<std::int32_t> parameter_; ///< which parameter a variable is, or -1
  std::vector<VariableRef> variables_;  ///< the program's, or their parts where they are cut
  std::vector<HostBinding> hosts_;
  RanksSchedule schedule_;
  CompiledCode code_;
  ProfiledCode profiled_;
  const char *event_; ///< what profiles call it
  std::shared_ptr<const LocationTable> locations_;
  std::vector<Tensor> outputs_; ///< without elements, of the types; undefined for unknown sizes
  bool static_inputs_ = true;
  const std::shared_ptr<const Program> source_;
  Device captured_on_;  ///< where a captured tensor is that is not on the CPU
  const Device device_; ///< where calls run, or the CPU: where their operands are
  forks::Mutex<std::mutex> mutex_;
  std::map<int, std::unique_ptr<DeviceProgram>> devices_; ///< by their indices
};

} // namespace weft
