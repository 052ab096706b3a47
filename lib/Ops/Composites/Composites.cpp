// Operands and axes of functions made of ops, checked in their names.
#include "Ops/Composites/Composites.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "OpDefs/WrongDType.h"
#include "Support/CallSite.h"
#include <weft/detail/indexing.h>

namespace weft {

Integers::Integers(const Sizes &several) {
  if (several.are_numbers()) {
    numbers_ = several.numbers();
    return;
  }
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < several.size(); ++i)
    parts.push_back(reshape(several[i].tensor(), Ints{1}));
  tensor_ = concatenate(std::span<const Tensor>(parts), {.axis = 0});
}

Integers::Integers(const Tensor &computed, std::source_location where) {
  const CompositeCall site("Integers", where);
  const TensorType type = detail::type_of(computed);
  if (!is_integer(type.dtype))
    raise(ErrorKind::dtype,
          "a list of integers is a tensor of dtype " + std::string(name_of(type.dtype)));
  if (type.shape.size() > 1)
    raise(ErrorKind::shape, "a list of integers is a tensor of shape " + to_string(type.shape) +
                                ": it has one axis, or none");
  if (computed.traced()) {
    tensor_ = type.dtype == DType::i64 ? computed : cast(computed, DType::i64);
    return;
  }
  for (const std::int64_t number : computed.to_vector<std::int64_t>()) numbers_.push_back(number);
}

} // namespace weft

namespace weft::call {

Tensor filling(const char *function, const char *name, double value, DType dtype) {
  if (!is_integer(dtype)) return cast(value, dtype);
  constexpr double most = 9007199254740992; // 2^53
  if (std::trunc(value) != value || std::abs(value) > most) {
    char text[32];
    raise(ErrorKind::value, std::string(function) + ": " + name + " is " +
                                std::string(text, std::to_chars(text, std::end(text), value).ptr) +
                                ": for elements of " + std::string(name_of(dtype)) +
                                " an integer of at most 2^53 is wanted");
  }
  return Operand(static_cast<std::int64_t>(value)).materialize(dtype, function);
}

namespace {

[[noreturn]] void refuse_undefined(const char *function, const std::string &name) {
  raise(ErrorKind::state, std::string(function) + ": " + name +
                              " is an undefined tensor: it was never given a value");
}

/// The operand in the dtype that all take together, if there is one.
Tensor converted(const char *function, const Operand &operand, std::optional<DType> dtype,
                 const ParameterInfo &info, const std::string &name) {
  Tensor tensor = operand.materialize(operand.weak() && dtype ? *dtype : operand.dtype(), function);
  if (dtype && tensor.dtype() != *dtype) tensor = cast(tensor, *dtype);
  // Positions are of the dtypes that code indexes by.
  const DType wide = dtype_info(tensor.dtype()).compute;
  if (!info.admits.contains(tensor.dtype()) && info.admits.contains(wide) &&
      is_integer(tensor.dtype()))
    tensor = wide == DType::i64 ? detail::as_positions(tensor) : cast(tensor, wide);
  if (!info.admits.contains(tensor.dtype()))
    raise(ErrorKind::dtype,
          std::string(function) + ": " + wrong_dtype(name, info.admits, detail::type_of(tensor)));
  return tensor;
}

std::string element(const ParameterInfo &info, std::size_t i) {
  return std::string(info.name) + "[" + std::to_string(i) + "]";
}

void check_not_empty(const char *function, const ParameterInfo &info, bool empty) {
  if (empty)
    raise(ErrorKind::value, std::string(function) + ": " + std::string(info.name) +
                                " is empty: at least one tensor is wanted");
}

std::vector<Tensor> promoted_list(const char *function, Promotion promotion,
                                  const ParameterInfo &info,
                                  std::span<const Operand *const> operands) {
  check_not_empty(function, info, operands.empty());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i]->undefined()) refuse_undefined(function, element(info, i));
  std::optional<DType> dtype;
  if (promotion != Promotion::none) dtype = promoted_dtype(function, promotion, operands, 0);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < operands.size(); ++i)
    tensors.push_back(converted(function, *operands[i], dtype, info, element(info, i)));
  return tensors;
}

} // namespace

std::source_location line_of(std::span<const Operand *const> operands) {
  for (const Operand *operand : operands)
    if (operand != nullptr && operand->where().line() != 0) return operand->where();
  return {};
}

