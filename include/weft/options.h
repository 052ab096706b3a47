// The options of a struct by their names: what arguments, docstrings and pickles of Python read.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

namespace weft::detail {

/// A member of an options struct, and its name.
template <class Options, class T>
struct OptionMember {
  const char *name;
  T Options::*member;
};
template <class Options, class T>
constexpr OptionMember<Options, T> option_member(const char *name, T Options::*member) {
  return {name, member};
}

/// What any member may be initialized with, by copy alone.
struct AnyMember {
  template <class T>
  operator T() const;
};
template <class T, std::size_t... I>
constexpr bool takes_members(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyMember())...}; };
}
/// How many members an aggregate has.
template <class T, std::size_t Most = 32>
constexpr std::size_t member_count() {
  if constexpr (Most == 0 || takes_members<T>(std::make_index_sequence<Most>())) return Most;
  else return member_count<T, Most - 1>();
}

} // namespace weft::detail

// Each round of the preprocessor names one member more: 27 at most.
#define WEFT_OPTIONS_AGAIN_() WEFT_OPTIONS_NEXT_
#define WEFT_OPTIONS_NEXT_(Type, member, ...)                                                      \
  ::weft::detail::option_member(#member, &Type::member)                                            \
      __VA_OPT__(, WEFT_OPTIONS_AGAIN_ WEFT_OPTIONS_PARENS_(Type, __VA_ARGS__))
#define WEFT_OPTIONS_PARENS_ ()
#define WEFT_OPTIONS_3_(...) WEFT_OPTIONS_2_(WEFT_OPTIONS_2_(WEFT_OPTIONS_2_(__VA_ARGS__)))
#define WEFT_OPTIONS_2_(...) WEFT_OPTIONS_1_(WEFT_OPTIONS_1_(WEFT_OPTIONS_1_(__VA_ARGS__)))
#define WEFT_OPTIONS_1_(...) __VA_ARGS__

/// Says the options of a struct by their names, behind its definition and in its namespace:
/// `WEFT_OPTIONS(GroupNormOptions, epsilon, center, scale, dtype, name)`. All members are named,
/// which the compiler checks, in the order in which other languages take them.
#define WEFT_OPTIONS(Type, ...)                                                                    \
  constexpr auto weft_options(const Type *) {                                                      \
    constexpr auto all = std::tuple(WEFT_OPTIONS_3_(WEFT_OPTIONS_NEXT_(Type, __VA_ARGS__)));       \
    static_assert(std::tuple_size_v<decltype(all)> == ::weft::detail::member_count<Type>(),        \
                  "WEFT_OPTIONS names every member of " #Type);                                    \
    return all;                                                                                    \
  }
