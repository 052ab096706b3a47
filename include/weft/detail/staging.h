// What bindings of other languages need of the trace that is recording: whether there is one,
// bodies that are tried and forgotten, variables that nobody keeps, and the lines of the other
// language.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <weft/detail/function_core.h>
#include <weft/tensor.h>

namespace weft::detail {

/// Whether control flow on this thread is recorded: in a trace, under tapes within it too.
bool is_tracing();
/// Whether tensors of this thread may stand for values to come, or for several.
bool is_staged();

/// Runs `body` on values, unseen by the traces and tapes of this thread.
void run_eagerly(const std::function<void()> &body);

/// The same from its construction to its end; those of a thread end in the opposite order.
class EagerScope {
public:
  EagerScope();
  ~EagerScope();
  EagerScope(const EagerScope &) = delete;
  EagerScope &operator=(const EagerScope &) = delete;

private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};

/// How many ops, calls and constructs the traces of this thread have recorded until now, those of
/// forgotten blocks among them.
std::uint64_t recorded_ops();

/// What is tried; its tensors are good within the call only, but for their types.
using ProbeBody = std::function<void(std::span<const Tensor>)>;

/// Runs `body` on traced tensors of the types of `state`, in a block of the trace that is
/// recording, which is then erased: nothing that it did is part of the program, and no tape sees
/// it. Where none is recording, on values of a batch, the block is one of a trace for this alone.
/// `name` is for messages. Throws what the body throws.
void probe(std::string_view name, std::span<const Tensor> state, const ProbeBody &body);

/// Throws the StateError about a variable that a traced function makes and nobody keeps.
[[noreturn]] void refuse_unkept(const std::string &function, const std::string &variable);

/// Whether a call of this trace takes a few microseconds at most and waits for nobody: straight
/// code on few elements, without variables, constructs and prints. A binding may keep its
/// interpreter's lock meanwhile.
bool is_short(const FunctionCore::Trace &trace);

/// Whether a trace is the one for a call with these arguments.
bool serves(const FunctionCore::Trace &trace, const ArgumentReader &arguments);

/// A line of a program in another language; `line` is 0 if there is none.
struct ForeignLine {
  const char *file = nullptr; ///< lives for ever
  std::uint32_t line = 0;
  std::uint32_t column = 0; ///< 0 if not known
};

/// Sets what says which line of another language this thread is running. It is asked for each op
/// that a trace records where no line of C++ is known, and must not throw. Null asks nobody.
void set_line_finder(ForeignLine (*finder)());

} // namespace weft::detail
