// What layers have in common: their name in a model, and what a call tells them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/structure.h>

namespace weft::nn {

/// What a model's call tells its layers.
struct CallOptions {
  /// Whether the model is being trained: dropout drops, batch norm takes the batch's statistics.
  bool training = false;
};

/// The name of a layer: its kind, and its path once a model that it is part of was looked at (by an
/// optimizer, `named_variables`, `summary`). A layer has one among its WEFT_FIELDS; copies of the
/// layer share it.
class LayerName {
public:
  /// `kind` is "Dense"; `given` is what the layer's maker calls it, instead of a path.
  explicit LayerName(const char *kind, std::string_view given = {});
  // A move is a copy: no layer is ever without its name.
  LayerName(const LayerName &) = default;
  LayerName &operator=(const LayerName &) = default;

  const char *kind() const;
  /// The given name, else the path if it is known, else the kind. Lives for ever.
  const char *text() const;
  /// What messages call it: the same, with the kind behind a path that ends in a number, as those
  /// of layers in lists do: "blocks.1 (Dense)". Lives for ever.
  const char *title() const;
  /// The path, whether a name was given or not; empty until it is known. Lives for ever.
  const char *path() const;
  /// The first path stays.
  void set_path(std::string_view path) const;
  /// What copies of it have in common with no other name.
  const void *identity() const { return state_.get(); }
  /// A name of the same kind for another layer.
  LayerName another() const;

  void weft_visit(StructureVisitor &visitor) { visitor.layer(*this); }
  void weft_visit(StructureVisitor &visitor) const {
    visitor.layer(const_cast<LayerName &>(*this));
  }

private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A function of one tensor, as activations are: `relu`, `tanh`, a lambda. Undefined, it gives what
/// it is given. A traced function that takes a model as an argument tells functions apart, pointers
/// by their value, other callables by the object they were first constructed from.
class Activation {
public:
  Activation() = default;
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, Activation> &&
             std::is_invocable_r_v<Tensor, const std::decay_t<F> &, const Tensor &>)
  Activation(F &&function)
      : identity_(identity_of<std::decay_t<F>>(function)), function_(std::forward<F>(function)) {}

  explicit operator bool() const { return function_ != nullptr; }
  Tensor operator()(const Tensor &x) const { return function_ ? function_(x) : x; }

  void weft_visit(StructureVisitor &visitor) const { visitor.literal(std::uint64_t{identity_}); }
  void weft_visit(StructureVisitor &visitor) { std::as_const(*this).weft_visit(visitor); }

private:
  template <class F>
  static std::uintptr_t identity_of(const F &function) {
    static_assert(std::is_pointer_v<F> || std::is_empty_v<F>,
                  "an activation is a function or a lambda without captures; what has state is a "
                  "layer: put it into a Sequential");
    static const char here = 0;
    if constexpr (std::is_pointer_v<F>) return reinterpret_cast<std::uintptr_t>(function);
    else return reinterpret_cast<std::uintptr_t>(&here);
  }

  std::uintptr_t identity_ = 0;
  std::function<Tensor(const Tensor &)> function_;
};

} // namespace weft::nn
