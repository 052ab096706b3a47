// Nested structures: how functions look into their arguments and results for tensors.
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/tensor.h>
#include <weft/variable.h>

/// Lets functions look into a struct: `WEFT_FIELDS(State, weights, step)` inside its definition,
/// naming every member that holds tensors or decides what is computed.
#define WEFT_FIELDS(Type, ...)                                                                     \
  auto weft_fields() { return std::tie(__VA_ARGS__); }                                             \
  auto weft_fields() const { return std::tie(__VA_ARGS__); }

namespace weft {

template <class T>
concept HasFields = requires(T &value) { value.weft_fields(); };

/// Which kind of node a structure has at a place; part of a signature.
enum class Node : std::uint8_t { tensor, variable, literal, sequence, tuple, map, record, empty };

namespace detail {

/// What a type is as part of a structure.
enum class Form : std::uint8_t {
  tensor,
  variable,
  literal,  ///< a number, an enum or a string
  optional, ///< std::optional
  map,
  sequence, ///< std::vector, std::array and their like
  tuple,    ///< std::tuple, std::pair
  record,   ///< a struct with WEFT_FIELDS
  none,     ///< nothing that functions look into
};
template <class T>
constexpr Form form_of() {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_void_v<Plain>) return Form::none;
  // Its elements are bits, and those of long double have no literal.
  else if constexpr (std::is_same_v<Plain, std::vector<bool>> || std::is_same_v<Plain, long double>)
    return Form::none;
  else if constexpr (std::is_same_v<Plain, Tensor>) return Form::tensor;
  else if constexpr (std::is_same_v<Plain, Variable>) return Form::variable;
  else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain> ||
                     std::is_convertible_v<const Plain &, std::string_view>)
    return Form::literal;
  else if constexpr (requires(Plain &value) { value.has_value(), *value; }) return Form::optional;
  else if constexpr (requires { typename Plain::mapped_type; }) return Form::map;
  else if constexpr (requires(Plain &value) { value.begin(), value.size(); }) return Form::sequence;
  else if constexpr (requires { std::tuple_size<Plain>::value; }) return Form::tuple;
  else if constexpr (HasFields<Plain>) return Form::record;
  else return Form::none;
}

/// Whether `holds<Part>()` is true of one (Any) or all of the types that a structure has in it.
template <class T, bool Any, class Holds>
constexpr bool of_parts(const Holds &holds) {
  using Plain = std::remove_cvref_t<T>;
  constexpr Form form = form_of<Plain>();
  if constexpr (form == Form::map) {
    return holds.template operator()<typename Plain::mapped_type>();
  } else if constexpr (form == Form::sequence || form == Form::optional) {
    return holds.template operator()<typename Plain::value_type>();
  } else if constexpr (form == Form::tuple) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (Any)
        return (holds.template operator()<std::tuple_element_t<I, Plain>>() || ...);
      else return (holds.template operator()<std::tuple_element_t<I, Plain>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<Plain>>());
  } else if constexpr (form == Form::record) {
    return of_parts<decltype(std::declval<Plain &>().weft_fields()), Any>(holds);
  } else {
    return false;
  }
}

/// Whether functions can look into a type: tensors, variables, numbers, enums, strings, and
/// containers and structs with WEFT_FIELDS of these. A type may hold itself.
template <class T, int Depth = 16>
constexpr bool is_structure() {
  constexpr Form form = form_of<T>();
  if constexpr (form == Form::none) return false;
  else if constexpr (form <= Form::literal || Depth == 0) return true;
  else return of_parts<T, false>([]<class Part>() { return is_structure<Part, Depth - 1>(); });
}

/// Whether a structure of that type may have variables in it.
template <class T, int Depth = 16>
constexpr bool holds_variables() {
  if constexpr (form_of<T>() == Form::variable) return true;
  else if constexpr (Depth == 0) return false;
  else return of_parts<T, true>([]<class Part>() { return holds_variables<Part, Depth - 1>(); });
}

} // namespace detail

/// What the compiler says of a type that is no structure.
#define WEFT_STRUCTURE_WANTED(what)                                                                \
  what " are tensors, variables, numbers, enums, strings, and containers, tuples or structs with " \
       "a public WEFT_FIELDS(Type, member...) of these, but no long double and no vector<bool>"

/// Visits `value` in depth, in a fixed order. A visitor has
///   tensor(Tensor &), variable(Variable &), literal(const T &) for numbers, enums and strings,
///   and enter(Node, std::size_t count). The keys of a map are literals.
/// Other types are a compile-time error.
template <class T, class Visitor>
void visit_structure(T &value, Visitor &visitor) {
  using detail::Form;
  constexpr Form form = detail::form_of<T>();
  auto each = [&](auto &...members) { (visit_structure(members, visitor), ...); };
  if constexpr (form == Form::tensor) {
    visitor.tensor(value);
  } else if constexpr (form == Form::variable) {
    visitor.variable(value);
  } else if constexpr (form == Form::literal) {
    visitor.literal(value);
  } else if constexpr (form == Form::optional) {
    visitor.enter(value ? Node::sequence : Node::empty, value ? 1 : 0);
    if (value) visit_structure(*value, visitor);
  } else if constexpr (form == Form::map) {
    visitor.enter(Node::map, value.size());
    for (auto &[key, entry] : value) {
      visitor.literal(key);
      visit_structure(entry, visitor);
    }
  } else if constexpr (form == Form::sequence) {
    visitor.enter(Node::sequence, value.size());
    for (auto &entry : value) visit_structure(entry, visitor);
  } else if constexpr (form == Form::tuple) {
    visitor.enter(Node::tuple, std::tuple_size_v<std::remove_const_t<T>>);
    std::apply(each, value);
  } else if constexpr (form == Form::record) {
    auto fields = value.weft_fields();
    visitor.enter(Node::record, std::tuple_size_v<decltype(fields)>);
    std::apply(each, fields);
  } else {
    static_assert(!sizeof(T), WEFT_STRUCTURE_WANTED("a function's arguments and results"));
  }
}

} // namespace weft
