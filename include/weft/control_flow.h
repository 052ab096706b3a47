// Control flow: runs at once on values, and is recorded whole inside a traced function.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/body.h>
#include <weft/detail/parts.h>
#include <weft/ops.h>
#include <weft/structure.h>

namespace weft {

/// The turns of a `for_loop`: `n` for 0, 1, ..., n - 1, or `{start, stop, step}`. Bounds are
/// integer scalars of C++ or tensors; the loop's number has their dtype (i32 for C++ integers that
/// fit). Throws DTypeError or ShapeError for other bounds, ValueError for a step that is 0.
class Turns {
public:
  template <class Stop>
    requires std::constructible_from<Operand, const Stop &>
  Turns(const Stop &stop, std::source_location where = WEFT_HERE)
      : Turns(make({0, where}, {stop, where}, 1)) {}
  Turns(const Operand &start, const Operand &stop) : Turns(make(start, stop, 1)) {}
  Turns(const Operand &start, const Operand &stop, std::int64_t step)
      : Turns(make(start, stop, step)) {}

  /// A count from `low` in steps of `stride` > 0 to before `high`, both i64 scalars.
  const Tensor &low() const { return low_; }
  const Tensor &high() const { return high_; }
  std::int64_t stride() const { return step_ < 0 ? -step_ : step_; }
  /// The user's line, if it is known.
  const std::source_location &where() const { return where_; }
  /// The loop's number where the count stands at `at`, an i64 scalar.
  Tensor number(const Tensor &at) const;

private:
  Turns() = default;
  static Turns make(const Operand &start, const Operand &stop, std::int64_t step);

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
                         std::vector<Tensor> state);
std::vector<Tensor> count(std::string_view name, const Turns &turns, const Body &body,
                          std::vector<Tensor> state);
/// `carries` first, then one slice of each of `xs`; gives carries and then what is stacked.
std::vector<Tensor> scan(std::string_view name, const Body &turn, std::vector<Tensor> carries,
                         std::span<const Tensor> xs, bool reverse,
                         const std::source_location &where);

[[noreturn]] void throw_other_structure(std::string_view name, std::string_view what);

/// Runs `choose` on branches that all return R, as bodies on tensors.
template <class R, class Choose, class... Branches>
R choice(std::string_view name, const Choose &choose, Branches &...branches) {
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
      else if (!(first->key() == parts.key())) throw_other_structure(name, "a branch");
      return tensors;
    };
    const std::vector<Tensor> results =
        choose({Body([&](std::span<const Tensor>) { return run(branches); })...});
    return first->with(results);
  }
}

/// The result type of branches, which must agree.
template <class First, class... Rest>
struct CommonResult {
  using type = std::invoke_result_t<First &>;
  static_assert((std::is_same_v<FlowingType<type>, FlowingType<std::invoke_result_t<Rest &>>> &&
                 ...),
                "branches return values of one type");
};

/// Loop state: what a loop is given, the bodies on it, and what it returns.
template <class... State>
class LoopState {
public:
  using Values = std::tuple<FlowingType<State>...>;

  LoopState(std::string_view name, const State &...state)
      : name_(name), parts_(Values(flowing(state)...)) {}

  std::vector<Tensor> tensors() { return parts_.tensors(); }
  /// The state of a turn.
  Values at(std::span<const Tensor> tensors) const { return parts_.with(tensors); }
  /// The tensors of what `turn` returns, which must be a state.
  template <class Turn>
  std::vector<Tensor> after(const Turn &turn) const {
    if constexpr (sizeof...(State) == 0) {
      turn();
      return {};
    } else {
      return tensors_of(values_of(turn()));
    }
  }
  auto result(std::span<const Tensor> tensors) const {
    if constexpr (sizeof...(State) == 1) return std::get<0>(parts_.with(tensors));
    else if constexpr (sizeof...(State) > 1) return parts_.with(tensors);
  }

private:
  template <class R>
  static Values values_of(R &&result) {
    if constexpr (sizeof...(State) == 1 && !std::is_constructible_v<Values, R>)
      return Values(flowing(std::forward<R>(result)));
    else return Values(std::forward<R>(result));
  }
  std::vector<Tensor> tensors_of(Values values) const {
    Parts<Values> next(std::move(values));
    if (!(next.key() == parts_.key())) throw_other_structure(name_, "the body");
    return std::move(next.tensors());
  }

  std::string_view name_;
  Parts<Values> parts_;
};

} // namespace detail

/// `then()` if the predicate holds, `otherwise()` if not: functions without arguments that return
/// values of one type, nested structures of tensors, or nothing. A predicate known while tracing
/// chooses at once. Throws DTypeError or ShapeError if the predicate is no bool scalar, or if the
/// results differ in dtype or rank; sizes may differ.
template <class Then, class Otherwise>
auto cond(const Operand &predicate, Then then, Otherwise otherwise) {
  using R = detail::ResultType<typename detail::CommonResult<Then, Otherwise>::type>;
  return detail::choice<R>(
      "cond",
      [&](std::initializer_list<detail::Body> bodies) {
        return detail::branch("cond", predicate, bodies.begin()[0], bodies.begin()[1]);
      },
      then, otherwise);
}

