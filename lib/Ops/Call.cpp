// Promotion of operands, and the doors through which C++ calls reach an interpreter.
#include "Ops/Call.h"

#include <algorithm>
#include <vector>

#include "OpDefs/ShapeFunctions.h"
#include "Ops/FastPath.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/Fault.h"
#include <weft/detail/binding.h>
#include <weft/detail/indexing.h>
#include <weft/ops.h>

namespace weft::call {

namespace {

/// The dtype that operands of a promoting op take together. Weak scalars count only by their kind:
/// they never widen a dtype of their own kind, a floating one makes integers f32, and a complex one
/// integers c64, floating ones the complex dtype of them.
DType common_dtype(std::string_view function, std::span<const Operand *const> operands,
                   std::size_t first) {
  DTypeJoin strong;
  std::optional<DTypeKind> weak;
  for (const Operand *operand : operands.subspan(first)) {
    if (operand->weak()) weak = std::max(weak.value_or(DTypeKind::boolean), operand->weak_kind());
    else strong.add(operand->dtype());
  }
  if (!strong.empty()) {
    const DType dtype = strong.common_or_throw(function);
    if (!weak || *weak <= kind_of(dtype)) return dtype;
    if (*weak == DTypeKind::complex) return complex_of(dtype);
  }
  return *weak == DTypeKind::boolean   ? DType::boolean
         : *weak == DTypeKind::integer ? DType::i32
         : *weak == DTypeKind::complex ? DType::c64
                                       : DType::f32;
}

/// Operands of the ops with a fixed number of them; kept on the stack.
constexpr std::size_t kMaxOperands = 4;

/// Throws StateError for operand `i`, by the name that the record gives it.
[[noreturn]] void refuse_undefined(OpCode op, std::size_t i) {
  const OpInfo &info = op_info(op);
  raise(ErrorKind::state,
        std::string(info.name) + ": " +
            std::string(info.operands[std::min(i, info.operands.size() - 1)].name) +
            " is an undefined tensor: it was never given a value");
}

/// How many leading operands keep their own dtype.
std::size_t unpromoted(const OpInfo &info) {
  return !info.operands.empty() && info.operands[0].role == OperandRole::predicate ? 1 : 0;
}

/// Throws for an attribute that is no value of its enumeration.
void check_attrs(OpCode op, const Attrs &attrs) {
  for (const Attr &attr : attrs)
    if (const auto *dtype = std::get_if<DType>(&attr)) check_dtype(op_info(op).name, *dtype);
}

} // namespace

DType promoted_dtype(std::string_view function, Promotion promotion,
                     std::span<const Operand *const> operands, std::size_t first) {
  const DType dtype = common_dtype(function, operands, first);
  if (is_storage(dtype)) return dtype; // for the op to judge: none computes with them
  switch (promotion) {
  case Promotion::none:
  case Promotion::common: break;
  // The default floating dtype, as of integers beside a weak floating scalar.
  case Promotion::floating: return is_inexact(dtype) ? dtype : DType::f32;
  case Promotion::number: return dtype == DType::boolean ? DType::i64 : dtype;
  case Promotion::sum: return dtype_info(dtype).sum;
  case Promotion::truth: return DType::boolean;
  }
  return dtype;
}

/// An index in one of the dtypes that code indexes by; others keep theirs, for the op to judge.
static Tensor as_operand(const OpInfo &info, std::size_t i, Tensor tensor) {
  const DType dtype = detail::type_of(tensor).dtype, wide = dtype_info(dtype).compute;
  const bool is_index = i < info.operands.size() && info.operands[i].role == OperandRole::index;
  if (is_index && is_integer(dtype) && wide != dtype)
    return wide == DType::i64 ? detail::as_positions(tensor) : cast(tensor, wide);
  return tensor;
}

/// Operands as tensors of the dtypes that the op takes.
static void materialize(const OpInfo &info, std::span<const Operand *const> operands,
                        Tensor *tensors) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i]->undefined()) refuse_undefined(info.op, i);
  if (info.promotion == Promotion::none) {
    // A weak scalar keeps its own dtype; what is cast is the number itself, not f32's of it.
    const bool exact = info.op == OpCode::cast;
    for (std::size_t i = 0; i < operands.size(); ++i)
      tensors[i] = !exact || !operands[i]->weak() ? as_operand(info, i, operands[i]->materialize())
                   : operands[i]->weak_kind() == DTypeKind::floating
                       ? operands[i]->materialize(DType::f64)
                   : operands[i]->weak_kind() == DTypeKind::complex
                       ? operands[i]->materialize(DType::c128)
                       : as_operand(info, i, operands[i]->materialize());
    return;
  }
  const std::size_t first = unpromoted(info);
  const DType dtype = promoted_dtype(info.name, info.promotion, operands, first);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i < first) {
      tensors[i] = operands[i]->materialize();
      continue;
    }
    Tensor tensor =
        operands[i]->materialize(operands[i]->weak() ? dtype : operands[i]->dtype(), info.name);
    tensors[i] = tensor.dtype() == dtype ? std::move(tensor) : cast(tensor, dtype);
  }
}

