// Any structure as one file, in one call: `save("run.weft", tree)` and `load<Tree>("run.weft")`.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/detail/saved_value.h>
#include <weft/structure.h>

namespace weft {

namespace detail {

template <class T>
SavedValue to_saved(const T &value);
template <class T>
T from_saved(const SavedValue &value, const SavedPosition &place);

template <class T>
SavedValue saved_literal(const T &value) {
  if constexpr (std::is_same_v<T, bool>)
    return {.kind = SavedValue::Kind::boolean, .real = value ? 1.0 : 0.0};
  else if constexpr (std::is_enum_v<T>)
    return saved_literal(static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::is_floating_point_v<T>)
    return {.kind = SavedValue::Kind::floating, .real = static_cast<double>(value)};
  else if constexpr (std::is_unsigned_v<T>)
    return SavedValue::integer(static_cast<std::uint64_t>(value));
  else if constexpr (std::is_integral_v<T>)
    return SavedValue::integer(static_cast<std::int64_t>(value));
  else return SavedValue::of_text(value);
}

template <class T>
T literal_from_saved(const SavedValue &value, const SavedPosition &place) {
  using Kind = SavedValue::Kind;
  if constexpr (std::is_same_v<T, bool>) {
    if (value.kind != Kind::boolean) refuse_saved(place, value, "a bool");
    return value.real != 0;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(literal_from_saved<std::underlying_type_t<T>>(value, place));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (value.kind == Kind::floating) {
      const T number = static_cast<T>(value.real);
      if (std::isinf(number) && !std::isinf(value.real))
        fail_saved(place, "is " + std::to_string(value.real) +
                              ", which is more than its type in C++ holds");
      return number;
    }
    std::int64_t whole = 0;
    std::uint64_t large = 0;
    if (value.kind != Kind::integer) refuse_saved(place, value, "a number");
    if (value.read(whole)) return static_cast<T>(whole);
    if (value.read(large)) return static_cast<T>(large);
    fail_saved(place, "is " + value.text + ", which its type in C++ does not hold");
  } else if constexpr (std::is_integral_v<T>) {
    std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t> wide = 0;
    if (value.kind != Kind::integer) refuse_saved(place, value, "an integer");
    if (!value.read(wide) || static_cast<decltype(wide)>(static_cast<T>(wide)) != wide)
      fail_saved(place, "is " + value.text + ", which its type in C++ does not hold");
    return static_cast<T>(wide);
  } else {
    static_assert(std::is_same_v<T, std::string>,
                  "a text that is loaded needs memory of its own: std::string");
    if (value.kind != Kind::text) refuse_saved(place, value, "a text");
    return value.text;
  }
}

inline bool is_sequence(const SavedValue &value) {
  return value.kind == SavedValue::Kind::list || value.kind == SavedValue::Kind::tuple ||
         value.kind == SavedValue::Kind::named;
}
inline bool is_dict(const SavedValue &value) {
  return value.kind == SavedValue::Kind::dict || value.kind == SavedValue::Kind::ordered;
}

template <class T>
T map_from_saved(const SavedValue &value, const SavedPosition &place) {
  using Key = typename T::key_type;
  if (!is_dict(value) && value.kind != SavedValue::Kind::record)
    refuse_saved(place, value, "a dict");
  T map;
  for (std::size_t i = 0; i < value.entries.size(); ++i) {
    const SavedValue key = is_dict(value) ? value.keys[i] : SavedValue::of_text(value.fields[i]);
    const SavedPosition at{place.file, &place, key.text, i, place.where};
    map.emplace(literal_from_saved<Key>(key, at),
                from_saved<typename T::mapped_type>(value.entries[i], at));
  }
  return map;
}

template <class T>
T sequence_from_saved(const SavedValue &value, const SavedPosition &place) {
  using Entry = typename T::value_type;
  if (!is_sequence(value)) refuse_saved(place, value, "a list");
  const auto entry = [&](std::size_t i) {
    return from_saved<Entry>(value.entries[i], {place.file, &place, {}, i, place.where});
  };
  if constexpr (requires { std::tuple_size<T>::value; }) {
    if (value.entries.size() != std::tuple_size_v<T>)
      fail_saved(place, "has " + std::to_string(value.entries.size()) + " entries, but " +
                            std::to_string(std::tuple_size_v<T>) + " are wanted");
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{entry(I)...};
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    T sequence;
    for (std::size_t i = 0; i < value.entries.size(); ++i)
      if constexpr (requires { sequence.push_back(entry(i)); }) sequence.push_back(entry(i));
      else sequence.insert(sequence.end(), entry(i));
    return sequence;
  }
}

template <class T>
T tuple_from_saved(const SavedValue &value, const SavedPosition &place) {
  constexpr std::size_t count = std::tuple_size_v<T>;
  if (!is_sequence(value)) refuse_saved(place, value, "a tuple");
  if (value.entries.size() != count)
    fail_saved(place, "has " + std::to_string(value.entries.size()) + " entries, but " +
                          std::to_string(count) + " are wanted");
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return T{from_saved<std::tuple_element_t<I, T>>(value.entries[I],
                                                    {place.file, &place, {}, I, place.where})...};
  }(std::make_index_sequence<count>());
}

template <class T>
T record_from_saved(const SavedValue &value, const SavedPosition &place) {
  static_assert(std::is_default_constructible_v<T>,
                "a struct that is loaded needs a default constructor");
  T record;
  auto fields = record.weft_fields();
  constexpr std::size_t count = std::tuple_size_v<decltype(fields)>;
  static constexpr auto names = field_names<T, count>();
  const auto found = saved_fields(place, value, names.data(), count);
  const auto read = [&](std::size_t i, auto &field) {
    using Field = std::remove_reference_t<decltype(field)>;
    // What is const stays as the program says.
    if constexpr (!std::is_const_v<Field>)
      field = from_saved<Field>(*found[i], {place.file, &place, names[i], i, place.where});
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (read(I, std::get<I>(fields)), ...);
  }(std::make_index_sequence<count>());
  return record;
}

template <class T>
SavedValue to_saved(const T &value) {
  using Kind = SavedValue::Kind;
  constexpr Form form = form_of<T>();
  const auto all = [](Kind kind, const auto &container) {
    SavedValue saved{.kind = kind};
    for (const auto &entry : container) saved.entries.push_back(to_saved(entry));
    return saved;
  };
  if constexpr (form == Form::tensor) {
    if (!value.defined()) return {};
    return {.kind = Kind::tensor, .tensor = value};
  } else if constexpr (form == Form::variable) {
    return {.kind = Kind::variable, .variable = value};
  } else if constexpr (form == Form::literal) {
    return saved_literal(value);
  } else if constexpr (form == Form::optional) {
    return value ? to_saved(*value) : SavedValue();
  } else if constexpr (form == Form::map) {
    SavedValue saved{.kind = Kind::dict};
    for (const auto &[key, entry] : value) {
      saved.keys.push_back(saved_literal(key));
      saved.entries.push_back(to_saved(entry));
    }
    return saved;
  } else if constexpr (form == Form::sequence) {
    return all(Kind::list, value);
  } else if constexpr (form == Form::tuple) {
    SavedValue saved{.kind = Kind::tuple};
    std::apply([&](const auto &...entries) { (saved.entries.push_back(to_saved(entries)), ...); },
               value);
    return saved;
  } else if constexpr (form == Form::record) {
    const auto fields = value.weft_fields();
    constexpr std::size_t count = std::tuple_size_v<decltype(fields)>;
    SavedValue saved{.kind = Kind::record};
    for (const std::string_view name : field_names<T, count>()) saved.fields.emplace_back(name);
    std::apply([&](const auto &...entries) { (saved.entries.push_back(to_saved(entries)), ...); },
               fields);
    return saved;
  } else {
    static_assert(form != Form::virtual_,
                  "layers and models are not made anew from files: save_weights and load_weights, "
                  "or a Checkpoint, keep what they hold");
    static_assert(form == Form::virtual_ || !sizeof(T), WEFT_STRUCTURE_WANTED("what is saved"));
  }
}

template <class T>
T from_saved(const SavedValue &value, const SavedPosition &place) {
  using Kind = SavedValue::Kind;
  constexpr Form form = form_of<T>();
  if constexpr (form == Form::tensor) {
    if (value.kind == Kind::none) return Tensor();
    if (value.kind == Kind::variable) return value.variable->value(place.where);
    if (!value.tensor.defined()) refuse_saved(place, value, "a tensor");
    return value.tensor;
  } else if constexpr (form == Form::variable) {
    if (value.kind == Kind::variable) return *value.variable;
    if (!value.tensor.defined()) refuse_saved(place, value, "a variable");
    return Variable(value.tensor);
  } else if constexpr (form == Form::literal) {
    return literal_from_saved<T>(value, place);
  } else if constexpr (form == Form::optional) {
    if (value.kind == Kind::none) return T();
    return T(from_saved<typename T::value_type>(value, place));
  } else if constexpr (form == Form::map) {
    return map_from_saved<T>(value, place);
  } else if constexpr (form == Form::sequence) {
    return sequence_from_saved<T>(value, place);
  } else if constexpr (form == Form::tuple) {
    return tuple_from_saved<T>(value, place);
  } else if constexpr (form == Form::record) {
    return record_from_saved<T>(value, place);
  } else {
    static_assert(form != Form::virtual_,
                  "layers and models are not made anew from files: load_weights, or a restore of a "
                  "Checkpoint, gives them what they hold");
    static_assert(form == Form::virtual_ || !sizeof(T), WEFT_STRUCTURE_WANTED("what is loaded"));
  }
}

} // namespace detail

