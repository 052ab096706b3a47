// Structured ops run as they are meant to, for every target, and the same on all of them.

#include "Compile.h"

#include <cmath>
#include <numeric>

namespace weft::jit {
namespace {

std::vector<float> ramp(std::int64_t count, float step = 0.25f) {
  std::vector<float> result(count);
  for (std::int64_t i = 0; i < count; ++i)
    result[i] = static_cast<float>(i % 37 - 18) * step + static_cast<float>(i % 5);
  return result;
}

/// Runs the program on every target and gives the output, which must be the same on all.
template <class T>
std::vector<T> runOnAll(const std::string &program, std::int64_t outputs,
                        std::vector<std::int64_t> dims, auto *...inputs) {
  std::vector<std::vector<T>> results;
  for (const TargetOptions &target : targets()) {
    Compiled function(program, target);
    std::vector<T> output(outputs, T(-7));
    function(dims, inputs..., output.data());
    results.push_back(output);
  }
  for (const auto &result : results)
    // Bit for bit; an empty vector may have no address to compare at.
    EXPECT_TRUE(outputs == 0 ||
                std::memcmp(result.data(), results[0].data(), outputs * sizeof(T)) == 0);
  return results[0];
}

std::string generic(const std::string &maps, const std::string &iterators, const std::string &ins,
                    const std::string &out, const std::string &body) {
  return "linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" + iterators +
         "]} ins(" + ins + ") outs(" + out + ") {\n" + body + "\n}\nreturn\n";
}
const std::string kEach = "affine_map<(d0, d1) -> (d0, d1)>";
const std::string kRow = "affine_map<(d0, d1) -> (d0)>";
const std::string kColumn = "affine_map<(d0, d1) -> (d1)>";
const std::string kSwapped = "affine_map<(d0, d1) -> (d1, d0)>";
const std::string kBoth = R"("parallel", "parallel")";

// x[i, j] * r[i] + c[j], with sizes that leave rests of every kind.
TEST(Loops, broadcastRowsAndColumns) {
  for (auto [m, n] : {std::pair{3, 5}, {4, 16}, {5, 33}, {1, 1}, {7, 1}, {0, 4}}) {
    for (bool dynamic : {false, true}) {
      auto type = [&](std::vector<int> sizes) {
        std::string text = "memref<";
        for (int size : sizes) text += (dynamic ? "?" : std::to_string(size)) + std::string("x");
        return text + "f32>";
      };
      std::string matrix = type({m, n}), row = type({m}), column = type({n});
      std::string program =
          "func.func @f(%x: " + matrix + ", %r: " + row + ", %c: " + column + ", %y: " + matrix +
          ") {\n" +
          generic(kEach + ", " + kRow + ", " + kColumn + ", " + kEach, kBoth,
                  "%x, %r, %c : " + matrix + ", " + row + ", " + column, "%y : " + matrix,
                  R"(^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
                       %0 = arith.mulf %a, %b : f32
                       %1 = arith.addf %0, %d : f32
                       linalg.yield %1 : f32)") +
          "}";
      auto x = ramp(m * n), r = ramp(m), c = ramp(n);
      std::vector<std::int64_t> dims;
      if (dynamic) dims = {m, n, m, n, m, n};
      auto y = runOnAll<float>(program, m * n, dims, x.data(), r.data(), c.data());
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) EXPECT_EQ(y[i * n + j], x[i * n + j] * r[i] + c[j]);
    }
  }
}

TEST(Loops, transpose) {
  for (auto [m, n] : {std::pair{3, 5}, {16, 16}, {35, 50}, {64, 7}}) {
    std::string from = "memref<" + std::to_string(m) + "x" + std::to_string(n) + "xf32>";
    std::string to = "memref<" + std::to_string(n) + "x" + std::to_string(m) + "xf32>";
    auto x = ramp(m * n);
    auto y = runOnAll<float>("func.func @f(%x: " + from + ", %y: " + to +
                                 ") {\nlinalg.transpose ins(%x : " + from + ") outs(%y : " + to +
                                 ") permutation = [1, 0]\nreturn\n}",
                             m * n, {}, x.data());
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) EXPECT_EQ(y[j * m + i], x[i * n + j]);
  }
}

// The order of a sum does not depend on target, on whether its length is known, or on threads.
TEST(Loops, sumsOfRowsHaveOneOrder) {
  for (int n : {0, 1, 10, 16, 50, 64, 130, 1000}) {
    std::vector<std::vector<float>> sums;
    auto x = ramp(3 * n, 0.1f);
    for (bool dynamic : {false, true}) {
      std::string matrix = dynamic ? "memref<?x?xf32>" : "memref<3x" + std::to_string(n) + "xf32>";
      std::string vector = dynamic ? "memref<?xf32>" : "memref<3xf32>";
      std::string program = "func.func @f(%x: " + matrix + ", %y: " + vector +
                            ") {\n%z = arith.constant 0.0 : f32\nlinalg.fill ins(%z : f32) outs(%y "
                            ": " +
                            vector + ")\n" +
                            generic(kEach + ", " + kRow, R"("parallel", "reduction")",
                                    "%x : " + matrix, "%y : " + vector,
                                    R"(^bb0(%a: f32, %o: f32):
                                         %0 = arith.addf %o, %a : f32
                                         linalg.yield %0 : f32)") +
                            "}";
      std::vector<std::int64_t> dims;
      if (dynamic) dims = {3, n, 3};
      sums.push_back(runOnAll<float>(program, 3, dims, x.data()));
    }
    EXPECT_EQ(sums[0], sums[1]);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(sums[0][i], std::accumulate(x.data() + i * n, x.data() + (i + 1) * n, 0.0),
                  1e-4 * (n + 1));
  }
}

