// Variables of a replica: what it writes apart, and reads on its device.
#include "Runtime/ReplicaVariables.h"

#include "Runtime/OnDevice.h"

namespace weft {

VariableState *ReplicaVariables::find(const VariableState &variable) const {
  const auto found = own_.find(&variable);
  return found == own_.end() ? nullptr : found->second;
}

bool ReplicaVariables::moves(const VariableState &variable) const {
  // What a generator on the host gives goes where it is used.
  return device_ && (!variable.of_generator() || variable.elsewhere_);
}

Tensor ReplicaVariables::read(const VariableState &variable) const {
  return moves(variable) ? variable.copy_on(*device_) : variable.load_of_all();
}

void ReplicaVariables::give(VariableState &variable, const Tensor &value) {
  if (VariableState *const own = find(variable)) return own->store(value);
  const Tensor here = moves(variable) ? detail::moved(value, *device_) : value;
  entries_.push_back({variable.shared_from_this(), variable.of_replica(here)});
  own_.emplace(&variable, entries_.back().own.get());
}

VariableState *ReplicaVariables::to_write(VariableState &variable) {
  if (VariableState *const own = find(variable)) return own;
  if (!variable.initialized() || variable.stands_in() || variable.cut() != nullptr) return nullptr;
  give(variable, read(variable));
  return find(variable);
}

} // namespace weft
