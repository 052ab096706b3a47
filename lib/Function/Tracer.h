// The tracer: the interpreter that records op calls and control flow as a program.
#pragma once

#include <unordered_map>

#include "Ops/Interpreter.h"
#include "Program/Program.h"

namespace weft {

/// Records the calls made while it is current. Its traced tensors hold a reference to the trace's
/// name only, so that one which escapes can say where it came from.
class Tracer final : public Interpreter {
public:
  explicit Tracer(std::string name);
  ~Tracer() override;

  /// A new input of the program.
  Tensor input(const TensorType &type);
  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  bool traces() const override { return true; }
  /// The types of what `body` gives for inputs of these types; what it does is not recorded.
  std::vector<TensorType> types_of(std::string_view name, const detail::Body &body,
                                   std::span<const TensorType> inputs) override;
  /// Ends the trace with these results and hands out the program.
  Program finish(std::span<const Tensor> results);

private:
  struct Ref;
  /// A region that is being traced.
  struct Open {
    ProgramRegion region;
    std::uint32_t number;
  };

  ProgramRegion trace_region(std::string_view name, const detail::Body &body,
                             std::span<const TensorType> arguments);
  std::vector<Tensor> trace_choice(const ConstructCall &call);
  std::vector<Tensor> trace_loop(const ConstructCall &call);
  std::vector<Tensor> trace_counted(const ConstructCall &call);
  std::vector<Tensor> add_construct(const ConstructCall &call, std::vector<ProgramRegion> regions,
                                    std::span<const TensorType> types);
  bool is_open(std::uint32_t region) const;
  std::vector<ProgramNode> &nodes() {
    return open_.empty() ? program_.nodes : open_.back().region.nodes;
  }

  /// The value of an operand: of this trace, or an eager tensor, which becomes a constant if it has
  /// one element (the compiler may fold it) and a hidden input otherwise.
  ValueId value_of(const Tensor &tensor);
  ValueId add_value(TensorType type);
  Tensor wrap(ValueId value);
  ValueId add_constant(const Tensor &tensor);
  void note_variable(const VariableRef &variable, bool written);

  Program program_;
  Ref *ref_;
  std::vector<Open> open_;    ///< the regions being traced, outermost first
  std::uint32_t regions_ = 0; ///< how many regions there were, of which 0 is the function's body
  std::vector<std::uint32_t> region_of_; ///< where each value was made
  /// Values of the eager tensors seen so far, by their impl; `alive_` keeps the addresses taken.
  std::unordered_map<const void *, ValueId> captured_;
  std::vector<Tensor> alive_;
};

} // namespace weft
