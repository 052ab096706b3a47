// Look-up in the generated op table, and the checks common to all ops.
#include "OpDefs/OpInfo.h"
#include "OpDefs/ShapeFunctions.h"
#include "OpDefs/WrongDType.h"

#include <unordered_map>

namespace weft {

#include "OpTable.inc"

const OpInfo &op_info(OpCode op) { return kOpTable[static_cast<std::size_t>(op)]; }

std::span<const OpInfo> all_ops() { return kOpTable; }

const OpInfo *find_op(std::string_view name) {
  static const auto *by_name = [] {
    auto *map = new std::unordered_map<std::string_view, const OpInfo *>;
    for (const OpInfo &info : kOpTable) map->emplace(info.name, &info);
    return map;
  }();
  auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

namespace {

std::string dtype_list(const DTypeSet &set) {
  std::string text;
  for (const DType dtype : detail::kDTypesInOrder) {
    if (!set.contains(dtype)) continue;
    if (!text.empty()) text += ", ";
    text += name_of(dtype);
  }
  return text;
}

Fault rank_fault(std::string_view what, std::int64_t rank) {
  return {ErrorKind::shape, "a tensor has at most " + std::to_string(max_rank) +
                                " dimensions, but " + std::string(what) + " has " +
                                std::to_string(rank)};
}

/// That as many sizes are operands as the lists want, each a scalar.
Check check_sizes(const InferContext &call) {
  const OpInfo &info = op_info(call.op);
  const std::size_t first = info.operands.size() - 1, given = call.operands.size() - first;
  const std::size_t wanted = given == 0 ? 0 : count_values(info, call.attrs);
  if (given != wanted)
    return Fault{ErrorKind::value, "its lists have " + std::to_string(wanted) +
                                       " sizes that are operands, but there are " +
                                       std::to_string(given)};
  for (std::size_t i = first; i < call.operands.size(); ++i)
    if (!call.operands[i].shape.empty())
      return Fault{ErrorKind::shape,
                   "a size must be a scalar, but is " + to_string(call.operands[i])};
  return std::nullopt;
}

Check check_dtypes(const InferContext &call) {
  const OpInfo &info = op_info(call.op);
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const OperandInfo &operand = info.operands[std::min(i, info.operands.size() - 1)];
    if (operand.admits.contains(call.operands[i].dtype)) continue;
    return Fault{ErrorKind::dtype, wrong_dtype(operand.name, operand.admits, call.operands[i])};
  }
  return std::nullopt;
}

} // namespace

std::size_t count_values(const OpInfo &info, const Attrs &attrs) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < info.attrs.size(); ++i)
    if (info.attrs[i].takes_values)
      for (const std::int64_t size : std::get<Ints>(attrs[i])) count += size == detail::kDynamic;
  return count;
}

std::string wrong_dtype(std::string_view name, const DTypeSet &admits, const TensorType &type) {
  return std::string(name) + " must be " + std::string(admits.word) + " (" + dtype_list(admits) +
         "), but it is " + to_string(type) +
         (is_storage(type.dtype) ? ", whose elements are only kept: cast it first, with astype"
                                 : "");
}

Result<TensorType> infer(const InferContext &call) {
  const OpInfo &info = op_info(call.op);
  const bool variadic = !info.operands.empty() && info.operands.back().variadic;
  if (variadic ? call.operands.size() + 1 < info.operands.size()
               : call.operands.size() != info.operands.size())
    return Fault{ErrorKind::value, "it takes " + std::to_string(info.operands.size()) +
                                       " operands, but there are " +
                                       std::to_string(call.operands.size())};
  if (Check fault = check_dtypes(call)) return *fault;
  if (info.takes_sizes())
    if (Check fault = check_sizes(call)) return *fault;
  if (info.shape_function == nullptr) return TensorType{};
  if (call.more.size() + 1 != std::max<std::size_t>(info.results, 1))
    return Fault{ErrorKind::internal, "it has " + std::to_string(info.results) +
                                          " results, and is asked for " +
                                          std::to_string(call.more.size() + 1)};
  for (const TensorType &operand : call.operands)
    if (operand.shape.rank() > max_rank) return rank_fault("an operand", operand.shape.rank());
  Result<TensorType> result = info.shape_function(call);
  if (!result) return result;
  if (result->shape.rank() > max_rank) return rank_fault("the result", result->shape.rank());
  for (const TensorType &other : call.more)
    if (other.shape.rank() > max_rank) return rank_fault("a result", other.shape.rank());
  return result;
}

} // namespace weft
