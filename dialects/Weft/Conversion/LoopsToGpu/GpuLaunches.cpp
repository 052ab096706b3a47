// The pass weft-gpu-launches: what the host does with a device as calls of the runtime.
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/Conversion/LoopsToGpu/HostCalls.h"
#include "Weft/Conversion/Passes.h"
#include "Weft/Conversion/ScalarBuilder.h"
#include "Weft/Conversion/ToLLVM/Memory.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

#define GEN_PASS_DEF_GPULAUNCHESPASS
#include "Weft/Conversion/Passes.h.inc"

namespace {

/// What of the place where a buffer begins its type leaves open: added to the address it is passed
/// by. What the type says the kernel adds.
bool hasOpenOffset(MemRefType type) {
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  return layout && ShapedType::isDynamic(layout.getOffset());
}

/// The unknown strides of a type, by their axes.
SmallVector<unsigned> openStrides(MemRefType type) {
  SmallVector<unsigned> axes;
  if (auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout()))
    for (auto [axis, stride] : llvm::enumerate(layout.getStrides()))
      if (ShapedType::isDynamic(stride)) axes.push_back(axis);
  return axes;
}

/// A kernel's parameters: for each buffer its address, then its unknown sizes and strides. Shared
/// memory, which follows them in the block, stays.
void passPointers(gpu::GPUFuncOp kernel, const LLVMTypeConverter &converter) {
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  MemoryBuilder memory(builder, converter);
  Location loc = kernel.getLoc();
  const unsigned before = kernel.getNumArguments();
  unsigned end = before;
  auto add = [&](Type type) { return body.insertArgument(end++, type, loc); };
  for (unsigned i = 0; i < before; ++i) {
    Type type = body.getArgument(i).getType();
    auto buffer = dyn_cast<MemRefType>(type);
    Value value = add(buffer ? memory.pointerType() : type);
    if (buffer) {
      SmallVector<Value> sizes, strides;
      for (int64_t open = buffer.getNumDynamicDims(); open-- > 0;)
        sizes.push_back(add(builder.getI64Type()));
      for (size_t open = openStrides(buffer).size(); open-- > 0;)
        strides.push_back(add(builder.getI64Type()));
      value = memory.toMemRef(loc, buffer, value, sizes, strides);
    }
    body.getArgument(i).replaceAllUsesWith(value);
  }
  body.eraseArguments(0, before);
  const ValueRange parameters = body.getArguments().take_front(end - before);
  kernel.setType(builder.getFunctionType(parameters.getTypes(), {}));
}

/// A number of any width as one of 64 bits, of which a kernel reads as many as it wants.
Value toBits(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  if (type.isIndex()) return arith::IndexCastOp::create(b, b.getI64Type(), value);
  if (isa<FloatType>(type)) {
    type = b.getIntegerType(type.getIntOrFloatBitWidth());
    value = arith::BitcastOp::create(b, type, value);
  }
  return type.isInteger(64) ? value : arith::ExtUIOp::create(b, b.getI64Type(), value).getResult();
}

/// The host's code of one function.
class HostBuilder {
public:
  HostBuilder(func::FuncOp function, const llvm::StringMap<int64_t> &kernels,
              const llvm::StringMap<int64_t> &constants, const LLVMTypeConverter &converter)
      : function(function), kernels(kernels), constants(constants), converter(converter) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    size_t numbers = 0;
    function.walk([&](Operation *op) {
      ops.push_back(op);
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        numbers = std::max(numbers, numbersOf(launch));
    });
    if (numbers != 0) {
      ImplicitLocOpBuilder b(function.getLoc(), ops.front());
      b.setInsertionPointToStart(&function.getBody().front());
      list = stackArray(b, static_cast<int64_t>(numbers));
    }
    for (Operation *op : ops) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
        if (failed(lower(launch))) return failure();
      } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
        if (!isOfHost(load.getMemRef())) read(load);
      } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        lower(copy);
      } else if (auto constant = dyn_cast<memref::GetGlobalOp>(op)) {
        upload(constant);
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        bringToHost(call);
      }
    }
    return success();
  }

