// Runs what weft-expand-math makes of each function, on every x86-64 level that this machine has,
// against correctly rounded results, and compares the levels and vector widths bit for bit.
#include "MathTables.h"

#include "JIT/Loader.h"
#include "JIT/ObjectCompiler.h"
#include "Weft/Conversion/Passes.h"
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <type_traits>

namespace weft {
namespace {

using math_tables::read_table;
using math_tables::steps_between;
using math_tables::Table;

/// The operation of each table, and how far from the correctly rounded result it may be.
struct Function {
  const char *table;
  const char *operation;
  std::uint64_t steps = 1;
};
const Function kFunctions[] = {
    {"exp", "math.exp %x"},
    {"exp2", "math.exp2 %x"},
    {"expm1", "math.expm1 %x"},
    {"log", "math.log %x"},
    {"log2", "math.log2 %x"},
    {"log10", "math.log10 %x"},
    {"log1p", "math.log1p %x"},
    {"tanh", "math.tanh %x"},
    {"erf", "math.erf %x"},
    {"sin", "math.sin %x"},
    {"cos", "math.cos %x"},
    {"rsqrt", "math.rsqrt %x"},
    {"pow", "math.powf %x, %y"},
    {"fmod", "arith.remf %x, %y", 0},
    {"erfc", "weft.special erfc(%x)", 2},
    {"erfcx", "weft.special erfcx(%x)", 2},
    {"erfinv", "weft.special erfinv(%x)", 4},
    {"ndtr", "weft.special ndtr(%x)", 4},
    {"log_ndtr", "weft.special log_ndtr(%x)", 4},
    {"ndtri", "weft.special ndtri(%x)", 4},
    {"gamma", "weft.special gamma(%x)", 3},
    {"lgamma", "weft.special lgamma(%x)", 4},
    {"digamma", "weft.special digamma(%x)", 4},
    {"i0", "weft.special i0(%x)", 4},
    {"i0e", "weft.special i0e(%x)", 3},
    {"i1", "weft.special i1(%x)", 4},
    {"i1e", "weft.special i1e(%x)", 3},
    {"sinpi", "weft.special sinpi(%x)"},
    {"cospi", "weft.special cospi(%x)"},
    {"sinc", "weft.special sinc(%x)", 2},
    {"zeta", "weft.special zeta(%x, %y)", 4},
    {"betaln", "weft.special betaln(%x, %y)", 4},
    {"tan", "weft.special tan(%x)"},
    {"atan", "weft.special atan(%x)"},
    {"asin", "weft.special asin(%x)"},
    {"acos", "weft.special acos(%x)"},
    {"sinh", "weft.special sinh(%x)"},
    {"cosh", "weft.special cosh(%x)"},
    {"asinh", "weft.special asinh(%x)"},
    {"acosh", "weft.special acosh(%x)"},
    {"atanh", "weft.special atanh(%x)"},
    {"cbrt", "weft.special cbrt(%x)"},
    {"hypot", "weft.special hypot(%x, %y)"},
    {"atan2", "weft.special atan2(%x, %y)"},
    {"gammainc", "weft.special gammainc(%x, %y)", 16},
    {"gammaincc", "weft.special gammaincc(%x, %y)", 16},
};

constexpr std::size_t kPadding = 16; // Lengths are multiples of the widest vector.

/// A loop over `count` elements that computes `lanes` of them at a time.
std::string loop(const Function &function, const std::string &element, int lanes) {
  const std::string type =
      lanes == 1 ? element : "vector<" + std::to_string(lanes) + "x" + element + ">";
  const std::string address = " : (!llvm.ptr, i64) -> !llvm.ptr, " + element + "\n";
  const std::string memory = " {alignment = 4 : i64} : ";
  return "func.func @" + std::string(function.table) + "_" + element +
         "(%xs: !llvm.ptr, %ys: !llvm.ptr, %out: !llvm.ptr, %count: i64) {\n"
         "  %zero = arith.constant 0 : i64\n"
         "  %step = arith.constant " +
         std::to_string(lanes) +
         " : i64\n"
         "  scf.for %i = %zero to %count step %step : i64 {\n"
         "    %px = llvm.getelementptr %xs[%i]" +
         address + "    %py = llvm.getelementptr %ys[%i]" + address +
         "    %pz = llvm.getelementptr %out[%i]" + address + "    %x = llvm.load %px" + memory +
         "!llvm.ptr -> " + type +
         "\n"
         "    %y = llvm.load %py" +
         memory + "!llvm.ptr -> " + type +
         "\n"
         "    %z = " +
         function.operation + " : " + type +
         "\n"
         "    llvm.store %z, %pz" +
         memory + type +
         ", !llvm.ptr\n"
         "  }\n  return\n}\n";
}

/// All functions, compiled for one level and vector width.
class Compiled {
public:
  Compiled(CpuLevel level, int lanes) {
    mlir::DialectRegistry registry;
    registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                    mlir::scf::SCFDialect, mlir::LLVM::LLVMDialect, mlir::weft::WeftDialect>();
    jit::registerTranslations(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    std::string text;
    for (const Function &function : kFunctions)
      for (const char *element : {"f32", "f64"}) text += loop(function, element, lanes);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) throw std::runtime_error("the loops do not parse");

    mlir::PassManager passes(&context);
    mlir::weft::ExpandMathPassOptions math;
    math.expandRemainder = true;
    math.permuteBytes = level == CpuLevel::v4 ? 64 : level == CpuLevel::v3 ? 32 : 0;
    passes.addPass(mlir::weft::createExpandMathPass(math));
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createCSEPass());
    passes.addPass(mlir::weft::createToLLVMPass());
    if (failed(passes.run(*module))) throw std::runtime_error("the passes fail");
    auto object = jit::compileToObject(*module, jit::TargetOptions::for_level(level)).value();
    loaded_ = jit::loadObject(std::move(object)).value();
  }

