// The table of eager functions, and the way of every call through its shape function.
#include "Ops/Eager.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "Kernels/KernelTable.h"
#include "Ops/DeviceOps.h"
#include "Runtime/Filled.h"
#include "Support/Fault.h"
#include "Support/Profile.h"
#include <weft/detail/binding.h>

namespace weft {

#define WEFT_EAGER_TABLE
#include "EagerTable.inc"

namespace {

[[noreturn]] void refuse(const OpInfo &info, ErrorKind kind, const std::string &why) {
  raise(kind, std::string(info.name) + ": " + why);
}

/// Operands must have elements: be defined, and not stand for values of a trace.
void check_operand(const OpInfo &info, const Tensor &operand, std::size_t i) {
  if (operand.defined() && !operand.traced()) return;
  const OperandInfo &named = info.operands[std::min(i, info.operands.size() - 1)];
  const std::string name(named.name);
  if (!operand.defined())
    refuse(info, ErrorKind::state, name + " is an undefined tensor: it was never given a value");
  refuse(info, ErrorKind::state,
         name + " of type " + to_string(detail::type_of(operand)) +
             " stands for a value of a traced function and was used outside of its trace");
}

/// "f32(32, 8), f32(8, 4) -> f32(32, 4)"
std::string text_of(std::span<const TensorType> operands, const Tensor &result) {
  std::string text;
  for (const TensorType &type : operands) text += (text.empty() ? "" : ", ") + to_string(type);
  if (!result.defined()) return text;
  return text + (text.empty() ? "-> " : " -> ") + to_string(detail::type_of(result));
}

} // namespace

EagerFunction eager::function_of(OpCode op) {
  return kEagerFunctions[static_cast<std::size_t>(op)];
}

/// An op with several results, which are of these types.
static Tensor execute_several(const OpInfo &info, std::span<const Tensor> operands,
                              const Attrs &attrs, const TensorType &first,
                              std::span<const TensorType> types, std::span<Tensor> more) {
  std::vector<Tensor> results{detail::new_tensor(first.dtype, first.shape)};
  for (const TensorType &type : types)
    results.push_back(detail::new_tensor(type.dtype, type.shape));
  eager::run_routine(info, operands, attrs, results);
  std::move(results.begin() + 1, results.end(), more.begin());
  return std::move(results.front());
}

/// A call whose lists of sizes have values, with their numbers instead.
static Tensor execute_on_numbers(const OpInfo &info, std::span<const Tensor> operands,
                                 const Attrs &attrs) {
  const std::size_t first = info.operands_before_sizes(operands.size());
  std::span<const Tensor> values = operands.subspan(first);
  Attrs numbers = attrs;
  for (std::size_t i = 0; i < info.attrs.size(); ++i) {
    if (!info.attrs[i].takes_values) continue;
    for (std::int64_t &size : std::get<Ints>(numbers[i])) {
      if (size != detail::kDynamic || values.empty()) continue;
      check_operand(info, values.front(), info.operands.size() - 1);
      size = values.front().item<std::int64_t>();
      // Where -1 is a word it is so of numbers alone.
      if (size < 0)
        refuse(info, ErrorKind::shape, "a size is " + std::to_string(size) + ", which is negative");
      values = values.subspan(1);
    }
  }
  return execute_eager(info.op, operands.first(first), numbers);
}

/// A call of an op that has no kernels for the dtype of its operands.
static Tensor execute_widened(const OpInfo &info, std::span<const Tensor> operands,
                              const Attrs &attrs, const Widened &wide, const TensorType &type,
                              std::span<const TensorType> more_types, std::span<Tensor> more) {
  if (info.kind == OpKind::elementwise && is_floating(wide.narrow))
    if (Tensor result = eager::elementwise_in_blocks(info, operands, wide, type); result.defined())
      return result;
  const auto cast = [](const Tensor &x, DType dtype) {
    return execute_eager(OpCode::cast, {&x, 1}, Attrs{dtype});
  };
  const auto shifted = [&](Tensor x) {
    if (!wide.shift) return x;
    const Tensor both[] = {std::move(x), Operand(*wide.shift).materialize(wide.dtype)};
    return execute_eager(OpCode::add, both, {});
  };
  std::vector<Tensor> tensors;
  for (const Tensor &operand : operands)
    tensors.push_back(operand.dtype() == wide.narrow ? shifted(cast(operand, wide.dtype))
                                                     : operand);
  const auto narrowed = [&](Tensor value, DType dtype) {
    return dtype == wide.narrow ? cast(shifted(std::move(value)), wide.narrow) : value;
  };
  Tensor value = execute_eager(info.op, tensors, attrs, more);
  for (std::size_t i = 0; i < more.size(); ++i)
    more[i] = narrowed(std::move(more[i]), more_types[i].dtype);
  return narrowed(std::move(value), type.dtype);
}

Tensor execute_eager(OpCode op, std::span<const Tensor> operands, const Attrs &attrs,
                     std::span<Tensor> more) {
  const OpInfo &info = op_info(op);
  if (info.takes_sizes() && operands.size() >= info.operands.size()) [[unlikely]]
    return execute_on_numbers(info, operands, attrs);
  TensorType few[3]; // most ops have no more operands
  std::vector<TensorType> many(operands.size() > std::size(few) ? operands.size() : 0);
  const std::span<TensorType> types(many.empty() ? few : many.data(), operands.size());
  bool on_cpu = true, uncommitted = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_operand(info, operands[i], i);
    on_cpu &= detail::on_cpu(operands[i]);
    uncommitted |= operands[i].impl()->uncommitted;
    types[i] = detail::type_of(operands[i]);
  }
  if (uncommitted) [[unlikely]]
    uncommitted = std::ranges::all_of(operands, moves_by_itself);
  if (!on_cpu || (uncommitted && default_device() != Device())) [[unlikely]]
    return execute_on_device(info, operands, attrs, more);
  std::vector<TensorType> more_types(more.size());
  Result<TensorType> result = infer({op, types, attrs, more_types});
  if (!result) refuse(info, result.fault().kind, result.fault().message);
  if (info.widening != Widening::none && !eager::has_kernels(info, types[0].dtype))
    if (const std::optional<Widened> wide = widened(info, types))
      return execute_widened(info, operands, attrs, *wide, *result, more_types, more);
  profile::Scope scope(profile::Kind::op, info.name);
  std::optional<detail::Room> room;
  if (info.creates && default_device() != Device()) [[unlikely]]
    room.emplace(result->dtype, result->shape);
  const bool any_complex =
      is_complex(result->dtype) ||
      std::ranges::any_of(types, [](const TensorType &type) { return is_complex(type.dtype); });
  const EagerFunction function =
      (any_complex ? kComplexEagerFunctions : kEagerFunctions)[static_cast<std::size_t>(op)];
  Tensor value = more.empty() ? function(info, operands, attrs, *result)
                              : execute_several(info, operands, attrs, *result, more_types, more);
  if (scope.noted()) [[unlikely]]
    scope.set_detail(text_of(types, value));
  if (info.creates) {
    if (room) value = room->placed(std::move(value));
    for (Tensor &result : more) result = detail::placed(std::move(result));
  }
  if (uncommitted) [[unlikely]] { // so is what was made of them alone
    value = detail::uncommitted(std::move(value));
    for (Tensor &result : more) result = detail::uncommitted(std::move(result));
  }
  return value;
}

} // namespace weft
