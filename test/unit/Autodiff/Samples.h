// Calls that derivatives are tested on, built from the samples of the records.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include <weft/tensor.h>

namespace weft::test {

/// A call with f64 operands (and indices, predicates) away from the points where the op has no
/// derivative.
struct Sample {
  std::string name; ///< "add_2x3_3_positive", of letters, digits and underscores
  OpCode op;
  std::vector<Tensor> operands;
  Attrs attrs;

  friend void PrintTo(const Sample &sample, std::ostream *out) { *out << sample.name; }
};

/// Whether the derivative of the op is tested on its samples.
bool is_tested_alone(const OpInfo &info);

/// The small samples of every op of which that holds, in the order of the table.
const std::vector<Sample> &differentiable_samples();

/// Calls whose operands are of rank 0 or have no elements.
const std::vector<Sample> &degenerate_samples();

/// f64 values in [low, high], all different, the same on every run.
Tensor values(const Shape &shape, double low, double high, int seed);

/// Whether all elements are finite numbers.
bool all_finite(const Tensor &tensor);

} // namespace weft::test
