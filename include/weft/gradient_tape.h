// Gradients: the tape that records what was computed and gives derivatives of it.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <span>
#include <vector>

#include <weft/detail/derivative_structure.h>
#include <weft/gradients.h>
#include <weft/indexed_slices.h>
#include <weft/variable.h>

namespace weft {

namespace autodiff {
class Tape;
}

/// Options of a GradientTape.
struct TapeOptions {
  /// Whether `gradient` may be asked more than once.
  bool persistent = false;
  /// Whether trainable variables are watched as soon as they are read.
  bool watch_accessed_variables = true;
};

/// What `gradient` gives for a source that the target does not depend on: an undefined tensor, or
/// zeros of the source's shape.
enum class Unconnected : std::int32_t { none, zero };

/// Options of `GradientTape::gradient`.
struct GradientOptions {
  /// One tensor per target, of its shape and dtype, that weighs its elements; ones if empty.
  std::vector<Tensor> output_gradients = {};
  Unconnected unconnected = Unconnected::none;
};

/// Options of `GradientTape::jacobian` and `batch_jacobian`.
struct JacobianOptions {
  Unconnected unconnected = Unconnected::none;
  /// Run what was recorded backwards once, each op on all elements of the target; or once per
  /// element, which takes less memory.
  bool vectorize = true;
};

/// What a gradient is taken by: a tensor or a variable.
class GradientSource {
public:
  GradientSource(Tensor tensor) : tensor_(std::move(tensor)) {}
  GradientSource(const Variable &variable) : variable_(variable.state()) {}

  /// For the library itself: exactly one of the two is set.
  const Tensor &tensor() const { return tensor_; }
  const std::shared_ptr<VariableState> &variable() const { return variable_; }

private:
  Tensor tensor_;
  std::shared_ptr<VariableState> variable_;
};

namespace detail {

/// A vector, or another range, of tensors, variables or sources.
template <class Range>
concept SourceRange =
    std::ranges::forward_range<Range> &&
    std::convertible_to<std::ranges::range_reference_t<const Range>, GradientSource>;

/// Lists the tensors and variables of a structure.
struct SourceLister {
  void tensor(const Tensor &value) { sources.emplace_back(value); }
  void variable(const Variable &value) {
    if (value.initialized()) sources.emplace_back(value);
  }
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}

  std::vector<GradientSource> sources;
};

/// The `N` values of a vector as an array, for structured bindings.
template <std::size_t N, class T>
std::array<T, N> array_of(std::vector<T> values) {
  std::array<T, N> array;
  std::ranges::move(values, array.begin());
  return array;
}

/// The sources of a source, of a range of them, or of another structure.
template <class Sources>
std::vector<GradientSource> source_list(const Sources &sources) {
  constexpr bool one = std::is_convertible_v<const Sources &, GradientSource>;
  constexpr bool fits = one || SourceRange<Sources> ||
                        (is_structure<Sources>() && form_of<Sources>() != Form::literal);
  static_assert(fits, "derivatives are taken by a tensor or variable, by a list {w, b} or another "
                      "range of them, or by a structure that holds them: a tuple, a map, a struct "
                      "with WEFT_FIELDS");
  if constexpr (one) {
    return {GradientSource(sources)};
  } else if constexpr (SourceRange<Sources>) {
    return {std::ranges::begin(sources), std::ranges::end(sources)};
  } else if constexpr (fits) {
    SourceLister lister;
    visit_structure(sources, lister);
    return std::move(lister.sources);
  } else {
    return {};
  }
}

/// Derivatives in the form of their sources: one, a vector of them, or of the structure.
template <class Derivative, class Sources>
auto like_sources(const Sources &sources, std::vector<Derivative> derivatives) {
  if constexpr (std::is_convertible_v<const Sources &, GradientSource>) {
    return std::move(derivatives.front());
  } else if constexpr (SourceRange<Sources>) {
    return derivatives;
  } else if constexpr (is_structure<Sources>() && form_of<Sources>() != Form::literal) {
    InOrder next(std::move(derivatives));
    return Each<Sources, Derivative>::make(sources, next);
  }
}
} // namespace detail

