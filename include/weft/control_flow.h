// Control flow: runs at once on values, and is recorded whole inside a traced function.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/body.h>
#include <weft/detail/callable.h>
#include <weft/detail/parts.h>
#include <weft/ops.h>
#include <weft/structure.h>

namespace weft {

/// The iterations of a `for_loop`: `n` for 0, 1, ..., n - 1, or `{start, stop, step}`. Bounds are
/// integer scalars of C++ or tensors; the loop's number has their dtype (i32 for C++ integers that
/// fit). Throws DTypeError or ShapeError for other bounds, ValueError for a step that is 0.
class Iterations {
public:
  template <class Stop, class = std::enable_if_t<std::is_constructible_v<Operand, const Stop &>>>
  Iterations(const Stop &stop, std::source_location where = WEFT_HERE)
      : Iterations(make({0, where}, {stop, where}, 1)) {}
  Iterations(const Operand &start, const Operand &stop) : Iterations(make(start, stop, 1)) {}
  Iterations(const Operand &start, const Operand &stop, std::int64_t step)
      : Iterations(make(start, stop, step)) {}

  /// A count from `low` in steps of `stride` > 0 to before `high`, both i64 scalars.
  const Tensor &low() const { return low_; }
  const Tensor &high() const { return high_; }
  std::int64_t stride() const { return step_ < 0 ? -step_ : step_; }
  /// The user's line, if it is known.
  const std::source_location &where() const { return where_; }
  /// The loop's number where the count stands at `at`, an i64 scalar.
  Tensor number(const Tensor &at) const;

private:
  Iterations() = default;
  static Iterations make(const Operand &start, const Operand &stop, std::int64_t step);

  Tensor low_, high_, start_;
  std::int64_t step_ = 1;
  DType dtype_ = DType::i32;
  std::source_location where_;
};

namespace detail {

std::vector<Tensor> branch(std::string_view name, const Operand &predicate, const Body &then,
                           const Body &otherwise);
std::vector<Tensor> choose(std::string_view name, const Operand &index,
                           std::span<const Body> cases);
std::vector<Tensor> loop(std::string_view name, const Body &condition, const Body &body,
                         std::vector<Tensor> state, const std::source_location &where);
std::vector<Tensor> count(std::string_view name, const Iterations &iterations, const Body &body,
                          std::vector<Tensor> state);
/// The same of a body that gives the state and then whether this iteration is the last.
std::vector<Tensor> loop_until(std::string_view name, const Body &condition, const Body &body,
                               std::vector<Tensor> state, const std::source_location &where);
std::vector<Tensor> count_until(std::string_view name, const Iterations &iterations,
                                const Body &body, std::vector<Tensor> state);
/// The predicate of `break_if`.
Tensor break_predicate(const Operand &predicate);
/// `carries` first, then one slice of each of `xs`; gives carries and then what is stacked.
std::vector<Tensor> scan(std::string_view name, const Body &iteration, std::vector<Tensor> carries,
                         std::span<const Tensor> xs, bool reverse,
                         const std::source_location &where);

[[noreturn]] void throw_other_structure(std::string_view name, std::string_view what,
                                        const std::source_location &where);

} // namespace detail

/// The next state of a loop, and whether its body breaks out of it: what `break_if` returns.
template <class... State>
struct BreakIf {
  Tensor predicate; ///< a bool scalar
  std::tuple<State...> state;
  WEFT_FIELDS(BreakIf, predicate, state)
};

/// What the body of `while_loop` or `for_loop` may return instead of its next state: the loop ends
/// with this iteration, and gives this state, if the predicate holds. The condition of the loop is
/// not asked again. Where only a branch breaks, both branches of a `cond` return one:
/// `cond(found, [&] { return break_if(true, x); }, [&] { return break_if(false, next(x)); })`.
/// Throws DTypeError or ShapeError if the predicate is no bool scalar.
template <class... State>
BreakIf<detail::FlowingType<State>...> break_if(const Operand &predicate, const State &...state) {
  return {detail::break_predicate(predicate), {detail::flowing(state)...}};
}

namespace detail {

template <class T>
inline constexpr bool breaks_early = false;
template <class... State>
inline constexpr bool breaks_early<BreakIf<State...>> = true;

/// Runs `choose` on branches that all return R, as bodies on tensors.
template <class R, class Choose, class... Branches>
R choice(std::string_view name, const std::source_location &where, const Choose &choose,
         Branches &...branches) {
  if constexpr (std::is_void_v<R>) {
    choose({Body([&](std::span<const Tensor>) {
      branches();
      return std::vector<Tensor>();
    })...});
  } else {
    std::optional<Parts<R>> first;
    const auto run = [&](auto &branch) {
      Parts<R> parts(flowing(branch()));
      std::vector<Tensor> tensors = std::move(parts.tensors());
      if (!first) first.emplace(std::move(parts));
      else if (!(first->key() == parts.key())) throw_other_structure(name, "a branch", where);
      return tensors;
    };
    const std::vector<Tensor> results =
        choose({Body([&](std::span<const Tensor>) { return run(branches); })...});
    return first->with(results);
  }
}

/// The result type of branches, which must agree; what is wrong with them is said in a sentence.
template <class First, class... Rest>
struct CommonResult {
  static constexpr bool callable =
      std::is_invocable_v<First &> && (std::is_invocable_v<Rest &> && ...);
  static_assert(callable, "a branch of cond, if_ or switch_case is a function without parameters: "
                          "what it works on it captures, as in [&] { return x + 1; }");
  using First_ = ResultType<ResultOf<First &>>;
  static constexpr bool agree =
      !callable || (std::is_same_v<First_, ResultType<ResultOf<Rest &>>> && ...);
  static_assert(agree, "the branches of cond or switch_case return values of different types: all "
                       "return a tensor (or number), or the same structure, or nothing");
  static constexpr bool structured = std::is_void_v<First_> || is_structure<First_>();
  static_assert(structured, WEFT_STRUCTURE_WANTED("what branches return"));
  static constexpr bool ok = callable && agree && structured;
  using type = std::conditional_t<ok, First_, void>;
};

/// Loop state: what a loop is given, the bodies on it, and what it returns.
template <class... State>
class LoopState {
public:
  using Values = std::tuple<FlowingType<State>...>;