private:
  /// Blocks and threads along three axes, and bytes of shared memory.
  static constexpr int64_t kGrid = 7;

  static size_t numbersOf(gpu::LaunchFuncOp launch) {
    size_t count = kGrid;
    for (Type type : launch.getKernelOperands().getTypes()) {
      ++count;
      if (auto buffer = dyn_cast<MemRefType>(type))
        count += static_cast<size_t>(buffer.getNumDynamicDims()) + openStrides(buffer).size();
    }
    return count;
  }

  LogicalResult lower(gpu::LaunchFuncOp launch) {
    ImplicitLocOpBuilder b(launch.getLoc(), launch);
    int64_t count = 0;
    auto add = [&](Value value) { put(b, list, count++, toBits(b, value)); };
    const gpu::KernelDim3 blocks = launch.getGridSizeOperandValues();
    const gpu::KernelDim3 threads = launch.getBlockSizeOperandValues();
    for (Value size : {blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z}) add(size);
    if (Value shared = launch.getDynamicSharedMemorySize()) add(shared);
    else add(arith::ConstantIntOp::create(b, 0, 64));
    for (Value operand : launch.getKernelOperands()) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type) {
        if (!operand.getType().isIntOrIndexOrFloat())
          return launch.emitOpError("passes ") << operand.getType() << " to a kernel";
        add(operand);
        continue;
      }
      add(deviceAddress(b, operand, hasOpenOffset(type)));
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        if (type.isDynamicDim(axis)) add(memref::DimOp::create(b, operand, axis));
      if (auto open = openStrides(type); !open.empty()) {
        auto metadata = memref::ExtractStridedMetadataOp::create(b, operand);
        for (unsigned axis : open) add(metadata.getStrides()[axis]);
      }
    }
    const auto kernel = kernels.find(launch.getKernelName().getValue());
    if (kernel == kernels.end()) return launch.emitOpError("launches a kernel that is not there");
    if (Value shared = launch.getDynamicSharedMemorySize())
      if (const auto known = getConstantIntValue(shared))
        SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernel())
            ->setAttr(kDynamicSharedBytes, b.getI64IntegerAttr(*known));
    callRuntime(b, "weft_rt_gpu_launch",
                {arith::ConstantIntOp::create(b, kernel->second, 64), list,
                 arith::ConstantIntOp::create(b, count - kGrid, 64)},
                /*withContext=*/true);
    launch.erase();
    return success();
  }

  /// An element, which the host waits for.
  void read(memref::LoadOp load) {
    ImplicitLocOpBuilder b(load.getLoc(), load);
    Type element = load.getType();
    Value place = placeFor(element);
    auto type = load.getMemRefType();
    Value from = load.getMemRef();
    if (type.getRank() != 0) {
      const SmallVector<OpFoldResult> offsets(load.getIndices().begin(), load.getIndices().end());
      const SmallVector<OpFoldResult> ones(offsets.size(), b.getIndexAttr(1));
      from = memref::SubViewOp::create(b, from, offsets, ones, ones);
    }
    callRuntime(b, "weft_rt_gpu_read",
                {pointerTo(b, place), pointerTo(b, from),
                 arith::ConstantIntOp::create(b, elementBytes(element), 64)},
                /*withContext=*/true);
    load.replaceAllUsesWith(memref::LoadOp::create(b, place, ValueRange()).getResult());
    load.erase();
  }

  /// Where elements of that type are read to.
  Value placeFor(Type element) {
    Value &place = places[element];
    if (!place) {
      OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
      place = memref::AllocaOp::create(b, function.getLoc(), MemRefType::get({}, element));
    }
    return place;
  }

  void lower(memref::CopyOp copy) {
    ImplicitLocOpBuilder b(copy.getLoc(), copy);
    auto type = cast<MemRefType>(copy.getSource().getType());
    Value bytes = arith::ConstantIndexOp::create(b, elementBytes(type.getElementType()));
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      bytes = arith::MulIOp::create(b, bytes, memref::DimOp::create(b, copy.getSource(), axis));
    callRuntime(b, "weft_rt_gpu_copy",
                {pointerTo(b, copy.getTarget()), pointerTo(b, copy.getSource()),
                 arith::IndexCastOp::create(b, b.getI64Type(), bytes)},
                /*withContext=*/true);
    copy.erase();
  }

  /// A constant in the device's memory, for all but who reads elements of it at once.
  void upload(memref::GetGlobalOp constant) {
    if (constant.getType().getElementType().isIndex()) return; // sizes, which views read
    auto isRead = [](OpOperand &use) { return isa<memref::LoadOp>(use.getOwner()); };
    if (llvm::all_of(constant->getUses(), isRead)) return;
    ImplicitLocOpBuilder b(constant.getLoc(), constant);
    b.setInsertionPointAfter(constant);
    const int64_t bytes =
        constant.getType().getNumElements() * elementBytes(constant.getType().getElementType());
    auto index = memref::ExtractAlignedPointerAsIndexOp::create(b, constant);
    Value number = arith::IndexCastOp::create(b, b.getI64Type(), index);
    Value host = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), number);
    auto given =
        callRuntime(b, "weft_rt_gpu_constant",
                    {arith::ConstantIntOp::create(b, constants.lookup(constant.getName()), 64),
                     host, arith::ConstantIntOp::create(b, bytes, 64)},
                    /*withContext=*/true, LLVM::LLVMPointerType::get(b.getContext()));
    Value device =
        MemoryBuilder(b, converter).toMemRef(b.getLoc(), constant.getType(), given.getResult(0));
    constant.getResult().replaceUsesWithIf(
        device, [&](OpOperand &use) { return use.getOwner() != index && !isRead(use); });
  }

  func::FuncOp function;
  const llvm::StringMap<int64_t> &kernels, &constants;
  const LLVMTypeConverter &converter;
  Value list; ///< the numbers of one launch
  DenseMap<Type, Value> places;
};

