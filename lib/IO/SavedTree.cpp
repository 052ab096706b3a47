// Files of trees: the structure as JSON in the metadata of a safetensors file, whose tensors it
// names.
#include <weft/detail/saved_value.h>

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "IO/Safetensors.h"
#include "Ops/Interpreter.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Messages.h"

namespace weft::detail {

namespace {

using Kind = SavedValue::Kind;
using Json = nlohmann::json;

constexpr const char *kTree = "weft.tree", *kVersionName = "weft.tree.version";
constexpr const char *kVersion = "1";
/// A level of a tree is up to three of JSON: an object, the list in it, and pairs of a dict.
constexpr int kDeepestJson = 3 * kDeepestSaved + 8;
/// Values without the elements of tensors: a small file must not fill the memory.
constexpr std::size_t kMostValues = 1'000'000;

/// How the kinds that are objects in JSON are called there, and all kinds in messages.
struct KindWords {
  Kind kind;
  const char *key, *words;
};
constexpr KindWords kWords[] = {
    {Kind::none, nullptr, "None"},
    {Kind::boolean, nullptr, "a bool"},
    {Kind::integer, "integer", "an integer"}, // those of more than 64 bits
    {Kind::floating, "float", "a number"},    // those that JSON lacks
    {Kind::complex, "complex", "a complex number"},
    {Kind::text, nullptr, "a text"},
    {Kind::tensor, "tensor", "a tensor"},
    {Kind::array, "array", "an array"},
    {Kind::scalar, "scalar", "a scalar array"},
    {Kind::variable, "variable", "a variable"},
    {Kind::list, nullptr, "a list"},
    {Kind::tuple, "tuple", "a tuple"},
    {Kind::named, "named", "a named tuple"},
    {Kind::dict, "dict", "a dict"},
    {Kind::ordered, "ordered", "an ordered dict"},
    {Kind::record, "record", "a record"},
};
const KindWords &words_of(Kind kind) { return kWords[static_cast<std::size_t>(kind)]; }

template <class T>
bool read_digits(const std::string &text, T &value) {
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// Whether it is digits, with a sign before them or not.
bool is_integer_text(const std::string &text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first && text.find_first_not_of("0123456789", first) == std::string::npos;
}

std::string joined(const std::string &path, const std::string &name) {
  return path.empty() ? name : path + "." + name;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

class TreeWriter {
public:
  Json value(const SavedValue &saved, const std::string &path, int depth) {
    if (depth > kDeepestSaved)
      throw ValueError("save: the tree is nested deeper than " + std::to_string(kDeepestSaved) +
                       " at '" + path.substr(0, 40) + "...', or holds itself");
    if (++count_ > kMostValues)
      throw ValueError("save: the tree has more than " + std::to_string(kMostValues) +
                       " values: make a tensor or an array of numbers that are many");
    const char *const key = words_of(saved.kind).key;
    switch (saved.kind) {
    case Kind::none: return nullptr;
    case Kind::boolean: return saved.real != 0;
    case Kind::integer: return integer(saved.text);
    case Kind::floating: return number(saved.real);
    case Kind::complex: return {{key, Json::array({number(saved.real), number(saved.imaginary)})}};
    case Kind::text: return text(saved.text, path);
    case Kind::tensor:
    case Kind::array:
    case Kind::scalar: return {{key, tensor(saved.tensor, path)}};
    case Kind::variable: return variable(*saved.variable, path);
    case Kind::list: return entries(saved, path, depth);
    case Kind::tuple: return {{key, entries(saved, path, depth)}};
    case Kind::dict:
    case Kind::ordered: return {{key, pairs(saved, path, depth)}};
    case Kind::named:
    case Kind::record: return record(saved, path, depth);
    }
    return nullptr;
  }

  /// The tensors by their names, with the values of the variables.
  std::vector<SafetensorsItem> items() {
    std::vector<VariableState *> states;
    for (const auto &[name, variable] : variables_) states.push_back(variable.state().get());
    const HeldVariables held(states); // between two updates
    for (const auto &[name, variable] : variables_)
      items_.push_back({name, variable.state()->load()});
    return std::move(items_);
  }

private:
  static Json integer(const std::string &digits) {
    if (std::int64_t value = 0; read_digits(digits, value)) return value;
    if (std::uint64_t value = 0; read_digits(digits, value)) return value;
    return {{words_of(Kind::integer).key, digits}};
  }
  static Json number(double value) {
    if (std::isfinite(value)) return value;
    return {{words_of(Kind::floating).key, number_text(value)}};
  }
  static Json text(const std::string &text, const std::string &path) {
    try {
      static_cast<void>(Json(text).dump());
    } catch (const Json::exception &) {
      throw ValueError("save: " + (path.empty() ? "the tree" : "'" + path + "'") +
                       " is a text that is not UTF-8: '" + shown(text) + "'");
    }
    return text;
  }
  /// A name for a path, which no other has.
  std::string name_for(const std::string &path) {
    const std::string name = path.empty() ? "value" : path;
    if (names_.insert(name).second) return name;
    for (int i = 2;; ++i)
      if (std::string other = name + "#" + std::to_string(i); names_.insert(other).second)
        return other;
  }
  std::string tensor(const Tensor &tensor, const std::string &path) {
    std::string &name = tensors_[tensor.impl()];
    if (name.empty()) {
      name = name_for(path);
      items_.push_back(writable_item("save", name, tensor));
    }
    return name;
  }
  Json variable(const Variable &variable, const std::string &path) {
    std::string &name = named_[variable.state().get()];
    if (name.empty()) {
      if (!variable.initialized())
        throw StateError("save: the variable '" + path +
                         "' has no value yet: its layer was never called");
      name = name_for(path);
      variables_.emplace_back(name, variable);
    }
    return {{words_of(Kind::variable).key, name},
            {"name", text(variable.name(), path)},
            {"trainable", variable.trainable()}};
  }
  Json entries(const SavedValue &saved, const std::string &path, int depth) {
    Json list = Json::array();
    for (std::size_t i = 0; i < saved.entries.size(); ++i)
      list.push_back(value(saved.entries[i], joined(path, std::to_string(i)), depth + 1));
    return list;
  }
  Json pairs(const SavedValue &saved, const std::string &path, int depth) {
    Json list = Json::array();
    for (std::size_t i = 0; i < saved.entries.size(); ++i) {
      const SavedValue &key = saved.keys[i];
      Json pair = Json::array({value(key, path, depth + 1)});
      const std::string name = key.text.empty() ? pair[0].dump() : key.text;
      pair.push_back(value(saved.entries[i], joined(path, name), depth + 1));
      list.push_back(std::move(pair));
    }
    return list;
  }
  Json record(const SavedValue &saved, const std::string &path, int depth) {
    Json fields = Json::array(), values = Json::array();
    for (std::size_t i = 0; i < saved.entries.size(); ++i) {
      fields.push_back(text(saved.fields[i], path));
      values.push_back(value(saved.entries[i], joined(path, saved.fields[i]), depth + 1));
    }
    return {{words_of(saved.kind).key, text(saved.text, path)},
            {"fields", std::move(fields)},
            {"values", std::move(values)}};
  }

  std::size_t count_ = 0;
  std::set<std::string> names_;
  std::unordered_map<const TensorImpl *, std::string> tensors_;
  std::unordered_map<const VariableState *, std::string> named_;
  std::vector<SafetensorsItem> items_;
  std::vector<std::pair<std::string, Variable>> variables_;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Throws IOError, without the file's name.
[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  raise(ErrorKind::io, "is damaged: its tree has " + what + " at " +
                           (path.empty() ? "its root" : "'" + shown(path) + "'"));
}

class TreeReader {
public:
  explicit TreeReader(const SafetensorsFile &file) : file_(file) {}

  SavedValue value(const Json &json, const std::string &path) {
    switch (json.type()) {
    case Json::value_t::null: return {};
    case Json::value_t::boolean:
      return {.kind = Kind::boolean, .real = json.get<bool>() ? 1.0 : 0.0};
    case Json::value_t::number_integer: return SavedValue::integer(json.get<std::int64_t>());
    case Json::value_t::number_unsigned: return SavedValue::integer(json.get<std::uint64_t>());
    case Json::value_t::number_float: return {.kind = Kind::floating, .real = json.get<double>()};
    case Json::value_t::string: return SavedValue::of_text(json.get_ref<const std::string &>());
    case Json::value_t::array: return entries(Kind::list, json, path);
    default: return object(json, path);
    }
  }

  /// Reads the tensors of the tree.
  void fill(SavedValue &root) {
    const std::vector<Tensor> tensors = load_tensors(file_, {names_.begin(), names_.end()}, {});
    std::vector<std::optional<Variable>> variables(tensors.size());
    fill(root, tensors, variables);
  }

private:
  static const Json *member(const Json &object, const char *name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }
  static const std::string &text(const Json *json, const char *what, const std::string &path) {
    if (json == nullptr || !json->is_string()) refuse(path, std::string("no text as ") + what);
    return json->get_ref<const std::string &>();
  }
  static const Json &list(const Json *json, const char *what, const std::string &path) {
    if (json == nullptr || !json->is_array()) refuse(path, std::string("no list as ") + what);
    return *json;
  }
  static double number(const Json &json, const std::string &path) {
    if (json.is_number()) return json.get<double>();
    const Json *const named = json.is_object() ? member(json, "float") : nullptr;
    double value = 0;
    if (!read_digits(text(named, "a number", path), value)) refuse(path, "a text as a number");
    return value;
  }

  SavedValue object(const Json &json, const std::string &path) {
    for (const KindWords &words : kWords)
      if (const Json *const held = words.key == nullptr ? nullptr : member(json, words.key))
        return of_kind(words, *held, json, path);
    refuse(path, "an object of no kind that is known");
  }
  SavedValue of_kind(const KindWords &words, const Json &held, const Json &json,
                     const std::string &path) {
    switch (words.kind) {
    case Kind::integer: {
      const std::string &digits = text(&held, words.words, path);
      if (!is_integer_text(digits)) refuse(path, "a text as an integer");
      return {.kind = Kind::integer, .text = digits};
    }
    case Kind::floating: return {.kind = Kind::floating, .real = number(json, path)};
    case Kind::complex: {
      const Json &parts = list(&held, words.words, path);
      if (parts.size() != 2) refuse(path, "a complex number of other than two parts");
      return {.kind = Kind::complex,
              .real = number(parts[0], path),
              .imaginary = number(parts[1], path)};
    }
    case Kind::tensor:
    case Kind::array:
    case Kind::scalar:
    case Kind::variable: return tensor(words, held, json, path);
    case Kind::tuple: return entries(Kind::tuple, list(&held, words.words, path), path);
    case Kind::dict:
    case Kind::ordered: return pairs(words.kind, list(&held, words.words, path), path);
    default: return record(words, held, json, path);
    }
  }
  SavedValue tensor(const KindWords &words, const Json &held, const Json &json,
                    const std::string &path) {
    const std::string &name = text(&held, words.words, path);
    const SafetensorsEntry *const entry = file_.find(name);
    if (entry == nullptr) refuse(path, "a tensor '" + shown(name) + "' that the file lacks");
    if (words.kind == Kind::scalar && entry->shape.rank() != 0)
      refuse(path, "a scalar that has axes");
    const auto [found, fresh] = numbers_.emplace(name, names_.size());
    if (fresh) names_.push_back(name);
    SavedValue saved{.kind = words.kind, .real = static_cast<double>(found->second)};
    if (words.kind != Kind::variable) return saved;
    saved.text = text(member(json, "name"), "the name of a variable", path);
    const Json *const trainable = member(json, "trainable");
    if (trainable == nullptr || !trainable->is_boolean()) refuse(path, "no bool as trainable");
    saved.imaginary = trainable->get<bool>() ? 1 : 0;
    return saved;
  }
  SavedValue entries(Kind kind, const Json &json, const std::string &path) {
    SavedValue saved{.kind = kind};
    saved.entries.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i)
      saved.entries.push_back(value(json[i], joined(path, std::to_string(i))));
    return saved;
  }
  SavedValue pairs(Kind kind, const Json &json, const std::string &path) {
    SavedValue saved{.kind = kind};
    for (const Json &pair : json) {
      if (!pair.is_array() || pair.size() != 2) refuse(path, "an entry of a dict that is no pair");
      SavedValue &key = saved.keys.emplace_back(value(pair[0], path));
      if (key.kind > Kind::text) refuse(path, std::string(words_of(key.kind).words) + " as a key");
      saved.entries.push_back(
          value(pair[1], joined(path, key.text.empty() ? pair[0].dump() : key.text)));
    }
    return saved;
  }
  SavedValue record(const KindWords &words, const Json &held, const Json &json,
                    const std::string &path) {
    SavedValue saved{.kind = words.kind, .text = text(&held, words.words, path)};
    const Json &fields = list(member(json, "fields"), "the fields", path);
    const Json &values = list(member(json, "values"), "the values of fields", path);
    if (fields.size() != values.size()) refuse(path, "not one value for each field");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string &name = text(&fields[i], "the name of a field", path);
      if (!seen.insert(name).second) refuse(path, "the field '" + shown(name) + "' twice");
      saved.fields.push_back(name);
      saved.entries.push_back(value(values[i], joined(path, name)));
    }
    return saved;
  }

  /// Gives them to the values that have their numbers in `real`, and whether a variable is
  /// trainable in `imaginary`.
  static void fill(SavedValue &saved, const std::vector<Tensor> &tensors,
                   std::vector<std::optional<Variable>> &variables) {
    for (SavedValue &entry : saved.entries) fill(entry, tensors, variables);
    if (saved.kind < Kind::tensor || saved.kind > Kind::variable) return;
    const auto number = static_cast<std::size_t>(saved.real);
    saved.tensor = tensors[number];
    if (saved.kind != Kind::variable) return;
    std::optional<Variable> &variable = variables[number];
    if (!variable) variable = Variable(tensors[number], saved.text, saved.imaginary != 0);
    saved.variable = variable;
  }

  const SafetensorsFile &file_;
  std::vector<std::string> names_; ///< of the tensors, in the order that they are met
  std::map<std::string, std::size_t> numbers_;
};

/// Parses with limits: on the depth, for what reads it calls itself, and on the values.
Json parse(const std::string &text) {
  std::size_t count = 0;
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json &) {
    using Event = Json::parse_event_t;
    if (depth > kDeepestJson)
      raise(ErrorKind::io,
            "is damaged: its tree is nested deeper than " + std::to_string(kDeepestSaved));
    count += event == Event::value || event == Event::array_start || event == Event::object_start;
    if (count > 4 * kMostValues) // an entry of a dict is a pair of a key and a value
      raise(ErrorKind::io,
            "has a tree of more than " + std::to_string(kMostValues) + " values, which none is");
    return true;
  };
  Json json = Json::parse(text, check, /*allow_exceptions=*/false);
  if (json.is_discarded()) raise(ErrorKind::io, "is damaged: its tree is no valid JSON");
  return json;
}

void refuse_in_trace(const char *function) {
  if (const Interpreter *interpreter = Interpreter::current();
      interpreter != nullptr && interpreter->traces())
    throw StateError(std::string(function) +
                     ": inside of a traced function there are no values: save and load outside, or "
                     "in a host call");
}

} // namespace

SavedValue SavedValue::integer(std::int64_t value) {
  return {.kind = Kind::integer, .text = number_text(value)};
}
SavedValue SavedValue::integer(std::uint64_t value) {
  return {.kind = Kind::integer, .text = number_text(value)};
}
SavedValue SavedValue::of_text(std::string_view text) {
  return {.kind = Kind::text, .text = std::string(text)};
}
bool SavedValue::read(std::int64_t &value) const { return read_digits(text, value); }
bool SavedValue::read(std::uint64_t &value) const { return read_digits(text, value); }

void write_saved(const std::string &path, const SavedValue &tree, std::source_location where) {
  const CallSite site(where);
  check_path("save", path);
  refuse_in_trace("save");
  TreeWriter writer;
  const Json json = writer.value(tree, "", 0);
  AtomicFile file(path);
  write_safetensors(file, writer.items(), {{kTree, json.dump()}, {kVersionName, kVersion}});
  file.commit();
}

SavedValue read_saved(const std::string &path, std::source_location where) {
  const CallSite site(where);
  check_path("load", path);
  refuse_in_trace("load");
  const SafetensorsFile file(path);
  return naming(path, [&] {
    const auto &texts = file.metadata();
    const auto tree = texts.find(kTree), version = texts.find(kVersionName);
    if (tree == texts.end())
      raise(ErrorKind::io, "holds no tree: it is a file of named tensors, which load_safetensors "
                           "reads, or a Checkpoint restores");
    if (version == texts.end() || version->second != kVersion)
      raise(ErrorKind::io, "is a tree of version " +
                               (version == texts.end() ? "?" : shown(version->second)) +
                               ", and this Weft reads version " + kVersion);
    TreeReader reader(file);
    SavedValue root = reader.value(parse(tree->second), "");
    reader.fill(root);
    return root;
  });
}

std::string path_of(const SavedPosition &place) {
  if (place.outer == nullptr) return "";
  return joined(path_of(*place.outer),
                place.name.empty() ? std::to_string(place.number) : std::string(place.name));
}

void fail_saved(const SavedPosition &place, const std::string &wrong) {
  const CallSite site(place.where);
  const std::string path = path_of(place);
  throw IOError(place.file + ": " + (path.empty() ? "its tree" : "'" + shown(path) + "'") + " " +
                shown_message(wrong));
}

void refuse_saved(const SavedPosition &place, const SavedValue &found, const std::string &wanted) {
  fail_saved(place,
             std::string("is ") + words_of(found.kind).words + ", but " + wanted + " is wanted");
}

std::vector<const SavedValue *> saved_fields(const SavedPosition &place, const SavedValue &found,
                                             const std::string_view *names, std::size_t count) {
  const bool dict = found.kind == Kind::dict || found.kind == Kind::ordered;
  if (!dict && found.kind != Kind::record && found.kind != Kind::named)
    refuse_saved(place, found, "a struct, or a dict of its fields,");
  std::map<std::string_view, const SavedValue *> all;
  for (std::size_t i = 0; i < found.entries.size(); ++i)
    all.emplace(dict ? found.keys[i].text : found.fields[i], &found.entries[i]);
  std::vector<const SavedValue *> fields;
  std::string missing, more;
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = all.find(names[i]);
    if (one == all.end()) missing += (missing.empty() ? "" : ", ") + std::string(names[i]);
    else fields.push_back(one->second), all.erase(one);
  }
  for (const auto &[name, value] : all) more += (more.empty() ? "" : ", ") + shown(name);
  if (!missing.empty()) fail_saved(place, "lacks the fields " + missing);
  if (!more.empty()) fail_saved(place, "has fields that the struct lacks: " + more);
  return fields;
}

} // namespace weft::detail
