// Doors for bindings of other languages into the trace that is recording.
#include <weft/detail/staging.h>

#include <optional>

#include "Device/Device.h"
#include "Function/Beneath.h"
#include "Function/TraceCache.h"
#include "Function/Tracer.h"
#include "OpDefs/OpInfo.h"
#include "Program/Ranks.h"
#include <weft/detail/batching.h>

namespace weft::detail {

bool is_tracing() {
  const Interpreter *interpreter = Interpreter::current();
  return interpreter != nullptr && interpreter->traces();
}

void run_eagerly(const std::function<void()> &body) {
  const EagerScope eager;
  body();
}

struct EagerScope::Scope {
  Interpreter::Scope of{nullptr};
  device::ScopesCount on_devices{true};
};
EagerScope::EagerScope() : scope_(std::make_unique<Scope>()) {}
EagerScope::~EagerScope() = default;

bool is_staged() { return is_tracing() || is_batching(); }

std::uint64_t recorded_ops() { return Tracer::recorded(); }

void probe(std::string_view name, std::span<const Tensor> state, const ProbeBody &body) {
  if (!is_staged())
    throw StateError(std::string(name) + ": nothing is being traced that could be tried");
  std::optional<Tracer> tracer; // on values: for this alone
  std::optional<Beneath> beneath;
  if (!is_tracing()) {
    tracer.emplace(Tracer::Options{.name = std::string(name), .checkpoint = {}});
    beneath.emplace(&*tracer);
  }
  const Body tried = [&](std::span<const Tensor> inputs) {
    body(inputs);
    return std::vector<Tensor>();
  };
  const std::vector<TracedType> inputs(state.begin(), state.end());
  static_cast<void>(Interpreter::current()->types_of(name, tried, inputs));
}

bool is_short(const FunctionCore::Trace &trace) {
  constexpr std::size_t kNodes = 64;
  constexpr std::int64_t kElements = 4096;
  const Program &program = *trace.program;
  if (!program.variables.empty() || program.nodes.size() > kNodes) return false;
  for (const ProgramNode &node : program.nodes)
    if (node.construct != nullptr || node.result == kNoValue ||
        (op_info(node.op).kind == OpKind::collective && has_several_ranks()))
      return false;
  std::int64_t elements = 0;
  for (const TensorType &type : program.values) {
    std::int64_t size = 1;
    for (const std::int64_t dim : type.shape)
      if (dim < 0 || __builtin_mul_overflow(size, dim, &size)) return false;
    if (__builtin_add_overflow(elements, size, &elements) || elements > kElements) return false;
  }
  return true;
}

bool serves(const FunctionCore::Trace &trace, const ArgumentReader &arguments) {
  return trace.serves(arguments);
}

void set_line_finder(ForeignLine (*finder)()) { Tracer::set_line_finder(finder); }

} // namespace weft::detail
