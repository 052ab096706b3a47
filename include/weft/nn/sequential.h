// Sequential: layers one after the other, of any types.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/nn/layer.h>
#include <weft/nn/model.h>

namespace weft::nn {

/// What can be part of a Sequential: a callable from a tensor to a tensor, which may take
/// CallOptions too. If it holds anything, Weft must be able to look into it.
template <class L>
concept Layer = std::is_same_v<L, class Sequential> ||
                (std::copy_constructible<L> &&
                 (std::is_invocable_r_v<Tensor, const L &, const Tensor &> ||
                  std::is_invocable_r_v<Tensor, const L &, const Tensor &, const CallOptions &>));

/// Layers one after the other: layers, models, functions such as `relu`, lambdas without captures,
/// other Sequentials. A copy has the same variables.
///
///   nn::Sequential model{nn::Dense(64, {.activation = relu}), nn::Dropout(0.5), nn::Dense(10)};
class Sequential {
public:
  Sequential() = default;
  template <class... L>
    requires((sizeof...(L) > 1 ||
              (sizeof...(L) == 1 && !(std::is_same_v<std::decay_t<L>, Sequential> && ...))) &&
             (Layer<std::decay_t<L>> && ...))
  explicit Sequential(L &&...layers) {
    entries_.reserve(sizeof...(L));
    (add(std::forward<L>(layers)), ...);
  }
  Sequential(const Sequential &other);
  Sequential(Sequential &&) noexcept = default;
  Sequential &operator=(const Sequential &other);
  Sequential &operator=(Sequential &&) noexcept = default;
  ~Sequential() = default;

  /// Adds a layer at the end; its part of paths is its number, or the name. Throws ValueError if
  /// the name is empty or taken, or has a dot.
  template <Layer L>
  Sequential &add(L layer, std::source_location where = WEFT_HERE) {
    return add(std::to_string(entries_.size()), std::move(layer), where);
  }
  template <Layer L>
  Sequential &add(std::string name, L layer, std::source_location where = WEFT_HERE) {
    check_name(name, where);
    entries_.push_back({std::move(name), std::make_unique<Entry<L>>(std::move(layer))});
    return *this;
  }

  /// The layers' results from the first to the last; without layers x itself.
  Tensor operator()(const Operand &x, const CallOptions &options = {}) const;

  std::size_t size() const { return entries_.size(); }
  /// The layer of that number or name if it is of type L, else null.
  template <class L>
  const L *get(std::size_t number) const {
    return number < entries_.size() ? as<L>(*entries_[number].layer) : nullptr;
  }
  template <class L>
  const L *get(std::string_view name) const {
    for (const Named &entry : entries_)
      if (entry.name == name) return as<L>(*entry.layer);
    return nullptr;
  }
  /// The trainable variables of all layers, in order, each once.
  std::vector<Variable> parameters() const { return trainable_variables(*this); }

  void weft_visit(StructureVisitor &visitor);
  void weft_visit(StructureVisitor &visitor) const;

private:
  /// A layer of any type.
  struct AnyLayer {
    virtual ~AnyLayer() = default;
    virtual Tensor call(const Tensor &x, const CallOptions &options) const = 0;
    virtual void visit(StructureVisitor &visitor) = 0;
    virtual void visit(StructureVisitor &visitor) const = 0;
    virtual std::unique_ptr<AnyLayer> copy() const = 0;
  };

  template <class L>
  struct Entry final : AnyLayer {
    // A function is told from others by its address, a lambda by its type.
    static constexpr bool is_function = std::is_convertible_v<const L &, Activation> &&
                                        (std::is_pointer_v<L> || std::is_empty_v<L>);
    static_assert(is_function || detail::is_structure<L>(),
                  "a layer of a Sequential that has state needs a public WEFT_FIELDS(Type, "
                  "member...) that names it, or its variables would not be found");
    using Held =
        std::conditional_t<is_function && !HasFields<L> && !VisitsItself<L>, Activation, L>;

    explicit Entry(L layer) : held(std::move(layer)) {}
    Tensor call(const Tensor &x, const CallOptions &options) const override {
      if constexpr (std::is_invocable_v<const Held &, const Tensor &, const CallOptions &>)
        return held(x, options);
      else return held(x);
    }
    void visit(StructureVisitor &visitor) override {
      detail::VirtualVisitor inner(visitor);
      visit_structure(held, inner);
    }
    void visit(StructureVisitor &visitor) const override {
      detail::VirtualVisitor inner(visitor);
      visit_structure(held, inner);
    }
    std::unique_ptr<AnyLayer> copy() const override { return std::make_unique<Entry>(*this); }

    Held held;
  };

  struct Named {
    std::string name;
    std::unique_ptr<AnyLayer> layer;
  };

  template <class L>
  static const L *as(const AnyLayer &layer) {
    const auto *entry = dynamic_cast<const Entry<L> *>(&layer);
    if constexpr (std::is_same_v<typename Entry<L>::Held, L>)
      return entry == nullptr ? nullptr : &entry->held;
    else return nullptr;
  }
  void check_name(const std::string &name, const std::source_location &where) const;

  std::vector<Named> entries_;
};

} // namespace weft::nn
