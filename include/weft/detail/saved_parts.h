// What checkpoints find in a structure: variables, tensors, numbers, and state that is no tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/nn/model.h>
#include <weft/structure.h>

namespace weft::detail {

/// A number as checkpoints keep it: 12, 0.1, true. Any other text is none.
std::string text_of_number(std::int64_t value);
std::string text_of_number(std::uint64_t value);
std::string text_of_number(double value);
bool read_number(std::string_view text, std::int64_t &value);
bool read_number(std::string_view text, std::uint64_t &value);
bool read_number(std::string_view text, double &value);

/// The 64-bit type that a number is written as.
template <class T>
auto widest(T value) {
  if constexpr (std::is_enum_v<T>) return widest(static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(value);
  else if constexpr (std::is_unsigned_v<T>) return static_cast<std::uint64_t>(value);
  else return static_cast<std::int64_t>(value);
}

/// Lists the parts of a structure by their paths, for as long as that does not change.
class PartCollector : public PathVisitor {
public:
  /// A variable; the first path is its own, the others are aliases.
  struct VariablePart {
    std::vector<std::string> paths;
    Variable variable;
  };
  struct TensorPart {
    std::string path;
    Tensor value;
    Tensor *target; ///< null if it is const
  };
  struct NumberPart {
    std::string path, text;
    /// Whether a text is a number of its type; takes it on, if `assigns`. Null if it is const.
    std::function<bool(const std::string &text, bool assigns)> take;
  };
  struct StatePart {
    std::string path;
    Stateful *state;
  };

  void tensor(Tensor &value) { add_tensor(value, &value); }
  void tensor(const Tensor &value) { add_tensor(value, nullptr); }
  void variable(const Variable &value);
  void stateful(Stateful &value);
  template <class T>
  void literal(const T &value) {
    if (constants == nullptr) return;
    // Unsigned ones are identities: of functions, say, by which traces know them.
    if constexpr (std::is_same_v<T, std::uint64_t>) return;
    else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      add_constant(text_of_number(widest(value)));
    else add_constant(std::string(std::string_view(value)));
  }

  /// A number, an enum or a text.
  template <class T>
  void number(T &value) {
    using Plain = std::remove_const_t<T>;
    std::function<bool(const std::string &, bool)> take;
    if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
      if constexpr (!std::is_const_v<T>)
        take = [&value](const std::string &text, bool assigns) {
          auto wide = widest(value);
          if (!read_number(text, wide)) return false;
          const auto narrow = static_cast<Plain>(wide);
          if (!std::is_floating_point_v<Plain> && widest(narrow) != wide) return false;
          if (assigns) value = narrow;
          return true;
        };
      add_number(text_of_number(widest(value)), std::move(take));
    } else if constexpr (std::is_same_v<Plain, std::string>) {
      if constexpr (!std::is_const_v<T>)
        take = [&value](const std::string &text, bool assigns) {
          if (assigns) value = text;
          return true;
        };
      add_number(value, std::move(take));
    }
  }

  std::vector<VariablePart> variables;
  std::vector<TensorPart> tensors;
  std::vector<NumberPart> numbers;
  std::vector<StatePart> states;
  /// If given, gathers what layers, metrics and optimizers are constructed with: "'path' = 0.1".
  std::vector<std::string> *constants = nullptr;

private:
  void add_constant(const std::string &text);
  void add_tensor(const Tensor &value, Tensor *target);
  void add_number(std::string text, std::function<bool(const std::string &, bool)> take);
  /// The path, which nothing else has.
  std::string own_path();

  std::set<std::string> taken_;
  std::unordered_map<const VariableState *, std::size_t> seen_;
};

/// Visits a part of a checkpoint. The numbers in it are those that are the part itself, or, with
/// `fields`, fields of it.
template <class T>
void collect(T &part, bool fields, PartCollector &to) {
  if constexpr (form_of<T>() == Form::literal) {
    to.number(part);
  } else {
    visit_structure(part, to);
    if constexpr (form_of<T>() == Form::record) {
      using Plain = std::remove_const_t<T>;
      auto all = part.weft_fields();
      constexpr std::size_t count = std::tuple_size_v<decltype(all)>;
      constexpr auto names = field_names<Plain, count>();
      const auto one = [&](std::string_view name, auto &field) {
        if constexpr (form_of<decltype(field)>() == Form::literal) {
          to.push(name);
          to.number(field);
          to.pop();
        }
      };
      if (fields)
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          (one(names[I], std::get<I>(all)), ...);
        }(std::make_index_sequence<count>());
    }
  }
}

} // namespace weft::detail
