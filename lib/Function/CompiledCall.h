// One compiled program with what it captured: checks nothing, lays out buffers, calls the entry.
#pragma once

#include <span>
#include <vector>

#include "Function/ProfiledCode.h"
#include "Program/CompilerBackend.h"
#include <weft/detail/signature.h>

namespace weft {

class CompiledCall {
public:
  /// `source` is what the code was compiled from, if that is not `program`; `locations` tells the
  /// lines of its sites, if not the source.
  CompiledCall(std::shared_ptr<const Program> program, CompiledCode code,
               std::shared_ptr<const Program> source = nullptr,
               std::shared_ptr<const LocationTable> locations = nullptr);
  CompiledCall(const CompiledCall &) = delete;

  /// Runs the code. `inputs` have the program's input types, and `variables` are what its
  /// parameters stand for. Throws what asserts, index checks and host calls inside throw.
  std::vector<Tensor> run(std::span<detail::TensorImpl *const> inputs,
                          std::span<const detail::VariablePointer> variables = {});

private:
  /// A variable of the program in this call.
  VariableState &variable(std::size_t index,
                          std::span<const detail::VariablePointer> variables) const {
    const std::int32_t parameter = parameter_[index];
    return parameter < 0 ? *program_->variables[index]
                         : **variables[static_cast<std::size_t>(parameter)];
  }

  std::shared_ptr<const Program> program_;
  std::vector<std::int32_t> parameter_; ///< which parameter a variable is, or -1
  std::vector<HostBinding> hosts_;
  CompiledCode code_;
  ProfiledCode profiled_;
  const char *event_; ///< what profiles call it
  std::shared_ptr<const LocationTable> locations_;
  std::vector<Tensor> outputs_; ///< without elements, of the types; undefined for unknown sizes
  bool static_inputs_ = true;
};

} // namespace weft
