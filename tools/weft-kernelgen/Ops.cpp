// One function per op, dtype and variant: a `weft` op on tensors of unknown sizes.

#include "Kernels.h"

#include "OpDefs/Widening.h"
#include "Weft/Conversion/ScalarBuilder.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

#include <cstddef>

namespace weft::kernelgen {
namespace {

using namespace mlir;
using mlir::weft::ScalarBuilder;

/// Those that have kernels: complex numbers are computed by their parts.
const SmallVector<DType> kRealDTypes = [] {
  SmallVector<DType> dtypes;
  for (int i = 0; i < kNumDTypes; ++i)
    if (!is_complex(static_cast<DType>(i))) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}();

/// Ops on floats of 16 bits that cost more are computed in another dtype block by block: only
/// beside cheaper ones does it take time to convert elements apart from the op.
constexpr int kMostOn16Bits = 4;

/// Whether there are kernels for ops that are computed in another dtype than their operands';
/// complex numbers have none.
bool has_kernels_on_16_bits(const OpInfo &op, DType dtype) {
  return op.op != OpCode::complex && op.kind == OpKind::elementwise && is_floating(dtype) &&
         op.cost <= kMostOn16Bits;
}

/// On a function: a power whose exponent is one number.
constexpr llvm::StringLiteral kOneExponent = "weft.one_exponent";

std::size_t number(DType dtype) { return static_cast<std::size_t>(dtype); }
std::string nameOf(DType dtype) { return std::string(name_of(dtype)); }

/// Flat index of a member of KernelTable.
std::size_t elementwiseIndex(OpCode op, DType dtype, unsigned variant) {
  std::size_t base = offsetof(KernelTable, elementwise) / sizeof(Kernel);
  return base + (static_cast<std::size_t>(op) * kNumDTypes + number(dtype)) * kNumVariants +
         variant;
}
std::size_t castIndex(DType from, DType to) {
  return offsetof(KernelTable, cast) / sizeof(Kernel) + number(from) * kNumDTypes + number(to);
}
std::size_t reduceIndex(std::size_t member, OpCode op, DType dtype) {
  return member / sizeof(Kernel) + static_cast<std::size_t>(op) * kNumDTypes + number(dtype);
}
std::size_t argmaxIndex(DType dtype) {
  return offsetof(KernelTable, argmax) / sizeof(Kernel) + number(dtype);
}

/// What a kernel reads. Its unknown sizes are those numbers of the kernel's `dims`, and so are the
/// strides of all axes but the last, whose elements are neighbours; no strides are those of a dense
/// array. A single element if there are no sizes.
struct Input {
  Type element;
  SmallVector<std::int64_t> sizes = {};
  SmallVector<std::int64_t> strides = {};
};

class OpKernels {
public:
  explicit OpKernels(ModuleOp module)
      : module_(module), context_(module.getContext()), b_(context_),
        loc_(UnknownLoc::get(context_)) {}

  std::vector<TableEntry> build();

private:
  Type typeOf(DType dtype) { return mlir::weft::elementTypeOf(dtype, context_); }

  func::FuncOp function(const std::string &name, ArrayRef<Input> inputs, OpCode op,
                        const Attrs &attrs);
  void place(const std::string &function, std::size_t index) {
    kernels_.push_back({index, function});
  }

  void elementwise(const OpInfo &op, DType dtype);
  void cast(DType from, DType to);
  void reduction(const OpInfo &op, DType dtype);