  /// The function on a whole table, whose length is a multiple of every width.
  template <class T>
  std::vector<T> run(const std::string &function, const Table<T> &table) const {
    using Loop = void(const T *, const T *, T *, std::int64_t);
    const std::string name = function + (std::is_same_v<T, float> ? "_f32" : "_f64");
    auto *loop = reinterpret_cast<Loop *>(loaded_->lookup(name).value());
    std::vector<T> out(table.x.size());
    const std::vector<T> &y = table.y.empty() ? table.x : table.y;
    loop(table.x.data(), y.data(), out.data(), static_cast<std::int64_t>(out.size()));
    return out;
  }

private:
  std::unique_ptr<jit::LoadedObject> loaded_;
};

/// Repeats the last row of a table until its length suits every vector.
template <class T>
Table<T> padded(Table<T> table) {
  for (std::vector<T> *column : {&table.x, &table.y, &table.result})
    while (column->size() % kPadding != 0) column->push_back(column->back());
  return table;
}

/// Each variant once: scalars, and the widths of the registers of all levels.
const std::map<std::pair<int, int>, Compiled> &variants() {
  static const auto all = [] {
    std::map<std::pair<int, int>, Compiled> compiled;
    for (const CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4})
      if (level <= host_cpu_level())
        for (const int lanes : {1, 4, 8, 16})
          compiled.try_emplace({static_cast<int>(level), lanes}, level, lanes);
    return compiled;
  }();
  return all;
}

/// Numbers of every kind: special ones by chance, denormals and NaNs with any bits among them.
template <class T>
Table<T> random_bits(std::size_t count) {
  using Image = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 dice(1);
  Table<T> table;
  for (std::size_t i = 0; i < count; ++i) {
    // Every fourth with an exponent around that of 1.
    Image x = static_cast<Image>(dice()), y = static_cast<Image>(dice());
    if (i % 4 == 0) {
      const auto mantissa = (Image(1) << (sizeof(T) == 4 ? 26 : 56)) - 1;
      x = std::bit_cast<Image>(T(0.125)) + (x & mantissa);
      y = std::bit_cast<Image>(T(0.125)) + (y & mantissa);
    }
    table.x.push_back(std::bit_cast<T>(x));
    table.y.push_back(std::bit_cast<T>(y));
  }
  return table;
}

class ExpandMath : public testing::TestWithParam<Function> {
protected:
  template <class T>
  void expect_well_rounded() {
    const Function &function = GetParam();
    const Table<T> table = padded(read_table<T>(function.table));
    const std::vector<T> result = variants().begin()->second.run<T>(function.table, table);
    for (std::size_t i = 0; i < result.size(); ++i)
      EXPECT_LE(steps_between(result[i], table.result[i]), function.steps)
          << std::hexfloat << function.table << " of " << table.x[i] << ' '
          << (table.y.empty() ? T() : table.y[i]) << " is " << result[i] << ", should be "
          << table.result[i];
    expect_the_same_bits(table);
  }

  template <class T>
  void expect_the_same_bits(const Table<T> &table) {
    using Image = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const char *function = GetParam().table;
    const std::vector<T> reference = variants().begin()->second.run<T>(function, table);
    for (const auto &[name, compiled] : variants()) {
      const std::vector<T> result = compiled.run<T>(function, table);
      for (std::size_t i = 0; i < result.size(); ++i)
        EXPECT_EQ(std::bit_cast<Image>(result[i]), std::bit_cast<Image>(reference[i]))
            << std::hexfloat << function << " of " << table.x[i] << ": x86-64-v" << name.first
            << " with " << name.second << " lanes differs";
    }
  }
};

TEST_P(ExpandMath, RoundsF32Well) { expect_well_rounded<float>(); }
TEST_P(ExpandMath, RoundsF64Well) { expect_well_rounded<double>(); }
TEST_P(ExpandMath, GivesTheSameF32Everywhere) { expect_the_same_bits(random_bits<float>(8192)); }
TEST_P(ExpandMath, GivesTheSameF64Everywhere) { expect_the_same_bits(random_bits<double>(8192)); }

INSTANTIATE_TEST_SUITE_P(All, ExpandMath, testing::ValuesIn(kFunctions),
                         [](const auto &info) { return std::string(info.param.table); });

} // namespace
} // namespace weft
