// A call of a layer: errors below it name the layer by its path, and who asks for a summary hears
// of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "Ops/DeviceOps.h"
#include "Support/CallSite.h"
#include <weft/nn/layer.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::nn {

/// What `summary` hears of the calls on this thread.
struct LayerRecord {
  LayerName name;
  TensorType result;
};
class LayerRecorder {
public:
  LayerRecorder() : outer_(current_) { current_ = this; }
  ~LayerRecorder() { current_ = outer_; }
  LayerRecorder(const LayerRecorder &) = delete;
  LayerRecorder &operator=(const LayerRecorder &) = delete;

  static LayerRecorder *current() { return current_; }

  std::vector<LayerRecord> records; ///< in the order of the calls

  /// While it lives, calls are no records: those of the layers inside of one.
  class Pause {
  public:
    Pause() : paused_(std::exchange(current_, nullptr)) {}
    ~Pause() { current_ = paused_; }
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;

  private:
    LayerRecorder *paused_;
  };

private:
  LayerRecorder *outer_;
  static thread_local constinit LayerRecorder *current_;
};

/// Held while a layer computes. Of layers inside each other the innermost is named.
class LayerCall : CallSite {
public:
  LayerCall(const LayerName &name, const std::source_location &where);
  ~LayerCall();
  LayerCall(const LayerCall &) = delete;
  LayerCall &operator=(const LayerCall &) = delete;

  /// "blocks.1.attention: ", before what is wrong.
  std::string prefix() const { return std::string(name_.title()) + ": "; }
  /// What the layer is called with and one of its weights, in the dtype that it computes in.
  Tensor input(const Operand &x) const;
  Tensor weight(const Variable &variable) const;
  /// What it is called with, in the dtype of its variables, of a layer that computes in that.
  Tensor wide_input(const Operand &x, DType dtype) const;
  /// Throws DTypeError in the layer's words unless x is of the dtype that it computes in.
  void check_dtype(const Tensor &x, const Variable &variable) const;
  /// Its result, which is handed on.
  Tensor result(Tensor value) const;

private:
  /// Its variables and what it makes will be where its input is.
  Tensor followed(const Operand &x) const;

  const LayerName &name_;
  const char *outer_;
  LayerRecorder *recorder_; ///< if somebody hears the call
  std::size_t at_ = 0;      ///< among the records
  profile::Scope scope_;
  mutable DeviceOfOperands device_;
};

/// Throws ValueError, in the layer's name, unless there is at least one: "Dense: there must be at
/// least one unit, but units is 0", and not more than 2^40, of which products with small numbers
/// are no overflow.
void check_at_least_one(const LayerName &name, const char *what, std::int64_t count);
/// The same for a size: "LayerNorm: the size is 0, but must be at least 1".
void check_size(const LayerName &name, const char *what, std::int64_t size);
/// Throws ValueError, in the layer's name, if a variable of that shape could not be: "Dense: the
/// kernel of shape (..) has more bytes than 2^63 - 1".
void check_variable(const LayerName &name, const char *what, const Shape &shape);

} // namespace weft::nn
