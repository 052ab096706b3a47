// The random number kernels of one x86-64 level. The build compiles this file once per level, with
// that level's -march and WEFT_LEVEL set to 2, 3 or 4.
//
// Blocks are computed a lane each, every word in a lane of 64 bits of its own: a round is two
// products, two shifts and two exclusive ors of three, fewer than with blocks as they lie in
// memory, which pay a shuffle per round. Only the end brings the words into their order.

#include "Kernels/RandomKernels.h"

#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

using kernels::RandomStream;

/// One word of each of kBlocks blocks.
using Wide = Vec<std::uint64_t>;
constexpr int kBlocks = kLanes<std::uint64_t>;

/// The words of kBlocks blocks. The upper halves of the lanes hold anything.
struct Blocks {
  Wide words[4];
};

/// The blocks of a stream.
class Philox {
public:
  explicit Philox(const RandomStream &stream) : number_(stream.number) {
    auto low = static_cast<std::uint32_t>(stream.seed);
    auto high = static_cast<std::uint32_t>(stream.seed >> 32);
    for (auto &key : keys_) {
      key[0] = Wide(low);
      key[1] = Wide(high);
      low += 0x9E3779B9;
      high += 0xBB67AE85;
    }
    // Keys that the compiler knows it would make anew for each block, by more instructions than a
    // round has otherwise.
    asm("" : "+m"(keys_));
  }

  /// kBlocks blocks from number `block` on.
  Blocks blocks(std::uint64_t block) const {
    Wide index;
    for (int i = 0; i < kBlocks; ++i) index[i] = block + static_cast<std::uint64_t>(i);
    return blocks(index);
  }

  /// The blocks of these numbers.
  Blocks blocks(Wide index) const {
    Wide c0 = index, c1 = index >> 32, c2 = Wide(number_), c3 = Wide(number_ >> 32);
#pragma clang loop unroll(full)
    for (const auto &key : keys_) {
      const Wide a = low(c0) * Wide(0xD2511F53), b = low(c2) * Wide(0xCD9E8D57);
      c0 = (b >> 32) ^ c1 ^ key[0];
      c1 = b;
      c2 = (a >> 32) ^ c3 ^ key[1];
      c3 = a;
    }
    return {{c0, c1, c2, c3}};
  }

private:
  static Wide low(Wide x) { return x & Wide(0xFFFFFFFF); }

  std::uint64_t number_;
  Wide keys_[10][2]; ///< of each round
};

/// Lanes of both, interleaved: of their first halves, of their second halves.
inline void interleave(Wide x, Wide y, Wide &first, Wide &second) {
#if WEFT_LEVEL == 4
  first = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
  second = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
#elif WEFT_LEVEL == 3
  first = __builtin_shufflevector(x, y, 0, 4, 1, 5);
  second = __builtin_shufflevector(x, y, 2, 6, 3, 7);
#else
  first = __builtin_shufflevector(x, y, 0, 2);
  second = __builtin_shufflevector(x, y, 1, 3);
#endif
}

/// Words in pairs, the first as the upper half, as the number they make. By a shuffle: shifts and
/// masks would let the compiler take the last round's products for narrower ones, which are slow.
inline Wide number_of(Wide upper, Wide lower) {
  const auto x = reinterpret_cast<Vec<std::uint32_t>>(lower);
  const auto y = reinterpret_cast<Vec<std::uint32_t>>(upper);
#if WEFT_LEVEL == 4
  return reinterpret_cast<Wide>(
      __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30));
#elif WEFT_LEVEL == 3
  return reinterpret_cast<Wide>(__builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14));
#else
  return reinterpret_cast<Wide>(__builtin_shufflevector(x, y, 0, 4, 2, 6));
#endif
}

/// All words in the order of their blocks.
inline void in_order(const Blocks &x, Wide &first, Wide &second) {
  interleave(number_of(x.words[1], x.words[0]), number_of(x.words[3], x.words[2]), first, second);
}
/// All pairs of words as numbers in the order of their blocks.
inline void wide_in_order(const Blocks &x, Wide &first, Wide &second) {
  interleave(number_of(x.words[0], x.words[1]), number_of(x.words[2], x.words[3]), first, second);
}

// What is written of kBlocks blocks.

inline void write(const Blocks &x, float *to) {
  Wide words[2];
  in_order(x, words[0], words[1]);
  for (int i = 0; i < 2; ++i) {
    const auto bits = reinterpret_cast<Vec<std::uint32_t>>(words[i]) >> 8;
    store(to + i * kLanes<float>,
          __builtin_convertvector(reinterpret_cast<Vec<std::int32_t>>(bits), Vec<float>) *
              Vec<float>(0x1p-24F));
  }
}