class GradientTape;

namespace detail {

/// The gradients of a target as tensors, undefined where there is none, as `gradient` of the tape.
/// Each goes to `ready`, with its number, as soon as it is there: what comes later on the way back
/// is computed, and traced, behind what `ready` does.
std::vector<Tensor> gradient_as_ready(GradientTape &tape, const Tensor &target,
                                      std::span<const GradientSource> sources,
                                      const std::function<void(std::size_t, const Tensor &)> &ready,
                                      std::source_location where = WEFT_HERE);

} // namespace detail

/// What is differentiated: a tensor, or several, whose sum counts.
class GradientTargets {
public:
  GradientTargets(Tensor target) : targets_{std::move(target)} {}
  GradientTargets(std::initializer_list<Tensor> targets) : targets_(targets) {}
  GradientTargets(std::vector<Tensor> targets) : targets_(std::move(targets)) {}

  std::span<const Tensor> tensors() const { return targets_; }

private:
  std::vector<Tensor> targets_;
};

/// Records the op calls of the thread it is created on, from its construction to its end, and gives
/// derivatives of what they computed by what it watches:
///
///   GradientTape tape;
///   Tensor loss = mean(square(matmul(x, w) - y));
///   auto [dw] = tape.gradient(loss, {w});
///
/// Trainable variables are watched when they are read, other tensors by `watch`. Only floating
/// values have gradients. Tapes nest: the derivatives that an inner tape computes are recorded by
/// the outer ones, which makes higher derivatives. A tape belongs to its thread; its use on another
/// is a StateError.
class GradientTape {
public:
  explicit GradientTape(TapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape &) = delete;
  GradientTape &operator=(const GradientTape &) = delete;

  /// Watches a tensor, or every read of a variable from here on. A tensor that is not floating is
  /// not watched. Throws StateError for an undefined tensor.
  void watch(const GradientSource &source, std::source_location where = WEFT_HERE);
  /// The same for all tensors and variables of a range or another structure.
  template <class Sources,
            class = std::enable_if_t<!std::is_convertible_v<const Sources &, GradientSource>>>
  void watch(const Sources &sources) {
    for (const GradientSource &source : detail::source_list(sources)) watch(source);
  }

  /// The derivatives of the sum of all elements of the targets by each source, in the sources'
  /// order. The computation is seen by the other tapes of this thread and by a trace, but not by
  /// this tape. A tape that is not persistent ends here, and a second call is a StateError. Throws
  /// ShapeError or DTypeError for an output gradient that does not fit its target.
  template <std::size_t N>
  std::array<Tensor, N> gradient(const GradientTargets &targets, const GradientSource (&sources)[N],
                                 const GradientOptions &options = {},
                                 std::source_location where = WEFT_HERE) {
    return detail::array_of<N>(gradient_by(targets, sources, options, where));
  }
  /// The same for one source, whose gradient it gives, for a range of sources, as a vector, for a
  /// structure of tensors and variables (a tuple, a map, a struct of tensors with WEFT_FIELDS, or
  /// containers of these), whose structure the gradients have, and for a model, by its trainable
  /// variables.
  template <class Sources>
  auto gradient(const GradientTargets &targets, const Sources &sources,
                const GradientOptions &options = {}, std::source_location where = WEFT_HERE) {
    if constexpr (nn::Model<Sources>) {
      std::vector<nn::NamedVariable> variables = detail::trained(nn::named_variables(sources));
      std::vector<GradientSource> list;
      for (const nn::NamedVariable &entry : variables) list.emplace_back(entry.variable);
      return Gradients(std::move(variables), sliced_gradient_by(targets, list, options, where),
                       where);
    } else {
      return detail::like_sources(
          sources, gradient_by(targets, detail::source_list(sources), options, where));
    }
  }

