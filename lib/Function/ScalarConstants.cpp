// Finds constants that differ from trace to trace, and makes captured tensors of them.
#include "Function/ScalarConstants.h"

#include <algorithm>
#include <cstring>

#include "CodeCache/CodeCache.h"
#include "Runtime/NewTensor.h"
#include "Support/Log.h"

namespace weft {

namespace {

/// The value of a constant of one element; null for other nodes. Constants of a program stand
/// outside of its constructs.
const ConstantData *scalar_constant(const ProgramNode &node) {
  if (node.construct || node.op != OpCode::constant) return nullptr;
  const ConstantRef &data = ConstantAttrs(node.attrs).value;
  const Shape &shape = data->type.shape;
  return std::ranges::all_of(shape, [](std::int64_t size) { return size == 1; }) ? data.get()
                                                                                 : nullptr;
}

std::string bytes_of(const ConstantData &constant) {
  return {static_cast<const char *>(constant.bytes), item_size(constant.type.dtype)};
}

Tensor tensor_of(const ConstantData &constant) {
  Tensor tensor = detail::new_tensor(constant.type.dtype, constant.type.shape);
  std::memcpy(tensor.impl()->data, constant.bytes, item_size(constant.type.dtype));
  return tensor;
}

} // namespace

void ScalarConstants::share(Program &program) {
  std::vector<std::string> values;
  for (const ProgramNode &node : program.nodes)
    if (const ConstantData *constant = scalar_constant(node)) values.push_back(bytes_of(*constant));
  if (values.empty()) return;
  // Of a function that gives ever new programs, only the latest can repeat.
  constexpr std::size_t kMost = 64;
  if (families_.size() >= kMost) families_.clear();
  const auto [found, fresh] =
      families_.try_emplace(cache::hash(program, cache::Scalars::any), Family{});
  Family &family = found->second;
  if (fresh) {
    family.varies.resize(values.size());
    family.first = std::move(values);
    return;
  }
  const auto count = [&] { return std::ranges::count(family.varies, true); };
  const auto before = count();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != family.first[i]) family.varies[i] = true;
  if (const auto now = count(); now != before && logging())
    log_line(program.name + ": called with ever new numbers: " + std::to_string(now) +
             (now == 1 ? " constant becomes an argument" : " constants become arguments") +
             " of one compiled program; pass a tensor to be traced once");
  std::size_t at = 0;
  std::erase_if(program.nodes, [&](const ProgramNode &node) {
    const ConstantData *constant = scalar_constant(node);
    if (constant == nullptr || !family.varies[at++]) return false;
    program.captured.push_back(node.result);
    program.captures.push_back(tensor_of(*constant));
    return true;
  });
}

} // namespace weft
