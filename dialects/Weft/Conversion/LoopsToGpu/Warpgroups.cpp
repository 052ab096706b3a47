// Products of floats of 16 bits by warpgroups (wgmma): four warps multiply matrices that lie in
// shared memory, while the next ones are copied there.
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/Conversion/LoopsToGpu/Fragments.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

namespace {

/// Builds a product whose tiles are in shared memory as lines of 128 bytes, of which 8 below each
/// other have their chunks of 16 bytes exchanged: the layout that descriptors call a swizzle of 128
/// bytes ("Matrix Descriptor Format" of the PTX manual). Lines are along the sum, or, where the
/// tile runs fastest in memory, across it, those of 64 columns behind each other.
class WarpgroupBuilder : public FragmentBuilder {
public:
  WarpgroupBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue)
      : FragmentBuilder(b, product, epilogue), format(narrowFormatOf(roles.lhs)) {
    // The wider, the less often rows are read from shared memory.
    tileRows = 128;
    tileColumns = isWorthTilesOf(op, roles, 128, 256) ? 256 : 128;
    depth = kLine;
    setWarps(kBlockSize / kWarp);
  }

  /// Whether both factors are copied as they are, and there are enough tiles.
  bool isFit() { return isWorthTilesOf(op, roles, 128, 128) && areCopied(); }

protected:
  /// Elements of a copy of 16 bytes, a chunk, of a line, and along the sum of a product; rows of a
  /// warpgroup, and its threads.
  static constexpr int64_t kCopied = 8, kLine = 64, kStep = 16, kRowsOfGroup = 64, kGroup = 128;
  static constexpr int64_t kBytes = 2, kLineBytes = kLine * kBytes;
  /// Eight lines, after which chunks are exchanged as before: where tiles begin is a multiple.
  static constexpr int64_t kPattern = 8 * kLineBytes;
  /// Parts in shared memory: two are multiplied, as a group of products is not waited for before
  /// the next one has begun, and the others are copied.
  static constexpr int64_t kParts = 4, kAhead = kParts - 2;

  Value copied(Value factor) override { return narrowBitsOf(factor); }
  int64_t mostCopied(const Side &) const override { return kCopied; }
  Type elementType() override { return b.getI16Type(); }

  bool isAcross(const Side &side) const override { return !side.isAlong; }
  Value inLine(const Side &, Value line, Value element) override {
    Value chunk = arith::XOrIOp::create(b, div(element, index(kCopied)), rem(line, index(8)));
    return add(mul(chunk, index(kCopied)), rem(element, index(kCopied)));
  }
  std::pair<Value, Value> inShared(const Side &side, Place place) override {
    Value line = place.inTile, element = place.inDepth;
    if (isAcross(side)) {
      line = add(mul(div(place.inTile, index(kLine)), index(depth)), place.inDepth);
      element = rem(place.inTile, index(kLine));
    }
    return {line, inLine(side, line, element)};
  }

  /// Chunks of a line of memory by neighbouring threads.
  Place placeOf(const Side &side, int64_t copy) override {
    Value number = copy == 0 ? thread : add(thread, index(copy * kBlockSize));
    Value ofLine = index((isAcross(side) ? side.tile : depth) / kCopied);
    Value line = div(number, ofLine), element = mul(rem(number, ofLine), index(kCopied));
    return isAcross(side) ? Place{line, element} : Place{element, line};
  }

