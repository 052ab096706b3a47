// What parameters a callable has, for who must make its arguments.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/detail/callable.h>
#include <weft/structure.h>

namespace weft::detail {

/// Whether a type is a tensor, or a pair, tuple, std::array or struct with WEFT_FIELDS of such, so
/// that it says by itself how many tensors there are.
template <class T>
constexpr bool has_fixed_tensors() {
  using Plain = std::remove_cvref_t<T>;
  constexpr Form form = form_of<Plain>();
  constexpr bool array = form == Form::sequence && requires { std::tuple_size<Plain>::value; };
  if constexpr (form == Form::tensor) {
    return true;
  } else if constexpr (form == Form::tuple || array) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_fixed_tensors<std::tuple_element_t<I, Plain>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<Plain>>());
  } else if constexpr (form == Form::record && std::is_default_constructible_v<Plain>) {
    return has_fixed_tensors<decltype(std::declval<Plain &>().weft_fields())>();
  } else {
    return false;
  }
}

/// The parameters of a function, without const and references.
template <class Call>
struct ParametersOfCall;
template <class R, class... Args>
struct ParametersOfCall<R (*)(Args...)> : std::type_identity<std::tuple<std::decay_t<Args>...>> {};
template <class R, class... Args>
struct ParametersOfCall<R (*)(Args...) noexcept> : ParametersOfCall<R (*)(Args...)> {};
template <class R, class C, class... Args>
struct ParametersOfCall<R (C::*)(Args...)> : ParametersOfCall<R (*)(Args...)> {};
template <class R, class C, class... Args>
struct ParametersOfCall<R (C::*)(Args...) const> : ParametersOfCall<R (*)(Args...)> {};
template <class R, class C, class... Args>
struct ParametersOfCall<R (C::*)(Args...) noexcept> : ParametersOfCall<R (*)(Args...)> {};
template <class R, class C, class... Args>
struct ParametersOfCall<R (C::*)(Args...) const noexcept> : ParametersOfCall<R (*)(Args...)> {};

/// The first `Count` types of a tuple.
template <class Tuple, std::size_t... I>
std::tuple<std::tuple_element_t<I, Tuple>...> first_of(std::index_sequence<I...>);
template <class Tuple, std::size_t Count>
using First = decltype(first_of<Tuple>(std::make_index_sequence<Count>()));

/// The longest beginning of a callable's parameters that it can be called with and whose tensors
/// are fixed in number: what is left has defaults, as a source_location has. void if there is none.
template <class F, class Parameters, std::size_t Count>
constexpr auto tensor_parameters() {
  using Beginning = First<Parameters, Count>;
  constexpr bool fixed = has_fixed_tensors<Beginning>() || Count == 0;
  if constexpr (fixed && Applies<F &, const Beginning &>::value)
    return std::type_identity<Beginning>();
  else if constexpr (Count == 0) return std::type_identity<void>();
  else return tensor_parameters<F, Parameters, Count - 1>();
}

/// For a callable whose parameters have no types of their own, or take tensors among other things,
/// as layers do: as many tensors as it takes.
template <class F, class... Tensors>
constexpr auto as_many_tensors() {
  if constexpr (std::is_invocable_v<F &, const Tensors &...>)
    return std::type_identity<std::tuple<Tensors...>>();
  else if constexpr (sizeof...(Tensors) == 8) return std::type_identity<void>();
  else return as_many_tensors<F, Tensors..., Tensor>();
}

template <class F, class Call>
constexpr auto find_tensor_parameters_of() {
  using All = typename ParametersOfCall<Call>::type;
  constexpr auto found = tensor_parameters<F, All, std::tuple_size_v<All>>();
  if constexpr (std::is_same_v<const std::type_identity<void>, decltype(found)>)
    return as_many_tensors<F, Tensor>();
  else return found;
}
template <class F>
constexpr auto find_tensor_parameters() {
  if constexpr (std::is_pointer_v<F>) return find_tensor_parameters_of<F, F>();
  else if constexpr (requires { &F::operator(); })
    return find_tensor_parameters_of<F, decltype(&F::operator())>();
  else return as_many_tensors<F, Tensor>();
}

/// The tuple of parameters that a callable is traced with where nobody calls it; void if they hold
/// more than a fixed number of tensors.
template <class F>
using TensorParameters = typename decltype(find_tensor_parameters<F>())::type;

} // namespace weft::detail
