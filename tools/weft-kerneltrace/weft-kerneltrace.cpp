// weft-kerneltrace: traces the functions made of ops that have one kernel, while Weft is built, and
// writes them as the programs that weft-kernelgen compiles.

#include "Function/Tracer.h"
#include "Import/Import.h"
#include "NN/FusedCall.h"
#include "NN/Rows.h"
#include "Ops/FusedTable.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstddef>
#include <functional>
#include <optional>

#include <weft/weft.h>

namespace cl = llvm::cl;
using namespace weft;

// Nothing runs fused while the fused kernels are still to come.
extern "C" {
extern const FusedTable weft_fused_x86_64_v3{}, weft_fused_x86_64_v4{};
}

namespace {

cl::opt<std::string> output("o", cl::desc("File to write"), cl::value_desc("file"), cl::Required);

using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

struct Function {
  const char *name;
  unsigned operands;
  std::vector<DType> dtypes;
  Body body;
};

const std::vector<Function> &functions() {
  static const std::vector<Function> all{
#define WEFT_FUSED(name, operands, call, ...)                                                      \
  {#name, operands, {__VA_ARGS__}, [](std::span<const Tensor> x) {                                 \
     return std::vector<Tensor>{call};                                                             \
   }},
#include "Ops/Fused.def"
  };
  return all;
}

/// A function of rows, and what operands and results are.
struct RowFunction {
  const char *name;
  std::string_view operands, results;
  Body body;
};

