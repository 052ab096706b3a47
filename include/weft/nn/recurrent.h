// Recurrent cells, and layers that run them along time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/control_flow.h>
#include <weft/nn/initializers.h>
#include <weft/nn/layer.h>
#include <weft/ops.h>
#include <weft/options.h>
#include <weft/variable.h>

namespace weft::nn {

class VariableMaker;

/// Options of `LSTMCell`, `GRUCell` and `SimpleRNNCell`, and of the layers made of them.
struct CellOptions {
  bool use_bias = true;
  VariableInitializer kernel_initializer = initializers::glorot_uniform();
  VariableInitializer recurrent_initializer = initializers::orthogonal();
  /// What a GRU's reset gate is applied to: behind the product (cuDNN's and PyTorch's way), or in
  /// front of it. Other cells have none.
  bool reset_after = true;
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(CellOptions, use_bias, kernel_initializer, recurrent_initializer, reset_after, dtype,
             name)

/// A cell computes in two steps: `project` is what inputs contribute, of all steps of time at once;
/// `step` takes a state to the next. `output` is what a state shows.
template <class C>
concept RecurrentCell = std::copy_constructible<C> &&
                        requires(const C &cell, const Tensor &x, typename C::State state) {
                          { cell.units() } -> std::convertible_to<std::int64_t>;
                          { cell.project(x) } -> std::same_as<Tensor>;
                          { cell.step(x, state) } -> std::same_as<typename C::State>;
                          { cell.output(state) } -> std::same_as<Tensor>;
                          { cell.zero_state(x) } -> std::same_as<typename C::State>;
                          { cell.chosen(x, state, state) } -> std::same_as<typename C::State>;
                        };

/// Throws ShapeError or DTypeError, in the layer's name, unless x is (batch, time, inputs) and the
/// mask, if there is one, bools (batch, time).
void check_sequence(const LayerName &name, const Tensor &x, const Tensor &mask);
/// Throws ShapeError or DTypeError, in the layer's name, unless the initial state of x (batch, ..)
/// is (batch, units) of that dtype.
void check_initial_state(const LayerName &name, const Tensor &x, const Tensor &state,
                         std::int64_t units, DType dtype);

} // namespace weft::nn

namespace weft::detail {

/// Zeros (batch, units) for what is (.., batch, features), of a batch that may be unknown.
Tensor zero_state(const Tensor &x, std::int64_t units, DType dtype);

/// Runs what a layer of templates does in its name: errors name it, and a summary has one line of
/// it, with the type of what `run` gives, and none of the layers inside.
void run_as_layer(const nn::LayerName &name, const std::source_location &where,
                  const std::function<Tensor()> &run);

/// What the cells have in common: kernel (inputs, gates * units), recurrent kernel (units, gates *
/// units) and bias.
class CellVariables {
public:
  std::int64_t units() const { return units_; }
  /// Throws as `project` would, in the name of the layer that runs the cell.
  void check_inputs(const nn::LayerName &name, const Tensor &x) const;

  Variable kernel, recurrent_kernel;
  std::optional<Variable> bias;

protected:
  CellVariables(const char *kind, std::int64_t units, std::int64_t gates,
                const nn::CellOptions &options, VariableInitializer bias_initializer,
                std::int64_t bias_rows, const std::source_location &where);

  /// x @ kernel + bias, (.., inputs) to (.., gates * units); the kernel's inputs follow from x.
  Tensor projected(const Tensor &x, const std::optional<Tensor> &bias) const;

  nn::LayerName name_;

private:
  CellVariables(const nn::VariableMaker &make, const char *kind, std::int64_t units,
                std::int64_t gates, const nn::CellOptions &options,
                VariableInitializer bias_initializer, std::int64_t bias_rows,
                const std::source_location &where);

  std::int64_t units_, gates_;
};

} // namespace weft::detail

namespace weft::nn {

/// h' = tanh(x kernel + bias + h recurrent_kernel) (Elman 1990).
class SimpleRNNCell : public weft::detail::CellVariables {
public:
  static constexpr const char *layer_kind = "SimpleRNN";
  using State = Tensor;
  /// Throws ValueError unless there is at least one unit.
  explicit SimpleRNNCell(std::int64_t units, const CellOptions &options = {},
                         std::source_location where = WEFT_HERE);