  /// The same, where the gradient of a source that was only gathered from along its first axis
  /// stays slices, which take no memory for the rows that were not.
  template <std::size_t N>
  std::array<SlicedGradient, N>
  sliced_gradient(const GradientTargets &targets, const GradientSource (&sources)[N],
                  const GradientOptions &options = {}, std::source_location where = WEFT_HERE) {
    return detail::array_of<N>(sliced_gradient_by(targets, sources, options, where));
  }
  template <class Sources>
  auto sliced_gradient(const GradientTargets &targets, const Sources &sources,
                       const GradientOptions &options = {},
                       std::source_location where = WEFT_HERE) {
    static_assert(
        detail::SourceRange<Sources> || std::is_convertible_v<const Sources &, GradientSource>,
        "sliced_gradient is taken by a tensor or variable, or by a list {w, b} or another "
        "range of them");
    return detail::like_sources(
        sources, sliced_gradient_by(targets, detail::source_list(sources), options, where));
  }

  /// The derivatives of every element of the target by every element of each source, of shape
  /// target.shape + source.shape. Else as `gradient`. Throws DTypeError for a target that is not
  /// floating, ShapeError where a size is unknown, and StateError for a pullback of
  /// `custom_gradient` that has effects or looks at elements, unless `vectorize` is off.
  template <std::size_t N>
  std::array<Tensor, N> jacobian(const Tensor &target, const GradientSource (&sources)[N],
                                 const JacobianOptions &options = {},
                                 std::source_location where = WEFT_HERE) {
    return detail::array_of<N>(jacobian_by(target, sources, options, where));
  }
  template <class Sources>
  auto jacobian(const Tensor &target, const Sources &sources, const JacobianOptions &options = {},
                std::source_location where = WEFT_HERE) {
    return detail::like_sources(sources,
                                jacobian_by(target, detail::source_list(sources), options, where));
  }
  /// The jacobian of each member of a batch: the target is (b, y...), the source (b, x...), the
  /// result (b, y..., x...). Member i of the target must depend on member i of the source alone.
  /// Else as `jacobian`; throws ShapeError if the first axes differ.
  Tensor batch_jacobian(const Tensor &target, const GradientSource &source,
                        const JacobianOptions &options = {},
                        std::source_location where = WEFT_HERE);

  /// Why the gradient of the target by the source is what it is, in a sentence: at which op, on
  /// which line, the path between them broke, or that it did not. Uses up nothing, but has to come
  /// before the gradient of a tape that is not persistent, which does. Throws StateError after it.
  std::string explain(const Tensor &target, const GradientSource &source,
                      std::source_location where = WEFT_HERE) const;

  /// The value of a variable as a target of `gradient`: read while it recorded, as it were, so that
  /// its gradient by the variable is 1, also once the tape has stopped.
  Tensor read(const Variable &variable, std::source_location where = WEFT_HERE);

  /// The variables that are watched, in the order that they were watched or first read.
  std::vector<Variable> watched_variables() const;

  /// Suspends recording for as long as the returned scope lives. Throws StateError if the tape does
  /// not record.
  class [[nodiscard]] Pause {
  public:
    explicit Pause(autodiff::Tape *tape) : tape_(tape) {}
    ~Pause();
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;

  private:
    autodiff::Tape *tape_;
  };
  Pause stop_recording(std::source_location where = WEFT_HERE);

  /// Ends recording; `gradient` may still be asked.
  void stop(std::source_location where = WEFT_HERE);
  /// Forgets everything that was watched and recorded and begins anew.
  void reset(std::source_location where = WEFT_HERE);

private:
  friend std::vector<Tensor> detail::gradient_as_ready(
      GradientTape &tape, const Tensor &target, std::span<const GradientSource> sources,
      const std::function<void(std::size_t, const Tensor &)> &ready, std::source_location where);

  std::vector<Tensor> gradient_by(const GradientTargets &targets,
                                  std::span<const GradientSource> sources,
                                  const GradientOptions &options,
                                  const std::source_location &where);
  std::vector<SlicedGradient> sliced_gradient_by(const GradientTargets &targets,
                                                 std::span<const GradientSource> sources,
                                                 const GradientOptions &options,
                                                 const std::source_location &where);
  std::vector<Tensor> jacobian_by(const Tensor &target, std::span<const GradientSource> sources,
                                  const JacobianOptions &options,
                                  const std::source_location &where);

  autodiff::Tape *tape_;
};

} // namespace weft
