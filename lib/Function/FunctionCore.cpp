// The trace cache of a function: look-up by signature, tracing, and the call of compiled code.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "CodeCache/CodeCache.h"
#include "Function/CompiledCall.h"
#include "Function/Tracer.h"
#include "Program/CompilerBackend.h"
#include "Support/Fault.h"
#include <weft/function.h>

namespace weft {

namespace detail {

class FunctionCore::Trace {
public:
  SignatureKey key;
  std::shared_ptr<void> prototype;
  CompileReport report;
  std::optional<CompiledCall> call;
};

struct FunctionCore::Impl {
  FunctionOptions options;
  std::mutex mutex;
  std::vector<std::shared_ptr<Trace>> traces;
  /// The trace of the last call, tried first without the lock.
  std::atomic<std::shared_ptr<Trace>> last;
  int next_dump = 0;

  std::shared_ptr<Trace> look_up(const SignatureKey &key) {
    for (const std::shared_ptr<Trace> &trace : traces)
      if (trace->key == key) return trace;
    return nullptr;
  }

  /// The types that the trace's inputs have: the signature's if there is one.
  std::vector<TensorType> input_types(const ArgumentReader &arguments) const;
  Program trace(const ArgumentReader &arguments, const Tracee &tracee) const;
};

FunctionCore::FunctionCore(FunctionOptions options) : impl_(new Impl) {
  if (options.name.empty()) options.name = "function";
  impl_->options = std::move(options);
}

FunctionCore::~FunctionCore() = default;

bool FunctionCore::inlined() { return Interpreter::current() != nullptr; }

const std::shared_ptr<void> &FunctionCore::prototype(const Trace &trace) { return trace.prototype; }

namespace {

TensorType type_of(const TensorImpl *impl) { return {impl->dtype, Shape(impl->sizes())}; }

/// The key of a call without the sizes of its tensors: what is left is their number and place, and
/// everything that is no tensor. It follows the words that ArgumentReader writes.
SignatureKey without_sizes(const SignatureKey &key) {
  SignatureKey kept;
  for (std::size_t i = 0; i < key.size();) {
    const std::uint64_t head = key[i++];
    kept.push_back(head);
    const bool is_text = (head >> 8 & 0xff) == 0xff;
    switch (static_cast<Node>(head & 0xff)) {
    case Node::tensor: i += head >> 16; break;
    case Node::variable: kept.push_back(key[i++]); break;
    case Node::literal:
      for (std::uint64_t words = is_text ? ((head >> 16) + 7) / 8 : 1; words != 0; --words)
        kept.push_back(key[i++]);
      break;
    default: break;
    }
  }
  return kept;
}

bool admits(const TensorType &spec, const TensorType &type) {
  if (spec.dtype != type.dtype || spec.shape.size() != type.shape.size()) return false;
  for (std::size_t i = 0; i < spec.shape.size(); ++i)
    if (spec.shape[i] != unknown && spec.shape[i] != type.shape[i]) return false;
  return true;
}

} // namespace

std::vector<TensorType> FunctionCore::Impl::input_types(const ArgumentReader &arguments) const {
  std::vector<TensorType> types;
  for (const TensorImpl *tensor : arguments.tensors) types.push_back(type_of(tensor));
  if (options.signature.empty()) return types;
  if (types.size() != options.signature.size())
    throw ValueError(options.name + ": the signature has " +
                     std::to_string(options.signature.size()) + " tensors, but the call has " +
                     std::to_string(types.size()));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!admits(options.signature[i], types[i]))
      throw ValueError(options.name + ": tensor " + std::to_string(i) + " of the arguments is " +
                       to_string(types[i]) + ", but the signature says " +
                       to_string(options.signature[i]));
    types[i] = options.signature[i];
  }
  return types;
}

Program FunctionCore::Impl::trace(const ArgumentReader &arguments, const Tracee &tracee) const {
  Tracer tracer(options.name);
  std::vector<Tensor> inputs;
  for (const TensorType &type : input_types(arguments)) inputs.push_back(tracer.input(type));
  push_interpreter(&tracer);
  struct Pop {
    Tracer &tracer;
    ~Pop() { pop_interpreter(&tracer); }
  } pop{tracer};
  const std::vector<Tensor> results = tracee(inputs);
  return tracer.finish(results);
}

std::shared_ptr<FunctionCore::Trace> FunctionCore::find(ArgumentReader &arguments,
                                                        const Tracee &tracee,
                                                        std::shared_ptr<void> &prototype) {
  // With a signature sizes do not matter.
  if (!impl_->options.signature.empty()) {
    static_cast<void>(impl_->input_types(arguments));
    arguments.key = without_sizes(arguments.key);
  }
  std::shared_ptr<Trace> last = impl_->last.load(std::memory_order_acquire);
  if (last && last->key == arguments.key) return last;
  const std::lock_guard lock(impl_->mutex);
  std::shared_ptr<Trace> trace = impl_->look_up(arguments.key);
  if (!trace) {
    trace = std::make_shared<Trace>();
    trace->key = arguments.key;
    const auto start = std::chrono::steady_clock::now();
    Program program = impl_->trace(arguments, tracee);
    const double trace_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    std::string dump = impl_->options.dump;
    if (!dump.empty()) dump += "/" + impl_->options.name + "." + std::to_string(impl_->next_dump++);
    CompiledCode code = cache::compile(program, dump);
    trace->report = std::move(code.report);
    trace->report.trace_ms = trace_ms;
    trace->report.total_ms += trace_ms;
    trace->report.arena_bytes = code.arena_bytes;
    trace->report.traced_ops = static_cast<int>(program.nodes.size());
    trace->call.emplace(std::move(program), std::move(code));
    trace->prototype = std::move(prototype);
    impl_->traces.push_back(trace);
  }
  impl_->last.store(trace, std::memory_order_release);
  return trace;
}

std::vector<Tensor> FunctionCore::run(Trace &trace, const ArgumentReader &arguments) {
  return trace.call->run(arguments.tensors);
}

const CompileReport &FunctionCore::report(const Trace &trace) const { return trace.report; }

std::string FunctionCore::ir(ArgumentReader &arguments, const Tracee &tracee, Phase phase) {
  return compiler_backend().ir(impl_->trace(arguments, tracee), phase);
}

std::size_t FunctionCore::trace_count() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->traces.size();
}

} // namespace detail
} // namespace weft
