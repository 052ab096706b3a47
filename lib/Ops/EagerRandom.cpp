// Random numbers: the blocks of a Philox stream as elements, and orders drawn from them.
#include <algorithm>
#include <utility>

#include "Ops/Eager.h"
#include "Runtime/Philox.h"
#include "Runtime/StridedCopy.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

using detail::elements;
using philox::Block;

/// Blocks below which a loop stays on one thread.
constexpr std::int64_t kGrain = 1024;

philox::Stream stream_of(const Tensor &state) {
  const Tensor dense = make_contiguous(state);
  const auto *words = elements<const std::int64_t>(dense);
  return {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1])};
}

std::uint64_t word64(const Block &block, int half) {
  return std::uint64_t{block[2 * half]} << 32 | block[2 * half + 1];
}

/// The elements that a block gives: as many as fit its 128 bits, and four bools.
template <class T>
constexpr std::int64_t kWidth = sizeof(T) == 8 ? 2 : 4;

void unpack(const Block &block, float *out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<float>(block[i] >> 8) * 0x1p-24f;
}
void unpack(const Block &block, double *out) {
  for (int i = 0; i < 2; ++i) out[i] = static_cast<double>(word64(block, i) >> 11) * 0x1p-53;
}
void unpack(const Block &block, std::int32_t *out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::int32_t>(block[i]);
}
void unpack(const Block &block, std::int64_t *out) {
  for (int i = 0; i < 2; ++i) out[i] = static_cast<std::int64_t>(word64(block, i));
}
void unpack(const Block &block, bool *out) {
  for (int i = 0; i < 4; ++i) out[i] = (block[i] >> 31) != 0;
}

} // namespace

Tensor draw_uniform(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                    const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const philox::Stream stream = stream_of(operands[0]);
  const std::int64_t size = result.size();
  visit_dtype(type.dtype, [&]<class T>() {
    constexpr std::int64_t width = kWidth<T>;
    T *const target = elements<T>(result);
    threads::parallel_for_noexcept(
        0, (size + width - 1) / width, kGrain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t b = begin; b < end; ++b) {
            T out[width];
            unpack(stream.block(static_cast<std::uint64_t>(b)), out);
            std::copy_n(out, std::min(width, size - b * width), target + b * width);
          }
        });
  });
  return result;
}

Tensor draw_permutation(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                        const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const philox::Stream stream = stream_of(operands[0]);
  const std::int64_t count = type.shape[0];
  const auto shuffle = [&]<class T>(T *target) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = static_cast<T>(i);
    for (std::int64_t turn = 0; turn < count - 1; ++turn) {
      const std::int64_t left = count - turn;
      const std::uint64_t bits = word64(stream.block(static_cast<std::uint64_t>(turn)), 0);
      const auto picked = static_cast<std::int64_t>(
          static_cast<unsigned __int128>(bits) * static_cast<std::uint64_t>(left) >> 64);
      std::swap(target[left - 1], target[picked]);
    }
  };
  if (type.dtype == DType::i32) shuffle(elements<std::int32_t>(result));
  else shuffle(elements<std::int64_t>(result));
  return result;
}

} // namespace weft::eager