const std::vector<RowFunction> &row_functions() {
  static const std::vector<RowFunction> all{
#define WEFT_FUSED_ROWS(name, operands, results, call)                                             \
  {#name, operands, results, [](std::span<const Tensor> x) { return call; }},
#include "Ops/FusedRows.def"
  };
  return all;
}

/// Nothing for operands that the function refuses.
std::optional<Program> traced(const std::string &name, std::span<const TensorType> types,
                              const Body &body) {
  Tracer tracer({.name = name});
  std::vector<Tensor> inputs;
  for (const TensorType &type : types) inputs.push_back(tracer.input(type));
  const Interpreter::Scope scope(&tracer);
  try {
    return tracer.finish(body(inputs));
  } catch (const ShapeError &) {
    return std::nullopt;
  }
}

/// What the ops cost together, as OpInfo::cost; 0 if there is but one, which has a kernel.
int cost_of(const Program &program) {
  int cost = 0, ops = 0;
  for (const ProgramNode &node : program.nodes) {
    const OpInfo &info = op_info(node.op);
    cost += info.cost;
    ops += info.kind == OpKind::elementwise;
  }
  return ops > 1 ? cost : 0;
}

/// The numbers of words of the table.
std::size_t word_of(std::size_t bytes) { return bytes / sizeof(Kernel); }

/// What a program is to weft-kernelgen: a kernel at these words of the table.
struct Entry {
  std::size_t kernel, fact;
  bool says_facts;
};

/// Cotangents are one number for all elements wherever these are summed.
bool is_derivative(const Function &function) {
  return std::string_view(function.name).ends_with("_pullback");
}

class Programs {
public:
  explicit Programs(mlir::MLIRContext &context)
      : b_(&context), module_(mlir::ModuleOp::create(b_.getUnknownLoc())) {}

  bool add(std::size_t number, DType dtype);
  bool add_rows(std::size_t number, DType dtype);
  mlir::ModuleOp module() { return *module_; }

private:
  bool add(const Program &program, int cost, std::span<const std::vector<std::int64_t>> dims,
           const Entry &entry);

  mlir::OpBuilder b_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

/// `dims` are the numbers of the unknown sizes of each operand.
bool Programs::add(const Program &program, int cost,
                   std::span<const std::vector<std::int64_t>> dims, const Entry &entry) {
  mlir::OwningOpRef<mlir::ModuleOp> imported = mlir::weft::importProgram(program, b_.getContext());
  if (!imported) return false;
  auto kernel = *imported->getOps<mlir::func::FuncOp>().begin();
  for (unsigned i = 0; i < dims.size(); ++i)
    kernel.setArgAttr(i, mlir::weft::kDims, b_.getDenseI64ArrayAttr(dims[i]));
  const auto word = [&](std::size_t i) { return b_.getI64IntegerAttr(static_cast<int64_t>(i)); };
  kernel->setAttr("weft.kernel", word(entry.kernel));
  if (entry.says_facts) {
    const DType result = program.values[program.outputs[0]].dtype;
    kernel->setAttr("weft.fact", word(entry.fact));
    kernel->setAttr("weft.facts", b_.getI64IntegerAttr(FusedFacts(result, cost).word()));
  }
  kernel->moveBefore(module_->getBody(), module_->getBody()->end());
  return true;
}

/// Each set of operands that are single elements, but that of all.
bool Programs::add(std::size_t number, DType dtype) {
  const Function &function = functions()[number];
  const std::size_t slot = number * kNumDTypes + static_cast<std::size_t>(dtype);
  for (unsigned variant = 0; variant + 1 < 1u << function.operands; ++variant) {
    std::vector<TensorType> types;
    std::vector<std::vector<std::int64_t>> dims;
    for (unsigned i = 0; i < function.operands; ++i) {
      const bool single = variant >> i & 1;
      types.push_back({dtype, single ? Shape{} : Shape{unknown}});
      dims.push_back(single ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{0});
    }
    const std::string name = "fused_" + std::string(function.name) + "_" +
                             std::string(name_of(dtype)) +
                             (variant == 0 ? "" : "_s" + std::to_string(variant));
    const std::optional<Program> program = traced(name, types, function.body);
    if (!program) return variant != 0; // a derivative of one number takes one cotangent
    const int cost = cost_of(*program);
    if (cost == 0 || (variant != 0 && cost >= kCostOfOneVariant && !is_derivative(function)))
      return true;
    if (!add(*program, cost, dims,
             {word_of(offsetof(FusedTable, elementwise)) + slot * kNumVariants + variant,
              word_of(offsetof(FusedTable, facts)) + slot, variant == 0}))
      return false;
  }
  return true;
}

bool Programs::add_rows(std::size_t number, DType dtype) {
  const RowFunction &function = row_functions()[number];
  std::vector<TensorType> types;
  std::vector<std::vector<std::int64_t>> dims;
  for (const char kind : function.operands) {
    switch (kind) {
    case 'm': types.push_back({dtype, {unknown, unknown}}), dims.push_back({0, 1}); break;
    case 'c': types.push_back({dtype, {unknown, 1}}), dims.push_back({0}); break;
    case 'v': types.push_back({dtype, {unknown}}), dims.push_back({1}); break;
    default: types.push_back({dtype, {}}), dims.emplace_back();
    }
  }
  const std::string name = "rows_" + std::string(function.name) + "_" + std::string(name_of(dtype));
  const std::optional<Program> program = traced(name, types, function.body);
  if (!program || program->outputs.size() != function.results.size()) return false;
  const std::size_t slot = number * kNumDTypes + static_cast<std::size_t>(dtype);
  return add(*program, cost_of(*program), dims,
             {word_of(offsetof(FusedTable, rows)) + slot,
              word_of(offsetof(FusedTable, row_facts)) + slot, true});
}

int run() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::weft::WeftDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Programs programs(context);
  const auto refuse = [](const char *name) {
    llvm::errs() << "weft-kerneltrace: " << name << " cannot be traced\n";
    return 1;
  };
  for (std::size_t i = 0; i < functions().size(); ++i)
    for (const DType dtype : functions()[i].dtypes)
      if (!programs.add(i, dtype)) return refuse(functions()[i].name);
  for (std::size_t i = 0; i < row_functions().size(); ++i)
    for (const DType dtype : {DType::f32, DType::f64})
      if (!programs.add_rows(i, dtype)) return refuse(row_functions()[i].name);
  std::string message;
  auto file = mlir::openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << "weft-kerneltrace: " << message << "\n";
    return 1;
  }
  file->os() << programs.module() << "\n";
  file->keep();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Traces the functions that have one kernel\n");
  return run();
}