  static_assert((is_structure<State>() && ...),
                WEFT_STRUCTURE_WANTED("the parts of a loop's state"));

  LoopState(std::string_view name, const std::source_location &where, const State &...state)
      : name_(name), where_(where), parts_(Values(flowing(state)...)) {}

  std::vector<Tensor> tensors() { return parts_.tensors(); }
  /// The state of an iteration.
  Values at(std::span<const Tensor> tensors) const { return parts_.with(tensors); }
  /// The tensors of what `iteration` returns, which must be a state.
  template <class Iteration>
  std::vector<Tensor> after(const Iteration &iteration) const {
    using R = decltype(iteration());
    if constexpr (breaks_early<R>) {
      R next = iteration();
      std::vector<Tensor> tensors = after([&] { return std::move(next.state); });
      tensors.push_back(std::move(next.predicate));
      return tensors;
    } else if constexpr (sizeof...(State) == 0) {
      iteration();
      return {};
    } else {
      constexpr bool fits = fits_state<R>();
      static_assert(fits, "the body of a loop returns its next state: one value where there is one "
                          "part, a std::tuple of as many values as there are parts; or break_if of "
                          "a predicate and the parts");
      if constexpr (fits) return tensors_of(values_of(iteration()));
      else return {};
    }
  }
  auto result(std::span<const Tensor> tensors) const {
    if constexpr (sizeof...(State) == 1) return std::get<0>(parts_.with(tensors));
    else if constexpr (sizeof...(State) > 1) return parts_.with(tensors);
  }

private:
  template <class R>
  static constexpr bool is_only_part() {
    return sizeof...(State) == 1 &&
           std::is_convertible_v<FlowingType<R>, std::tuple_element_t<0, Values>>;
  }
  /// Whether an R is the state: its only part, or a tuple of its parts, where numbers count as
  /// tensors.
  template <class R>
  static constexpr bool fits_state() {
    using Plain = std::remove_cvref_t<R>;
    if constexpr (std::is_void_v<R>) {
      return false;
    } else if constexpr (is_only_part<R>()) {
      return true;
    } else if constexpr (form_of<Plain>() == Form::tuple) {
      if constexpr (std::tuple_size_v<Plain> == sizeof...(State))
        return []<std::size_t... I>(std::index_sequence<I...>) {
          return (std::is_convertible_v<FlowingType<std::tuple_element_t<I, Plain>>,
                                        std::tuple_element_t<I, Values>> &&
                  ...);
        }(std::index_sequence_for<State...>());
      else return false;
    } else {
      return false;
    }
  }
  template <class R>
  static Values values_of(R &&result) {
    if constexpr (is_only_part<R>()) return Values(flowing(std::forward<R>(result)));
    else
      return std::apply(
          [](auto &&...part) { return Values(flowing(std::forward<decltype(part)>(part))...); },
          std::forward<R>(result));
  }
  std::vector<Tensor> tensors_of(Values values) const {
    Parts<Values> next(std::move(values));
    if (!(next.key() == parts_.key())) throw_other_structure(name_, "the body", where_);
    return std::move(next.tensors());
  }

