// Elementwise ops on complex numbers, by what they are for real and imaginary parts.
#pragma once

#include <span>
#include <vector>

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

/// An op given to each part of complex operands by itself, and to others as they are.
template <class E>
Number<typename E::Value> each_part(E &e, OpCode op, const Attrs &attrs,
                                    std::span<const Number<typename E::Value>> operands) {
  using Value = typename E::Value;
  const auto part = [&](Value Planes<Value>::*member) {
    std::vector<Value> values;
    for (const Number<Value> &operand : operands)
      values.push_back(operand.complex ? operand.planes.*member : operand.planes.re);
    return e.emit(op, std::span<const Value>(values), attrs);
  };
  // In the order that programs have.
  Value re = part(&Planes<Value>::re);
  return Planes<Value>{std::move(re), part(&Planes<Value>::im)};
}

/// A call of an elementwise op that has a complex operand or result. Records name the formulas:
/// members of this class, of the call, or of its base, which are computed in f64 and rounded once.
template <class E>
class Formulas : public Functions<E> {
public:
  using Base = Functions<E>;
  using Value = typename E::Value;
  using Complex = Planes<Value>;
  using Result = Number<Value>;
  using Base::e;

  /// `dtypes` are those of the operands.
  Formulas(E &emitter, OpCode op, const Attrs &attrs, std::span<const Result> operands,
           std::span<const DType> dtypes)
      : Base(emitter, component_of(dtypes.back()) == DType::f32), op_(op), attrs_(attrs),
        operands_(operands), dtypes_(dtypes) {}

  Result result() const {
    const auto formula = [this](auto member) { return this->evaluated(member); };
    switch (op_) {
#include "ComplexFormulas.inc"
    default: return each_part(e, op_, attrs_, operands_);
    }
  }

  Result joined() const {
    const DType part = component_of(complex_of(dtypes_[0]));
    return Complex{part_in(operands_[0].planes.re, dtypes_[0], part),
                   part_in(operands_[1].planes.re, dtypes_[1], part)};
  }
  Result real_part() const { return x().re; }
  Result imaginary_part() const { return x().im; }
  Result conjugate() const { return Complex{x().re, e.negate(x().im)}; }
  Result equal() const { return e.logical_and(e.equal(x().re, y().re), e.equal(x().im, y().im)); }
  Result not_equal() const {
    return e.logical_or(e.not_equal(x().re, y().re), e.not_equal(x().im, y().im));
  }
  /// Of `cast`.
  Result converted() const {
    const DType to = CastAttrs(attrs_).dtype, part = component_of(to);
    const DType from = component_of(dtypes_[0]);
    if (!operands_[0].complex) return Complex{part_in(x().re, from, part), e.scalar(0, part)};
    if (is_complex(to)) return Complex{part_in(x().re, from, part), part_in(x().im, from, part)};
    const Value zero = e.scalar(0, from); // to bool
    return e.logical_or(e.not_equal(x().re, zero), e.not_equal(x().im, zero));
  }

private:
  const Complex &x() const { return operands_[0].planes; }
  const Complex &y() const { return operands_[1].planes; }

  Value part_in(const Value &value, DType from, DType to) const {
    return from == to ? value : e.cast(value, to);
  }
  Complex wide(const Complex &z) const {
    if (!Base::narrow_) return z;
    return {e.cast(z.re, DType::f64), e.cast(z.im, DType::f64)};
  }
  Value rounded(const Value &value) const {
    return Base::narrow_ ? e.cast(value, DType::f32) : value;
  }
  Result rounded(const Complex &z) const { return Complex{rounded(z.re), rounded(z.im)}; }

  Result evaluated(Result (Formulas::*formula)() const) const { return (this->*formula)(); }
  Result evaluated(Value (Base::*function)(const Complex &) const) const {
    return rounded((this->*function)(wide(x())));
  }
  Result evaluated(Complex (Base::*function)(const Complex &) const) const {
    return rounded((this->*function)(wide(x())));
  }
  Result evaluated(Complex (Base::*function)(const Complex &, const Complex &) const) const {
    return rounded((this->*function)(wide(x()), wide(y())));
  }

  OpCode op_;
  const Attrs &attrs_;
  std::span<const Result> operands_;
  std::span<const DType> dtypes_;
};

} // namespace weft::planar
