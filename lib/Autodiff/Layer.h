// An interpreter that hands every call on, those in bodies of control flow too, for others to look
// at or change some.
#pragma once

#include <optional>

#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"

namespace weft::autodiff {

class Layer : public Interpreter {
public:
  Tensor apply(const OpCall &call) override {
    const Scope under(previous_);
    Tensor value = dispatch(call);
    // A read is a value of its own, whoever else holds the variable's tensor: tapes and forward
    // mode above tell values apart by their tensors.
    if (previous_ == nullptr && op_info(call.op).reads_variable()) value = detail::new_alias(value);
    return value;
  }

  std::vector<Tensor> construct(const ConstructCall &call) override {
    std::vector<detail::Body> bodies;
    for (const detail::Body &body : call.bodies) bodies.push_back(inside(body));
    ConstructCall inner = call;
    inner.bodies = bodies;
    return Interpreter::construct(inner);
  }

  std::vector<TracedType> types_of(std::string_view name, const detail::Body &body,
                                   std::span<const TracedType> inputs) override {
    return Interpreter::types_of(name, inside(body), inputs);
  }

  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override {
    return Interpreter::record(name, inside(body), watched, orders);
  }

protected:
  /// Attaches a pullback so that the layer sees what it does where it is traced.
  std::vector<Tensor> attach_seen(const PullbackCall &call) {
    const detail::Body seen = inside(call.traced != nullptr ? *call.traced : call.pullback);
    PullbackCall inner = call;
    inner.traced = &seen;
    return Interpreter::attach_pullback(inner);
  }

  /// What a body of control flow gave.
  virtual void see_results(std::span<const Tensor>) {}

  /// Puts the layer on top of whoever runs a body: where a tape before it records the body as a
  /// program of its own, that is no longer who was current when the layer was created.
  class OnTop {
  public:
    explicit OnTop(Layer &layer) : layer_(layer), before_(layer.previous_) {
      if (Interpreter::current() != &layer) layer.previous_ = Interpreter::current();
      scope_.emplace(&layer);
    }
    ~OnTop() { layer_.previous_ = before_; }
    OnTop(const OnTop &) = delete;
    OnTop &operator=(const OnTop &) = delete;

  private:
    Layer &layer_;
    Interpreter *before_;
    std::optional<Scope> scope_;
  };

  /// The body, which runs on this interpreter.
  detail::Body inside(const detail::Body &body) {
    return [this, &body](std::span<const Tensor> inputs) {
      const OnTop here(*this);
      std::vector<Tensor> results = body(inputs);
      see_results(results);
      return results;
    };
  }
};

/// A layer of this thread for as long as it lives.
template <class Layer>
class Pushed : public Layer {
public:
  template <class... Args>
  explicit Pushed(Args &&...args) : Layer(std::forward<Args>(args)...) {
    push_interpreter(this);
  }
  ~Pushed() override { pop_interpreter(this); }
  Pushed(const Pushed &) = delete;
  Pushed &operator=(const Pushed &) = delete;
};

} // namespace weft::autodiff
