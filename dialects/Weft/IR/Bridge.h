// Between IR and the op table: the same call as an operation and as (OpCode, types, Attrs).
#pragma once

#include "OpDefs/OpInfo.h"
#include "Weft/IR/Weft.h"

namespace mlir::weft {

/// The op table's row of a weft op that is in it; null for others (weft.handle, foreign ops).
const ::weft::OpInfo *opInfoOf(Operation *op);

/// Whether the op's record says that an operand is for that.
bool hasOperand(Operation *op, ::weft::OperandRole role);

/// The last operands of an op, which are sizes in lists of its attributes; none of other ops.
OperandRange sizeOperands(Operation *op);
/// The operand that is an entry of a list of an op in the table; null for a number.
Value sizeOperandOf(Operation *op, StringRef list, size_t entry);

/// The dtype with that MLIR type, or nothing.
std::optional<::weft::DType> dtypeOf(Type elementType);
Type elementTypeOf(::weft::DType dtype, MLIRContext *context);
/// Whether the elements, or the value itself, are integers without a sign.
bool isUnsigned(Type type);
/// The format of the elements, or the value itself, if they are floats of 16 or 8 bits; null of
/// others.
FloatType narrowFormat(Type type);
/// The type as arith and linalg have it: with signless integers in place of those without a sign
/// and of floats of 16 and 8 bits, for which neither LLVM nor processors have one arithmetic.
Type storageType(Type type);
/// Whether that is another type.
inline bool isStoredOtherwise(Type type) { return storageType(type) != type; }
/// Notes on an op under that name, kElements or kResultElements, what the elements of these types
/// are, if storage does not say it of one; and the note's element type of the value of that number,
/// which is stored as `stored`.
void noteElements(Operation *op, StringRef name, TypeRange types);
Type notedElement(Operation *op, StringRef name, size_t number, Type stored);
/// How complex numbers lie in memory: a tensor of real ones, with their parts along a last axis of
/// size 2. The type itself of any other.
Type interleavedType(Type type);
/// Bytes that an element of a buffer takes: of an integer or a floating number, an index or a pair
/// of complex numbers' parts; 8 of any other type.
int64_t elementBytes(Type element);
/// The MLIR types of all dtypes, for messages: "i1, i32, i64, f32 or f64".
std::string dtypesInWords(StringRef beforeLast = " or ");
/// `type` must satisfy isWeftTensor.
::weft::TensorType tensorTypeOf(Type type);
RankedTensorType mlirTypeOf(const ::weft::TensorType &type, MLIRContext *context);

/// The attributes of a call from those of an operation, in the record's order. Variables are left
/// out: in IR they are operands. A missing or ill-typed attribute is a fault.
::weft::Result<::weft::Attrs> attrsFrom(const ::weft::OpInfo &info, DictionaryAttr attributes);
/// The same of an existing, valid operation.
::weft::Attrs attrsOf(Operation *op);

/// The named attributes of an operation for a call's attributes.
SmallVector<NamedAttribute> namedAttributes(const ::weft::OpInfo &info, const ::weft::Attrs &attrs,
                                            MLIRContext *context);
DenseElementsAttr elementsAttrOf(const ::weft::ConstantData &constant, MLIRContext *context);
/// The elements of a dense attribute, copied; splats are expanded.
::weft::ConstantRef constantOf(DenseElementsAttr elements);

/// Builds the operation of a pure call and infers its types. A call that does not type is our own
/// fault here and stops with llvm::report_fatal_error in no case: it gives null after a
/// diagnostic at `location`.
Operation *buildCall(OpBuilder &builder, Location location, ::weft::OpCode op, ValueRange operands,
                     const ::weft::Attrs &attrs);
/// The same, and gives its first result.
Value buildOp(OpBuilder &builder, Location location, ::weft::OpCode op, ValueRange operands,
              const ::weft::Attrs &attrs);

/// Builds the operation of a call with an effect, on the handle of the variable that it names, if
/// any; its place among other effects is its place in the block. Gives its result, or null.
Value buildEffect(OpBuilder &builder, Location location, ::weft::OpCode op, Value variable,
                  ValueRange operands, const ::weft::Attrs &attrs);

/// What the ops' inferReturnTypes call: weft::infer, with its fault as a diagnostic.
LogicalResult inferResultTypes(StringRef name, MLIRContext *context,
                               std::optional<Location> location, ValueRange operands,
                               DictionaryAttr attributes, SmallVectorImpl<Type> &inferred);

/// Whether a written result type may stand where `inferred` was expected: equal but for dimensions
/// that one of them leaves unknown.
bool areCompatible(TypeRange inferred, TypeRange actual);

/// All inherent attributes of an op being built or parsed, from its properties.
template <class Op>
DictionaryAttr attributesOf(MLIRContext *context, DictionaryAttr attributes,
                            OpaqueProperties properties) {
  using Properties = typename Op::Properties;
  if constexpr (!std::is_same_v<Properties, EmptyProperties>)
    if (properties)
      return dyn_cast_or_null<DictionaryAttr>(
          Op::getPropertiesAsAttr(context, *properties.template as<Properties *>()));
  return attributes;
}

} // namespace mlir::weft
