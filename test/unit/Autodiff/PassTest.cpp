// weft-differentiate against the tape: for every op, both run the same rules, so their results are
// the same bits; and with unknown sizes the pass gives the same values.
#include <gtest/gtest.h>

#include "Autodiff/Forward.h"
#include "Ops/Interpreter.h"
#include "Samples.h"
#include "Weft/AD/Passes.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include <weft/gradient_tape.h>

namespace weft::test {
namespace {

using mlir::ModuleOp;
using mlir::func::FuncOp;

/// How many axes windows of the call have; 0 of an op that has no windows.
std::size_t spatial_axes(OpCode op, const Attrs &attrs) {
  const std::span<const AttrInfo> infos = op_info(op).attrs;
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].kind == AttrKind::spatial) return std::get<Ints>(attrs[i]).size();
  return 0;
}

/// A module with the sample's op as @f and, as @main, its derivative as weft.vjp or weft.jvp.
class Program {
public:
  Program(const Sample &sample, bool forward, bool unknown_sizes) : builder_(&context()) {
    module_ = ModuleOp::create(builder_.getUnknownLoc());
    builder_.setInsertionPointToEnd(module_->getBody());
    llvm::SmallVector<mlir::Type> types, sources;
    llvm::SmallVector<std::int64_t> wrt;
    for (const Tensor &operand : sample.operands) {
      TensorType type = operand.type();
      // An unknown size counts as one that is not repeated. The gradient by a kernel has its window
      // as attributes, so that is known.
      const std::size_t window = types.empty() ? 0 : spatial_axes(sample.op, sample.attrs);
      if (unknown_sizes)
        for (std::size_t axis = window; axis < type.shape.size(); ++axis)
          if (type.shape[axis] != 1) type.shape[axis] = unknown;
      types.push_back(mlir::weft::mlirTypeOf(type, &context()));
      if (!is_floating(type.dtype)) continue;
      wrt.push_back(static_cast<std::int64_t>(types.size()) - 1);
      sources.push_back(types.back());
    }
    llvm::SmallVector<mlir::Type> results;
    FuncOp f = function("f", types, [&](mlir::ValueRange arguments) {
      mlir::Value y = mlir::weft::buildOp(builder_, builder_.getUnknownLoc(), sample.op, arguments,
                                          sample.attrs);
      EXPECT_TRUE(y);
      results.push_back(y.getType());
      return llvm::SmallVector<mlir::Value>{y};
    });
    llvm::SmallVector<mlir::Type> given = types, derivatives = results;
    llvm::append_range(given, forward ? sources : results);
    llvm::append_range(derivatives, forward ? results : sources);
    function("main", given, [&](mlir::ValueRange arguments) {
      const auto args = arguments.take_front(types.size()),
                 rest = arguments.drop_front(types.size());
      const auto callee = mlir::FlatSymbolRefAttr::get(f);
      const auto where = builder_.getDenseI64ArrayAttr(wrt);
      const auto at = builder_.getUnknownLoc();
      mlir::Operation *op =
          forward ? mlir::weft::JvpOp::create(builder_, at, derivatives, callee, args, rest, where)
                        .getOperation()
                  : mlir::weft::VjpOp::create(builder_, at, derivatives, callee, args, rest, where,
                                              mlir::StringAttr())
                        .getOperation();
      return llvm::SmallVector<mlir::Value>(op->getResults());
    });
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
  }

  /// Runs the pass; false, with the diagnostic in `message`, if it fails.
  bool differentiate() {
    mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
      message += diagnostic.str();
      return mlir::success();
    });
    mlir::PassManager passes(&context());
    passes.addPass(mlir::weft::createDifferentiatePass());
    return mlir::succeeded(passes.run(*module_));
  }

  /// The sizes of a reshape of `operands[0]`: the other operands are sizes; those left open but the
  /// last stand for the sizes of x that the program does not know.
  static Shape shape_of(mlir::weft::ReshapeOp reshape, std::span<const Tensor> operands) {
    Shape shape(reshape.getShape());
    const auto type = mlir::cast<mlir::RankedTensorType>(reshape.getX().getType());
    for (std::size_t next = 1; std::int64_t &size : shape)
      if (mlir::ShapedType::isDynamic(size)) size = operands[next++].item<std::int64_t>();
    auto open = std::count(shape.begin(), shape.end(), unknown);
    // Of an empty x, for which -1 has no answer, all stand for those of x.
    const std::int64_t left =
        operands[0].size() == 0 && std::cmp_equal(open, type.getNumDynamicDims()) ? 0 : 1;
    for (std::int64_t axis = 0; axis < type.getRank() && open > left; ++axis) {
      if (!type.isDynamicDim(axis)) continue;
      *std::find(shape.begin(), shape.end(), unknown) = operands[0].size(axis);
      --open;
    }
    return shape;
  }

  /// Executes @main eagerly, op by op.
  std::vector<Tensor> run(const std::vector<Tensor> &arguments) {
    auto main = module_->lookupSymbol<FuncOp>("main");
    llvm::DenseMap<mlir::Value, Tensor> values;
    for (auto [argument, value] : llvm::zip(main.getArguments(), arguments))
      values[argument] = value;
    std::vector<Tensor> results;
    for (mlir::Operation &op : main.getBody().front()) {
      std::vector<Tensor> operands;
      for (mlir::Value operand : op.getOperands()) operands.push_back(values.at(operand));
      if (mlir::isa<mlir::func::ReturnOp>(op)) results = operands;
      else if (mlir::isa<mlir::tensor::CastOp, mlir::weft::WidenOp>(op))
        values[op.getResult(0)] = operands[0];
      else if (auto reshape = mlir::dyn_cast<mlir::weft::ReshapeOp>(op))
        values[op.getResult(0)] = operands[0].reshape(shape_of(reshape, operands));
      else
        for (auto [result, value] :
             llvm::zip(op.getResults(), dispatch_all(mlir::weft::opInfoOf(&op)->op, operands,
                                                     mlir::weft::attrsOf(&op))))
          values[result] = value;
    }
    return results;
  }

  std::string message;