  std::string_view name_;
  std::source_location where_;
  Parts<Values> parts_;
};

} // namespace detail

/// `then()` if the predicate holds, `otherwise()` if not: functions without arguments that return
/// values of one type, nested structures of tensors, or nothing. A predicate known while tracing
/// chooses at once. Throws DTypeError or ShapeError if the predicate is no bool scalar, or if the
/// results differ in dtype or rank; sizes may differ.
template <class Then, class Otherwise>
auto cond(const Operand &predicate, Then then, Otherwise otherwise) {
  using Common = detail::CommonResult<Then, Otherwise>;
  if constexpr (Common::ok)
    return detail::choice<typename Common::type>(
        "cond", predicate.where(),
        [&](std::initializer_list<detail::Body> bodies) {
          return detail::branch("cond", predicate, bodies.begin()[0], bodies.begin()[1]);
        },
        then, otherwise);
}

/// Runs `then()`, for what it does to variables and prints, if the predicate holds.
template <class Then>
void if_(const Operand &predicate, Then then) {
  if_(predicate, std::move(then), [] {});
}
template <class Then, class Otherwise>
void if_(const Operand &predicate, Then then, Otherwise otherwise) {
  const auto body = [](auto &branch) {
    return [&branch](std::span<const Tensor>) {
      static_cast<void>(branch());
      return std::vector<Tensor>();
    };
  };
  if constexpr (detail::CommonResult<Then>::callable && detail::CommonResult<Otherwise>::callable)
    detail::branch("if_", predicate, body(then), body(otherwise));
}

/// The case of that number, of functions as in `cond`. An index below 0 or past the end takes the
/// last case, as in tf.switch_case.
template <class... Cases>
auto switch_case(const Operand &index, Cases... cases) {
  static_assert(sizeof...(Cases) > 0, "switch_case needs a case");
  using Common = detail::CommonResult<Cases...>;
  if constexpr (Common::ok)
    return detail::choice<typename Common::type>(
        "switch_case", index.where(),
        [&](std::initializer_list<detail::Body> bodies) {
          return detail::choose("switch_case", index, {bodies.begin(), bodies.size()});
        },
        cases...);
}

namespace detail {

/// The type of `while_loop`, an object, so that calls of it know their line.
struct WhileLoop {
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Given>
  static auto call(const std::source_location &where, const Given &...given) {
    static_assert(sizeof...(Given) >= 2,
                  "while_loop is called with a condition, a body and the parts of the state");
    if constexpr (sizeof...(Given) >= 2) return run(where, given...);
  }