  Tensor project(const Tensor &x) const;
  State step(const Tensor &projected, const State &h) const;
  Tensor output(const State &h) const { return h; }
  State zero_state(const Tensor &x) const;
  State chosen(const Tensor &mask, const State &a, const State &b) const;
  /// The next state after the inputs of one step, x (batch, inputs).
  State operator()(const Tensor &x, const State &h) const { return step(project(x), h); }

  void check_state(const LayerName &name, const Tensor &x, const State &h) const {
    check_initial_state(name, x, h, units(), kernel.dtype());
  }

  WEFT_FIELDS(SimpleRNNCell, kernel, recurrent_kernel, bias, name_)
};

/// What an LSTM carries: what it shows and what it keeps, each (batch, units).
struct LSTMState {
  Tensor h, c;
  WEFT_FIELDS(LSTMState, h, c)
};

/// Long short-term memory (Hochreiter & Schmidhuber 1997; Gers et al. 2000): with z = x kernel +
/// bias + h recurrent_kernel parted into i, f, g, o: c' = sigmoid(f) c + sigmoid(i) tanh(g), h' =
/// sigmoid(o) tanh(c'). The bias of the forget gate starts with 1.
class LSTMCell : public weft::detail::CellVariables {
public:
  static constexpr const char *layer_kind = "LSTM";
  using State = LSTMState;
  explicit LSTMCell(std::int64_t units, const CellOptions &options = {},
                    std::source_location where = WEFT_HERE);

  Tensor project(const Tensor &x) const;
  State step(const Tensor &projected, const State &state) const;
  Tensor output(const State &state) const { return state.h; }
  State zero_state(const Tensor &x) const;
  State chosen(const Tensor &mask, const State &a, const State &b) const;
  State operator()(const Tensor &x, const State &state) const { return step(project(x), state); }

  void check_state(const LayerName &name, const Tensor &x, const State &state) const {
    check_initial_state(name, x, state.h, units(), kernel.dtype());
    check_initial_state(name, x, state.c, units(), kernel.dtype());
  }

  WEFT_FIELDS(LSTMCell, kernel, recurrent_kernel, bias, name_)
};

/// Gated recurrent unit (Cho et al. 2014), gates in the order z, r, h: h' = z h + (1 - z) tanh(x_h
/// + r (h recurrent_kernel_h + bias_h)), or, with the reset in front, tanh(x_h + (r h)
/// recurrent_kernel_h). Behind it, the bias has two rows: of the input and of the state.
class GRUCell : public weft::detail::CellVariables {
public:
  static constexpr const char *layer_kind = "GRU";
  using State = Tensor;
  explicit GRUCell(std::int64_t units, const CellOptions &options = {},
                   std::source_location where = WEFT_HERE);

  Tensor project(const Tensor &x) const;
  State step(const Tensor &projected, const State &h) const;
  Tensor output(const State &h) const { return h; }
  State zero_state(const Tensor &x) const;
  State chosen(const Tensor &mask, const State &a, const State &b) const;
  State operator()(const Tensor &x, const State &h) const { return step(project(x), h); }

  void check_state(const LayerName &name, const Tensor &x, const State &h) const {
    check_initial_state(name, x, h, units(), kernel.dtype());
  }

  WEFT_FIELDS(GRUCell, kernel, recurrent_kernel, bias, name_, reset_after_)

private:
  bool reset_after_;
};

/// Options of `RNN`.
struct RNNOptions {
  /// Give the outputs of all steps, not of the last alone.
  bool return_sequences = false;
  /// Go from the last step to the first. Outputs stay at the steps of their inputs.
  bool reverse = false;
};
WEFT_OPTIONS(RNNOptions, return_sequences, reverse)

/// A cell along time: x (batch, time, inputs) to its last output (batch, units), or to all (batch,
/// time, units).
template <RecurrentCell Cell>
class RNN {
public:
  using State = typename Cell::State;

  explicit RNN(Cell own, const RNNOptions &options = {})
      : cell(std::move(own)), options_(options), name_(kind()) {}
  /// With a cell of its own.
  explicit RNN(std::int64_t units, const RNNOptions &options = {},
               const CellOptions &cell_options = {}, std::source_location where = WEFT_HERE)
      : cell(units, cell_options, where), options_(options), name_(kind(), cell_options.name) {}