Tensor general(OpCode op, std::initializer_list<const Operand *> list, const Attrs &attrs,
               std::span<Tensor> more) {
  const std::span<const Operand *const> operands(list.begin(), list.size());
  check_attrs(op, attrs);
  Tensor tensors[kMaxOperands];
  WEFT_INVARIANT(operands.size() <= kMaxOperands,
                 "too many operands for a call that is not variadic");
  materialize(op_info(op), operands, tensors);
  return dispatch({op, {tensors, operands.size()}, attrs, more});
}

Tensor general(OpCode op, std::initializer_list<const Operand *> list, const Attrs &attrs,
               std::optional<DType> dtype) {
  if (!dtype) return general(op, list, attrs);
  const OpInfo &info = op_info(op);
  check_dtype(info.name, *dtype);
  const Operand &x = **list.begin();
  if (x.undefined()) refuse_undefined(op, 0);
  Tensor tensor = x.materialize(x.weak() ? *dtype : x.dtype(), info.name);
  if (tensor.dtype() != *dtype) {
    const CompositeCall site(profile::kept(std::string(info.name)), x.where());
    tensor = cast(tensor, *dtype);
  }
  return dispatch(op, {&tensor, 1}, attrs);
}

Tensor general(OpCode op, std::initializer_list<const Operand *> list, const Attrs &attrs,
               std::initializer_list<const Sizes *> lists) {
  std::size_t values = 0;
  for (const Sizes *sizes : lists) values += sizes->values().size();
  if (values == 0) return general(op, list, attrs);
  check_attrs(op, attrs);
  std::vector<Tensor> tensors(list.size());
  materialize(op_info(op), {list.begin(), list.size()}, tensors.data());
  for (const Sizes *sizes : lists)
    tensors.insert(tensors.end(), sizes->values().begin(), sizes->values().end());
  return dispatch(op, tensors, attrs);
}

/// Whether a call of an op on tensors of that dtype needs no promotion.
static bool needs_no_promotion(OpCode op, DType dtype) {
  switch (op_info(op).promotion) {
  case Promotion::none:
  case Promotion::common: return true;
  case Promotion::floating: return is_inexact(dtype);
  case Promotion::number: return dtype != DType::boolean;
  case Promotion::sum: return dtype_info(dtype).sum == dtype;
  case Promotion::truth: return dtype == DType::boolean;
  }
  return false;
}

namespace {

constinit const Attrs none;

/// Operands that are tensors, as such: on loan, so that their counts stay as they are.
class Loan {
public:
  explicit Loan(std::initializer_list<const Operand *> operands) {
    for (const Operand *operand : operands) std::construct_at(&tensors_[count_++], operand->impl());
  }
  ~Loan() {} // without theirs, as they own nothing
  Loan(const Loan &) = delete;
  Loan &operator=(const Loan &) = delete;

  std::span<const Tensor> tensors() const { return {tensors_, count_}; }

private:
  union {
    Tensor tensors_[2];
  };
  std::size_t count_ = 0;
};

} // namespace

