// Functions that are written in terms of ops: full, square, relu, and the effects
// print and check.
#include <algorithm>
#include <limits>

#include "OpDefs/ShapeFunctions.h"
#include "Ops/Call.h"
#include "Ops/FastPath.h"
#include "Ops/Fused.h"
#include "Runtime/Filled.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/Fault.h"

#include <weft/detail/binding.h>
#include <weft/ops.h>

namespace weft {

/// An element of the host in each place, where this thread's new tensors go.
static Tensor repeated(const Tensor &scalar, const Shape &shape) {
  const DType dtype = scalar.dtype();
  if (const Device device = default_device(); device != Device())
    return detail::filled_on(device, dtype, shape, scalar.impl()->data);
  Tensor result = detail::new_tensor(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    std::fill_n(detail::elements<T>(result), result.size(), *detail::elements<T>(scalar));
  });
  return result;
}

Tensor full(const Sizes &shape, const Operand &value, DType dtype, std::source_location where) {
  const CompositeCall site("full", where);
  check_dtype("full", dtype);
  if (!value.weak()) {
    if (value.undefined()) raise(ErrorKind::state, "full: the value is an undefined tensor");
    if (value.rank() != 0)
      raise(ErrorKind::shape, "full: the value has the shape " +
                                  to_string(value.materialize().type().shape) +
                                  ", but one number is wanted: broadcast repeats tensors");
    return broadcast(cast(value, dtype), shape);
  }
  const Tensor scalar = value.materialize(dtype, "full");
  // A size that only the call knows is a value of the trace.
  if (!shape.are_numbers() || scalar.impl()->storage == detail::Storage::traced)
    return broadcast(scalar, shape);
  return repeated(scalar, Shape(shape.numbers()));
}

/// That number of C++ in each element.
static Tensor filled(const char *function, const Sizes &shape, DType dtype, int value) {
  check_dtype(function, dtype);
  if (!shape.are_numbers()) return broadcast(Operand(value).materialize(dtype), shape);
  if (default_device() != Device())
    return repeated(Operand(value).materialize(dtype), Shape(shape.numbers()));
  Tensor result = detail::new_tensor(dtype, Shape(shape.numbers()));
  visit_dtype(dtype, [&]<class T>() {
    std::fill_n(detail::elements<T>(result), result.size(), static_cast<T>(value));
  });
  return result;
}

Tensor zeros(const Sizes &shape, DType dtype, std::source_location where) {
  const CompositeCall site("zeros", where);
  return filled("zeros", shape, dtype, 0);
}
Tensor ones(const Sizes &shape, DType dtype, std::source_location where) {
  const CompositeCall site("ones", where);
  return filled("ones", shape, dtype, 1);
}

// Of the short functions the short way comes first, on which no operand is wrong.

Tensor square(const Operand &x) {
  if (Interpreter::current() == nullptr) {
    if (Tensor result = call::fast_binary(OpCode::multiply, x, x); result.defined()) return result;
  }
  const CompositeCall site("square", x.where());
  return multiply(x, x);
}

/// Whether both are bools, or one is and the other undefined, which the op of bools says.
static bool are_bools(const Operand &a, const Operand &b) {
  const auto is_bool = [](const Operand &x) {
    return x.undefined() || x.dtype() == DType::boolean;
  };
  return is_bool(a) && is_bool(b);
}

Tensor operator&(const Operand &a, const Operand &b) {
  return are_bools(a, b) ? logical_and(a, b) : bitwise_and(a, b);
}
Tensor operator|(const Operand &a, const Operand &b) {
  return are_bools(a, b) ? logical_or(a, b) : bitwise_or(a, b);
}
Tensor operator^(const Operand &a, const Operand &b) {
  return are_bools(a, b) ? logical_xor(a, b) : bitwise_xor(a, b);
}
Tensor operator~(const Operand &x) { return are_bools(x, x) ? logical_not(x) : bitwise_invert(x); }

Tensor relu(const Operand &x) {
  if (Interpreter::current() == nullptr) {
    if (Tensor result = call::fast_binary(OpCode::maximum, x, 0); result.defined()) return result;
  }
  const CompositeCall site("relu", x.where());
  if (!x.undefined() && x.dtype() == DType::boolean)
    raise(ErrorKind::dtype, "relu: x must be a number, but is bool");
  // The same numbers, NaN too, but no gradient at 0, which maximum would share.
  return select(less_equal(x, {0, x.where()}), {0, x.where()}, x);
}

Tensor logsumexp(const Operand &x, const SumOptions &options) {
  const CompositeCall site("logsumexp", x.where());
  // 16-bit floats are rounded once.
  if (!x.undefined() && is_floating(x.dtype()))
    if (const DType dtype = x.dtype(), wide = dtype_info(dtype).compute; wide != dtype)
      return cast(logsumexp(cast(x, wide), options), dtype);
  if (Interpreter::current() == nullptr && !x.undefined()) {
    const Tensor value = x.materialize();
    const Tensor fused =
        call::fused_over(FusedRows::logsumexp, value,
                         call::resolve_axes(options.axes, value.rank()), options.keepdims);
    if (fused.defined()) return fused;
  }
  const Tensor most = stop_gradient(reduce_max(x, {.axes = options.axes, .keepdims = true}));
  // An infinite one stays as it is: infinities do not cancel.
  const Tensor shift = select(less(abs(most), std::numeric_limits<double>::infinity()), most, 0);
  const Tensor total =
      add(log(sum(exp(subtract(x, shift)), {.axes = options.axes, .keepdims = true})), shift);
  return options.keepdims ? total : sum(total, {.axes = options.axes});
}

void detail::print_line(std::span<const PrintPiece *const> pieces) {
  const CompositeCall site("print", pieces[0]->where());
  std::string format;
  std::size_t places = 0; // {} in the format that have no value yet
  std::vector<Tensor> values;
  for (const PrintPiece *piece : pieces) {
    if (const Operand *value = piece->value()) {
      values.push_back(value->materialize());
      if (places != 0) --places;
      else format += format.empty() ? "{}" : " {}";
      continue;
    }
    const std::string_view text = piece->text();
    if (!format.empty()) format += ' ';
    format += text;
    for (std::size_t at = text.find("{}"); at != std::string_view::npos;
         at = text.find("{}", at + 2))
      ++places;
  }
  dispatch(OpCode::print, values, Attrs{std::move(format)});
}

void check_values(const Operand &condition, std::string_view message,
                  std::initializer_list<Operand> values) {
  const CompositeCall site("check", condition.where());
  std::vector<Tensor> tensors = {condition.materialize()};
  for (const Operand &value : values) tensors.push_back(value.materialize());
  dispatch(OpCode::check, tensors, Attrs{std::string(message), false, std::string()});
}

void detail::check_sizes(const Tensor &condition, std::string_view message,
                         std::span<const Tensor> sizes, ErrorKind error) {
  std::vector<Tensor> tensors = {condition};
  tensors.insert(tensors.end(), sizes.begin(), sizes.end());
  dispatch(OpCode::check, tensors,
           Attrs{std::string(message), true,
                 std::string(error == ErrorKind::index   ? "index"
                             : error == ErrorKind::value ? "value"
                                                         : "")});
}

} // namespace weft