  Tensor operator()(const Operand &x) const { return run(x).first; }

  /// The output and the state after the last step, from a state, zeros if there is none. A step
  /// where `mask` (batch, time), bools, is false leaves its example's state, and shows its last
  /// output again.
  std::pair<Tensor, State> run(const Operand &x, const std::optional<State> &initial = std::nullopt,
                               const Tensor &mask = {}) const {
    std::optional<std::pair<Tensor, State>> result;
    weft::detail::run_as_layer(name_, x.where(), [&] {
      result.emplace(run_steps(x.materialize(), initial, mask));
      return result->first;
    });
    return *std::move(result);
  }

  Cell cell;

  WEFT_FIELDS(RNN, cell, name_)

private:
  /// What errors call it: "LSTM" of an LSTMCell.
  static constexpr const char *kind() {
    if constexpr (requires { Cell::layer_kind; }) return Cell::layer_kind;
    else return "RNN";
  }
  std::pair<Tensor, State> run_steps(const Tensor &x, const std::optional<State> &initial,
                                     const Tensor &mask) const {
    check_sequence(name_, x, mask);
    if constexpr (requires { cell.check_inputs(name_, x); }) cell.check_inputs(name_, x);
    if constexpr (requires(const State &state) { cell.check_state(name_, x, state); })
      if (initial) cell.check_state(name_, x, *initial);
    const Tensor inputs = cell.project(transpose(x, {1, 0, 2}));
    const State start = initial ? *initial : cell.zero_state(inputs);
    const auto next = [&](const State &state, const Tensor &input) {
      return cell.step(input, state);
    };
    State last = start;
    Tensor outputs;
    const ScanOptions order{.reverse = options_.reverse};
    if (mask.defined()) {
      const Tensor steps = transpose(mask, {1, 0});
      std::tie(last, outputs) = scan(
          [&](const State &state, const std::pair<Tensor, Tensor> &at) {
            const State after = cell.chosen(expand(at.second), next(state, at.first), state);
            return std::pair(after, cell.output(after));
          },
          start, std::pair(inputs, steps), order);
    } else {
      std::tie(last, outputs) = scan(
          [&](const State &state, const Tensor &input) {
            const State after = next(state, input);
            return std::pair(after, cell.output(after));
          },
          start, inputs, order);
    }
    if (!options_.return_sequences) return {cell.output(last), last};
    return {transpose(outputs, {1, 0, 2}), last};
  }
  static Tensor expand(const Tensor &mask) { return reshape(mask, {-1, 1}); }

  RNNOptions options_;
  LayerName name_;
};

using SimpleRNN = RNN<SimpleRNNCell>;
using LSTM = RNN<LSTMCell>;
using GRU = RNN<GRUCell>;

/// How the two directions are brought together.
enum class Merge : std::int32_t { concatenate, sum };

/// A recurrent layer in both directions, its backward one with variables of its own: outputs
/// (batch, [time,] 2 * units), or their sums.
template <RecurrentCell Cell>
class Bidirectional {
public:
  explicit Bidirectional(std::int64_t units, bool return_sequences = false,
                         Merge merge = Merge::concatenate, const CellOptions &options = {},
                         std::source_location where = WEFT_HERE)
      : forward(units, {.return_sequences = return_sequences}, named(options, ".forward"), where),
        backward(units, {.return_sequences = return_sequences, .reverse = true},
                 named(options, ".backward"), where),
        merge_(merge) {}

  Tensor operator()(const Operand &x, const Tensor &mask = {}) const {
    const Tensor ahead = forward.run(x, std::nullopt, mask).first,
                 behind = backward.run(x, std::nullopt, mask).first;
    return merge_ == Merge::sum ? ahead + behind : weft::concatenate({ahead, behind}, {.axis = -1});
  }

  RNN<Cell> forward, backward;

  WEFT_FIELDS(Bidirectional, forward, backward, merge_)

private:
  static CellOptions named(CellOptions options, const char *direction) {
    if (!options.name.empty()) options.name += direction;
    return options;
  }

  Merge merge_;
};

} // namespace weft::nn