Tensor unary(OpCode op, const Operand &x) {
  if (Interpreter::current() == nullptr) {
    if (Tensor result = fast_unary(op, x); result.defined()) return result;
  }
  const CallSite site(x.where());
  if (Interpreter *const interpreter = Interpreter::current();
      interpreter != nullptr && x.impl() != nullptr && needs_no_promotion(op, x.impl()->dtype)) {
    const Loan loan{&x};
    return interpreter->apply({op, loan.tensors(), none});
  }
  return general(op, {&x}, none);
}

/// Whether the op says a bool of two numbers.
static bool is_comparison(OpCode op) {
  const TensorType numbers[] = {{DType::i64, {}}, {DType::i64, {}}};
  const Result<TensorType> result = infer({.op = op, .operands = numbers, .attrs = none});
  return result && result->dtype == DType::boolean;
}

/// Whether numbers of one are unsigned, and of such a size that no signed dtype holds those of
/// both.
static bool have_no_common_dtype(const Operand &lhs, const Operand &rhs) {
  return lhs.impl() != nullptr && rhs.impl() != nullptr &&
         !DTypeJoin{lhs.dtype(), rhs.dtype()}.common();
}

/// A whole number beside an integer tensor whose dtype does not hold it, or beside bools and no
/// int32, which it is there, as a tensor of a dtype that does.
static std::optional<Tensor> out_of_range(const Operand &number, const Operand &tensor) {
  if (!number.weak() || number.weak_kind() != DTypeKind::integer || tensor.weak() ||
      tensor.undefined() || is_inexact(tensor.dtype()))
    return std::nullopt;
  std::int64_t value = 0;
  std::uint64_t large = 0;
  const DType beside = tensor.dtype() == DType::boolean ? DType::i32 : tensor.dtype();
  const bool fits = visit_dtype(beside, [&]<class T>() {
    T held{};
    if constexpr (std::is_integral_v<T>) return number.exactly_as(held);
    else return true;
  });
  if (fits) return std::nullopt;
  if (number.exactly_as(value)) return weft::tensor(value);
  if (number.exactly_as(large)) return weft::tensor(large);
  return std::nullopt; // a size that is computed
}

/// A comparison by value of such numbers: a negative one is less than all that have no sign.
static Tensor compare_by_value(OpCode op, const Operand &lhs, const Operand &rhs) {
  const bool left = !is_unsigned(lhs.dtype()); // where the signed one is
  const Tensor with_sign = left ? lhs.materialize() : rhs.materialize();
  const Tensor without = left ? rhs.materialize() : lhs.materialize();
  const Tensor same = cast(with_sign, without.dtype());
  const Tensor compared = left ? binary(op, same, without) : binary(op, without, same);
  const Tensor negative = tensor(std::int64_t{-1}), zero = tensor(std::int64_t{0});
  const Tensor of_negative = left ? binary(op, negative, zero) : binary(op, zero, negative);
  return select(less(with_sign, 0), of_negative, compared);
}

/// Whether that is an integer or a bool, a weak one among them.
static bool is_whole(const Operand &x) {
  if (x.undefined()) return false;
  if (!x.weak()) return is_integer(x.dtype()) || x.dtype() == DType::boolean;
  return x.weak_kind() == DTypeKind::integer || x.weak_kind() == DTypeKind::boolean;
}

/// Throws ValueError where an integer is raised to a negative integer, which is no integer; the
/// program checks it where a trace does not know the exponent.
static void check_exponent(const Operand &base, const Operand &exponent) {
  if (!is_whole(base) || !is_whole(exponent) || have_no_common_dtype(base, exponent)) return;
  const CallSite site(exponent.where().line() != 0 ? exponent.where() : base.where());
  constexpr std::string_view text = "power: integers to negative integer powers are not allowed: "
                                    "cast the base to a floating dtype";
  std::int64_t number = 0;
  if (exponent.weak() && exponent.exactly_as(number)) {
    if (number < 0) raise(ErrorKind::value, std::string(text));
    return;
  }
  const DType dtype = exponent.dtype();
  if (dtype == DType::boolean || dtype_info(dtype).kind == DTypeKind::unsigned_integer) return;
  detail::check_sizes(reduce_all(exponent.materialize() >= std::int64_t{0}), text, {},
                      ErrorKind::value);
}

