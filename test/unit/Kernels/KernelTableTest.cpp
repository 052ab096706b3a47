// Every precompiled kernel of every level that this CPU has, compared with plain scalar loops, and
// the levels with each other, bit for bit.

#include "Kernels/KernelTable.h"
#include "OpDefs/OpInfo.h"
#include "OpDefs/Widening.h"
#include "ReferenceKernels.h"
#include "Runtime/Elements.h"
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

namespace weft {
namespace {

/// Those that have kernels: complex numbers are computed by their parts.
const std::vector<DType> kDTypes = [] {
  std::vector<DType> dtypes;
  for (int i = 0; i < kNumDTypes; ++i)
    if (!is_complex(static_cast<DType>(i))) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}();

std::vector<CpuLevel> levels() {
  std::vector<CpuLevel> result;
  for (CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4})
    if (level <= host_cpu_level()) result.push_back(level);
  return result;
}

/// Elements of one dtype, with bytes after them that no kernel may touch.
class Elements {
public:
  Elements(DType dtype, std::int64_t count)
      : dtype_(dtype), count_(count), bytes_(count * item_size(dtype) + kGuard, kFill) {}

  /// Numbers of many sizes, with the special ones among them.
  static Elements random(DType dtype, std::int64_t count, unsigned seed, bool small = false) {
    Elements result(dtype, count);
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> number(-4, 4);
    const double specials[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 3, 1e30, -1e-30};
    for (std::int64_t i = 0; i < count; ++i) {
      double value = number(generator);
      if (!small && generator() % 8 == 0) value = specials[generator() % std::size(specials)];
      result.set(i, value);
    }
    return result;
  }

  void set(std::int64_t i, double value) {
    const bool finite = std::isfinite(value) && std::fabs(value) < 1e9;
    visit_real(dtype_, [&]<class T>() {
      if constexpr (std::is_same_v<T, bool>) at<T>(i) = value > 0;
      else if constexpr (is_floating_type<T>) at<T>(i) = static_cast<T>(value);
      else // of unsigned ones a negative number is a large one
        at<T>(i) = finite ? static_cast<T>(static_cast<std::int64_t>(value * 2))
                          : static_cast<T>(std::uint64_t{1} << (8 * sizeof(T) - 1));
    });
  }

  double get(std::int64_t i) const {
    return visit_real(dtype_, [&]<class T>() { return static_cast<double>(at<T>(i)); });
  }

  void *data() const { return const_cast<unsigned char *>(bytes_.data()); }
  bool guardIntact() const {
    return std::all_of(bytes_.end() - kGuard, bytes_.end(),
                       [](auto byte) { return byte == kFill; });
  }
  /// Equal bits, where all NaN are one.
  bool sameBits(const Elements &other) const {
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::size_t size = item_size(dtype_);
      if (std::memcmp(bytes_.data() + i * size, other.bytes_.data() + i * size, size) == 0)
        continue;
      if (!(std::isnan(get(i)) && std::isnan(other.get(i)))) return false;
    }
    return true;
  }
  std::int64_t count() const { return count_; }
  DType dtype() const { return dtype_; }

private:
  static constexpr std::ptrdiff_t kGuard = 64;
  static constexpr unsigned char kFill = 0xA5;

  template <class T>
  T &at(std::int64_t i) {
    return reinterpret_cast<T *>(bytes_.data())[i];
  }
  template <class T>
  const T &at(std::int64_t i) const {
    return reinterpret_cast<const T *>(bytes_.data())[i];
  }

  DType dtype_;
  std::int64_t count_;
  std::vector<unsigned char> bytes_;
};

/// Within a few units in the last place, or both NaN, or equal.
void expectClose(const Elements &got, const Elements &wanted, double tolerance,
                 const std::string &what) {
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = got.get(i), b = wanted.get(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    const double limit = tolerance * std::max(std::fabs(b), tolerance == 0 ? 0 : 1e-30);
    ASSERT_LE(std::fabs(a - b), limit) << what << " at " << i << ": " << a << " instead of " << b;
  }
}

double toleranceOf(DType dtype, const OpInfo &info) {
  if (info.cost < 8 || !is_floating(dtype)) return 0;
  return dtype == DType::f32 ? 4e-7 : 2e-15;
}

/// Whether a function is compared with numbers of more digits elsewhere: in MathAccuracyTest, and
/// two of several parameters in test_special_functions.py.
bool has_table(const std::string &function) {
  if (function == "betainc" || function == "gammainc_da") return true;
  return std::filesystem::exists(WEFT_SOURCE_DIR "/test/unit/Math/Tables/f64/" + function + ".txt");
}

