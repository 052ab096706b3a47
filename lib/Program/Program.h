// Programs: what a tracer records and a compiler takes. Op calls and control flow, no LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <unordered_map>
#include <vector>

#include "OpDefs/OpInfo.h"
#include "Runtime/HostFunction.h"
#include <weft/tensor.h>

namespace weft {

/// The number of a value in its program.
using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};

struct Graph;
struct ProgramConstruct;

/// Where in the user's source an op was called: the file by its number in Program::files. Line 0 if
/// that is not known.
struct ProgramLocation {
  std::uint32_t file = 0, line = 0, column = 0;
  const char *function = nullptr; ///< CallSite::function() there
};

/// One op call of a program, or a construct. Constants are nodes of op `constant`; reads and
/// assigns carry their variable as first attribute.
struct ProgramNode {
  OpCode op{};
  detail::InlineVector<ValueId, 4> operands;
  Attrs attrs;
  ValueId result = kNoValue; ///< the first; others are numbered behind it, see results_of
  /// Control flow; then `op`, `attrs` and `result` say nothing.
  std::unique_ptr<ProgramConstruct> construct;
  ProgramLocation location;
};

/// The values that an op call gives; none of a construct.
inline auto results_of(const ProgramNode &node) {
  const bool none = node.construct != nullptr || node.result == kNoValue;
  return std::views::iota(node.result, node.result + (none ? 0 : op_info(node.op).results));
}

/// Nodes with a scope of their own: they may use values of the regions around them.
struct ProgramRegion {
  std::vector<ValueId> arguments;
  std::vector<ProgramNode> nodes; ///< in the order of the calls
  std::vector<ValueId> results;
};

/// The kinds of control flow, and what their node's operands and regions are.
enum class ConstructKind : std::uint8_t {
  branch,  ///< operand: a bool scalar; regions: then, else; both give the results
  choice,  ///< operand: an integer scalar; regions: the cases, of which the last takes all other
           ///< values
  loop,    ///< operands: the state; regions: the condition, which ends in one bool scalar, and the
           ///< body
  counted, ///< operands: the first number and the one to stop before, i64 scalars, and the state;
           ///< region: the body of the iteration's number, an i64 scalar, and the state
  call,    ///< of another traced function; operands: its inputs, then its captured tensors
  host,    ///< of a C++ callable; operands: what it is called with
  record,  ///< a call that keeps what its derivative needs; operands as of a call
  pull,    ///< operands: a cotangent for each floating result of a record; results: those of the
           ///< operands that its `wrt` numbers
  push,    ///< a call with tangents; operands: as of a call, then a tangent for each that `wrt`
           ///< numbers; results: those of the callee, then the tangent of each floating one
  custom,  ///< values whose derivative is the user's; operands: the values, which are the results;
           ///< what they came from, one for each output of the callee; the callee's captured
           ///< tensors. The callee takes a cotangent for each floating result and gives those of
           ///< what they came from.
};

/// Control flow and calls but for their regions.
struct ProgramConstructHead {
  ConstructKind kind;
  std::int64_t step = 1; ///< of a counted loop, positive
  std::vector<ValueId> results;
  std::shared_ptr<const struct Program> callee; ///< of what calls one
  std::vector<VariableRef> variables;           ///< what the callee's variables are here
  HostFunctionRef host;                         ///< of a host call
  bool pure = false;                            ///< a host call without effects
  std::uint32_t record = 0;                     ///< number of a record, and of what is pulled
  /// Of a record or a push: derivatives may end at host calls, which who asks for them knows of.
  bool ends_at_hosts = false;
  /// Of a record: numbers of operands, and of variables, which are counted on behind them. With
  /// variables it may stand in a program with a `part` only. Of a push: numbers of operands.
  std::vector<std::uint32_t> wrt;
};

/// Control flow and calls: what `cond`, `switch_case`, `while_loop`, `for_loop`, calls of traced
/// functions and `host_call` leave in a program, and tapes around them. Types
/// of operands, region results and results may differ in sizes that one of them does not know.
struct ProgramConstruct : ProgramConstructHead {
  std::vector<ProgramRegion> regions;
};

/// Which half of a program is compiled that holds a function and its derivative: its first `inputs`
/// inputs and `outputs` outputs are the function's, the others cotangents and gradients. The
/// forward half runs the function and saves what the backward half needs, see SavedValue.
struct DerivativePart {
  enum class Half : std::uint8_t { forward, backward } half;
  std::uint32_t inputs, outputs;
};

/// What a program computes, as an op of the compiler that targets may have one kernel for; where
/// they have not, the program is what it says.
struct ProgramKernel {
  std::string op; ///< "attention"
  std::vector<std::pair<std::string, Attr>> attributes;
};

/// Sizes of a program's values in the call that it was traced for: what a trace of that call alone
/// would know.
struct ProgramHints {
  std::vector<Shape> shapes; ///< of every value; `unknown` for what depends on values of the call
  std::unordered_map<ValueId, Tensor> values; ///< what is computed of sizes and constants alone
};

/// Of a program that can be differentiated without end.
inline constexpr std::uint32_t kAnyOrder = ~std::uint32_t{0};

/// A traced function but for its nodes.
struct ProgramHead {
  std::string name;
  std::vector<TensorType> values; ///< the type of every value
  std::vector<ValueId> inputs;    ///< the tensors of the arguments
  std::vector<ValueId> captured;  ///< hidden inputs: eager tensors that the callable used
  std::vector<Tensor> captures;   ///< their tensors, in the same order
  /// The variables of the arguments: each is a stand-in that a call binds.
  std::vector<VariableRef> parameters;
  std::vector<VariableRef> variables; ///< in the order of their first use
  std::vector<bool> written;          ///< whether the variable of that number is assigned
  std::vector<ValueId> outputs;
  std::vector<std::string> files; ///< of the user's source, which nodes count
  std::optional<DerivativePart> part;
  std::optional<ProgramKernel> kernel; ///< of one that is called
  /// Eager tensors that became constants,
  /// with those of the programs it calls.
  std::vector<Tensor> folded;
  /// The callables of its host calls and of those of the programs it calls, in order, each once.
  std::vector<HostFunctionRef> hosts;
  /// FunctionOptions::checkpoint, for its records.
  std::string checkpoint;
  bool tf32 = false; ///< FunctionOptions::tf32
  /// How often it can be differentiated: pullbacks that use themselves are recorded no further.
  std::uint32_t orders = kAnyOrder;
  /// Stands for a pullback that was not recorded: it gives what it captures.
  bool unrecorded = false;
  /// Where names are given to sizes, the shape of each input with these, as detail::named_size has
  /// them, and `unknown` for other sizes. Equal names are equal sizes.
  std::vector<Shape> names;
  /// What the sizes are in the call that it was traced for; null if it was traced for none.
  std::shared_ptr<const ProgramHints> hints;
};

/// A traced function.
struct Program : ProgramHead {
  std::vector<ProgramNode> nodes; ///< in the order of the calls

  /// The names that the callables have in its code.
  std::vector<std::string> host_symbols() const;
  /// Fills `hosts`.
  void collect_hosts();

  /// The number of a variable, which must be in `variables`.
  std::size_t variable_index(const VariableRef &variable) const;
};

/// The graph of a program, with what its constructs and calls contain.
Graph graph_of(const Program &program);

} // namespace weft