  template <class Condition, class LoopBody, class... State>
  static auto run(const std::source_location &where, const Condition &condition_given,
                  const LoopBody &body_given, const State &...state) {
    LoopState<State...> loop("while_loop", where, state...);
    constexpr bool tests = std::is_invocable_v<Condition &, FlowingType<State> &...>;
    static_assert(tests, "the condition of while_loop is called with the parts of the state: one "
                         "parameter for each argument behind the body");
    constexpr bool iterations = std::is_invocable_v<LoopBody &, FlowingType<State> &...>;
    static_assert(iterations, "the body of while_loop is called with the parts of the state: one "
                              "parameter for each argument behind it");
    if constexpr (tests && iterations) {
      constexpr bool decides =
          std::is_constructible_v<Operand, ResultOf<Condition &, FlowingType<State> &...>>;
      static_assert(decides, "the condition of while_loop returns a bool, or a bool tensor");
      Condition condition = condition_given;
      LoopBody body = body_given;
      constexpr bool breaks = breaks_early<ResultOf<LoopBody &, FlowingType<State> &...>>;
      const std::vector<Tensor> results = (breaks ? detail::loop_until : detail::loop)(
          "while_loop",
          [&](std::span<const Tensor> tensors) {
            return std::vector{flowing(std::apply(condition, loop.at(tensors)))};
          },
          [&](std::span<const Tensor> tensors) {
            return loop.after([&] { return std::apply(body, loop.at(tensors)); });
          },
          loop.tensors(), where);
      return loop.result(results);
    }
  }
};

} // namespace detail

/// `state = body(state)` as long as `condition(state)` holds: `while_loop(condition, body,
/// state...)`. Both take the state's parts as arguments; the body returns the next state: one
/// value, or a tuple of as many as there are, or `break_if` of them. The loop returns the last
/// state the same way. In a trace a part whose sizes change is of unknown size; throws DTypeError
/// or ShapeError if its dtype or rank does, and ValueError if the body returns another structure.
inline constexpr detail::WhileLoop while_loop;

/// `state = body(i, state)` for the numbers of `iterations`: `for_loop(10, body, x)`,
/// `for_loop({2, 20, 3}, body, x)`. State and errors are as in `while_loop`.
template <class LoopBody, class... State>
auto for_loop(const Iterations &iterations, LoopBody body, const State &...state) {
  detail::LoopState<State...> loop("for_loop", iterations.where(), state...);
  constexpr bool fits = std::is_invocable_v<LoopBody &, Tensor &, detail::FlowingType<State> &...>;
  static_assert(fits,
                "the body of for_loop is called with the number of the iteration and the parts of "
                "the state: one parameter for the number and one for each part");
  if constexpr (fits) {
    constexpr bool breaks = detail::breaks_early<
        detail::ResultOf<LoopBody &, Tensor &, detail::FlowingType<State> &...>>;
    const std::vector<Tensor> results = (breaks ? detail::count_until : detail::count)(
        "for_loop", iterations,
        [&](std::span<const Tensor> tensors) {
          return loop.after([&] {
            return std::apply(body, std::tuple_cat(std::tuple(iterations.number(tensors[0])),
                                                   loop.at(tensors.subspan(1))));
          });
        },
        loop.tensors());
    return loop.result(results);
  }
}

/// Options of `scan`.
struct ScanOptions {
  bool reverse = false; ///< from the last slice to the first
};

namespace detail {

/// What the body of `scan` returns; what is wrong with it is said in a sentence.
template <class ScanBody, class C, class Xs>
struct ScanIteration {
  static_assert(is_structure<C>() && is_structure<Xs>(),
                WEFT_STRUCTURE_WANTED("the carry and the slices of scan"));
  static constexpr bool fits = std::is_invocable_v<ScanBody &, const C &, const Xs &>;
  static_assert(fits, "the body of scan is called with the carry and a slice: two parameters, of "
                      "the types of the initial carry and of what is scanned");
  using Result = std::remove_cvref_t<ResultOf<ScanBody &, const C &, const Xs &>>;
  static constexpr bool pair = [] {
    if constexpr (!fits) return true;
    else if constexpr (form_of<Result>() != Form::tuple) return false;
    else return std::tuple_size_v<Result> == 2;
  }();
  static_assert(pair, "the body of scan returns a std::pair of the next carry and what is stacked");
  using Y = FlowingType<
      std::tuple_element_t<1, std::conditional_t<fits && pair, Result, std::pair<Tensor, Tensor>>>>;
};

} // namespace detail

/// Threads a carry along the first axis of the tensors in `xs`, which all have its size:
/// `(carry, y) = body(carry, x)` for each slice x, where body returns a std::pair or tuple of two.
/// Returns the last carry and the y's, stacked along a new first axis in the order of `xs`.
/// The carry keeps its structure, dtypes and ranks as the state of `while_loop` does. Throws
/// ShapeError if the sizes differ, or if y's are of different shapes.
template <class ScanBody, class Carry, class Xs>
auto scan(ScanBody body, const Carry &init, const Xs &xs, ScanOptions options = {},
          std::source_location where = WEFT_HERE) {
  using C = detail::FlowingType<Carry>;
  using Y = typename detail::ScanIteration<ScanBody, C, Xs>::Y;
  detail::Parts<C> carry(detail::flowing(init));
  detail::Parts<Xs> slices(xs);
  std::optional<detail::Parts<Y>> ys;
  const std::size_t carried = carry.tensors().size();
  const std::vector<Tensor> results = detail::scan(
      "scan",
      [&](std::span<const Tensor> tensors) {
        auto [next, y] =
            body(carry.with(tensors.first(carried)), slices.with(tensors.subspan(carried)));
        detail::Parts<C> after(detail::flowing(std::move(next)));
        if (!(after.key() == carry.key())) detail::throw_other_structure("scan", "the body", where);
        detail::Parts<Y> out(detail::flowing(std::move(y)));
        std::vector<Tensor> results_of_iteration = std::move(after.tensors());
        results_of_iteration.insert(results_of_iteration.end(), out.tensors().begin(),
                                    out.tensors().end());
        if (!ys) ys.emplace(std::move(out));
        else if (!(ys->key() == out.key()))
          detail::throw_other_structure("scan", "the body", where);
        return results_of_iteration;
      },
      carry.tensors(), slices.tensors(), options.reverse, where);
  const std::span<const Tensor> last = results;
  return std::pair<C, Y>(carry.with(last.first(carried)), ys->with(last.subspan(carried)));
}

} // namespace weft