/// Runs one kernel of every level and the reference, or the first of these, on the same operands;
/// they have to agree.
template <class Pick>
void compare(Pick pick, std::vector<Elements> operands, DType result, std::int64_t count,
             std::vector<std::int64_t> dims, double tolerance, const std::string &what,
             Elements *scratch = nullptr) {
  std::vector<void *> buffers;
  for (const Elements &operand : operands) buffers.push_back(operand.data());
  buffers.push_back(nullptr);
  if (scratch != nullptr) buffers.push_back(scratch->data());
  auto run = [&](const KernelTable &table) {
    Elements output(result, count);
    buffers[operands.size()] = output.data();
    pick(table)(buffers.data(), dims.data());
    return output;
  };
  const bool has_reference = pick(reference_kernels()) != nullptr;
  ASSERT_TRUE(has_reference || has_table(what.substr(0, what.find(' ')))) << what;
  const Elements wanted =
      has_reference ? run(reference_kernels()) : run(kernel_table(levels().front()));
  std::optional<Elements> first;
  for (CpuLevel level : levels()) {
    const std::string name = what + " on v" + std::to_string(static_cast<int>(level));
    ASSERT_NE(pick(kernel_table(level)), nullptr) << name;
    const Elements got = run(kernel_table(level));
    EXPECT_TRUE(got.guardIntact()) << name;
    expectClose(got, wanted, tolerance, name);
    if (first) EXPECT_TRUE(got.sameBits(*first)) << name << " differs from v2";
    if (!first) first = got;
  }
}

constexpr std::int64_t kCounts[] = {0, 1, 3, 8, 15, 16, 17, 33, 64, 100};

TEST(KernelTable, elementwise) {
  for (const OpInfo &info : all_ops()) {
    if (info.kind != OpKind::elementwise || info.op == OpCode::cast ||
        info.op == OpCode::complex) // put together without one
      continue;
    const auto op = static_cast<std::size_t>(info.op);
    for (DType dtype : kDTypes) {
      if (!info.operands.back().admits.contains(dtype) || widened(info, dtype)) continue;
      const unsigned operands = info.operands.size();
      for (unsigned variant = 0; variant + 1 < 1u << operands; ++variant) {
        for (std::int64_t count : kCounts) {
          std::vector<Elements> inputs;
          std::vector<TensorType> types;
          for (unsigned i = 0; i < operands; ++i) {
            const DType operand = info.op == OpCode::select && i == 0 ? DType::boolean : dtype;
            const bool single = variant >> i & 1;
            inputs.push_back(
                Elements::random(operand, single ? 1 : count, 7 * i + count + variant));
            types.push_back({operand, Shape{count}});
          }
          const Result<TensorType> type = infer({info.op, types, {}});
          ASSERT_TRUE(type.ok());
          compare(
              [&](const KernelTable &table) {
                return table.elementwise[op][static_cast<std::size_t>(dtype)][variant];
              },
              inputs, (*type).dtype, count, {count}, toleranceOf(dtype, info),
              std::string(info.name) + " " + std::string(name_of(dtype)) + " variant " +
                  std::to_string(variant) + " of " + std::to_string(count));
        }
      }
    }
  }
}