  ModuleOp module_;
  MLIRContext *context_;
  OpBuilder b_;
  Location loc_;
  std::vector<TableEntry> kernels_;
  /// The functions by what they compute for an element.
  llvm::StringMap<std::string> byCode_;
};

/// A function of one op; of its record the dtypes are known to be admitted.
func::FuncOp OpKernels::function(const std::string &name, ArrayRef<Input> inputs, OpCode op,
                                 const Attrs &attrs) {
  b_.setInsertionPointToEnd(module_.getBody());
  SmallVector<Type> types;
  for (const Input &input : inputs)
    types.push_back(RankedTensorType::get(
        SmallVector<std::int64_t>(input.sizes.size(), ShapedType::kDynamic), input.element));
  auto made = func::FuncOp::create(b_, loc_, name, b_.getFunctionType(types, {}));
  for (auto [i, input] : llvm::enumerate(inputs)) {
    made.setArgAttr(i, mlir::weft::kDims, b_.getDenseI64ArrayAttr(input.sizes));
    made.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                    b_.getBoolAttr(false));
    if (input.strides.empty()) continue;
    made.setArgAttr(i, mlir::weft::kStrides, b_.getDenseI64ArrayAttr(input.strides));
    SmallVector<std::int64_t> strides(input.strides.size(), ShapedType::kDynamic);
    strides.push_back(1);
    made.setArgAttr(i, bufferization::BufferizationDialect::kBufferLayoutAttrName,
                    StridedLayoutAttr::get(context_, 0, strides));
  }
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(made.addEntryBlock());
  Value result = mlir::weft::buildOp(b_, loc_, op, made.getArguments(), attrs);
  func::ReturnOp::create(b_, loc_, result);
  made.setFunctionType(b_.getFunctionType(types, result.getType()));
  return made;
}

/// Every set of single operands but all of them. The operand that dtypes are counted by is the
/// last; a predicate before it is bool.
void OpKernels::elementwise(const OpInfo &op, DType dtype) {
  if (op.op == OpCode::cast) return; // it is of two dtypes
  SmallVector<Type> elements;
  for (const auto &operand : op.operands)
    elements.push_back(typeOf(operand.admits.contains(dtype) ? dtype : DType::boolean));
  // A select of bools has a bool predicate as every other.
  if (op.op == OpCode::select) elements.front() = typeOf(DType::boolean);
  const bool converts = widened(op, dtype).has_value();
  const std::string code = converts ? nameOf(dtype) : scalarCode(op.op, elements, typeOf(dtype));
  if (code.empty()) return;
  std::string &name = byCode_[std::string(op.name) + "\n" + code];
  const bool isNew = name.empty();
  if (isNew) {
    llvm::raw_string_ostream stream(name);
    stream << "k_" << op.name << "_" << name_of(dtype);
  }
  for (unsigned variant = 0; variant + 1 < 1u << elements.size(); ++variant) {
    std::string variantName = name;
    if (variant != 0) variantName += "_s" + std::to_string(variant);
    if (isNew) {
      SmallVector<Input> inputs;
      for (auto [i, element] : llvm::enumerate(elements)) {
        inputs.push_back({element});
        if (!(variant >> i & 1)) inputs.back().sizes.push_back(0);
      }
      func::FuncOp made = function(variantName, inputs, op.op, {});
      if (converts) made->setAttr(kOneLoop, b_.getUnitAttr());
      if (op.op == OpCode::power && variant == 2) made->setAttr(kOneExponent, b_.getUnitAttr());
    }
    place(variantName, elementwiseIndex(op.op, dtype, variant));
  }
}

void OpKernels::cast(DType from, DType to) {
  std::string &name = byCode_["cast\n" + scalarCode(OpCode::cast, typeOf(from), typeOf(to))];
  if (name.empty()) {
    name = "k_cast_" + nameOf(from) + "_" + nameOf(to);
    function(name, {{typeOf(from), {0}}}, OpCode::cast, {to});
  }
  place(name, castIndex(from, to));
}

void OpKernels::reduction(const OpInfo &op, DType dtype) {
  if (op.op == OpCode::mean) return; // it is a sum, divided
  Type type = typeOf(dtype);
  std::string &name = byCode_[std::string(op.name) + "\n" + scalarCode(op.op, {type, type}, type)];
  if (name.empty()) {
    name = std::string(op.name) + "_" + nameOf(dtype);
    const Attrs attrs{Ints{1}, false};
    function("k_rows_" + name, {{type, {0, 1}, {2}}}, op.op, attrs);
    function("k_columns_" + name, {{type, {0, 1, 2}, {3, 4}}}, op.op, attrs);
  }
  place("k_rows_" + name, reduceIndex(offsetof(KernelTable, reduce_rows), op.op, dtype));
  place("k_columns_" + name, reduceIndex(offsetof(KernelTable, reduce_columns), op.op, dtype));
}

std::vector<TableEntry> OpKernels::build() {
  for (const OpInfo &op : all_ops()) {
    for (DType dtype : kRealDTypes) {
      if (op.operands.empty() || !op.operands.back().admits.contains(dtype)) continue;
      if (widened(op, dtype) && !has_kernels_on_16_bits(op, dtype)) continue;
      if (op.kind == OpKind::elementwise) elementwise(op, dtype);
      if (op.kind == OpKind::reduction) reduction(op, dtype);
    }
  }
  for (DType from : kRealDTypes)
    for (DType to : kRealDTypes)
      if (from != to) cast(from, to);
  for (DType dtype : kRealDTypes) {
    const OpInfo &argmax = op_info(OpCode::argmax_along);
    if (!argmax.operands.front().admits.contains(dtype) || widened(argmax, dtype)) continue;
    const std::string name = "k_argmax_" + nameOf(dtype);
    function(name, {{typeOf(dtype), {0, 1, 2}, {3, 4}}}, OpCode::argmax_along,
             {std::int64_t{1}, false});
    place(name, argmaxIndex(dtype));
  }
  return std::move(kernels_);
}

/// A loop of its own for each exponent that is common and has a short formula, and the one there is
/// for the others. The formulas depend on the exponent's value, so that all loops give the same
/// bits.
void specialize(linalg::GenericOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value base = loop.getInputs()[0], number = loop.getInputs()[1], result = loop.getOutputs()[0];
  Value exponent = memref::LoadOp::create(b, loc, number);
  AffineMap each = b.getMultiDimIdentityMap(1);
  constexpr double kExponents[] = {2, 3, 4, -1, 0.5, -0.5};
  for (double common :
       ArrayRef(kExponents).take_front(isa<FloatType>(exponent.getType()) ? 6 : 3)) {
    ScalarBuilder scalars(b, loc);
    Value constant = scalars.constant(common, exponent.getType());
    auto branch = scf::IfOp::create(b, loc, scalars.equal(exponent, constant),
                                    /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    linalg::GenericOp::create(b, loc, base, result, ArrayRef<AffineMap>{each, each},
                              ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
                              [&](OpBuilder &inner, Location at, ValueRange elements) {
                                ScalarBuilder body(inner, at);
                                Value n = body.constant(common, exponent.getType());
                                linalg::YieldOp::create(inner, at, body.power(elements[0], n));
                              });
    b.setInsertionPointToStart(branch.elseBlock());
  }
  loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
}

} // namespace

std::string scalarCode(OpCode op, ArrayRef<Type> types, Type resultType) {
  Location loc = UnknownLoc::get(resultType.getContext());
  const mlir::weft::Signs signs{
      mlir::weft::isUnsigned(types.back()), mlir::weft::isUnsigned(resultType),
      mlir::weft::narrowFormat(types.back()), mlir::weft::narrowFormat(resultType)};
  SmallVector<Type> elements = llvm::map_to_vector(types, mlir::weft::storageType);
  for (bool erased = false;; erased = true) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
    OpBuilder builder = OpBuilder::atBlockBegin(scratch->getBody());
    auto code = func::FuncOp::create(builder, loc, "code", builder.getFunctionType(elements, {}));
    builder.setInsertionPointToStart(code.addEntryBlock());
    ScalarBuilder scalars(builder, loc, signs);
    Value value = mlir::weft::buildScalarBody(op, scalars, code.getArguments(),
                                              mlir::weft::storageType(resultType));
    if (!value) return {};
    const bool moves = llvm::all_of(code.getBody().front(),
                                    [](Operation &inner) { return isa<arith::SelectOp>(inner); });
    if (moves && !erased) {
      for (Type &element : elements)
        element = builder.getIntegerType(element.getIntOrFloatBitWidth());
      continue;
    }
    func::ReturnOp::create(builder, loc, value);
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << *scratch;
    return text;
  }
}

std::vector<TableEntry> buildOps(ModuleOp module) { return OpKernels(module).build(); }

LogicalResult joinLoops(ModuleOp module) {
  PassManager passes(module.getContext(), func::FuncOp::getOperationName());
  passes.enableVerifier(false);
  passes.addPass(mlir::weft::createFuseElementwisePass());
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kOneLoop) && failed(passes.run(function))) return failure();
  return success();
}

void specializePowers(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->removeAttr(kOneExponent))
      for (auto loop : llvm::make_early_inc_range(function.getOps<linalg::GenericOp>()))
        specialize(loop);
}

} // namespace weft::kernelgen
