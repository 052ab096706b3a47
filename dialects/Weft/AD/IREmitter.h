// The emitter of the differentiation pass: rules build weft ops.
#pragma once

#include <map>

#include "OpDefs/Emitter.h"
#include "Weft/IR/Bridge.h"
#include "mlir/IR/Builders.h"

namespace mlir::weft {

/// Thrown when a rule builds an op that does not type; the diagnostic is already given.
struct BuildFailed {};

/// Builds what a rule emits at the insertion point, which only moves forward, and into regions in a
/// Scope: so a scalar that was built once can be used again.
class IREmitter : public ::weft::EmitterOps<IREmitter, Value> {
  using Scalars = std::map<std::pair<double, ::weft::DType>, Value>;

public:
  explicit IREmitter(OpBuilder &builder) : builder(builder), location(builder.getUnknownLoc()) {}

  /// Where the ops that follow come from.
  void setLocation(Location at) { location = at; }
  Location at() const { return location; }

  /// The time in which a region is built: its scalars are forgotten afterwards.
  class Scope {
  public:
    explicit Scope(IREmitter &emitter) : emitter(emitter), outer(emitter.scalars) {}
    ~Scope() { emitter.scalars = std::move(outer); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    IREmitter &emitter;
    Scalars outer;
  };

  Value emit(::weft::OpCode op, std::span<const Value> operands, const ::weft::Attrs &attrs) {
    Value result =
        buildOp(builder, location, op, ArrayRef<Value>(operands.data(), operands.size()), attrs);
    if (!result) throw BuildFailed();
    return result;
  }

  std::vector<Value> emit_all(::weft::OpCode op, std::span<const Value> operands,
                              const ::weft::Attrs &attrs) {
    Operation *built =
        buildCall(builder, location, op, ArrayRef<Value>(operands.data(), operands.size()), attrs);
    if (!built) throw BuildFailed();
    return {built->result_begin(), built->result_end()};
  }

  ::weft::TensorType type(Value value) { return tensorTypeOf(value.getType()); }

  Value scalar(double value, ::weft::DType dtype) {
    Value &known = scalars[{value, dtype}];
    if (known) return known;
    Type element = elementTypeOf(dtype, builder.getContext());
    if (::weft::is_complex(dtype)) {
      Value part = scalar(value, ::weft::component_of(dtype));
      return scalars[{value, dtype}] = cast(part, dtype);
    }
    Attribute attribute =
        ::weft::is_floating(dtype)
            ? Attribute(builder.getFloatAttr(element, value))
            : Attribute(builder.getIntegerAttr(element, static_cast<int64_t>(value)));
    auto elements =
        DenseElementsAttr::get(RankedTensorType::get({}, element), ArrayRef<Attribute>(attribute));
    return known = ConstantOp::create(builder, location, elements.getType(), elements);
  }

private:
  OpBuilder &builder;
  Location location;
  Scalars scalars;
};

} // namespace mlir::weft
