// Functions that are made of ops, with NumPy's names: `clip`, `round`, `hypot`, ..
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/ops.h>
#include <weft/structure.h>

namespace weft {

/// An operand that may be left out: `clip(x, {}, 6)` has no lower limit.
class OptionalOperand {
public:
  OptionalOperand() = default;
  OptionalOperand(std::nullopt_t) {}
  template <class T, class = std::enable_if_t<
                         std::is_constructible_v<Operand, const T &, std::source_location>>>
  OptionalOperand(const T &value, std::source_location where = WEFT_HERE)
      : own_(std::in_place, value, where), operand_(&*own_) {}
  template <class T>
  OptionalOperand(std::initializer_list<T> values, std::source_location where = WEFT_HERE)
      : own_(std::in_place, values, where), operand_(&*own_) {}
  /// One that lives as long as the call; null for none.
  OptionalOperand(const Operand *operand) : operand_(operand) {}
  OptionalOperand(const OptionalOperand &) = delete;
  OptionalOperand &operator=(const OptionalOperand &) = delete;

  /// Null if there is none.
  const Operand *get() const { return operand_; }

private:
  std::optional<Operand> own_;
  const Operand *operand_ = nullptr;
};

/// One integer or several: `repeat(x, 2)`, `repeat(x, {1, 3}, 0)`.
class IntList : public Ints {
public:
  IntList() = default;
  template <class T, class = detail::IfInteger<T>>
  IntList(T one) : Ints({static_cast<std::int64_t>(one)}) {}
  IntList(std::initializer_list<std::int64_t> several) : Ints(several) {}
  IntList(Ints several) : Ints(std::move(several)) {}
  template <class Range, class = detail::IfForeignInts<Range>>
  IntList(const Range &several) : Ints(several) {}
};

/// Integers, or an integer tensor with one axis or none of them, which a trace may compute:
/// `roll(x, 1)`, `repeat(x, {1, n}, 0)`, `repeat(x, counts, 0)`.
class Integers {
public:
  template <class T, class = detail::IfInteger<T>>
  Integers(T one) : numbers_({static_cast<std::int64_t>(one)}) {}
  Integers(std::initializer_list<Size> several) : Integers(Sizes(several)) {}
  Integers(Ints several) : numbers_(std::move(several)) {}
  template <class Range, class = detail::IfForeignInts<Range>>
  Integers(const Range &several) : numbers_(several) {}
  Integers(const Size &one) : Integers(Sizes{one}) {}
  Integers(const Sizes &several);
  /// Throws DTypeError unless they are integers, ShapeError for more than one axis.
  Integers(const Tensor &computed, std::source_location where = WEFT_HERE);

  bool are_numbers() const { return !tensor_.defined(); }
  const Ints &numbers() const { return numbers_; }
  /// Those that a trace computes, i64; undefined of numbers.
  const Tensor &tensor() const { return tensor_; }

private:
  Ints numbers_;
  Tensor tensor_;
};

/// One number or several: `quantile(x, 0.5)`, `quantile(x, {0.25, 0.75})`.
class RealList {
public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  RealList(T one) : values_{static_cast<double>(one)}, one_(true) {}
  RealList(std::initializer_list<double> several) : values_(several) {}
  RealList(std::vector<double> several) : values_(std::move(several)) {}
  template <
      class Range,
      class Element = std::remove_cvref_t<decltype(*std::begin(std::declval<const Range &>()))>,
      class = std::enable_if_t<std::is_arithmetic_v<Element> && !std::is_same_v<Element, char>>>
  RealList(const Range &several) : values_(std::begin(several), std::end(several)) {}

  /// Whether it is one, and no list of one.
  bool one() const { return one_; }
  const std::vector<double> &values() const { return values_; }

private:
  std::vector<double> values_;
  bool one_ = false;
};

/// Which norm: a number, or "fro"; the usual one if it is neither.
class NormOrder {
public:
  NormOrder() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  NormOrder(T number) : number_(static_cast<double>(number)) {}
  NormOrder(const char *word) : word_(word) {}
  NormOrder(std::string word) : word_(std::move(word)) {}