private:
  static mlir::MLIRContext &context() {
    static mlir::MLIRContext *context = [] {
      auto *result = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
      result->loadDialect<mlir::weft::WeftDialect, mlir::func::FuncDialect,
                          mlir::tensor::TensorDialect>();
      return result;
    }();
    return *context;
  }

  template <class Body>
  FuncOp function(llvm::StringRef name, llvm::ArrayRef<mlir::Type> types, Body body) {
    const mlir::OpBuilder::InsertionGuard guard(builder_);
    auto result = FuncOp::create(builder_, builder_.getUnknownLoc(), name,
                                 builder_.getFunctionType(types, {}));
    builder_.setInsertionPointToStart(result.addEntryBlock());
    const llvm::SmallVector<mlir::Value> values = body(result.getArguments());
    mlir::func::ReturnOp::create(builder_, builder_.getUnknownLoc(), values);
    result.setFunctionType(builder_.getFunctionType(
        types, llvm::to_vector(llvm::map_range(values, [](auto v) { return v.getType(); }))));
    return result;
  }

  mlir::OpBuilder builder_;
  mlir::OwningOpRef<ModuleOp> module_;
};

/// What the eager side says: y and, in reverse, the cotangents of the floating operands for `seed`.
std::vector<Tensor> by_tape(const Sample &sample, const Tensor &seed) {
  GradientTape tape;
  std::vector<Tensor> sources;
  for (const Tensor &operand : sample.operands)
    if (is_floating(operand.dtype())) sources.push_back(operand);
  for (const Tensor &source : sources) tape.watch(source);
  const Tensor y = dispatch_all(sample.op, sample.operands, sample.attrs).front();
  std::vector<Tensor> result =
      tape.gradient(y, sources, {.output_gradients = {seed}, .unconnected = Unconnected::zero});
  result.insert(result.begin(), y);
  return result;
}

void expect_same(const Tensor &actual, const Tensor &expected, double tolerance) {
  ASSERT_EQ(actual.type(), expected.type());
  const std::vector<double> a = actual.to_vector<double>(), b = expected.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i])))
      EXPECT_LE(std::abs(a[i] - b[i]), tolerance * (1 + std::abs(b[i])))
          << "element " << i << ": " << a[i] << " and " << b[i];
}

class Pass : public testing::TestWithParam<Sample> {
protected:
  void compare(bool unknown_sizes, double tolerance) {
    const Sample &sample = GetParam();
    const Tensor y = dispatch_all(sample.op, sample.operands, sample.attrs).front();
    const Tensor seed = values(y.shape(), 0.5, 1.5, 7);
    Program program(sample, /*forward=*/false, unknown_sizes);
    ASSERT_TRUE(program.differentiate()) << program.message;
    std::vector<Tensor> arguments = sample.operands;
    arguments.push_back(seed);
    const std::vector<Tensor> actual = program.run(arguments), expected = by_tape(sample, seed);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) expect_same(actual[i], expected[i], tolerance);
  }

  void compare_forward(bool unknown_sizes, double tolerance) {
    const Sample &sample = GetParam();
    Program program(sample, /*forward=*/true, unknown_sizes);
    ASSERT_TRUE(program.differentiate()) << program.message;
    std::vector<Tensor> arguments = sample.operands, tangents;
    for (std::size_t i = 0; i < sample.operands.size(); ++i) {
      tangents.emplace_back();
      if (!is_floating(sample.operands[i].dtype())) continue;
      tangents.back() = values(sample.operands[i].shape(), -1, 1, static_cast<int>(i) + 9);
      arguments.push_back(tangents.back());
    }
    const std::vector<Tensor> actual = program.run(arguments);
    std::vector<autodiff::Dual> others(
        static_cast<std::size_t>(std::max(op_info(sample.op).results - 1, 0)));
    const autodiff::Dual expected =
        autodiff::jvp(sample.op, sample.operands, tangents, sample.attrs, others);
    ASSERT_EQ(actual.size(), 2u);
    expect_same(actual[0], expected.value, tolerance);
    expect_same(actual[1], expected.tangent, tolerance);
  }
};

TEST_P(Pass, IsTheTape) { compare(/*unknown_sizes=*/false, 0); }
TEST_P(Pass, IsForwardMode) { compare_forward(/*unknown_sizes=*/false, 0); }
TEST_P(Pass, TakesUnknownSizes) { compare(/*unknown_sizes=*/true, 1e-13); }
TEST_P(Pass, TakesUnknownSizesForward) { compare_forward(/*unknown_sizes=*/true, 1e-13); }

INSTANTIATE_TEST_SUITE_P(AllOps, Pass, testing::ValuesIn(differentiable_samples()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Degenerate, Pass, testing::ValuesIn(degenerate_samples()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace weft::test
