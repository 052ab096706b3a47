// Random tensors: generators, whose state is a variable, keys, which are values, and counter-based
// streams that are the same for a seed on every machine and number of threads, eager and compiled.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <weft/size.h>
#include <weft/structure.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::random {

/// The shape of a random tensor: sizes, which a traced function may compute, or those of another
/// tensor: `uniform({2, n})`, `uniform(like(x))`.
class Extent {
public:
  Extent(const Sizes &sizes, std::source_location where = WEFT_HERE)
      : sizes_(sizes), where_(where) {}
  Extent(const Shape &shape, std::source_location where = WEFT_HERE)
      : sizes_(static_cast<const Ints &>(shape)), where_(where) {}
  Extent(std::initializer_list<Size> sizes, std::source_location where = WEFT_HERE)
      : sizes_(sizes), where_(where) {}

  const Sizes &sizes() const { return sizes_; }
  /// The user's line, if it is known.
  const std::source_location &where() const { return where_; }

private:
  Sizes sizes_;
  std::source_location where_;
};

/// The shape of `x`.
Extent like(const Operand &x);

/// The range [low, high).
struct Uniform {
  double low = 0;
  double high = 1;
  DType dtype = DType::f32;
};

/// Normally distributed numbers; truncated, those within two standard deviations of the mean.
struct Normal {
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::f32;
};

/// A stream of random numbers that continues from call to call. Its state is a variable of two i64,
/// the seed and the number of draws so far, so that draws in a traced function are reads and
/// assigns in program order, and whoever saves and restores variables continues the stream. The
/// numbers follow from the state and the position in the tensor alone. Copies are the same
/// generator. Draws are atomic and may come from any thread.
///
/// All members throw DTypeError, ShapeError or ValueError for dtypes, sizes and parameters that
/// cannot be; probabilities in a tensor are checked as by `check`, with an AssertionError.
class Generator {
public:
  explicit Generator(std::uint64_t seed = 0, std::string name = "generator");
  /// Continues from a state, which must be i64(2,).
  explicit Generator(const Variable &state, std::source_location where = WEFT_HERE);

  /// Seed and number of draws.
  const Variable &state() const { return state_; }
  /// A key for draws that are functions of it: the generator moves on as by a draw.
  Tensor key(std::source_location where = WEFT_HERE) const;
  /// Starts the stream of that seed anew.
  void reset(std::uint64_t seed, std::source_location where = WEFT_HERE) const;

  /// Numbers of [low, high). Throws ValueError unless low < high in the dtype, and both and their
  /// difference are finite in it.
  Tensor uniform(const Extent &shape, const Uniform &range = {}) const;
  /// Normally distributed numbers, by Box and Muller. Throws ValueError if the standard deviation
  /// is negative, a parameter is not finite, or numbers would be too large for the dtype.
  Tensor normal(const Extent &shape, const Normal &parameters = {}) const;
  /// The same within two standard deviations of the mean, by the inverse of the distribution.
  Tensor truncated_normal(const Extent &shape, const Normal &parameters = {}) const;
  /// Bools that are true with `probability`, which broadcasts to the shape; by itself it gives the
  /// shape.
  Tensor bernoulli(const Extent &shape, const Operand &probability) const;
  Tensor bernoulli(const Operand &probability) const;
  /// Positions along an axis of `logits`, each as likely as softmax says: i64, of their shape
  /// without the axis, or of `shape`, of which that is the end. Throws ShapeError if it is not.
  Tensor categorical(const Operand &logits, std::int64_t axis = -1,
                     const std::optional<Sizes> &shape = std::nullopt) const;
  /// Integers of [low, high). Each has a probability within 2^-53 of the others'. Throws ValueError
  /// unless low < high, both fit the dtype, and they are at most 2^53 apart.
  Tensor randint(const Extent &shape, std::int64_t low, std::int64_t high,
                 DType dtype = DType::i64) const;
  /// The numbers 0 to n - 1 in an order of which all are equally likely. Throws ValueError if n is
  /// negative or does not fit the dtype.
  Tensor permutation(const Size &n, DType dtype = DType::i64,
                     std::source_location where = WEFT_HERE) const;
  /// x with its slices along the first axis in a random order.
  Tensor shuffle(const Operand &x) const;

private:
  Variable state_;

public:
  /// A structure of its state: an argument of traced functions, and part of what is saved.
  WEFT_FIELDS(Generator, state_)
};

/// The generator of functions without a seed of their own. It starts with the seed 0.
const Generator &process_generator();
/// Starts the stream of `process_generator()` anew.
void set_seed(std::uint64_t seed, std::source_location where = WEFT_HERE);

/// The key of a seed: a tensor u64(2,). Keys are values: what is drawn with one is a function of
/// it, eager, in traced functions, in loops and mapped over by `vmap`, and changes no state. A key
/// is used once: for one draw, or to be made into others by `split` and `fold_in`
/// (`weft/composites.h`, where the other distributions are).
Tensor key(std::uint64_t seed, std::source_location where = WEFT_HERE);

// Without a generator. With a seed the numbers are the first that a generator of this seed draws,
// and a traced function holds them as constants; with a key they are those of the key, the same of
// `key(seed)` as of the seed. Without one they come from the process's generator, also in traced
// functions. Seed and key together are a ValueError.

struct UniformOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  double low = 0;
  double high = 1;
  DType dtype = DType::f32;
  Tensor key = {};
};
/// As Generator::uniform.
Tensor uniform(const Extent &shape, const UniformOptions &options = {});

struct NormalOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::f32;
  Tensor key = {};
};
/// As Generator::normal.
Tensor normal(const Extent &shape, const NormalOptions &options = {});
/// As Generator::truncated_normal.
Tensor truncated_normal(const Extent &shape, const NormalOptions &options = {});

struct BernoulliOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  Tensor key = {};
};
/// As Generator::bernoulli.
Tensor bernoulli(const Extent &shape, const Operand &probability,
                 const BernoulliOptions &options = {});

struct CategoricalOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  std::int64_t axis = -1;
  std::optional<Sizes> shape = std::nullopt;
  Tensor key = {};
};
/// As Generator::categorical.
Tensor categorical(const Operand &logits, const CategoricalOptions &options = {});

struct RandintOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  DType dtype = DType::i64;
  Tensor key = {};
};
/// As Generator::randint.
Tensor randint(const Extent &shape, std::int64_t low, std::int64_t high,
               const RandintOptions &options = {});

struct PermutationOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  DType dtype = DType::i64;
  Tensor key = {};
};
/// As Generator::permutation.
Tensor permutation(const Size &n, const PermutationOptions &options = {},
                   std::source_location where = WEFT_HERE);

} // namespace weft::random