  const std::optional<double> &number() const { return number_; }
  const std::string &word() const { return word_; }

private:
  std::optional<double> number_;
  std::string word_;
};

/// On which side of equal elements.
enum class SearchSide : std::int32_t { left, right };

/// What a number beyond the axis of `take` is: an error, counted on from the other end, or that of
/// the end.
enum class TakeMode : std::int32_t { raise, wrap, clip };

/// The axes of the grid's first two vectors: y and x, or in their order.
enum class GridIndexing : std::int32_t { xy, ij };

namespace linalg {
/// How many columns the basis of `linalg::qr` has: as many as there are pivots, or as rows.
enum class QrMode : std::int32_t { reduced, complete };
} // namespace linalg

namespace fft {
/// Which direction of a transform is scaled by 1 / n; `ortho`: both, by its square root.
enum class Norm : std::int32_t { backward, ortho, forward };

/// Options of `fftfreq` and `rfftfreq`: the distance of two samples, and the dtype.
struct FrequencyOptions {
  double d = 1;
  DType dtype = DType::f32;
};

/// The frequencies of the elements of a transform of n samples: 0, 1, .. (n - 1) / 2, -n / 2, ..
/// -1, each by n d. Throws ValueError if n is below 1, DTypeError unless the dtype is floating.
Tensor fftfreq(const Size &n, const FrequencyOptions &options = {},
               std::source_location where = WEFT_HERE);
/// The same of a transform of real samples: 0, 1, .. n / 2.
Tensor rfftfreq(const Size &n, const FrequencyOptions &options = {},
                std::source_location where = WEFT_HERE);

/// Options of windows. A periodic one is that of one element more, without its last.
struct WindowOptions {
  bool periodic = true;
  DType dtype = DType::f32;
};
/// Hann's window, 1/2 - 1/2 cos. Throws ValueError if the length is negative, DTypeError unless the
/// dtype is floating.
Tensor hann_window(std::int64_t length, const WindowOptions &options = {},
                   std::source_location where = WEFT_HERE);
/// Hamming's, 0.54 - 0.46 cos.
Tensor hamming_window(std::int64_t length, const WindowOptions &options = {},
                      std::source_location where = WEFT_HERE);
} // namespace fft

/// What padding has: a constant, the element at the edge, a ramp from there, what is computed of
/// the slices, those that a mirror shows without and with the one at the edge, or those of the
/// other end.
enum class PadMode : std::int32_t {
  constant,
  edge,
  linear_ramp,
  maximum,
  mean,
  median,
  minimum,
  reflect,
  symmetric,
  wrap
};

/// How many elements are put in front of axes and behind them: `pad(x, 1)`, `pad(x, {{1, 2}})` for
/// all axes, `pad(x, {{1, 2}, {0, 3}})` for each.
class PadWidths {
public:
  template <class T, class = detail::IfInteger<T>>
  PadWidths(T both) : pairs_{{static_cast<std::int64_t>(both), static_cast<std::int64_t>(both)}} {}
  PadWidths(std::initializer_list<std::array<std::int64_t, 2>> pairs) : pairs_(pairs) {}
  PadWidths(std::vector<std::array<std::int64_t, 2>> pairs) : pairs_(std::move(pairs)) {}

  /// One for all axes, or one for each.
  const std::vector<std::array<std::int64_t, 2>> &pairs() const { return pairs_; }

private:
  std::vector<std::array<std::int64_t, 2>> pairs_;
};

/// What becomes of elements and updates of one position.
enum class ScatterReduction : std::int32_t { set, add, multiply, min, max };

/// What a quantile between two elements is.
enum class QuantileMethod : std::int32_t { linear, lower, higher, midpoint, nearest };

/// Where the shorter of two vectors stands beside the longer: wherever they meet, at as many
/// positions as the longer has, or wherever it is within.
enum class ConvolveMode : std::int32_t { full, same, valid };

/// Intervals: so many of one length, or those between edges: `histogram(x, {}, {.bins = 4})`.
class Bins {
public:
  template <class T, class = detail::IfInteger<T>>
  Bins(T count) : count_(static_cast<std::int64_t>(count)) {}
  Bins(std::initializer_list<double> edges) : edges_(edges) {}
  Bins(std::vector<double> edges) : edges_(std::move(edges)) {}

  const std::optional<std::int64_t> &count() const { return count_; }
  const std::vector<double> &edges() const { return edges_; }

private:
  std::optional<std::int64_t> count_;
  std::vector<double> edges_;
};

/// Axes that are summed over: so many of the last of a and the first of b, or those of two lists:
/// `tensordot(a, b, 1)`, `tensordot(a, b, {{0}, {1}})`.
class ContractedAxes {
public:
  template <class T, class = detail::IfInteger<T>>
  ContractedAxes(T count) : count_(static_cast<std::int64_t>(count)) {}
  ContractedAxes(IntList of_a, IntList of_b) : of_a_(std::move(of_a)), of_b_(std::move(of_b)) {}

  const std::optional<std::int64_t> &count() const { return count_; }
  const Ints &of_a() const { return of_a_; }
  const Ints &of_b() const { return of_b_; }

private:
  std::optional<std::int64_t> count_;
  Ints of_a_, of_b_;
};

/// How many parts there are of an axis, or where those behind the first begin: `split(x, 3)`,
/// `split(x, {1, n})`.
class Sections {
public:
  template <class T, class = detail::IfInteger<T>>
  Sections(T count) : count_(static_cast<std::int64_t>(count)) {}
  Sections(std::initializer_list<Size> positions) : positions_(positions) {}
  Sections(const Ints &positions) : positions_(positions) {}
  Sections(Sizes positions) : positions_(std::move(positions)) {}
  template <class Range, class = detail::IfForeignInts<Range>>
  Sections(const Range &positions) : positions_(Ints(positions)) {}

  const std::optional<std::int64_t> &count() const { return count_; }
  const Sizes &positions() const { return positions_; }

private:
  std::optional<std::int64_t> count_;
  Sizes positions_;
};

namespace detail {
/// A text in front of operands, and the line of the call.
struct LocatedText {
  template <class T, class = std::enable_if_t<std::is_convertible_v<const T &, std::string_view>>>
  LocatedText(const T &value, std::source_location line = WEFT_HERE) : text(value), where(line) {}

  std::string_view text;
  std::source_location where;
};
} // namespace detail

// Besides what is said of each function, all of them throw what ops throw (weft/ops.h).

#include <weft/detail/composites.inc>

/// Where the condition holds: `nonzero`.
inline std::vector<Tensor> where(const Operand &condition, NonzeroOptions options = {}) {
  return nonzero(condition, std::move(options));
}

} // namespace weft
