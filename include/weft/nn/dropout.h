// Dropout as a layer.
#pragma once

#include <weft/nn/functions.h>
#include <weft/nn/layer.h>
#include <weft/random.h>

namespace weft::nn {

/// `dropout` as a layer, which does nothing but in training.
class Dropout {
public:
  /// With a stream of random numbers of its own, whose seed follows from `nn::seed`, or comes from
  /// `random::process_generator()`. Throws ValueError unless rate is in [0, 1).
  explicit Dropout(double rate, std::source_location where = WEFT_HERE);
  /// With the numbers of a generator.
  Dropout(double rate, const random::Generator &generator, std::source_location where = WEFT_HERE);

  Tensor operator()(const Operand &x, const CallOptions &options = {}) const;
  /// Where its random numbers come from.
  random::Generator generator() const { return random::Generator(generator_); }

  WEFT_FIELDS(Dropout, rate_, generator_, name_)

private:
  double rate_;
  Variable generator_; ///< its state
  LayerName name_;
};

} // namespace weft::nn
