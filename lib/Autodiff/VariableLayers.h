// Layers that look at reads and writes of variables, or answer reads.
#pragma once

#include <algorithm>
#include <vector>

#include "Autodiff/Layer.h"

namespace weft::autodiff {

/// Lists the variables that are read and written.
class Watcher : public Layer {
public:
  Tensor apply(const OpCall &call) override {
    if (const VariableRef *variable = variable_in(call.attrs))
      note(op_info(call.op).effects.writes ? written : read, *variable);
    return Layer::apply(call);
  }

  /// In the order of their first reads and writes.
  std::vector<VariableRef> read, written;

private:
  static void note(std::vector<VariableRef> &list, const VariableRef &variable) {
    if (std::ranges::find(list, variable) == list.end()) list.push_back(variable);
  }
};

/// Answers reads of some variables with these values.
class Bound : public Layer {
public:
  Bound(std::span<const VariableRef> variables, std::span<const Tensor> values)
      : variables_(variables), values_(values) {}

  Tensor apply(const OpCall &call) override {
    if (op_info(call.op).reads_variable()) {
      const auto found = std::ranges::find(variables_, *variable_in(call.attrs));
      if (found != variables_.end())
        return values_[static_cast<std::size_t>(found - variables_.begin())];
    }
    return Layer::apply(call);
  }

  std::vector<Tensor> attach_pullback(const PullbackCall &call) override {
    return attach_seen(call);
  }

private:
  std::span<const VariableRef> variables_;
  std::span<const Tensor> values_;
};

} // namespace weft::autodiff