Tensor binary(OpCode op, const Operand &lhs, const Operand &rhs) {
  if (op == OpCode::power) [[unlikely]]
    check_exponent(lhs, rhs);
  if (Interpreter::current() == nullptr) {
    if (Tensor result = fast_binary(op, lhs, rhs); result.defined()) return result;
  }
  // Operators stand before their second operand, maybe on a line of their own.
  const CallSite site(rhs.where().line() != 0 ? rhs.where() : lhs.where());
  if (Interpreter *const interpreter = Interpreter::current();
      interpreter != nullptr && lhs.impl() != nullptr && rhs.impl() != nullptr &&
      lhs.impl()->dtype == rhs.impl()->dtype && needs_no_promotion(op, lhs.impl()->dtype)) {
    const Loan loan{&lhs, &rhs};
    return interpreter->apply({op, loan.tensors(), none});
  }
  if (const auto number = out_of_range(lhs, rhs); number && is_comparison(op))
    return binary(op, *number, rhs);
  if (const auto number = out_of_range(rhs, lhs); number && is_comparison(op))
    return binary(op, lhs, *number);
  if (have_no_common_dtype(lhs, rhs) && is_comparison(op)) return compare_by_value(op, lhs, rhs);
  return general(op, {&lhs, &rhs}, none);
}

Tensor variadic(OpCode op, std::initializer_list<Operand> list, const Attrs &attrs) {
  std::vector<const Operand *> operands;
  for (const Operand &operand : list) {
    if (operand.undefined()) refuse_undefined(op, operands.size());
    operands.push_back(&operand);
  }
  std::vector<Tensor> tensors;
  if (operands.empty()) return dispatch(op, tensors, attrs);
  const DType dtype = common_dtype(op_info(op).name, operands, 0);
  for (const Operand *operand : operands) {
    Tensor tensor =
        operand->materialize(operand->weak() ? dtype : operand->dtype(), op_info(op).name);
    tensors.push_back(tensor.dtype() == dtype ? tensor : cast(tensor, dtype));
  }
  return dispatch(op, tensors, attrs);
}

Tensor variadic(OpCode op, std::span<const Tensor> list, const Attrs &attrs) {
  if (list.empty()) return dispatch(op, list, attrs);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!list[i].defined()) refuse_undefined(op, i);
  DTypeJoin join;
  for (const Tensor &tensor : list) join.add(tensor.dtype());
  const DType dtype = join.common_or_throw(op_info(op).name);
  std::vector<Tensor> tensors;
  for (const Tensor &tensor : list)
    tensors.push_back(tensor.dtype() == dtype ? tensor : cast(tensor, dtype));
  return dispatch(op, tensors, attrs);
}

Ints resolve_axes(const std::optional<Ints> &axes, std::int64_t rank) {
  Ints resolved;
  if (!axes) {
    for (std::int64_t i = 0; i < rank; ++i) resolved.push_back(i);
    return resolved;
  }
  for (std::int64_t axis : *axes) resolved.push_back(normalize_axis(axis, rank));
  std::sort(resolved.begin(), resolved.end());
  return resolved;
}

std::source_location where_of(std::initializer_list<const Operand *> operands) {
  for (const Operand *operand : operands)
    if (operand->where().line() != 0) return operand->where();
  return {};
}

std::source_location where_of(std::initializer_list<Operand> operands) {
  for (const Operand &operand : operands)
    if (operand.where().line() != 0) return operand.where();
  return {};
}

std::int64_t rank_of(OpCode op, const Operand &operand) {
  if (operand.undefined()) refuse_undefined(op, 0);
  return operand.rank();
}

std::int64_t rank_of(OpCode op, std::initializer_list<Operand> operands) {
  return operands.size() == 0 ? 0 : rank_of(op, *operands.begin());
}

std::int64_t rank_of(OpCode op, std::span<const Tensor> operands) {
  if (operands.empty()) return 0;
  if (!operands[0].defined()) refuse_undefined(op, 0);
  return operands[0].rank();
}

} // namespace weft::call
