// Runs programs of the fuzzer by Weft's C++ API: on values, under tapes and in traces alike.
#pragma once

#include "Program.h"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <weft/weft.h>

namespace weft::fuzz {

/// What a derivative takes for constant: values behind stop_gradient, what variables hold, random
/// numbers, integers and booleans. A first run records them and later ones get the same again, so
/// that differences are of what is differentiated and of nothing else, and all runs go the same way
/// through the control flow.
class Constants {
public:
  enum class Mode : std::uint8_t { off, record, replay };

  void start(Mode mode) {
    mode_ = mode;
    at_ = 0;
    if (mode == Mode::record) {
      kept_.clear();
      margin = std::numeric_limits<double>::infinity();
    }
  }
  Mode mode() const { return mode_; }
  bool replays() const { return mode_ == Mode::replay; }
  /// The value, or the one that was recorded instead.
  Tensor keep(const Tensor &value);

  /// How far the closest comparison of floating values is from another result.
  double margin = std::numeric_limits<double>::infinity();
  /// What is added to each read of a variable that is replayed; undefined for nothing.
  std::array<Tensor, variable_count> shifts;

private:
  Mode mode_ = Mode::off;
  std::vector<Tensor> kept_;
  std::size_t at_ = 0;
};

struct Inputs {
  Tensor x, w, s, n, k;
};

/// The variables and the generator of a program.
class World {
public:
  explicit World(const Program &program);
  /// Gives them the values they start with.
  void reset() const;
  /// What they hold.
  std::vector<Tensor> values() const;

  std::vector<Variable> variables;
  random::Generator generator;

private:
  std::vector<Tensor> initial_;
};

struct Value {
  Tensor tensor;
  std::optional<TensorArray> array;
};

/// Values as a structure: tensors and arrays, each in their order.
using State = std::tuple<std::vector<Tensor>, std::vector<TensorArray>>;

struct Results {
  Tensor loss;
  std::vector<Tensor> values; ///< what main yields
};

/// A program on its way. May run any number of times, also while it is traced.
class Interpreter {
public:
  /// `traced`: calls are of traced functions, as they are if the program says so.
  Interpreter(const Program &program, const World &world, Constants &constants, bool traced);

  Results run(const Inputs &inputs);

private:
  using Values = std::vector<Value>;

  Values block(const Block &block, const Values &arguments);
  void statement(const Statement &statement);
  Tensor map(const Statement &statement, const Tensor &x);
  Tensor combine(const Statement &statement, const Tensor &x, const Tensor &y);
  Tensor reduce(const Statement &statement, const Tensor &x);
  Tensor reshaped(const Statement &statement);
  Tensor product(const Statement &statement);
  Tensor indexed(const Statement &statement);
  Tensor whole(const Statement &statement);
  Tensor compare(const Tensor &x, const Tensor &y);
  Value array(const Statement &statement);
  Tensor read(int variable);
  void effect(const Statement &statement);
  Values branch(const Statement &statement);
  Values choose(const Statement &statement);
  Values count(const Statement &statement);
  Values loop(const Statement &statement);
  Values scanned(const Statement &statement);
  Values call(const Statement &statement);
  Tensor slope(const Statement &statement);

  const Tensor &tensor(int id) const { return values_[static_cast<std::size_t>(id)].tensor; }
  const Tensor &operand(const Statement &statement, std::size_t i) const {
    return tensor(statement.operands[i]);
  }
  /// The values of the operands from this one on.
  Values rest(const Statement &statement, std::size_t from) const;
  State state_of(const Values &values) const;
  Values values_of(const State &state, std::span<const int> like) const;
  /// A number of iterations, at most 3.
  static Tensor iterations(const Tensor &count) { return minimum(count, std::int64_t{3}); }
  Tensor size() const;
  void note_margin(const Tensor &distance);

  const Program &program_;
  const World &world_;
  Constants &constants_;
  bool traced_;
  Values values_;
  std::vector<std::optional<Function<std::function<State(const State &)>>>> functions_;
};

} // namespace weft::fuzz