/// Integers below 2^53 as floating numbers.
inline Vec<double> exact(Wide x) {
#if WEFT_LEVEL == 4
  return __builtin_convertvector(x, Vec<double>);
#else
  // As the last bits of 2^84 and of 2^52, as there is no such instruction.
  const Wide upper = x >> 32 | Wide(0x4530000000000000);
  const Wide lower = (x & Wide(0xFFFFFFFF)) | Wide(0x4330000000000000);
  return (reinterpret_cast<Vec<double>>(upper) - Vec<double>(0x1p84)) +
         (reinterpret_cast<Vec<double>>(lower) - Vec<double>(0x1p52));
#endif
}

inline void write(const Blocks &x, double *to) {
  Wide numbers[2];
  wide_in_order(x, numbers[0], numbers[1]);
  for (int i = 0; i < 2; ++i)
    store(to + i * kBlocks, exact(numbers[i] >> 11) * Vec<double>(0x1p-53));
}

inline void write(const Blocks &x, std::int32_t *to) {
  Wide words[2];
  in_order(x, words[0], words[1]);
  for (int i = 0; i < 2; ++i)
    store(to + i * kLanes<std::int32_t>, reinterpret_cast<Vec<std::int32_t>>(words[i]));
}

inline void write(const Blocks &x, std::int64_t *to) {
  Wide numbers[2];
  wide_in_order(x, numbers[0], numbers[1]);
  for (int i = 0; i < 2; ++i)
    store(to + i * kBlocks, reinterpret_cast<Vec<std::int64_t>>(numbers[i]));
}

inline void write(const Blocks &x, bool *to) {
  using Bytes = std::uint8_t __attribute__((ext_vector_type(kLanes<std::uint32_t>)));
  Wide words[2];
  in_order(x, words[0], words[1]);
  for (int i = 0; i < 2; ++i) {
    const Bytes bits =
        __builtin_convertvector(reinterpret_cast<Vec<std::uint32_t>>(words[i]) >> 31, Bytes);
    __builtin_memcpy(to + i * kLanes<std::uint32_t>, &bits, sizeof bits);
  }
}

inline void write(const Blocks &x, std::uint64_t *to) {
  store(to, number_of(x.words[0], x.words[1]));
}

/// `per_block` elements of each block.
template <class T, int per_block>
void fill(const RandomStream &stream, std::uint64_t block, std::int64_t size, T *to) {
  const Philox philox(stream);
  constexpr std::int64_t step = per_block * kBlocks;
  std::int64_t i = 0;
  for (; i + step <= size; i += step, block += kBlocks) write(philox.blocks(block), to + i);
  if (i == size) return;
  T rest[step];
  write(philox.blocks(block), rest);
  __builtin_memcpy(to + i, rest, static_cast<unsigned long>(size - i) * sizeof(T));
}

/// Of the numbers' highest 52 bits.
inline Vec<double> between(Wide numbers) {
  return (exact(numbers >> 12) + Vec<double>(0.5)) * Vec<double>(0x1p-52);
}

void fill_pairs(const RandomStream &stream, std::uint64_t block, int count, const int *places,
                double *first, double *second) {
  const Philox philox(stream);
  for (int i = 0; i < count; i += kBlocks) {
    const int lanes = count - i < kBlocks ? count - i : kBlocks;
    Wide index = Wide(block);
    for (int lane = 0; lane < lanes; ++lane)
      index[lane] += static_cast<std::uint64_t>(places[i + lane]);
    const Blocks x = philox.blocks(index);
    store_first(first + i, between(number_of(x.words[0], x.words[1])), lanes);
    store_first(second + i, between(number_of(x.words[2], x.words[3])), lanes);
  }
}

} // namespace

// Constant-initialised, so that drawing works during static initialisation too.
constexpr kernels::RandomLevel kRandomTable = {fill<float, 4>,
                                               fill<double, 2>,
                                               fill<std::int32_t, 4>,
                                               fill<std::int64_t, 2>,
                                               fill<bool, 4>,
                                               fill<std::uint64_t, 1>,
                                               fill_pairs};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const RandomLevel random_level_v4 = v4::kRandomTable;
#elif WEFT_LEVEL == 3
const RandomLevel random_level_v3 = v3::kRandomTable;
#else
const RandomLevel random_level_v2 = v2::kRandomTable;
#endif

} // namespace weft::kernels
