// Random tensors: counter-based streams, the same for a seed on every machine and number of
// threads.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/tensor.h>

namespace weft::random {

// Element i of a random tensor is a function of the seed and of i alone (Philox4x32-10), so streams
// do not depend on threads. Calls without a seed each take the next stream of the process, which
// starts with the seed 0 or that of set_seed().

struct UniformOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  double low = 0;
  double high = 1;
  DType dtype = DType::f32;
};
/// Numbers from [low, high), equally likely. Throws DTypeError unless the dtype is floating,
/// ValueError unless low < high and both are finite.
Tensor uniform(const Shape &shape, UniformOptions options = {});

struct NormalOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::f32;
};
/// Normally distributed numbers. Throws DTypeError unless the dtype is floating, ValueError if the
/// standard deviation is negative or an option is not finite.
Tensor normal(const Shape &shape, NormalOptions options = {});

struct PermutationOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  DType dtype = DType::i64;
};
/// The numbers 0 to n - 1 in an order of which all are equally likely. Throws DTypeError unless the
/// dtype is an integer, ValueError if n is negative or does not fit it.
Tensor permutation(std::int64_t n, PermutationOptions options = {});

/// Starts the sequence of streams that calls without a seed of their own take.
void set_seed(std::uint64_t seed);

} // namespace weft::random