// A body with an index, a comparison, a bool result and a bool operand.
TEST(Loops, boolsAndIndices) {
  const int n = 45;
  auto y = runOnAll<std::uint8_t>(R"(func.func @f(%p: memref<45xi1>, %y: memref<45xi1>) {)" +
                                      generic("affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>",
                                              R"("parallel")", "%p : memref<45xi1>",
                                              "%y : memref<45xi1>", R"(^bb0(%a: i1, %o: i1):
            %i = linalg.index 0 : index
            %ten = arith.constant 10 : index
            %0 = arith.cmpi slt, %i, %ten : index
            %1 = arith.xori %a, %0 : i1
            linalg.yield %1 : i1)") + "}",
                                  n, {}, std::vector<std::uint8_t>(n, 1).data());
  for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i >= 10);
}

// NaN wins in maxima along rows, whatever lane it falls into.
TEST(Loops, maximaKeepNaN) {
  for (int index : {0, 17, 66, 99}) {
    auto x = ramp(100);
    x[index] = NAN;
    auto y = runOnAll<float>(
        R"(func.func @f(%x: memref<1x100xf32>, %y: memref<1xf32>) {
             %low = arith.constant 0xFF800000 : f32
             linalg.fill ins(%low : f32) outs(%y : memref<1xf32>))"
        "\n" +
            generic(kEach + ", " + kRow, R"("parallel", "reduction")", "%x : memref<1x100xf32>",
                    "%y : memref<1xf32>", R"(^bb0(%a: f32, %o: f32):
                %0 = arith.maximumf %o, %a : f32
                linalg.yield %0 : f32)") +
            "}",
        1, {}, x.data());
    EXPECT_TRUE(std::isnan(y[0]));
  }
}

// Long loops are shared by threads and still cover everything once.
TEST(Loops, threadsCoverTheWholeRange) {
  const int before = threads::max_threads();
  for (int count : {1, 2, 3}) {
    threads::set_num_threads(count);
    for (std::int64_t n : {0, 5, 100001, 1 << 18}) {
      Compiled increment(R"(func.func @f(%x: memref<?xf32>) {
          linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
              outs(%x : memref<?xf32>) {
          ^bb0(%o: f32):
            %one = arith.constant 1.0 : f32
            %0 = arith.addf %o, %one : f32
            linalg.yield %0 : f32
          }
          return
        })");
      std::vector<float> x(n, 1);
      increment({n}, x.data());
      EXPECT_EQ(std::count(x.begin(), x.end(), 2.0f), n);
    }
  }
  threads::set_num_threads(before);
}

// Slices with steps, from the end, and shifted: linear subscripts of every kind.
TEST(Loops, linearSubscripts) {
  auto x = ramp(20);
  auto y = runOnAll<float>(
      R"(func.func @f(%x: memref<20xf32>, %y: memref<8xf32>) {)" +
          generic("affine_map<(d0) -> (d0 * 2 + 3)>, affine_map<(d0) -> (19 - d0)>, "
                  "affine_map<(d0) -> (d0)>",
                  R"("parallel")", "%x, %x : memref<20xf32>, memref<20xf32>", "%y : memref<8xf32>",
                  R"(^bb0(%a: f32, %b: f32, %o: f32):
                       %0 = arith.subf %a, %b : f32
                       linalg.yield %0 : f32)") +
          "}",
      8, {}, x.data());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], x[2 * i + 3] - x[19 - i]);
}

// Temporaries in the arena, others from the call, an output of unknown size from the caller's list.
TEST(Loops, memory) {
  const std::string program = R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: memref<?xf32>) attributes {weft.arena_bytes = 64 : i64} {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %s = memref.alloc() {weft.arena_offset = 64 : i64} : memref<f32>
      %two = arith.constant 2.0 : f32
      memref.store %two, %s[] : memref<f32>
      %t = memref.alloc(%n) : memref<?xf32>
      memref.copy %x, %t : memref<?xf32> to memref<?xf32>
      %y = memref.alloc(%n) {weft.output = 0 : i64} : memref<?xf32>
      linalg.generic {indexing_maps = [#id, affine_map<(d0) -> ()>, #id], iterator_types = ["parallel"]}
          ins(%t, %s : memref<?xf32>, memref<f32>) outs(%y : memref<?xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %0 = arith.mulf %a, %b : f32
        linalg.yield %0 : f32
      }
      memref.dealloc %t : memref<?xf32>
      return
    })";
  auto object = std::move(objectOf(program, TargetOptions::host())).value();
  auto loaded = loadObject(std::move(object)).value();
  auto entry = reinterpret_cast<CompiledEntry>(loaded->lookup("f_weft_entry").value());
  auto x = ramp(21);
  alignas(64) std::byte arena[128];
  Tensor output;
  CallContext context;
  context.arena = arena;
  context.outputs = &output;
  context.output_count = 1;
  void *const buffers[] = {x.data()};
  const std::int64_t dims[] = {21};
  EXPECT_EQ(entry(buffers, dims, &context), 0);
  ASSERT_EQ(output.shape(), Shape{21});
  EXPECT_EQ(output.span<float>()[20], 2 * x[20]);
}

} // namespace
} // namespace weft::jit
