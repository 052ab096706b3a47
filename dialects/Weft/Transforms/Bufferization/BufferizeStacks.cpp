// Bufferizes stack_reserve: the same buffer, or a larger one with what the smaller one held.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

/// To the analysis the result is the operand's buffer: nobody reads the smaller one any more. A
/// loop whose state were another buffer in each iteration would copy it each time.
struct StackReserveModel
    : BufferizableOpInterface::ExternalModel<StackReserveModel, StackReserveOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &, const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto reserve = cast<StackReserveOp>(op);
    Location location = op->getLoc();
    FailureOr<Value> buffer = getBuffer(rewriter, reserve.getStack(), options, state);
    if (failed(buffer)) return failure();
    auto type = cast<MemRefType>(buffer->getType());
    auto constant = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(rewriter, location, number);
    };
    Value room = memref::DimOp::create(rewriter, location, *buffer, constant(0));
    Value full = arith::CmpIOp::create(rewriter, location, arith::CmpIPredicate::slt, room,
                                       reserve.getCount());
    auto branch = scf::IfOp::create(rewriter, location, type, full, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value twice = arith::MulIOp::create(rewriter, location, room, constant(2));
    Value more = arith::MaxSIOp::create(rewriter, location, twice, reserve.getCount());
    auto plain = MemRefType::get(type.getShape(), type.getElementType(),
                                 MemRefLayoutAttrInterface(), type.getMemorySpace());
    FailureOr<Value> larger = options.createAlloc(rewriter, location, plain, more);
    if (failed(larger)) return failure();
    // Of values without elements there is nothing to copy, and a view would refuse its offsets.
    if (!llvm::is_contained(type.getShape(), 0)) {
      SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
          strides(type.getRank(), rewriter.getIndexAttr(1)), sizes{room};
      for (int64_t size : type.getShape().drop_front())
        sizes.push_back(rewriter.getIndexAttr(size));
      Value part = memref::SubViewOp::create(rewriter, location, *larger, offsets, sizes, strides);
      memref::CopyOp::create(rewriter, location, *buffer, part);
    }
    if (plain != type) larger = Value(memref::CastOp::create(rewriter, location, type, *larger));
    scf::YieldOp::create(rewriter, location, *larger);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, location, *buffer);
    replaceOpWithBufferizedValues(rewriter, op, branch.getResults());
    return success();
  }
};

} // namespace

void registerBufferizableStacks(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    StackReserveOp::attachInterface<StackReserveModel>(*context);
    context->loadDialect<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
  });
}

} // namespace mlir::weft
