// What losses and metrics share: operands of one shape, class numbers, and what becomes of values.
#pragma once

#include <span>
#include <string>

#include "OpDefs/ShapeFunctions.h"
#include "Support/CallSite.h"
#include <weft/composites.h>
#include <weft/losses.h>

namespace weft::losses {

/// What probabilities are held away from 0 by, in Keras as well.
inline constexpr double kEpsilon = 1e-7;

using shapes::may_equal;
/// Whether the shapes are the same but for sizes that a trace does not know, which are compared
/// when it runs.
bool may_equal(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
/// "f32(2, 3)".
std::string described(const Tensor &tensor);

/// The operand, an integer or bool one as f32.
Tensor floating(const Operand &x);
/// The same, of rank 1 or more; else a ShapeError that says what it is of.
Tensor with_last_axis(const char *what, const Tensor &x);
/// Along the last axis, which stays if `keepdims`.
Tensor sum_of_last(const Tensor &x, bool keepdims = false);
Tensor mean_of_last(const Tensor &x);

/// a / b, 0 where b is 0.
Tensor quotient(const Tensor &a, const Tensor &b);

/// Targets and predictions of one shape: sizes of 1 are not stretched, for then each element of one
/// would be compared with several of the other. Both are floating.
struct Pair {
  Tensor targets, predictions;

  Pair(const Operand &targets, const Operand &predictions);
};

/// Throws DTypeError, in the words of the function that was called, unless scores are floating, and
/// ShapeError unless they have a last axis.
void check_scores(const Tensor &scores);
/// Whether labels are class numbers for these scores, integers of their shape but for the last
/// axis.
bool are_class_numbers(const Tensor &labels, const Tensor &scores);
/// Class numbers, of which one that is no class is an IndexError: in a trace when it runs.
Tensor checked_classes(const Tensor &labels, std::int64_t classes);
/// x[.., labels[..]] for x (.., classes), whose last axis stays if `keepdims`. Labels that are no
/// class are IndexErrors. What is not chosen is not looked at, so that -inf for a
/// class that is out of the question does no harm.
Tensor chosen(const Tensor &x, const Tensor &labels, bool keepdims = false);
/// -log(probability of the label) per label, and its mean over all classes by the share
/// `smoothing`.
Tensor sparse_values(const Tensor &labels, const Tensor &scores, bool from_logits,
                     double smoothing);

/// The options that all losses have.
struct Weighting {
  Tensor weights, mask;
  Reduction reduction = Reduction::mean;

  template <class Options>
  explicit Weighting(const Options &options)
      : weights(options.weights), mask(options.mask), reduction(options.reduction) {}

  bool plain_mean() const {
    return !weights.defined() && !mask.defined() && reduction == Reduction::mean;
  }
};

/// Values times weights, 0 where they are masked. The weights of all of them too, if there are any:
/// 0 where values are masked.
struct Weighted {
  Tensor values;
  Tensor weights; ///< of the shape of values; undefined if there are neither weights nor a mask
};
Weighted weighted(const Tensor &values, const Weighting &weighting);

/// `counts`, bools per value, and false where the mask is.
Tensor masked(const Tensor &counts, const Tensor &mask);

/// What becomes of the values.
Tensor reduced(const Tensor &values, const Weighting &weighting);
/// What becomes of values that are means of elements along the last axis, or of one axis' elements.
Tensor reduced_means(const Tensor &elements, const Weighting &weighting);
/// The sum over x, or x itself if it is a scalar.
Tensor total(const Tensor &x);

} // namespace weft::losses
