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

/// Visits `value` in depth, in a fixed order. A visitor has
///   tensor(Tensor &), variable(Variable &), literal(const T &) for numbers, enums and strings,
///   enter(Node, std::size_t count), and key(const K &) before each entry of a map.
/// Other types are a compile-time error.
template <class T, class Visitor>
void visit_structure(T &value, Visitor &visitor) {
  using Plain = std::remove_const_t<T>;
  auto each = [&](auto &...members) { (visit_structure(members, visitor), ...); };
  if constexpr (std::is_same_v<Plain, Tensor>) {
    visitor.tensor(value);
  } else if constexpr (std::is_same_v<Plain, Variable>) {
    visitor.variable(value);
  } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain> ||
                       std::is_convertible_v<const Plain &, std::string_view>) {
    visitor.literal(value);
  } else if constexpr (requires { value.has_value(), *value; }) {
    visitor.enter(value ? Node::sequence : Node::empty, value ? 1 : 0);
    if (value) visit_structure(*value, visitor);
  } else if constexpr (requires { typename Plain::mapped_type; }) {
    visitor.enter(Node::map, value.size());
    for (auto &[key, entry] : value) {
      visitor.literal(key);
      visit_structure(entry, visitor);
    }
  } else if constexpr (requires { value.begin(), value.size(); }) {
    visitor.enter(Node::sequence, value.size());
    for (auto &entry : value) visit_structure(entry, visitor);
  } else if constexpr (requires { std::tuple_size<Plain>::value; }) {
    visitor.enter(Node::tuple, std::tuple_size_v<Plain>);
    std::apply(each, value);
  } else if constexpr (HasFields<T>) {
    auto fields = value.weft_fields();
    visitor.enter(Node::record, std::tuple_size_v<decltype(fields)>);
    std::apply(each, fields);
  } else {
    static_assert(!sizeof(T), "a function's arguments and results are tensors, variables, numbers, "
                              "strings, and containers or structs with WEFT_FIELDS of these");
  }
}

} // namespace weft
