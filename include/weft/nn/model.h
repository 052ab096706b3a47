// Models: any structure of variables and layers, and what is asked of all of its variables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <weft/nn/layer.h>
#include <weft/structure.h>

namespace weft::nn {

/// A variable and where it is in a model: "blocks.1.attention.query.kernel".
struct NamedVariable {
  std::string path;
  Variable variable;
};

/// A struct with WEFT_FIELDS that holds variables or layers, a layer, or a vector, an array, a map
/// or an optional of these.
template <class T>
concept Model = detail::is_structure<T>() && detail::is_model<T>();

/// What the compiler says of other types.
#define WEFT_MODEL_WANTED(what)                                                                    \
  what " takes a model: a struct with a public WEFT_FIELDS(Type, member...) that names its "       \
       "variables and layers, a layer, or a container of these"

} // namespace weft::nn

namespace weft::detail {

/// Follows paths. The path is the names of the parts around, joined by dots.
class PathVisitor {
public:
  void push(std::string_view name);
  void pop();
  void tensor(const Tensor &) {}
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}

protected:
  const std::string &path() const { return path_; }

private:
  std::string path_;
  std::vector<std::size_t> lengths_;
};

/// Lists variables, each once by its first path, and names them and the layers.
class VariableLister : public PathVisitor {
public:
  void variable(const Variable &value);
  void layer(const nn::LayerName &name) { name.set_path(path_of_layer()); }

  std::vector<nn::NamedVariable> variables;

private:
  /// The path without the last part, which is the name itself.
  std::string_view path_of_layer() const;

  std::unordered_map<const VariableState *, std::size_t> seen_;
};

/// Where the parts of a model are that `clone` makes anew.
class PartLister {
public:
  void tensor(const Tensor &) {}
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}
  void variable(const Variable &value) { parts.insert(&value); }
  void layer(const nn::LayerName &name) { parts.insert(&name); }

  std::unordered_set<const void *> parts;
};

/// Replaces variables by copies, the same by the same. Throws ValueError for a part of the model
/// that was to be copied.
class Cloner : public PathVisitor {
public:
  explicit Cloner(std::unordered_set<const void *> originals);
  void variable(Variable &value);
  void layer(nn::LayerName &name);

private:
  void check_own(const void *part) const;

  std::unordered_set<const void *> originals_;
  std::unordered_map<const VariableState *, Variable> copies_;
};

void seed_all(const std::vector<nn::NamedVariable> &variables, std::uint64_t seed,
              const std::source_location &where);
/// Those that are trainable and have values.
std::vector<nn::NamedVariable> trained(std::vector<nn::NamedVariable> variables);
std::int64_t elements_of(const std::vector<nn::NamedVariable> &variables);
void assign_all(const std::vector<nn::NamedVariable> &to,
                const std::vector<nn::NamedVariable> &from, const std::source_location &where);

} // namespace weft::detail

namespace weft::nn {

/// All variables of a model with their paths, in the order of fields, each once, also those that
/// have no value yet. Variables and layers without names of their own are called by their paths
/// from now on.
template <class T>
std::vector<NamedVariable> named_variables(const T &model) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::named_variables"));
  detail::VariableLister lister;
  if constexpr (Model<T>) visit_structure(model, lister);
  return std::move(lister.variables);
}

/// The variables alone.
template <class T>
std::vector<Variable> variables(const T &model) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::variables"));
  std::vector<Variable> all;
  if constexpr (Model<T>)
    for (NamedVariable &entry : named_variables(model)) all.push_back(std::move(entry.variable));
  return all;
}

/// Those that training changes.
template <class T>
std::vector<Variable> trainable_variables(const T &model) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::trainable_variables"));
  std::vector<Variable> all;
  if constexpr (Model<T>)
    for (NamedVariable &entry : named_variables(model))
      if (entry.variable.trainable()) all.push_back(std::move(entry.variable));
  return all;
}

/// How many floating numbers its variables hold. Throws StateError if one has no value yet.
template <class T>
std::int64_t parameter_count(const T &model) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::parameter_count"));
  if constexpr (Model<T>) return detail::elements_of(named_variables(model));
  else return 0;
}

/// A model with variables of its own that have the same values now, the same shared ones included.
/// (A copy of a model is a copy of handles: it has the same variables.) Throws ValueError for one
/// that holds parts by reference, which a copy of it shares.
template <class T>
T clone(const T &model) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::clone"));
  T copy = model;
  if constexpr (Model<T>) {
    detail::PartLister original;
    visit_structure(model, original);
    detail::Cloner cloner(std::move(original.parts));
    visit_structure(copy, cloner);
  }
  return copy;
}

/// Gives each variable of a model the value that the one of the same path of another model has: of
/// a target network, say, or of the best weights so far. One without a value gets its shape as
/// well. Throws, before anything is changed, ValueError if the paths differ, StateError if one of
/// `from` has no value, DTypeError and ShapeError that name a variable of another type.
template <Model T>
void assign(const T &to, const T &from, std::source_location where = WEFT_HERE) {
  detail::assign_all(named_variables(to), named_variables(from), where);
}

/// Draws the first values of all variables by the seed and their paths: those that have values now,
/// the others when they get theirs. The same seed and the same paths make the same bits, in
/// whatever order layers are called. Variables that were created with a value keep it.
template <class T>
void seed(const T &model, std::uint64_t seed, std::source_location where = WEFT_HERE) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::seed"));
  if constexpr (Model<T>) detail::seed_all(named_variables(model), seed, where);
}

} // namespace weft::nn
