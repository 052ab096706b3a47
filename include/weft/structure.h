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

/// Lets Weft look into a struct: `WEFT_FIELDS(State, weights, step)` inside its definition, naming
/// every member that holds tensors, variables or layers, or decides what is computed. The names are
/// those that paths have ("weights"), without an underscore at their end. A struct that inherits
/// fields needs the line again, with all of them.
#define WEFT_FIELDS(Type, ...)                                                                     \
  using weft_fields_of [[maybe_unused]] = Type;                                                    \
  static constexpr std::string_view weft_field_names() { return #__VA_ARGS__; }                    \
  auto weft_fields() { return std::tie(__VA_ARGS__); }                                             \
  auto weft_fields() const { return std::tie(__VA_ARGS__); }

namespace weft {

class StructureVisitor;
namespace nn {
class LayerName;
}

template <class T>
concept HasFields = requires(T &value) { value.weft_fields(); };

/// A type that is a structure behind virtual functions, as `nn::Sequential` is.
template <class T>
concept VisitsItself = requires(T &value, const T &constant, StructureVisitor &visitor) {
  value.weft_visit(visitor);
  constant.weft_visit(visitor);
};

/// Which kind of node a structure has at a position; part of a signature.
enum class Node : std::int32_t { tensor, variable, literal, sequence, tuple, map, record, empty };

namespace detail {

/// What a type is as part of a structure.
enum class Form : std::int32_t {
  tensor,
  variable,
  literal,  ///< a number, an enum or a string
  optional, ///< std::optional
  map,
  sequence, ///< std::vector, std::array and their like
  tuple,    ///< std::tuple, std::pair
  record,   ///< a struct with WEFT_FIELDS
  virtual_, ///< VisitsItself
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
  else if constexpr (VisitsItself<Plain>) return Form::virtual_;
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
  else if constexpr (form <= Form::literal || form == Form::virtual_ || Depth == 0) return true;
  else return of_parts<T, false>([]<class Part>() { return is_structure<Part, Depth - 1>(); });
}

/// Whether a structure of that type may have variables in it.
template <class T, int Depth = 16>
constexpr bool holds_variables() {
  if constexpr (form_of<T>() == Form::variable || form_of<T>() == Form::virtual_) return true;
  else if constexpr (Depth == 0) return false;
  else return of_parts<T, true>([]<class Part>() { return holds_variables<Part, Depth - 1>(); });
}

/// Whether a structure of that type is a model: a struct with variables or layers, something like
/// `nn::Sequential`, or a container of models.
template <class T, int Depth = 16>
constexpr bool is_model() {
  constexpr Form form = form_of<T>();
  if constexpr (form == Form::virtual_) return true;
  else if constexpr (form == Form::record) return holds_variables<T>();
  else if constexpr (Depth == 0 || form == Form::tuple) return false;
  else return of_parts<T, true>([]<class Part>() { return is_model<Part, Depth - 1>(); });
}

/// The names of a struct's fields, as paths have them.
template <class T, std::size_t N>
constexpr std::array<std::string_view, N> field_names() {
  std::array<std::string_view, N> names;
  std::string_view rest = T::weft_field_names();
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t comma = rest.find(',');
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ') || name.ends_with('_')) name.remove_suffix(1);
    names[i] = name;
  }
  return names;
}
template <class T, std::size_t N>
constexpr bool has_plain_field_names() {
  std::size_t count = 1;
  for (const char c : T::weft_field_names()) {
    count += c == ',';
    const bool plain = c == ',' || c == ' ' || c == '_' || (c >= '0' && c <= '9') ||
                       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain) return false;
  }
  return count == N;
}

/// Whether all names are there and no two are the same.
template <std::size_t N>
constexpr bool are_distinct(const std::array<std::string_view, N> &names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i].empty()) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return false;
  }
  return true;
}
/// Throws ValueError for a key that cannot be part of a path: one that is empty or has a dot.
void check_key(std::string_view key);

