// Tests of the random number kernels: against Philox as it is defined, at every CPU level, on any
// number of threads, into views.

#include "Kernels/Random.h"

#include "../Philox.h"
#include "Runtime/Elements.h"
#include "Support/Threads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::kernels {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4};
constexpr RandomStream kStreams[] = {
    {0, 0}, {0xa4093822299f31d0, 0x0370734413198a2e}, {~std::uint64_t{0}, ~std::uint64_t{0}}};

/// Words `at` to `at` + 1 of the stream as one number.
std::uint64_t two_words(const RandomStream &stream, std::uint64_t at) {
  const philox::Block block = philox::Stream{stream.seed, stream.number}.block(at / 4);
  return std::uint64_t{block[at % 4]} << 32 | block[at % 4 + 1];
}

std::uint32_t word(const RandomStream &stream, std::uint64_t at) {
  return philox::Stream{stream.seed, stream.number}.block(at / 4)[at % 4];
}

/// Element number `at`, as the documentation of draw_uniform has it.
template <class T>
T expected(const RandomStream &stream, std::uint64_t at) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(word(stream, at) >> 8) * 0x1p-24F;
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(two_words(stream, 2 * at) >> 11) * 0x1p-53;
  else if constexpr (std::is_same_v<T, bool>) return word(stream, at) >> 31 != 0;
  else if constexpr (sizeof(T) == 4) return static_cast<T>(word(stream, at));
  else return static_cast<T>(two_words(stream, 2 * at));
}

/// Memory of elements, of bools too, with some around it that must not change.
template <class T>
class Guarded {
public:
  explicit Guarded(std::int64_t size) : bytes_((static_cast<std::size_t>(size) + 2) * sizeof(T)) {
    std::memset(bytes_.data(), 0x5a, bytes_.size());
  }
  T *data() { return reinterpret_cast<T *>(bytes_.data()) + 1; }
  T operator[](std::int64_t i) { return data()[i]; }
  bool intact() const {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      if (bytes_[i] != 0x5a || bytes_[bytes_.size() - 1 - i] != 0x5a) return false;
    return true;
  }

private:
  std::vector<unsigned char> bytes_;
};

TEST(RandomNumbers, AreThoseOfTheDefinition) {
  for (const RandomStream &stream : kStreams)
    for (int i = 0; i < kNumDTypes; ++i) {
      if (dtype_info(static_cast<DType>(i)).compute != static_cast<DType>(i) ||
          is_complex(static_cast<DType>(i)))
        continue;
      visit_real(static_cast<DType>(i), [&]<class T>() {
        // The number of the block has an upper half too.
        for (const std::int64_t first : {std::int64_t{0}, std::int64_t{12}, std::int64_t{1} << 50})
          for (const std::int64_t size : {0, 1, 2, 3, 4, 5, 15, 31, 32, 33, 63, 65, 200})
            for (const CpuLevel level : kLevels) {
              Guarded<T> drawn(size);
              draw_uniform_forced(static_cast<DType>(i), stream, first, size, drawn.data(), level);
              for (std::int64_t at = 0; at < size; ++at)
                ASSERT_EQ(drawn[at], expected<T>(stream, static_cast<std::uint64_t>(first + at)))
                    << name_of(static_cast<DType>(i)) << ' ' << first << '+' << at << " of " << size
                    << ", level " << static_cast<int>(level);
              ASSERT_TRUE(drawn.intact());
            }
      });
    }
}

TEST(RandomNumbers, DoNotDependOnThreads) {
  constexpr std::int64_t size = 200003;
  const int before = threads::max_threads();
  for (const int threads : {1, 2, 5}) {
    threads::set_num_threads(threads);
    std::vector<float> drawn(size);
    draw_uniform(DType::f32, kStreams[1], 0, size, drawn.data());
    for (std::int64_t at = 0; at < size; ++at)
      ASSERT_EQ(drawn[static_cast<std::size_t>(at)],
                expected<float>(kStreams[1], static_cast<std::uint64_t>(at)));
  }
  threads::set_num_threads(before);
}

// Axes in any order, gaps and negative strides: elements keep their numbers.
TEST(RandomNumbers, GoIntoViews) {
  const RandomStream &stream = kStreams[1];
  const auto seed = static_cast<std::int64_t>(stream.seed);
  const auto number = static_cast<std::int64_t>(stream.number);
  constexpr std::int64_t kRows = 40, kColumns = 30;
  for (const auto &[row, column, start] : {std::array<std::int64_t, 3>{kColumns, 1, 0},
                                           {1, kRows, 0},
                                           {3 * kColumns, 2, 5},
                                           {-kColumns, -1, kRows * kColumns - 1}}) {
    std::vector<std::int64_t> room(4 * kRows * kColumns, 7);
    const std::int64_t shape[] = {kRows, kColumns, row, column};
    weft_rt_draw_uniform_i64(seed, number, 2, shape, room.data() + start);
    std::int64_t untouched = 0;
    for (const std::int64_t x : room) untouched += x == 7;
    EXPECT_EQ(untouched, std::int64_t(room.size()) - kRows * kColumns);
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t j = 0; j < kColumns; ++j)
        ASSERT_EQ(room[static_cast<std::size_t>(start + i * row + j * column)],
                  expected<std::int64_t>(stream, static_cast<std::uint64_t>(i * kColumns + j)));
  }
  const std::int64_t none[] = {3, 0, 5, 1};
  weft_rt_draw_uniform_f32(seed, number, 2, none, nullptr);
  float scalar = -1;
  weft_rt_draw_uniform_f32(seed, number, 0, nullptr, &scalar);
  EXPECT_EQ(scalar, expected<float>(stream, 0));
}

std::vector<std::int64_t> order_of(const RandomStream &stream, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  for (std::uint64_t iteration = 0; iteration + 1 < order.size(); ++iteration) {
    const std::uint64_t left = order.size() - iteration;
    const auto wide = static_cast<unsigned __int128>(two_words(stream, 4 * iteration)) * left;
    std::swap(order[left - 1], order[static_cast<std::size_t>(wide >> 64)]);
  }
  return order;
}

TEST(RandomNumbers, GiveOrders) {
  for (const RandomStream &stream : kStreams)
    for (const std::int64_t count : {0, 1, 2, 3, 33, 1000, 1024, 1025, 1026, 5000}) {
      const std::vector<std::int64_t> order = order_of(stream, count);
      std::vector<std::int64_t> wide(order.size());
      draw_permutation(DType::i64, stream, count, wide.data());
      EXPECT_EQ(wide, order);
      std::vector<std::int32_t> narrow(order.size());
      draw_permutation(DType::i32, stream, count, narrow.data());
      EXPECT_EQ(std::vector<std::int64_t>(narrow.begin(), narrow.end()), order);
      // In steps, and backwards.
      std::vector<std::int64_t> apart(2 * order.size(), -1);
      const std::int64_t twos[] = {count, 2}, back[] = {count, -1};
      weft_rt_draw_permutation_i64(static_cast<std::int64_t>(stream.seed),
                                   static_cast<std::int64_t>(stream.number), 1, twos, apart.data());
      weft_rt_draw_permutation_i32(static_cast<std::int64_t>(stream.seed),
                                   static_cast<std::int64_t>(stream.number), 1, back,
                                   count == 0 ? nullptr : narrow.data() + count - 1);
      for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(apart[2 * i], order[i]);
        EXPECT_EQ(apart[2 * i + 1], -1);
        EXPECT_EQ(narrow[order.size() - 1 - i], order[i]);
      }
    }
}

} // namespace
} // namespace weft::kernels
