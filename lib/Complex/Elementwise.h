// Elementwise ops on complex numbers, by what they are for real and imaginary parts.
#pragma once

#include <span>

#include "Complex/Planar.h"

namespace weft::planar {

/// An operand or result: real, then `re` is its value, or complex.
template <class Value>
struct Number {
  Planes<Value> planes;
  bool complex = false;

  Number() = default;
  Number(Value value) : planes{std::move(value), {}} {}
  Number(Planes<Value> parts) : planes(std::move(parts)), complex(true) {}
};

/// Whether the call is one that `elementwise` says: of an elementwise op, with a complex operand or
/// result.
inline bool is_elementwise(const OpInfo &info, bool any_complex) {
  return any_complex && info.kind == OpKind::elementwise;
}

/// The result of an elementwise op, of which an operand or the result is complex. `dtypes` are
/// those of the operands.
template <class E>
Number<typename E::Value> elementwise(E &e, OpCode op, const Attrs &attrs,
                                      std::span<const Number<typename E::Value>> operands,
                                      std::span<const DType> dtypes) {
  using Value = typename E::Value;
  using Complex = Planes<Value>;
  const Complex &x = operands.back().planes, &a = operands.front().planes;
  const auto each = [&](const auto &function) {
    return Number<Value>(Complex{function(a.re, x.re), function(a.im, x.im)});
  };
  switch (op) {
  case OpCode::complex: {
    const DType part = component_of(complex_of(dtypes[0]));
    const auto converted = [&](const Value &value) {
      return dtypes[0] == part ? value : e.cast(value, part);
    };
    return Complex{converted(a.re), converted(x.re)};
  }
  case OpCode::real_part: return x.re;
  case OpCode::imaginary_part: return x.im;
  case OpCode::conjugate: return Complex{x.re, e.negate(x.im)};
  case OpCode::negate: return Complex{e.negate(x.re), e.negate(x.im)};
  case OpCode::add: return each([&](const Value &l, const Value &r) { return e.add(l, r); });
  case OpCode::subtract:
    return each([&](const Value &l, const Value &r) { return e.subtract(l, r); });
  case OpCode::equal: return e.logical_and(e.equal(a.re, x.re), e.equal(a.im, x.im));
  case OpCode::not_equal: return e.logical_or(e.not_equal(a.re, x.re), e.not_equal(a.im, x.im));
  case OpCode::select: {
    const Complex &y = operands[1].planes;
    return Complex{e.select(a.re, y.re, x.re), e.select(a.re, y.im, x.im)};
  }
  case OpCode::cast: {
    const DType to = CastAttrs(attrs).dtype, part = component_of(to);
    const auto converted = [&](const Value &value, DType from) {
      return from == part ? value : e.cast(value, part);
    };
    if (!operands[0].complex) return Complex{converted(x.re, dtypes[0]), e.scalar(0, part)};
    const DType from = component_of(dtypes[0]);
    if (is_complex(to)) return Complex{converted(x.re, from), converted(x.im, from)};
    const Value zero = e.scalar(0, from); // to bool
    return e.logical_or(e.not_equal(x.re, zero), e.not_equal(x.im, zero));
  }
  default: break;
  }

  const DType part = component_of(dtypes.back());
  const bool narrow = part == DType::f32;
  const auto wide = [&](const Complex &z) {
    return narrow ? Complex{e.cast(z.re, DType::f64), e.cast(z.im, DType::f64)} : z;
  };
  const auto rounded = [&](const Value &value) { return narrow ? e.cast(value, part) : value; };
  const Functions<E> f(e, narrow);
  const Complex z = wide(x);
  if (op == OpCode::abs) return rounded(f.magnitude(z));
  const auto function = [&]() -> Complex {
    switch (op) {
    case OpCode::multiply: return f.multiply(wide(a), z);
    case OpCode::divide: return f.divide(wide(a), z);
    case OpCode::power: return f.power(wide(a), z);
    case OpCode::sqrt: return f.sqrt(z);
    case OpCode::exp: return f.exp(z);
    case OpCode::expm1: return f.expm1(z);
    case OpCode::log: return f.log(z);
    case OpCode::log1p: return f.log1p(z);
    case OpCode::sin: return f.sin(z);
    case OpCode::cos: return f.cos(z);
    case OpCode::tan: return f.tan(z);
    case OpCode::asin: return f.asin(z);
    case OpCode::acos: return f.acos(z);
    case OpCode::atan: return f.atan(z);
    case OpCode::sinh: return f.sinh(z);
    case OpCode::cosh: return f.cosh(z);
    case OpCode::tanh: return f.tanh(z);
    case OpCode::asinh: return f.asinh(z);
    case OpCode::acosh: return f.acosh(z);
    case OpCode::atanh: return f.atanh(z);
    default:
      raise(ErrorKind::internal,
            std::string(op_info(op).name) + " has no formula for complex numbers");
    }
  };
  const Complex result = function();
  return Complex{rounded(result.re), rounded(result.im)};
}

} // namespace weft::planar