/// Tells a visitor that wants paths where it is: `push(name)` before a part and `pop()` behind it.
template <class Visitor, class Name, class Part>
void visit_part(Visitor &visitor, const Name &name, Part &part);

} // namespace detail

/// State that is no tensor, as the position in a data set: checkpoints keep it as a text.
class Stateful {
public:
  virtual ~Stateful() = default;
  /// The state now, in UTF-8.
  virtual std::string saved_state() const = 0;
  /// Throws ValueError, which says what differs, unless `text` is a state that this can have.
  virtual void check_state(std::string_view text) const = 0;
  /// Takes a state that `check_state` lets pass.
  virtual void restore_state(std::string_view text) = 0;
};

/// What visits a structure behind virtual functions. Who visits one that is const must not change
/// what it is handed.
class StructureVisitor {
public:
  virtual ~StructureVisitor() = default;
  virtual void tensor(Tensor &value) = 0;
  virtual void variable(Variable &value) = 0;
  virtual void literal(bool value) = 0;
  virtual void literal(std::int64_t value) = 0;
  virtual void literal(std::uint64_t value) = 0;
  virtual void literal(double value) = 0;
  virtual void literal(std::string_view value) = 0;
  virtual void enter(Node node, std::size_t count) = 0;
  /// The name of the layer whose fields are being visited.
  virtual void layer(nn::LayerName &name) = 0;
  virtual void stateful(Stateful &value) = 0;
  virtual void push(std::string_view name) = 0;
  virtual void pop() = 0;
};

/// What the compiler says of a type that is no structure.
#define WEFT_STRUCTURE_WANTED(what)                                                                \
  what " are tensors, variables, numbers, enums, strings, and containers, tuples or structs with " \
       "a public WEFT_FIELDS(Type, member...) of these, but no long double and no vector<bool>"

/// Visits `value` in depth, in a fixed order. A visitor has
///   tensor(Tensor &), variable(Variable &), literal(const T &) for numbers, enums and strings,
///   and enter(Node, std::size_t count). The keys of a map are literals.
/// One that has layer(nn::LayerName &) is handed the names of layers, one that has
/// stateful(Stateful &) the state that is no tensor; one that has push(std::string_view) and pop()
/// hears the name of each part around it: that of a field, the key
/// in a map, the number in a sequence. Other types are a compile-time error.
template <class T, class Visitor>
void visit_structure(T &value, Visitor &visitor);

namespace detail {
template <class Visitor>
class VisitorAdapter;
} // namespace detail

template <class T, class Visitor>
void visit_structure(T &value, Visitor &visitor) {
  using detail::Form;
  constexpr Form form = detail::form_of<T>();
  auto each = [&](auto &...members) {
    std::size_t i = 0;
    (detail::visit_part(visitor, i++, members), ...);
  };
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
      if constexpr (detail::holds_variables<decltype(entry)>() &&
                    std::is_convertible_v<decltype(key), std::string_view>)
        detail::check_key(key);
      detail::visit_part(visitor, key, entry);
    }
  } else if constexpr (form == Form::sequence) {
    visitor.enter(Node::sequence, value.size());
    std::size_t i = 0;
    for (auto &entry : value) detail::visit_part(visitor, i++, entry);
  } else if constexpr (form == Form::tuple) {
    visitor.enter(Node::tuple, std::tuple_size_v<std::remove_const_t<T>>);
    std::apply(each, value);
  } else if constexpr (form == Form::record) {
    using Plain = std::remove_const_t<T>;
    auto fields = value.weft_fields();
    constexpr std::size_t count = std::tuple_size_v<decltype(fields)>;
    static_assert(std::is_same_v<typename Plain::weft_fields_of, Plain>,
                  "a struct that inherits from one with WEFT_FIELDS needs its own, with the "
                  "inherited members");
    static_assert(detail::has_plain_field_names<Plain, count>(),
                  "WEFT_FIELDS takes the type and then plain names of members");
    static constexpr auto names = detail::field_names<Plain, count>();
    static_assert(detail::are_distinct(names),
                  "two members of WEFT_FIELDS have one name in paths, where names are without an "
                  "underscore at their end: call one of them something else");
    visitor.enter(Node::record, count);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (detail::visit_part(visitor, names[I], std::get<I>(fields)), ...);
    }(std::make_index_sequence<count>());
  } else if constexpr (form == Form::virtual_) {
    detail::VisitorAdapter<Visitor> adapter(visitor);
    value.weft_visit(adapter);
  } else {
    static_assert(!sizeof(T), WEFT_STRUCTURE_WANTED("a function's arguments and results"));
  }
}

