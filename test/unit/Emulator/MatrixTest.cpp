// mma.sync and ldmatrix, against the fragments as the PTX manual lays them out, sums of whole
// numbers, which are exact in any order, and sums that a card made.
#include "Evaluate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

namespace weft::emulator {
namespace {

using Registers = std::vector<std::vector<std::uint64_t>>; ///< of an operand, each with 32 lanes

std::string list_of(char name, std::size_t count) {
  std::string text;
  for (std::size_t r = 0; r < count; ++r)
    text += (r == 0 ? "{%" : ", %") + std::string(1, name) + std::to_string(r);
  return text + "}";
}

/// The registers that a warp has after `opcode d, a, b, c`.
Registers multiply(const std::string &opcode, const Registers &a, const Registers &b,
                   const Registers &c, bool wide = false) {
  note_tested(opcode);
  TestDevice device;
  const std::string bits = wide ? "64" : "32";
  std::string body = ".reg .b32 %t;\n.reg .b64 %p;\nmov.u32 %t, %laneid;\n";
  std::vector<std::uint64_t> parameters;
  std::string text = opcode + " " + list_of('d', c.size());
  char name = 'a';
  for (const Registers *operand : {&a, &b, &c}) {
    const bool sums = operand == &c;
    body += ".reg ." + std::string(wide ? "f" : sums ? "f" : "b") + bits + " %" + name + "<8>;\n";
    text += ", " + list_of(name, operand->size());
    for (std::size_t r = 0; r < operand->size(); ++r) {
      std::vector<std::uint8_t> bytes;
      for (const std::uint64_t value : (*operand)[r])
        for (int i = 0; i < (wide ? 8 : 4); ++i)
          bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
      body += "ld.param.u64 %p, [p" + std::to_string(parameters.size()) +
              "];\nmad.wide.u32 %p, %t, " + std::to_string(wide ? 8 : 4) + ", %p;\nld.global.b" +
              bits + " %" + name + std::to_string(r) + ", [%p];\n";
      parameters.push_back(device.put(bytes));
    }
    ++name;
  }
  body += ".reg .f" + bits + " %d<8>;\n" + text + ";\n";
  const std::uint64_t out = device.put(std::vector<std::uint64_t>(c.size() * (wide ? 32 : 16)));
  body += "ld.param.u64 %p, [p" + std::to_string(parameters.size()) + "];\nmad.wide.u32 %p, %t, " +
          std::to_string(wide ? 8 : 4) + ", %p;\n";
  for (std::size_t r = 0; r < c.size(); ++r)
    body += "st.global.f" + bits + " [%p+" + std::to_string(r * 32 * (wide ? 8 : 4)) + "], %d" +
            std::to_string(r) + ";\n";
  parameters.push_back(out);
  Shape shape;
  shape.block[0] = 32;
  const auto launch = device.run(kernel_text(static_cast<int>(parameters.size()), body + "ret;\n"),
                                 shape, parameters);
  EXPECT_EQ(reports_of(*launch), "") << opcode;
  Registers found(c.size());
  for (std::size_t r = 0; r < c.size(); ++r)
    for (std::size_t lane = 0; lane < 32; ++lane)
      found[r].push_back(wide ? device.get<std::uint64_t>(out)[r * 32 + lane]
                              : device.get<std::uint32_t>(out)[r * 32 + lane]);
  return found;
}

/// Where the element `i` of a lane's fragment lies.
struct Place {
  int row, column;
};
using Layout = std::function<Place(int lane, int i)>;

/// A kind of product, with layouts in the manual's words: groupID is lane >> 2, threadID_in_group
/// lane % 4.
struct Product {
  std::string opcode;
  int k, per_register;  ///< elements of a and b in a register
  int count_a, count_b; ///< elements of a lane
  Layout a, b;
  std::function<std::uint64_t(double)> bits; ///< of an element of a and b
};

std::uint64_t bits_of_f16(double x) { // of small whole numbers
  if (x == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent); // [0.5, 1)
  return (x < 0 ? 0x8000U : 0U) | static_cast<unsigned>(exponent - 1 + 15) << 10 |
         static_cast<unsigned>((fraction * 2 - 1) * 1024);
}
std::uint64_t bits_of_bf16(double x) { return bits_of(static_cast<float>(x)) >> 16; }
std::uint64_t bits_of_f32(double x) { return bits_of(static_cast<float>(x)); }

Place sixteen_a(int lane, int i) {
  const bool first = (0 <= i && i < 2) || (4 <= i && i < 6);
  return {first ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
Place sixteen_b(int lane, int i) { return {lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane >> 2}; }
Place eight_a(int lane, int i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}
Place eight_b(int lane, int i) { return {lane % 4 * 2 + i, lane >> 2}; }
Place tensor_eight_a(int lane, int i) {
  return {i == 0 || i == 2 ? lane >> 2 : (lane >> 2) + 8, i < 2 ? lane % 4 : lane % 4 + 4};
}
Place tensor_eight_b(int lane, int i) { return {i == 0 ? lane % 4 : lane % 4 + 4, lane >> 2}; }
Place tensor_four_a(int lane, int i) { return {i == 0 ? lane >> 2 : (lane >> 2) + 8, lane % 4}; }
Place tensor_four_b(int lane, int) { return {lane % 4, lane >> 2}; }
Place sums(int lane, int i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

const std::vector<Product> &products() {
  static const auto &all =
      *new std::vector<Product>{{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 2, 8, 4,
                                 sixteen_a, sixteen_b, bits_of_f16},
                                {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, 8, 4,
                                 sixteen_a, sixteen_b, bits_of_bf16},
                                {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, 2, 4, 2,
                                 eight_a, eight_b, bits_of_f16},
                                {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, 4, 2,
                                 eight_a, eight_b, bits_of_bf16},
                                {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, 1, 4, 2,
                                 tensor_eight_a, tensor_eight_b, bits_of_f32},
                                {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 1, 2, 1,
                                 tensor_four_a, tensor_four_b, bits_of_f32}};
  return all;
}

/// The registers of a fragment of a matrix.
Registers fragment(const Product &product, int count, const Layout &layout,
                   const std::function<double(int, int)> &matrix) {
  const auto registers = static_cast<std::size_t>(count / product.per_register);
  Registers found(registers, std::vector<std::uint64_t>(32));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < count; ++i) {
      const Place at = layout(lane, i);
      found[static_cast<std::size_t>(i / product.per_register)][static_cast<std::size_t>(lane)] |=
          product.bits(matrix(at.row, at.column)) << (16 * (i % product.per_register));
    }
  return found;
}
Registers fragment_of_sums(const std::function<double(int, int)> &matrix) {
  Registers found(4, std::vector<std::uint64_t>(32));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place at = sums(lane, i);
      found[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)] =
          bits_of_f32(matrix(at.row, at.column));
    }
  return found;
}

TEST(Matrix, ProductsOfWholeNumbers) {
  const auto a = [](int row, int k) { return (row * 7 + k * 3) % 23 - 11.0; };
  const auto b = [](int k, int column) { return (k * 5 + column * 11) % 19 - 9.0; };
  const auto c = [](int row, int column) { return row * 8 + column - 50.0; };
  for (const Product &product : products()) {
    const auto expected = fragment_of_sums([&](int row, int column) {
      double sum = c(row, column);
      for (int k = 0; k < product.k; ++k) sum += a(row, k) * b(k, column);
      return sum;
    });
    EXPECT_EQ(multiply(product.opcode, fragment(product, product.count_a, product.a, a),
                       fragment(product, product.count_b, product.b, b), fragment_of_sums(c)),
              expected)
        << product.opcode;
  }
}

// Terms are cut to a unit two bits below those of an f32 of the largest exponent, and their sum to
// an f32; NaN is that of other arithmetic.
TEST(Matrix, SumsAreCutToOneUnit) {
  const auto with = [](const Product &product, const std::vector<double> &row,
                       const std::vector<double> &column, double start) {
    const auto at = [](const std::vector<double> &values, int i) {
      return static_cast<std::size_t>(i) < values.size() ? values[static_cast<std::size_t>(i)] : 0;
    };
    return static_cast<std::uint32_t>(multiply(
        product.opcode,
        fragment(product, product.count_a, product.a, [&](int, int k) { return at(row, k); }),
        fragment(product, product.count_b, product.b, [&](int k, int) { return at(column, k); }),
        fragment_of_sums([&](int, int) { return start; }))[0][0]);
  };
  for (const Product &product : {products()[1], products()[4], products()[5]}) {
    const float infinity = INFINITY;
    const auto sum = [&](const std::vector<double> &row, const std::vector<double> &column,
                         double start) { return with(product, row, column, start); };
    // Two bits below those of 1 count together; what they come to is cut.
    EXPECT_EQ(sum({0x1p-12, 0x1p-12, 0x1p-12}, {0x1p-13, 0x1p-13, 0x1p-13}, 1), bits_of(1.0F));
    EXPECT_EQ(sum({0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12}, {0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13}, 1),
              bits_of(1 + 0x1p-23F));
    EXPECT_EQ(sum({-0x1p-12, -0x1p-12, -0x1p-12}, {0x1p-12, 0x1p-13, 0x1p-13}, -1),
              bits_of(-1 - 0x1p-23F));
    EXPECT_EQ(sum({0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13}, 1),
              bits_of(1.0F));
    // The exponent of a product is that of its factors together: 1.5 * 1.5 has that of 1.
    EXPECT_EQ(sum({1.5, 0x1p-12}, {1.5, 0x1p-13}, 0), bits_of(2.25F));
    EXPECT_EQ(sum({1.5, 0x1p-12, -1.5}, {1.5, 0x1p-13, 1.5}, 0), bits_of(0x1p-25F));
    // What is below the unit is lost, and what is added in another order is not.
    EXPECT_EQ(sum({0x1p60, 0x1p-30, -0x1p60}, {0x1p60, 0x1p-30, 0x1p60}, 0), bits_of(0.0F));
    EXPECT_EQ(sum({0x1p-70}, {0x1p-79}, 0), 1U) << "the smallest number";
    EXPECT_EQ(sum({0x1p-70}, {0x1p-80}, 0), 0U);
    EXPECT_EQ(sum({0x1p64}, {0x1p64}, 0), bits_of(infinity));
    EXPECT_EQ(sum({0x1p64, -0x1p64}, {0x1p64, 0x1p64}, 3), bits_of(0.0F));
    EXPECT_EQ(sum({infinity}, {1}, 5), bits_of(infinity));
    EXPECT_EQ(sum({infinity}, {0}, 5), 0x7fffffffU);
    EXPECT_EQ(sum({infinity, infinity}, {1, -1}, 5), 0x7fffffffU);
    EXPECT_EQ(sum({1}, {1}, -1), bits_of(0.0F));
  }
}

TEST(Matrix, SumsAreThoseOfTheCard) {
  std::istringstream record(
#include "MatrixH200.inc"
  );
  const Product *product = nullptr;
  int rows = 0;
  for (std::string line; std::getline(record, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') {
      product = &*std::ranges::find(products(), line, &Product::opcode);
      continue;
    }
    std::istringstream words(line);
    std::string a, b, c, d;
    words >> a >> b >> c >> d;
    const std::size_t digits = 8 / static_cast<std::size_t>(product->per_register);
    const auto number = [&](const std::string &list, int k) {
      return std::stoull(list.substr(static_cast<std::size_t>(k) * digits, digits), nullptr, 16);
    };
    // The same row and column in all fragments.
    const auto fragment_of = [&](int count, const Layout &layout, bool isRow,
                                 const std::string &list) {
      Registers found(static_cast<std::size_t>(count / product->per_register),
                      std::vector<std::uint64_t>(32));
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < count; ++i) {
          const Place at = layout(lane, i);
          found[static_cast<std::size_t>(i / product->per_register)]
               [static_cast<std::size_t>(lane)] |=
              number(list, isRow ? at.column : at.row) << (16 * (i % product->per_register));
        }
      return found;
    };
    const Registers start(4, std::vector<std::uint64_t>(32, std::stoull(c, nullptr, 16)));
    const Registers found =
        multiply(product->opcode, fragment_of(product->count_a, product->a, true, a),
                 fragment_of(product->count_b, product->b, false, b), start);
    EXPECT_EQ(static_cast<std::uint32_t>(found[0][0]), std::stoull(d, nullptr, 16)) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 72);
}

// A tf32 is the upper 19 bits of an f32.
TEST(Matrix, LowBitsOfTf32HaveNoMeaning) {
  for (const Product &product : {products()[4], products()[5]}) {
    Registers a = fragment(product, product.count_a, product.a, [](int, int) { return 1.0; });
    Registers b = fragment(product, product.count_b, product.b, [](int, int) { return 2.0; });
    const auto c = fragment_of_sums([](int, int) { return 0.0; });
    const Registers plain = multiply(product.opcode, a, b, c);
    for (Registers *operand : {&a, &b})
      for (auto &lanes : *operand)
        for (std::uint64_t &value : lanes) value |= 0x1fff;
    EXPECT_EQ(multiply(product.opcode, a, b, c), plain);
  }
}

// Elements of a: of 8 rows the lanes' group, the next 8 rows in the next register, then the next 4
// of the sum; sums: two side by side, then those 8 rows below.
TEST(Matrix, ProductsOfF64) {
  const auto a = [](int row, int k) { return 1.0 / (row + 2 * k + 1); };
  const auto b = [](int k, int column) { return std::sqrt(k * 8 + column + 1.0); };
  const auto c = [](int row, int column) { return row - column / 3.0; };
  struct Form {
    int rows, depth;
  };
  for (const auto &[rows, depth] : {Form{8, 4}, Form{16, 4}, Form{16, 8}, Form{16, 16}}) {
    Registers fragment_a, fragment_b, fragment_c, expected;
    const auto fill = [](Registers &registers, const std::function<double(int, int)> &value) {
      std::vector<std::uint64_t> &lanes = registers.emplace_back();
      for (int lane = 0; lane < 32; ++lane) lanes.push_back(bits_of(value(lane >> 2, lane % 4)));
    };
    for (int k = 0; k < depth; k += 4) {
      for (int row = 0; row < rows; row += 8)
        fill(fragment_a, [&](int group, int in_group) { return a(row + group, k + in_group); });
      fill(fragment_b, [&](int group, int in_group) { return b(k + in_group, group); });
    }
    for (int row = 0; row < rows; row += 8)
      for (int i = 0; i < 2; ++i) {
        fill(fragment_c, [&](int group, int in_group) { return c(row + group, 2 * in_group + i); });
        fill(expected, [&, depth = depth](int group, int in_group) {
          const int column = 2 * in_group + i;
          double sum = c(row + group, column);
          for (int k = 0; k < depth; ++k) sum = std::fma(a(row + group, k), b(k, column), sum);
          return sum;
        });
      }
    EXPECT_EQ(multiply("mma.sync.aligned.m" + std::to_string(rows) + "n8k" + std::to_string(depth) +
                           ".row.col.f64.f64.f64.f64",
                       fragment_a, fragment_b, fragment_c, true),
              expected)
        << rows << " " << depth;
  }
}

/// What lanes have after ldmatrix of 4 matrices whose elements are their own numbers: rows lie in
/// memory in reverse order, 32 bytes apart.
std::vector<std::uint32_t> loaded(const std::string &opcode, int count, bool generic) {
  note_tested(opcode);
  TestDevice device;
  std::string body = ".reg .b32 %t, %r<9>;\n.reg .b64 %p;\n.reg .b16 %h;\n.shared .align 16 .b8 "
                     "room[1024];\nmov.u32 %t, %laneid;\nmov.u32 %r8, room;\n"
                     "sub.u32 %r7, 31, %t;\nmad.lo.u32 %r7, %r7, 32, %r8;\n"; // of row t
  for (int i = 0; i < 8; ++i)
    body += "mad.lo.u32 %r6, %t, 8, " + std::to_string(i) +
            ";\ncvt.u16.u32 %h, %r6;\nst.shared.b16 [%r7+" + std::to_string(2 * i) + "], %h;\n";
  body += "bar.sync 0;\ncvt.u64.u32 %p, %r7;\ncvta.shared.u64 %p, %p;\n" + opcode + " " +
          list_of('r', static_cast<std::size_t>(count)) + ", [" + (generic ? "%p" : "%r7") +
          "];\nld.param.u64 %p, [p0];\nmad.wide.u32 %p, %t, 4, %p;\n";
  for (int i = 0; i < count; ++i)
    body += "st.global.u32 [%p+" + std::to_string(128 * i) + "], %r" + std::to_string(i) + ";\n";
  const std::uint64_t out =
      device.put(std::vector<std::uint32_t>(static_cast<std::size_t>(32 * count)));
  Shape shape;
  shape.block[0] = 32;
  const auto launch = device.run(kernel_text(1, body + "ret;\n"), shape, {out});
  EXPECT_EQ(reports_of(*launch), "") << opcode;
  return device.get<std::uint32_t>(out);
}

TEST(Matrix, Loads) {
  for (const int count : {1, 2, 4})
    for (const bool transposed : {false, true})
      for (const std::string space : {"", ".shared", ".shared::cta"}) {
        const std::string opcode = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                   (transposed ? ".trans" : "") + space + ".b16";
        std::vector<std::uint32_t> expected;
        for (std::uint32_t matrix = 0; matrix < static_cast<std::uint32_t>(count); ++matrix)
          for (std::uint32_t lane = 0; lane < 32; ++lane) {
            // Thread T has elements 2 (T % 4) and the next of row T / 4; of the transpose, of
            // column T / 4.
            const std::uint32_t line = lane / 4, at = lane % 4 * 2, first = 64 * matrix;
            const std::uint32_t low = first + (transposed ? at * 8 + line : line * 8 + at);
            expected.push_back(low | (low + (transposed ? 8 : 1)) << 16);
          }
        EXPECT_EQ(loaded(opcode, count, space.empty()), expected) << opcode;
      }
}

/// The report of a warp that executes a product or a load under a condition.
std::string report_of(const std::string &body, std::uint32_t threads = 32) {
  TestDevice device;
  Shape shape;
  shape.block[0] = threads;
  const auto launch = device.run(
      kernel_text(0,
                  ".reg .b32 %t, %r<9>;\n.reg .f32 %f<4>;\n.reg .pred %p;\n.shared .align 16 .b8 "
                  "room[1024];\nmov.u32 %t, %tid.x;\nmov.u32 %r0, room;\nmov.u32 %r1, 0;\n"
                  "mov.u32 %r2, 0;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\n"
                  "mov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n" +
                      body + "ret;\n"),
      shape, {});
  return reports_of(*launch);
}

TEST(Matrix, AllLanesAreWanted) {
  const std::string product = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, "
                              "%f3}, {%r1, %r2}, {%r1}, {%f0, %f1, %f2, %f3};\n";
  EXPECT_EQ(report_of(product), "");
  EXPECT_NE(report_of(product, 31).find("all 32 lanes"), std::string::npos);
  EXPECT_NE(report_of("setp.lt.u32 %p, %t, 9;\n@%p bra L;\n" + product + "ret;\nL:\n"), "");
  EXPECT_NE(report_of("setp.eq.u32 %p, %t, 9;\n@%p ret;\n" + product).find("exited"),
            std::string::npos);
}

TEST(Matrix, RowsAreCheckedAsOtherLoadsAre) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];\n";
  EXPECT_NE(report_of(load).find("nobody wrote"), std::string::npos);
  EXPECT_NE(report_of("add.u32 %r0, %r0, 8;\n" + load).find("no multiple of 16"),
            std::string::npos);
  EXPECT_NE(report_of("add.u32 %r0, %r0, 1024;\n" + load).find("outside"), std::string::npos);
}

TEST(Matrix, ListsHaveTheirLengths) {
  const auto refusal = [](const std::string &statement) {
    return refusal_of(kernel_text(0, ".reg .b32 %r<9>;\n.reg .f32 %f<4>;\n" + statement + "ret;"));
  };
  EXPECT_EQ(refusal("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, "
                    "{%r1, %r2}, %r1, {%f0, %f1, %f2, %f3};\n"),
            "");
  EXPECT_NE(refusal("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, "
                    "{%r1, %r2, %r3}, {%r1}, {%f0, %f1, %f2, %f3};\n")
                .find("a list of 2 registers"),
            std::string::npos);
  EXPECT_NE(refusal("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];\n"), "");
  EXPECT_NE(refusal("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0}, {%r1}, {%r1}, {%r0};\n")
                .find("unknown instruction"),
            std::string::npos);
}

} // namespace
} // namespace weft::emulator
