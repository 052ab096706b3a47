// Collectives of tapes, traces and compiled code: as ops, as host calls, and groups by their
// numbers.
#include <map>

#include "Distributed/Execute.h"
#include "OpDefs/CollectiveSymbol.h"
#include "Ops/Eager.h"
#include "Runtime/HostFunction.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include <weft/detail/distributed_place.h>

namespace weft::distributed {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

/// The groups that programs name, but the world.
struct Named {
  std::mutex lock;
  std::map<std::int64_t, std::shared_ptr<detail::GroupState>> groups;
};

Named &named() {
  static auto &only = *new Named;
  return only;
}

} // namespace

std::int64_t number_of(const std::shared_ptr<detail::GroupState> &group) {
  if (group->number == 0) return 0;
  Named &known = named();
  const std::lock_guard lock(known.lock);
  known.groups.emplace(group->number, group);
  return group->number;
}

std::shared_ptr<detail::GroupState> group_of(std::int64_t number) {
  if (number == 0) return world_group();
  Named &known = named();
  const std::lock_guard lock(known.lock);
  if (const auto found = known.groups.find(number); found != known.groups.end())
    return found->second;
  raise(ErrorKind::state, "there is no group " + std::to_string(number) +
                              " of this process: trace the function again");
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

Tensor execute_op(OpCode op, const Attrs &attrs, const Tensor &x) {
  return execute(op, attrs, Group(group_of(std::get<std::int64_t>(*attr_of(op, attrs, "group")))),
                 x, {});
}

/// What compiled code calls; errors are those of the collective's line.
bool library_call(std::string_view name, std::span<const Tensor> operands,
                  FunctionRef<SourceLocation()> location, std::vector<Tensor> &results) {
  const std::optional<CollectiveCall> call = collective_of(name);
  if (!call) return false;
  const SourceLocation at = location();
  const detail::Place place(to_string(at));
  try {
    Tensor result = execute_op(call->op, call->attrs, operands.empty() ? Tensor() : operands[0]);
    if (result.defined()) results.push_back(std::move(result));
  } catch (const Error &error) {
    if (!at.known()) throw;
    raise(error.kind(), std::string(error.message()), at);
  }
  return true;
}

const bool told = [] {
  set_library_call(library_call);
  return true;
}();

} // namespace

} // namespace weft::distributed

namespace weft::eager {

Tensor collective(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &) {
  if (operands.empty()) return distributed::execute_op(info.op, attrs, Tensor());
  const Tensor result = distributed::execute_op(info.op, attrs, operands[0]);
  // Alone, a rank gets what it had, which tapes would take for the operand.
  return result.impl() == operands[0].impl() ? detail::new_alias(result) : result;
}

} // namespace weft::eager
