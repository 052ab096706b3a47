// Connectionist temporal classification: the probability of labels by all their ways through time,
// frame by frame (Graves et al. 2006).
#include "NN/Losses/Values.h"
#include "Ops/DeviceOps.h"

#include <limits>
#include <optional>
#include <utility>

#include <weft/control_flow.h>
#include <weft/nn/functions.h>

namespace weft::losses {

namespace {

/// The logarithm of what is impossible: finite, so that differences are too.
constexpr double kImpossible = -1e5;

/// log(sum(exp(x))) of several tensors.
template <class... Tensors>
Tensor log_sum_exp(const Tensor &first, const Tensors &...rest) {
  Tensor largest = first;
  ((largest = maximum(largest, rest)), ...);
  largest = stop_gradient(largest);
  Tensor sum = exp(first - largest);
  ((sum = sum + exp(rest - largest)), ...);
  return largest + log(sum);
}

/// 0, 1, 2, .. along the second axis of x (batch, n, ..), as (batch, n).
Tensor positions(const Tensor &x) {
  return cumsum(ones_like(cast(x, DType::i64)), {.axis = 1}) - 1;
}

/// Lengths (batch,) of what stands along the axis that `at` (batch, n) numbers: IndexError unless
/// they are from 0 to n.
Tensor checked_lengths(const char *what, const Tensor &lengths, const Tensor &at) {
  const Shape given = detail::type_of(lengths).shape;
  if (!is_integer(lengths.dtype()))
    throw DTypeError(std::string("ctc: ") + what + " must be integers, but are " +
                     described(lengths));
  if (given.size() != 1 || !may_equal(given[0], detail::type_of(at).shape[0]))
    throw ShapeError(std::string("ctc: ") + what + " must be (batch,), but are " +
                     described(lengths) + " for a batch of " +
                     std::to_string(detail::type_of(at).shape[0]));
  const Tensor n = cast(lengths, DType::i64)[{all, newaxis}];
  const IndexWord word(what);
  return gather_along_axis(concatenate({zeros_like(n), at + 1}, {.axis = 1}), n);
}

/// The ways of each sequence that have come so far: those whose last frame is blank, by the number
/// of labels before it (batch, labels + 1), and those whose last frame is a label (batch, labels).
using Ways = std::pair<Tensor, Tensor>;

} // namespace

Tensor ctc(const Operand &labels, const Operand &logits, const CTCOptions &options) {
  const CallBeside site("ctc", labels, logits);
  const Tensor scores = logits.materialize(), given = labels.materialize();
  const Shape shape = detail::type_of(scores).shape, numbers = detail::type_of(given).shape;
  if (!is_floating(scores.dtype()))
    throw DTypeError("ctc: logits must be floating, but are " + described(scores));
  if (!is_integer(given.dtype()))
    throw DTypeError("ctc: labels must be integers, but are " + described(given));
  if (shape.size() != 3 || numbers.size() != 2 || !may_equal(shape[0], numbers[0]))
    throw ShapeError("ctc: labels must be (batch, labels) and logits (batch, time, classes), but "
                     "they are " +
                     described(given) + " and " + described(scores));
  if (options.blank < 0 || (shape[2] != unknown && options.blank >= shape[2]))
    throw IndexError("ctc: the blank is " + std::to_string(options.blank) +
                     ", which is none of the " + std::to_string(shape[2]) + " classes");

  // Labels behind the end are not looked at: they count as blanks.
  const Tensor at = positions(given);
  const Tensor length = options.label_lengths.defined()
                            ? checked_lengths("label_lengths", options.label_lengths, at)
                            : sum(cast(not_equal(given, options.blank), DType::i64),
                                  {.axes = Ints{1}, .keepdims = true});
  const Tensor wanted = checked_classes(select(at < length, given, options.blank),
                                        weft::detail::size_for_call(scores, 2));
  const Tensor impossible = cast(zeros_like(length), scores.dtype()) + kImpossible;
  // Whether a label may follow the one before it without a blank between them.
  const Tensor before =
      concatenate({cast(zeros_like(length), given.dtype()) + options.blank, wanted},
                  {.axis = 1})[{all, slice({}, -1)}];
  const Tensor differs = not_equal(wanted, before);

  const Tensor logs = nn::log_softmax(scores);
  std::optional<Tensor> counts; // Whether frames do, (time, batch).
  const Tensor frame = positions(sum_of_last(scores));
  Tensor frames = sum(ones_like(frame), {.axes = Ints{1}, .keepdims = true});
  if (options.logit_lengths.defined()) {
    frames = checked_lengths("logit_lengths", options.logit_lengths, frame);
    counts = transpose(frame < frames, {1, 0});
  }

  const auto step = [&](const Ways &ways, const std::pair<Tensor, std::optional<Tensor>> &frame) {
    const auto &[blanks, ends] = ways;
    const auto &[log, is_counted] = frame;
    const Tensor blank = log[{all, slice(options.blank, options.blank + 1)}];
    const Tensor shifted = concatenate({impossible, ends}, {.axis = 1});
    const Tensor skipping = select(differs, shifted[{all, slice({}, -1)}], kImpossible);
    Tensor to_blank = blank + log_sum_exp(blanks, shifted);
    Tensor to_label =
        gather_along_axis(log, wanted) + log_sum_exp(ends, blanks[{all, slice({}, -1)}], skipping);
    if (is_counted) {
      const Tensor counted = (*is_counted)[{all, newaxis}];
      to_blank = select(counted, to_blank, blanks);
      to_label = select(counted, to_label, ends);
    }
    return std::pair(Ways(to_blank, to_label), std::tuple<>());
  };
  const Tensor none = cast(zeros_like(wanted), scores.dtype()) + kImpossible;
  const Tensor start = concatenate({cast(zeros_like(length), scores.dtype()), none}, {.axis = 1});
  const auto [last, nothing] =
      scan(step, Ways(start, none), std::pair(transpose(logs, {1, 0, 2}), counts));

  // The whole sequence, with or without a blank at its end.
  const Tensor whole = gather_along_axis(last.first, length),
               ended =
                   gather_along_axis(concatenate({impossible, last.second}, {.axis = 1}), length);
  Tensor loss = -log_sum_exp(whole, ended);
  if (options.impossible_is_infinite) {
    const Tensor repeats = sum(cast(!differs & (at < length) & (at > 0), DType::i64),
                               {.axes = Ints{1}, .keepdims = true});
    loss = select(length + repeats > frames, std::numeric_limits<double>::infinity(), loss);
  }
  return reduced(loss[{all, 0}], Weighting(options));
}

} // namespace weft::losses
