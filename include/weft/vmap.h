// What is written for one, done on many at once: `vmap`.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/autodiff.h>
#include <weft/detail/batching.h>
#include <weft/detail/callable.h>
#include <weft/structure.h>

namespace weft {

/// How arguments of `vmap` are taken apart, and results put together.
struct VmapOptions {
  /// The axis of each argument that is mapped over; nullopt for one that is the same for all. With
  /// none at all it is axis 0 of every argument.
  std::vector<std::optional<std::int64_t>> in_axes = {};
  /// Where results have the new axis.
  std::int64_t out_axes = 0;
};

namespace detail {

/// What `vmap` gives.
template <class F>
class Vmapped {
public:
  Vmapped(F f, VmapOptions options) : f_(std::move(f)), options_(std::move(options)) {}
  WEFT_CALL_OPERATORS(call)

private:
  /// Changes each tensor of a structure by a function. Variables stay as they are.
  template <class Change>
  struct Changer {
    void tensor(Tensor &value) { value = change(value); }
    void variable(const Variable &) { refuse_variable(); }
    template <class T>
    void literal(const T &) {}
    void enter(Node, std::size_t) {}

    Change change;
  };

  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    constexpr bool structures = (is_structure<Args>() && ...);
    static_assert(structures, WEFT_STRUCTURE_WANTED("the arguments of a function of vmap"));
    if constexpr (structures) {
      constexpr bool fits = std::is_invocable_v<const F &, const decltype(argument(args)) &...>;
      static_assert(fits, "the call does not fit the function of vmap: compare the number of the "
                          "arguments and their types with its parameters, where numbers arrive as "
                          "tensors, and everything by value or as const references");
      if constexpr (fits) {
        const CallLine line(where);
        check_axes(options_.in_axes.size(), sizeof...(Args));
        auto arguments = std::tuple(argument(args)...);
        std::vector<Tensor> mapped;
        each_mapped(arguments, [&](std::int64_t axis) {
          return [&mapped, axis](const Tensor &value) {
            return mapped.emplace_back(to_front(value, axis));
          };
        });
        const Batch batch("vmap", mapped);
        each_mapped(arguments, [&](std::int64_t) {
          return [&batch](const Tensor &value) { return batch.one(value); };
        });
        auto value = apply_at(where, f_, std::as_const(arguments));
        constexpr bool structured = is_structure<decltype(value)>();
        static_assert(structured, WEFT_STRUCTURE_WANTED("what a function of vmap returns"));
        if constexpr (structured) {
          Changer all{
              [&](const Tensor &part) { return from_front(batch.all(part), options_.out_axes); }};
          visit_structure(value, all);
          return value;
        }
      }
    }
  }

  /// Changes the tensors of the arguments that are mapped over by what `change_of(axis)` gives.
  template <class Arguments, class ChangeOf>
  void each_mapped(Arguments &arguments, const ChangeOf &change_of) const {
    std::size_t i = 0;
    const auto one = [&](auto &value) {
      const std::optional<std::int64_t> axis =
          options_.in_axes.empty() ? std::optional<std::int64_t>(0) : options_.in_axes[i];
      ++i;
      if (!axis) return;
      Changer changer{change_of(*axis)};
      visit_structure(value, changer);
    };
    std::apply([&](auto &...values) { (one(values), ...); }, arguments);
  }

  F f_;
  VmapOptions options_;
};

} // namespace detail

/// `f`, which is written for one, on many at once: for each slice of the arguments along their
/// axes, with the results along a new axis. `vmap(dot)(rows, columns)`. An argument is a tensor or
/// a structure of tensors, and so is the result.
///
/// Ops are done on all slices by one call where their records say how; others once for each. What
/// `f` reaches otherwise is the same for all. Slices may decide control flow differently: each does
/// what it would do alone, but for prints, assigns and other effects that some would have and
/// others not, which are a StateError. Composes with itself, `grad`, `function`, `jvp` and tapes.
///
/// Throws ValueError if sizes along the axes differ, if there are none, or if a variable is mapped
/// over; IndexError if an argument has no such axis; ShapeError where slices choose branches of
/// different shapes.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return detail::Vmapped<F>(std::move(f), std::move(options));
}

} // namespace weft