void promote_operands(const char *function, Promotion promotion,
                      std::span<const ParameterInfo> infos,
                      std::span<const Operand *const> operands, Tensor *tensors) {
  detail::InlineVector<const Operand *, 6> promoted;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) continue;
    if (operands[i]->undefined()) refuse_undefined(function, std::string(infos[i].name));
    if (infos[i].promoted && promotion != Promotion::none) promoted.push_back(operands[i]);
  }
  std::optional<DType> dtype;
  if (!promoted.empty()) dtype = promoted_dtype(function, promotion, promoted, 0);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i] != nullptr)
      tensors[i] = converted(function, *operands[i], infos[i].promoted ? dtype : std::nullopt,
                             infos[i], std::string(infos[i].name));
}

std::vector<Tensor> tensors_of(const char *function, Promotion promotion, const ParameterInfo &info,
                               std::initializer_list<Operand> list) {
  std::vector<const Operand *> operands;
  for (const Operand &operand : list) operands.push_back(&operand);
  return promoted_list(function, promotion, info, operands);
}

std::vector<Tensor> tensors_of(const char *function, Promotion promotion, const ParameterInfo &info,
                               std::span<const Tensor> list) {
  check_not_empty(function, info, list.empty());
  DTypeJoin join;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].defined()) refuse_undefined(function, element(info, i));
    join.add(list[i].dtype());
  }
  std::optional<DType> dtype;
  if (promotion != Promotion::none) dtype = join.common_or_throw(function);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < list.size(); ++i)
    tensors.push_back(converted(function, list[i], dtype, info, element(info, i)));
  return tensors;
}

/// The dtype that an op on elements of this one is computed in, if they are floats of 16 bits.
static std::optional<DType> wider_float(DType dtype) {
  const DTypeInfo &info = dtype_info(dtype);
  if (info.kind != DTypeKind::floating || info.compute == dtype) return std::nullopt;
  return info.compute;
}

Rounding::Rounding(std::span<Tensor> operands, bool asked) {
  if (!detail::all_on_cpu(operands)) [[unlikely]] {
    const auto number = [](std::size_t i) { return "argument " + std::to_string(i + 1); };
    gather_on_one_device(CallSite::function() == nullptr ? "" : CallSite::function(), operands,
                         number);
  }
  device_.follow(operands);
  std::optional<DType> narrow;
  for (const Tensor &operand : operands) {
    if (!operand.defined() || !is_floating(operand.dtype())) continue;
    // Where dtypes differ it is for the body to judge.
    if (narrow.value_or(operand.dtype()) != operand.dtype()) return;
    narrow = operand.dtype();
  }
  if (!narrow || !wider_float(*narrow)) return;
  for (Tensor &operand : operands)
    if (operand.defined() && operand.dtype() == *narrow)
      operand = cast(operand, *wider_float(*narrow));
  if (!asked) dtype_ = narrow;
}

Tensor Rounding::rounded(Tensor result) const {
  const bool computed = result.defined() && result.dtype() == wider_float(*dtype_);
  if (computed) return cast(result, *dtype_);
  return result;
}

std::int64_t checked_axis(const char *function, const char *name, std::int64_t axis,
                          std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    raise(ErrorKind::index, std::string(function) + ": " + name + " " + std::to_string(axis) +
                                " is out of range for a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::int64_t> checked_axis(const char *function, const char *name,
                                         const std::optional<std::int64_t> &axis,
                                         std::int64_t rank) {
  if (!axis) return axis;
  return checked_axis(function, name, *axis, rank);
}

Ints checked_axes(const char *function, const char *name, const Axes &axes, std::int64_t rank) {
  Ints checked;
  if (!axes) {
    for (std::int64_t i = 0; i < rank; ++i) checked.push_back(i);
    return checked;
  }
  for (const std::int64_t axis : *axes) checked.push_back(checked_axis(function, name, axis, rank));
  std::sort(checked.begin(), checked.end());
  if (std::adjacent_find(checked.begin(), checked.end()) == checked.end()) return checked;
  std::string list;
  for (const std::int64_t axis : *axes) list += (list.empty() ? "(" : ", ") + std::to_string(axis);
  raise(ErrorKind::value,
        std::string(function) + ": " + name + " has an axis twice: " + list + ")");
}

} // namespace weft::call
