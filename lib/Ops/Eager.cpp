// The table of eager functions, and the way of every call through its shape function.
#include "Ops/Eager.h"

#include <array>
#include <string>
#include <vector>

#include "Kernels/KernelTable.h"
#include "Support/Fault.h"

namespace weft {

namespace {

/// The function of each op: that of its kind, or its own.
std::array<EagerFunction, kNumOps> make_functions() {
  std::array<EagerFunction, kNumOps> functions{};
  for (const OpInfo &info : all_ops()) {
    EagerFunction &function = functions[static_cast<std::size_t>(info.op)];
    if (info.kind == OpKind::elementwise) function = eager::elementwise;
    if (info.kind == OpKind::reduction) function = eager::reduction;
  }
  const auto set = [&](OpCode op, EagerFunction function) {
    functions[static_cast<std::size_t>(op)] = function;
  };
  set(OpCode::cast, eager::cast);
  set(OpCode::constant, eager::constant);
  set(OpCode::iota, eager::iota);
  set(OpCode::argmax, eager::argmax);
  set(OpCode::matmul, eager::matmul);
  set(OpCode::reshape, eager::reshape);
  set(OpCode::transpose, eager::transpose);
  set(OpCode::broadcast, eager::broadcast);
  set(OpCode::slice, eager::slice);
  set(OpCode::reverse, eager::reverse);
  set(OpCode::concatenate, eager::concatenate);
  set(OpCode::pad, eager::pad);
  set(OpCode::gather, eager::gather);
  set(OpCode::scatter_add, eager::scatter_add);
  set(OpCode::read, eager::read);
  set(OpCode::assign, eager::assign);
  set(OpCode::assign_add, eager::assign_add);
  set(OpCode::print, eager::print);
  set(OpCode::check, eager::check);
  return functions;
}

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
         name + " of type " + to_string(operand.type()) +
             " stands for a value of a traced function and was used outside of its trace");
}

} // namespace

Tensor execute_eager(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
  static const std::array<EagerFunction, kNumOps> functions = make_functions();
  const OpInfo &info = op_info(op);
  TensorType few[3]; // most ops have no more operands
  std::vector<TensorType> many(operands.size() > std::size(few) ? operands.size() : 0);
  const std::span<TensorType> types(many.empty() ? few : many.data(), operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_operand(info, operands[i], i);
    types[i] = operands[i].type();
  }
  Result<TensorType> result = infer({op, types, attrs});
  if (!result) refuse(info, result.fault().kind, result.fault().message);
  return functions[static_cast<std::size_t>(op)](info, operands, attrs, *result);
}

} // namespace weft