/// Writes a structure as one file: tensors, variables, numbers, enums, strings, and containers,
/// tuples and structs with WEFT_FIELDS of these. It is a safetensors file, in which the tensors
/// have their paths ("state.0.w") for names, and the rest is JSON in the metadata, with a digest of
/// each tensor and of the header. The file appears as a whole or not at all, as `save_npy` has it.
/// What stands in the structure twice, a tensor or a variable, is there once. Variables have the
/// values of one moment between two updates. `wf.load` reads the same file in Python. Throws
/// IOError, StateError for a traced tensor and a variable without a value, and ValueError for texts
/// that are not UTF-8 and a structure that is nested deeper than 256.
template <class T>
void save(const std::string &path, const T &tree, std::source_location where = WEFT_HERE) {
  detail::write_saved(path, detail::to_saved(tree), where);
}

/// Reads a structure of type `T` from a file of `save`, or of `wf.save` in Python: a dict there is
/// a map or a struct here, a list or a tuple what holds as many, None an empty optional or an
/// undefined tensor. Variables are new ones, with their names. Nothing in a file is ever run.
/// Throws IOError, naming the file and the path in the structure, if it is damaged or has something
/// else than `T`, OutOfMemory if it does not fit.
template <class T>
T load(const std::string &path, std::source_location where = WEFT_HERE) {
  const detail::SavedPosition root{.file = path, .where = where};
  return detail::from_saved<T>(detail::read_saved(path, where), root);
}

} // namespace weft