/// Makes integers of what converts floats of 16 bits, for which processors have no instructions.
void expandConversions(func::FuncOp function) {
  SmallVector<arith::BitcastOp> casts;
  function.walk([&](arith::BitcastOp cast) { casts.push_back(cast); });
  const auto formatOf = [](Value number) {
    auto format = dyn_cast<FloatType>(number.getType());
    return format && format.getWidth() == 16 ? format : FloatType();
  };
  for (arith::BitcastOp cast : casts) {
    OpBuilder b(cast);
    auto narrowed = cast.getIn().getDefiningOp<arith::TruncFOp>();
    if (narrowed && formatOf(narrowed)) {
      ScalarBuilder rounding(b, cast.getLoc(), {.resultFormat = formatOf(narrowed)});
      cast.replaceAllUsesWith(rounding.cast(narrowed.getIn(), cast.getType()));
      cast.erase();
      if (narrowed->use_empty()) narrowed.erase();
    } else if (const FloatType format = formatOf(cast)) {
      for (Operation *user : llvm::make_early_inc_range(cast->getUsers())) {
        auto widened = dyn_cast<arith::ExtFOp>(user);
        if (!widened) continue;
        b.setInsertionPoint(widened);
        ScalarBuilder widening(b, cast.getLoc(), {.operandFormat = format});
        widened.replaceAllUsesWith(widening.cast(cast.getIn(), widened.getType()));
        widened.erase();
      }
      if (cast->use_empty()) cast.erase();
    }
  }
}

struct GpuLaunches : impl::GpuLaunchesPassBase<GpuLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(&getContext(), options);
    llvm::StringMap<int64_t> kernels, constants;
    for (auto texts : module.getOps<gpu::GPUModuleOp>())
      for (auto kernel : texts.getOps<gpu::GPUFuncOp>()) {
        kernels.try_emplace(kernel.getName(), static_cast<int64_t>(kernels.size()));
        passPointers(kernel, converter);
      }
    for (auto constant : module.getOps<memref::GlobalOp>())
      constants.try_emplace(constant.getName(), static_cast<int64_t>(constants.size()));
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      expandConversions(function);
      if (!function.isDeclaration() &&
          failed(HostBuilder(function, kernels, constants, converter).run()))
        return signalPassFailure();
    }
    takePointers(module);
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace

} // namespace mlir::weft
