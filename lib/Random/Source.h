// Sources: where the state of each draw comes from, and the distributions on top.
#pragma once

#include "Ops/Interpreter.h"
#include <weft/random.h>

namespace weft::random::detail {

/// Hands out states, each of a stream of its own.
class Source {
public:
  virtual ~Source() = default;
  /// The state of the next `draws` streams: of the first; the others count on from it.
  virtual Tensor take(std::int64_t draws) = 0;
};

// Each checks everything before it takes a state, so that a failed call does not advance anything.
Tensor uniform(Source &source, const Extent &shape, const Uniform &range);
Tensor normal(Source &source, const Extent &shape, const Normal &parameters);
Tensor truncated_normal(Source &source, const Extent &shape, const Normal &parameters);
Tensor bernoulli(Source &source, const Extent &shape, const Operand &probability);
Tensor categorical(Source &source, const Operand &logits, std::int64_t axis,
                   const std::optional<Sizes> &shape);
Tensor randint(Source &source, const Extent &shape, std::int64_t low, std::int64_t high,
               DType dtype);
Tensor permutation(Source &source, const Size &n, DType dtype);
Tensor shuffle(Source &source, const Operand &x);

} // namespace weft::random::detail