/// Runs `then()`, for what it does to variables and prints, if the predicate holds.
template <class Then>
void if_(const Operand &predicate, Then then) {
  detail::branch(
      "if_", predicate,
      [&](std::span<const Tensor>) { return static_cast<void>(then()), std::vector<Tensor>(); },
      [](std::span<const Tensor>) { return std::vector<Tensor>(); });
}
template <class Then, class Otherwise>
void if_(const Operand &predicate, Then then, Otherwise otherwise) {
  detail::branch(
      "if_", predicate,
      [&](std::span<const Tensor>) { return static_cast<void>(then()), std::vector<Tensor>(); },
      [&](std::span<const Tensor>) {
        return static_cast<void>(otherwise()), std::vector<Tensor>();
      });
}

/// The case of that number, of functions as in `cond`. An index below 0 or past the end takes the
/// last case, as in tf.switch_case.
template <class... Cases>
auto switch_case(const Operand &index, Cases... cases) {
  static_assert(sizeof...(Cases) > 0, "switch_case needs a case");
  using R = detail::ResultType<typename detail::CommonResult<Cases...>::type>;
  return detail::choice<R>(
      "switch_case",
      [&](std::initializer_list<detail::Body> bodies) {
        return detail::choose("switch_case", index, {bodies.begin(), bodies.size()});
      },
      cases...);
}

/// `state = body(state)` as long as `condition(state)` holds. Both take the state's parts as
/// arguments; the body returns the next state: one value, or a tuple of as many as there are. The
/// loop returns the last state the same way. In a trace a part whose sizes change is of unknown
/// size; throws DTypeError or ShapeError if its dtype or rank does, and ValueError if the body
/// returns another structure.
template <class Condition, class LoopBody, class... State>
auto while_loop(Condition condition, LoopBody body, const State &...state) {
  detail::LoopState<State...> loop("while_loop", state...);
  const std::vector<Tensor> results = detail::loop(
      "while_loop",
      [&](std::span<const Tensor> tensors) {
        return std::vector{detail::flowing(std::apply(condition, loop.at(tensors)))};
      },
      [&](std::span<const Tensor> tensors) {
        return loop.after([&] { return std::apply(body, loop.at(tensors)); });
      },
      loop.tensors());
  return loop.result(results);
}

/// `state = body(i, state)` for the numbers of `turns`: `for_loop(10, body, x)`,
/// `for_loop({2, 20, 3}, body, x)`. State and errors are as in `while_loop`.
template <class LoopBody, class... State>
auto for_loop(const Turns &turns, LoopBody body, const State &...state) {
  detail::LoopState<State...> loop("for_loop", state...);
  const std::vector<Tensor> results = detail::count(
      "for_loop", turns,
      [&](std::span<const Tensor> tensors) {
        return loop.after([&] {
          return std::apply(body, std::tuple_cat(std::tuple(turns.number(tensors[0])),
                                                 loop.at(tensors.subspan(1))));
        });
      },
      loop.tensors());
  return loop.result(results);
}

/// Options of `scan`.
struct ScanOptions {
  bool reverse = false; ///< from the last slice to the first
};

/// Threads a carry along the first axis of the tensors in `xs`, which all have its size:
/// `(carry, y) = body(carry, x)` for each slice x, where body returns a std::pair or tuple of two.
/// Returns the last carry and the y's, stacked along a new first axis in the order of `xs`.
/// The carry keeps its structure, dtypes and ranks as the state of `while_loop` does. Throws
/// ShapeError if the sizes differ, or if y's are of different shapes.
template <class ScanBody, class Carry, class Xs>
auto scan(ScanBody body, const Carry &init, const Xs &xs, ScanOptions options = {},
          std::source_location where = WEFT_HERE) {
  using C = detail::FlowingType<Carry>;
  using Result = decltype(body(std::declval<const C &>(), std::declval<const Xs &>()));
  using Y = detail::FlowingType<std::tuple_element_t<1, Result>>;
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
        if (!(after.key() == carry.key())) detail::throw_other_structure("scan", "the body");
        detail::Parts<Y> out(detail::flowing(std::move(y)));
        std::vector<Tensor> all = std::move(after.tensors());
        all.insert(all.end(), out.tensors().begin(), out.tensors().end());
        if (!ys) ys.emplace(std::move(out));
        else if (!(ys->key() == out.key())) detail::throw_other_structure("scan", "the body");
        return all;
      },
      carry.tensors(), slices.tensors(), options.reverse, where);
  const std::span<const Tensor> all = results;
  return std::pair<C, Y>(carry.with(all.first(carried)), ys->with(all.subspan(carried)));
}

} // namespace weft