  void placeBuffers(gpu::LaunchOp launch) override {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    Value all = gpu::DynamicSharedMemoryOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space));
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, all);
    // Up to the next multiple.
    Value begin =
        arith::AndIOp::create(b, arith::SubIOp::create(b, index(0), address), index(kPattern - 1));
    int64_t bytes = 0;
    for (Side *side : {&lhs, &rhs}) {
      const auto type =
          MemRefType::get({kParts, side->tile, kLine}, elementType(), AffineMap(), space);
      side->buffer = memref::ViewOp::create(b, type, all, add(begin, index(bytes)), ValueRange());
      bytes += kParts * bytesOfPart(*side);
    }
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPoint(launch);
    launch.getDynamicSharedMemorySizeMutable().assign(
        arith::ConstantIntOp::create(b, bytes + kPattern, 32).getResult());
  }
  static int64_t bytesOfPart(const Side &side) { return side.tile * kLineBytes; }

  SmallVector<Value> addParts(Value from, Value to, SmallVector<Value> sums) override {
    // What the compiler need not know to be the same in all threads of a warp.
    Value group = arith::IndexCastOp::create(b, b.getI32Type(), div(thread, index(kGroup)));
    group = gpu::ShuffleOp::create(b, group, 0, kWarp, gpu::ShuffleMode::IDX).getShuffleResult();
    Value ofGroup = arith::ExtUIOp::create(b, b.getI64Type(), group);
    // 64 rows are as many lines of either kind.
    Value left = add(descriptor(lhs), mul(ofGroup, wide(kRowsOfGroup * kLineBytes / kUnit)));
    Value right = descriptor(rhs);

    for (int64_t i = 0; i < kAhead; ++i) copyPart(index(i), add(from, index(i * depth)), to);
    const size_t results = sums.size();
    sums.push_back(index(0));
    auto loop = scf::ForOp::create(b, from, to, index(depth), sums);
    {
      OpBuilder::InsertionGuard after(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = loop.getInductionVar(), stage = loop.getRegionIterArgs()[results];
      NVVM::CpAsyncWaitGroupOp::create(b, kAhead - 1);
      // Warpgroups read memory in another way than threads write it.
      NVVM::FenceProxyOp::create(
          b, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
          NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
      gpu::BarrierOp::create(b);
      sums = kept("wgmma.fence.sync.aligned;", loop.getRegionIterArgs().take_front(results));
      const auto ofStage = [&](const Side &side, Value first) {
        Value number = arith::IndexCastOp::create(b, b.getI64Type(), stage);
        return add(first, mul(number, wide(bytesOfPart(side) / kUnit)));
      };
      multiply(ofStage(lhs, left), ofStage(rhs, right), sums);
      NVVM::WgmmaGroupSyncAlignedOp::create(b);
      copyPart(around(stage, kAhead), add(at, index(kAhead * depth)), to);
      // The part before this one was read by the warpgroup; by all of them behind the next barrier.
      NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
      sums.push_back(around(stage, 1));
      scf::YieldOp::create(b, sums);
    }
    return kept("wgmma.wait_group.sync.aligned 0;", loop.getResults().take_front(results));
  }

  /// The number of a part in shared memory that is so much behind.
  Value around(Value stage, int64_t behind) {
    return rem(add(stage, index(behind)), index(kParts));
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// In what descriptors count bytes.
  static constexpr int64_t kUnit = 16;

  Value wide(int64_t value) { return arith::ConstantIntOp::create(b, value, 64); }

  /// That of the first matrix of a side's first part.
  Value descriptor(const Side &side) {
    const auto bits = [](int64_t bytes, int64_t shift) { return bytes / kUnit << shift; };
    // From 8 lines to the next, and from 64 columns to the next where lines are across the sum.
    const int64_t strides = bits(isAcross(side) ? depth * kLineBytes : 0, 16) | bits(kPattern, 32);
    constexpr int64_t kSwizzle = int64_t{1} << 62; // of 128 bytes
    Value address = arith::IndexCastOp::create(
        b, b.getI64Type(), memref::ExtractAlignedPointerAsIndexOp::create(b, side.buffer));
    address = arith::ShRUIOp::create(b, address, wide(4));
    return arith::OrIOp::create(b, address, wide(strides | kSwizzle));
  }

  /// How much further on the next matrix along the sum is.
  int64_t step(const Side &side) const {
    return (isAcross(side) ? kStep * kLineBytes : kStep * kBytes) / kUnit;
  }

  void multiply(Value left, Value right, SmallVector<Value> &sums) {
    const auto count = static_cast<int64_t>(sums.size());
    const std::string type = format.isBF16() ? ".bf16" : ".f16";
    std::string text = "{ .reg .pred adds; setp.eq.u32 adds, 0, 0; "
                       "wgmma.mma_async.sync.aligned.m64n" +
                       std::to_string(tileColumns) + "k16.f32" + type + type + " {";
    for (int64_t i = 0; i < count; ++i) text += (i == 0 ? "$" : ", $") + std::to_string(i);
    // Behind the sums are these again, as what they were.
    text += "}, $" + std::to_string(2 * count) + ", $" + std::to_string(2 * count + 1) +
            ", adds, 1, 1, " + (isAcross(lhs) ? "1, " : "0, ") + (isAcross(rhs) ? "1; }" : "0; }");
    for (int64_t k = 0; k < depth / kStep; ++k)
      sums = kept(text, sums, {add(left, wide(k * step(lhs))), add(right, wide(k * step(rhs)))});
  }

  /// An instruction on numbers of 64 bits and on these registers, which are what they were or what
  /// it makes of them: what comes behind it takes them from there.
  SmallVector<Value> kept(StringRef instruction, ValueRange sums, ValueRange numbers = {}) {
    std::string constraints;
    for (size_t i = 0; i < sums.size(); ++i) constraints += i == 0 ? "=f" : ",=f";
    for (size_t i = 0; i < sums.size(); ++i) constraints += "," + std::to_string(i);
    for (size_t i = 0; i < numbers.size(); ++i) constraints += ",l";
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                 SmallVector<Type>(sums.size(), b.getF32Type()));
    SmallVector<Value> operands(sums);
    llvm::append_range(operands, numbers);
    Value all = LLVM::InlineAsmOp::create(b, type, operands, instruction, constraints,
                                          /*has_side_effects=*/true, /*is_align_stack=*/false,
                                          LLVM::TailCallKind::None, nullptr, nullptr)
                    .getRes();
    SmallVector<Value> found;
    for (size_t i = 0; i < sums.size(); ++i)
      found.push_back(LLVM::ExtractValueOp::create(b, all, static_cast<int64_t>(i)));
    return found;
  }

  // Fragments are not in registers.
  int64_t depthOfStep() const override { return kStep; }
  Fragments load(Value, int64_t) override { llvm_unreachable("matrices stay in shared memory"); }
  void multiply(ArrayRef<Value>, ArrayRef<Value>, MutableArrayRef<Value>) override {
    llvm_unreachable("matrices stay in shared memory");
  }
  bool endsInZeros() const override { return true; }
  bool readsAhead() const override { return false; }

  FloatType format;
};

} // namespace

std::unique_ptr<ProductBuilder> warpgroupsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                             const Nest *epilogue) {
  return ifFit<WarpgroupBuilder>(b, product, epilogue);
}

} // namespace mlir::weft