TEST(KernelTable, casts) {
  for (DType from : kDTypes)
    for (DType to : kDTypes) {
      if (from == to) continue;
      for (std::int64_t count : kCounts)
        compare(
            [&](const KernelTable &table) {
              return table.cast[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
            },
            {Elements::random(from, count, count)}, to, count, {count}, 0,
            "cast " + std::string(name_of(from)) + " to " + std::string(name_of(to)));
    }
}

constexpr std::int64_t kExtents[][3] = {
    {1, 0, 1},    {2, 1, 1}, {3, 7, 1}, {2, 16, 1}, {2, 64, 1},  {1, 79, 1}, {2, 133, 1},
    {1, 1000, 1}, {2, 5, 3}, {1, 0, 4}, {2, 9, 16}, {1, 33, 40}, {0, 3, 2}};

TEST(KernelTable, reductions) {
  for (const OpInfo &info : all_ops()) {
    if (info.kind != OpKind::reduction || info.op == OpCode::mean) continue;
    for (DType dtype : kDTypes) {
      if (!info.operands.front().admits.contains(dtype) || widened(info, dtype)) continue;
      const bool adds = info.op == OpCode::sum || info.op == OpCode::prod;
      double tolerance = 0;
      if (adds && is_floating(dtype)) tolerance = dtype == DType::f32 ? 1e-4 : 1e-13;
      const auto op = static_cast<std::size_t>(info.op), type = static_cast<std::size_t>(dtype);
      for (const auto &[outer, reduced, inner] : kExtents) {
        // Elements between the rows, and between the slices, belong to nobody.
        for (std::int64_t gap : {0, 3}) {
          const std::int64_t pitch = inner + gap, outer_pitch = reduced * pitch + gap;
          const Elements x = Elements::random(dtype, outer * outer_pitch, 3, adds);
          const std::string what = std::string(info.name) + " " + std::string(name_of(dtype)) +
                                   " over " + std::to_string(reduced) + " of " +
                                   std::to_string(inner) + ", gap " + std::to_string(gap);
          compare([&](const KernelTable &table) { return table.reduce_columns[op][type]; }, {x},
                  dtype, outer * inner, {outer, reduced, inner, outer_pitch, pitch}, tolerance,
                  what);
          if (inner == 1)
            compare([&](const KernelTable &table) { return table.reduce_rows[op][type]; }, {x},
                    dtype, outer, {outer, reduced, outer_pitch}, tolerance, "rows of " + what);
        }
      }
    }
  }
}

TEST(KernelTable, cumulative) {
  constexpr std::int64_t extents[][3] = {{1, 1, 1},  {2, 9, 1},  {1, 100, 1}, {2, 5, 3},
                                         {1, 7, 16}, {2, 2, 33}, {0, 3, 2},   {2, 0, 2}};
  for (const OpInfo &info : all_ops()) {
    if (info.kind != OpKind::cumulative) continue;
    const bool rounds = info.op != OpCode::cummax && info.op != OpCode::cummin;
    for (DType dtype : kDTypes) {
      if (!info.operands.front().admits.contains(dtype) || widened(info, dtype)) continue;
      for (const auto &[outer, size, inner] : extents) {
        for (std::int64_t flags = 0; flags < 1 << (info.attrs.size() - 1); ++flags) {
          if ((flags & kExclusive) && (flags & kShifted)) continue;
          std::vector<Elements> operands;
          for (std::size_t i = 0; i < info.operands.size(); ++i)
            operands.push_back(Elements::random(dtype, outer * size * inner,
                                                3 + static_cast<unsigned>(i), rounds));
          operands.push_back(Elements(DType::i64, 2));
          auto *told = static_cast<std::int64_t *>(operands.back().data());
          told[0] = flags;
          told[1] = inner;
          double tolerance = 0;
          if (info.op == OpCode::logcumsumexp) tolerance = dtype == DType::f32 ? 1e-5 : 1e-13;
          compare(
              [&](const KernelTable &table) {
                return table
                    .cumulative[static_cast<std::size_t>(info.op)][static_cast<std::size_t>(dtype)];
              },
              operands, dtype, outer * size * inner, {outer, size, inner}, tolerance,
              std::string(info.name) + " " + std::string(name_of(dtype)) + " of " +
                  std::to_string(size) + " by " + std::to_string(inner) + ", flags " +
                  std::to_string(flags));
        }
      }
    }
  }
}

TEST(KernelTable, argmax) {
  for (DType dtype : kDTypes) {
    if (dtype == DType::boolean || widened(op_info(OpCode::argmax_along), dtype)) continue;
    for (const auto &[outer, reduced, inner] : kExtents) {
      if (reduced == 0) continue;
      Elements largest(dtype, outer * inner);
      for (std::int64_t gap : {0, 3}) {
        const std::int64_t pitch = inner + gap, outer_pitch = reduced * pitch + gap;
        compare(
            [&](const KernelTable &table) { return table.argmax[static_cast<std::size_t>(dtype)]; },
            {Elements::random(dtype, outer * outer_pitch, 5)}, DType::i64, outer * inner,
            {outer, reduced, inner, outer_pitch, pitch}, 0, "argmax " + std::string(name_of(dtype)),
            &largest);
        EXPECT_TRUE(largest.guardIntact());
      }
    }
  }
}

// The order of a sum is fixed by its length: element i counts into one of 16 partial sums.
TEST(KernelTable, sumKeepsItsOrder) {
  std::vector<float> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  float partial[4][16], sums[16];
  for (auto &group : partial) std::fill(std::begin(group), std::end(group), -0.0f);
  for (int i = 0; i < 64; ++i) partial[i / 16 % 4][i % 16] += x[i];
  for (int i = 0; i < 16; ++i)
    sums[i] = (partial[0][i] + partial[1][i]) + (partial[2][i] + partial[3][i]);
  for (int i = 64; i < 100; ++i) sums[i % 16] += x[i];
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] += sums[half + i];
  for (CpuLevel level : levels()) {
    float result = 0;
    void *buffers[] = {x.data(), &result};
    const std::int64_t dims[] = {1, 100, 100};
    kernel_table(level).reduce_rows[static_cast<std::size_t>(OpCode::sum)]
                                   [static_cast<std::size_t>(DType::f32)](buffers, dims);
    EXPECT_EQ(result, sums[0]);
  }
}

} // namespace
} // namespace weft