namespace detail {

template <class Visitor, class Name, class Part>
void visit_part(Visitor &visitor, const Name &name, Part &part) {
  if constexpr (requires { visitor.push(std::string_view()), visitor.pop(); }) {
    if constexpr (std::is_convertible_v<const Name &, std::string_view>) visitor.push(name);
    else visitor.push(std::to_string(static_cast<std::int64_t>(name)));
    visit_structure(part, visitor);
    visitor.pop();
  } else {
    visit_structure(part, visitor);
  }
}

/// Any visitor as a StructureVisitor.
template <class Visitor>
class VisitorAdapter final : public StructureVisitor {
public:
  explicit VisitorAdapter(Visitor &visitor) : visitor_(visitor) {}
  void tensor(Tensor &value) override { visitor_.tensor(value); }
  void variable(Variable &value) override { visitor_.variable(value); }
  void literal(bool value) override { visitor_.literal(value); }
  void literal(std::int64_t value) override { visitor_.literal(value); }
  void literal(std::uint64_t value) override { visitor_.literal(value); }
  void literal(double value) override { visitor_.literal(value); }
  void literal(std::string_view value) override { visitor_.literal(value); }
  void enter(Node node, std::size_t count) override { visitor_.enter(node, count); }
  void layer(nn::LayerName &name) override {
    if constexpr (requires { visitor_.layer(name); }) visitor_.layer(name);
  }
  void stateful(Stateful &value) override {
    if constexpr (requires { visitor_.stateful(value); }) visitor_.stateful(value);
  }
  void push(std::string_view name) override {
    if constexpr (requires { visitor_.push(name); }) visitor_.push(name);
  }
  void pop() override {
    if constexpr (requires { visitor_.pop(); }) visitor_.pop();
  }

private:
  Visitor &visitor_;
};

/// A StructureVisitor as the visitor of a part whose type is known: what `weft_visit` hands to
/// `visit_structure`.
class VirtualVisitor {
public:
  explicit VirtualVisitor(StructureVisitor &visitor) : visitor_(visitor) {}
  // Constant ones come from visits that change nothing.
  void tensor(const Tensor &value) { visitor_.tensor(const_cast<Tensor &>(value)); }
  void variable(const Variable &value) { visitor_.variable(const_cast<Variable &>(value)); }
  template <class T>
  void literal(const T &value) {
    if constexpr (std::is_same_v<T, bool>) visitor_.literal(value);
    else if constexpr (std::is_enum_v<T>) visitor_.literal(static_cast<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<T>) visitor_.literal(static_cast<double>(value));
    else if constexpr (std::is_unsigned_v<T>) visitor_.literal(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_integral_v<T>) visitor_.literal(static_cast<std::int64_t>(value));
    else visitor_.literal(std::string_view(value));
  }
  void enter(Node node, std::size_t count) { visitor_.enter(node, count); }
  void layer(nn::LayerName &name) { visitor_.layer(name); }
  void stateful(Stateful &value) { visitor_.stateful(value); }
  void push(std::string_view name) { visitor_.push(name); }
  void pop() { visitor_.pop(); }

private:
  StructureVisitor &visitor_;
};

} // namespace detail
} // namespace weft
