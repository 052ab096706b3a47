// What is asked of a user's callable before it is called, so that a mistake ends in one sentence of
// ours, and calls of any number of arguments that know the user's line.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/source.h>

namespace weft::detail {

/// What F gives for arguments of these types; void if it does not take them, which a static_assert
/// has said then.
template <class F, class... Args>
using ResultOf =
    typename std::conditional_t<std::is_invocable_v<F, Args...>, std::invoke_result<F, Args...>,
                                std::type_identity<void>>::type;

/// Whether F takes what a tuple of type Arguments has in it, as std::apply would hand it over.
template <class F, class Arguments>
struct Applies;
template <class F, class... Args>
struct Applies<F, const std::tuple<Args...> &> : std::is_invocable<F, const Args &...> {};

/// Names a line of the user's as that of what this thread does, as long as it lives.
class CallLine {
public:
  explicit CallLine(const std::source_location &where);
  ~CallLine();
  CallLine(const CallLine &) = delete;
  CallLine &operator=(const CallLine &) = delete;

private:
  std::source_location saved_, around_;
};

/// Held while the user's code runs inside such a call: what it calls has lines of its own.
class UserLines {
public:
  UserLines();
  ~UserLines();
  UserLines(const UserLines &) = delete;
  UserLines &operator=(const UserLines &) = delete;

private:
  std::source_location saved_;
  const char *function_;
};

/// std::apply of a callable of the user's, inside a call of theirs on that line.
template <class F, class Arguments>
decltype(auto) apply_at(const std::source_location &where, F &f, Arguments &&arguments) {
  const CallLine line(where);
  const UserLines lines_of_its_own;
  return std::apply(f, std::forward<Arguments>(arguments));
}

} // namespace weft::detail

/// Defines `operator()` of a class, which hands its arguments to `call(where, arguments...)`. A
/// line can stand behind a list of arguments only where their number is fixed: calls of up to eight
/// know it.
#define WEFT_CALL_OPERATORS(call)                                                                  \
  template <class... None>                                                                         \
  auto operator()(std::source_location where = WEFT_HERE) const {                                  \
    return call(where, None()...);                                                                 \
  }                                                                                                \
  template <class T1>                                                                              \
  auto operator()(const T1 &a1, std::source_location where = WEFT_HERE) const {                    \
    return call(where, a1);                                                                        \
  }                                                                                                \
  template <class T1, class T2>                                                                    \
  auto operator()(const T1 &a1, const T2 &a2, std::source_location where = WEFT_HERE) const {      \
    return call(where, a1, a2);                                                                    \
  }                                                                                                \
  template <class T1, class T2, class T3>                                                          \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3,                                        \
                  std::source_location where = WEFT_HERE) const {                                  \
    return call(where, a1, a2, a3);                                                                \
  }                                                                                                \
  template <class T1, class T2, class T3, class T4>                                                \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3, const T4 &a4,                          \
                  std::source_location where = WEFT_HERE) const {                                  \
    return call(where, a1, a2, a3, a4);                                                            \
  }                                                                                                \
  template <class T1, class T2, class T3, class T4, class T5>                                      \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3, const T4 &a4, const T5 &a5,            \
                  std::source_location where = WEFT_HERE) const {                                  \
    return call(where, a1, a2, a3, a4, a5);                                                        \
  }                                                                                                \
  template <class T1, class T2, class T3, class T4, class T5, class T6>                            \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3, const T4 &a4, const T5 &a5,            \
                  const T6 &a6, std::source_location where = WEFT_HERE) const {                    \
    return call(where, a1, a2, a3, a4, a5, a6);                                                    \
  }                                                                                                \
  template <class T1, class T2, class T3, class T4, class T5, class T6, class T7>                  \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3, const T4 &a4, const T5 &a5,            \
                  const T6 &a6, const T7 &a7, std::source_location where = WEFT_HERE) const {      \
    return call(where, a1, a2, a3, a4, a5, a6, a7);                                                \
  }                                                                                                \
  template <class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8>        \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3, const T4 &a4, const T5 &a5,            \
                  const T6 &a6, const T7 &a7, const T8 &a8,                                        \
                  std::source_location where = WEFT_HERE) const {                                  \
    return call(where, a1, a2, a3, a4, a5, a6, a7, a8);                                            \
  }                                                                                                \
  template <class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8,        \
            class T9, class... More>                                                               \
  auto operator()(const T1 &a1, const T2 &a2, const T3 &a3, const T4 &a4, const T5 &a5,            \
                  const T6 &a6, const T7 &a7, const T8 &a8, const T9 &a9, const More &...more)     \
      const {                                                                                      \
    return call(std::source_location(), a1, a2, a3, a4, a5, a6, a7, a8, a9, more...);              \
  }
