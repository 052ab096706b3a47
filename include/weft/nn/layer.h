// What layers have in common: their name in a model, the dtype that they compute in, and what a
// call tells them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

/// While it lives, layers that this thread constructs compute in floats of 16 bits: they round what
/// they are called with and their weights to these, and give results of that dtype, beside
/// variables of their own dtype, f32, which optimizers update. So products take half the memory
/// and, where a processor has instructions for them, half the time or less. Normalization computes
/// its statistics in f32, and recurrent cells all they do. Small gradients of f16 need a
/// `LossScale`
/// (`weft/optimizers.h`).
class MixedPrecision {
public:
  /// Of f32 or f64 there is none: layers compute in the dtype of their variables. Throws DTypeError
  /// unless the dtype is floating.
  explicit MixedPrecision(DType dtype, std::source_location where = WEFT_HERE);
  ~MixedPrecision();
  MixedPrecision(const MixedPrecision &) = delete;
  MixedPrecision &operator=(const MixedPrecision &) = delete;

  /// What layers constructed now compute in; none: in the dtype of their variables.
  static std::optional<DType> current();

private:
  std::optional<DType> outer_;
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
  /// The floats of 16 bits that its layer computes in, if it is not the dtype of its variables:
  /// that of `MixedPrecision` when the name was constructed.
  const std::optional<DType> &computes_in() const;
  /// What copies of it have in common with no other name.
  const void *identity() const { return state_.get(); }
  /// A name of the same kind for another layer.
  LayerName another() const;

  void weft_visit(StructureVisitor &visitor) {
    visitor.layer(*this);
    if (computes_in()) visitor.literal(static_cast<std::uint64_t>(*computes_in()));
  }
  void weft_visit(StructureVisitor &visitor) const {
    const_cast<LayerName &>(*this).weft_visit(visitor);
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
