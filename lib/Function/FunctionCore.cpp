// Traced functions without their C++ type: find a trace, or create one, compile it, run it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>

#include "CodeCache/CodeCache.h"
#include "Function/KernelOf.h"
#include "Function/ScalarConstants.h"
#include "Function/TraceCache.h"
#include "Function/TraceStack.h"
#include "Function/Tracer.h"
#include "Program/CompilerBackend.h"
#include "Program/Program.h"
#include "Program/Ranks.h"
#include "Program/Requests.h"
#include "Runtime/DeviceCalls.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Checkpoint.h"
#include "Support/Files.h"
#include "Support/Fork.h"
#include "Support/Log.h"
#include "Support/Profile.h"
#include "Support/SizeNames.h"
#include <weft/error.h>
#include <weft/graph.h>

namespace weft::detail {

using TracePtr = TraceCache::TracePtr;

struct FunctionCore::Impl {
  explicit Impl(FunctionOptions given) : options(std::move(given)), cache(options.max_traces) {}

  /// A trace to be: the key with open sizes, and what they may be.
  TracePtr plan(const ArgumentReader &arguments) const;
  TracePtr plan_for_signature(const ArgumentReader &arguments,
                              const std::vector<TensorType> &signature) const;
  /// Leaves those sizes open in which the call differs from a trace there is.
  void relax(Trace &trace, const Trace &near, const ArgumentReader &arguments) const;
  /// Where a call with these arguments runs.
  Device device_of(const ArgumentReader &arguments) const;
  /// Runs the callable, for a call with tensors of these shapes unless it is for none (null).
  /// Whether the trace is pinned to them: then its key has them.
  bool trace(Trace &trace, const ArgumentReader &arguments, const Tracee &tracee,
             const std::vector<Shape> *shapes = nullptr, std::uint32_t orders = 1,
             ScalarConstants *shared = nullptr) const;
  /// Creates the trace for a call that none serves.
  TracePtr create(const ArgumentReader &arguments, const Tracee &tracee,
                  std::shared_ptr<void> &prototype, bool inside, const std::vector<Shape> *shapes,
                  std::uint32_t orders);
  /// Derivatives of order `orders` may be taken of the trace.
  TracePtr find_or_create(const ArgumentReader &arguments, const Tracee &tracee,
                          std::shared_ptr<void> &prototype, bool inside, std::uint32_t orders);
  void insert(const TracePtr &trace);
  void compile(Trace &trace);

  FunctionOptions options;
  TraceCache cache;
  ScalarConstants constants; ///< of the traces, which one thread makes at a time
  std::atomic<int> next_dump = 0;
};

namespace {

/// One callable is traced at a time in the whole process: callables may share what they capture,
/// and functions that call each other from several threads cannot wait for each other in a ring. In
/// a child nobody traces but the thread that forked.
class Tracing {
public:
  void lock() {
    if (depth_ == 0) mutex_.lock();
    ++depth_;
  }
  void unlock() {
    if (--depth_ == 0) mutex_.unlock();
  }

private:
  forks::Mutex<std::mutex> mutex_;
  static thread_local constinit int depth_;
};
thread_local constinit int Tracing::depth_ = 0;

Tracing &tracing() {
  static Tracing &mutex = *new Tracing;
  return mutex;
}

FunctionOptions checked(FunctionOptions options) {
  if (options.name.empty()) options.name = "function";
  if (options.max_traces == 0)
    throw ValueError(options.name + ": max_traces is 0, but a function keeps one trace at least");
  for (const TensorType &spec : options.signature)
    if (!is_any_rank(spec.shape))
      for (const std::int64_t size : spec.shape)
        if (size < unknown && !detail::is_named(size))
          throw ShapeError(options.name + ": the signature has a size of " + std::to_string(size) +
                           ", which is negative: one that may be any is `unknown`");
  if (!options.dump.empty()) check_path(options.name + ": dump", options.dump);
  if (const auto checkpoint = parse_checkpoint(options.checkpoint); !checkpoint)
    throw ValueError(options.name + ": " + checkpoint.fault().message);
  return options;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// "step: compiled in 84.1 ms: trace 0.3, differentiate 0.9, ..."
std::string times_of(const std::string &name, const CompileReport &report) {
  const auto text = [](double milliseconds) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.1f", milliseconds);
    return std::string(buffer);
  };
  std::string line =
      name + ": compiled in " + text(report.total_ms) + " ms: trace " + text(report.trace_ms);
  for (const CompileReport::PhaseTime &phase : report.phases)
    line += ", " + phase.phase + " " + text(phase.milliseconds);
  return line;
}

Tracer *recorder() { return dynamic_cast<Tracer *>(Interpreter::current()); }

} // namespace

FunctionCore::FunctionCore(FunctionOptions options)
    : impl_(new Impl(checked(std::move(options)))) {}

FunctionCore::~FunctionCore() = default;

bool FunctionCore::recording() { return Interpreter::current() != nullptr; }
bool FunctionCore::calls_are_recorded() { return recorder() != nullptr; }
bool FunctionCore::calls_are_entries() { return TapedProgram::is_possible(); }

const std::shared_ptr<void> &FunctionCore::prototype(const Trace &trace) { return trace.prototype; }
std::span<const VariablePointer> FunctionCore::stand_ins(const Trace &trace) {
  return trace.stand_ins;
}

//===----------------------------------------------------------------------===//
// Which sizes are left open
//===----------------------------------------------------------------------===//

namespace {

void leave_open(SignatureKey &key, std::vector<std::uint32_t> &open, std::size_t at) {
  key[at] = kUnknownSize;
  open.push_back(static_cast<std::uint32_t>(at));
}

/// The shapes of a call's tensors, those of traced ones in the call that their trace is for.
std::vector<Shape> shapes_of(const ArgumentReader &arguments) {
  std::vector<Shape> shapes;
  for (TensorImpl *tensor : arguments.tensors) {
    retain(tensor);
    shapes.push_back(hint_of(Tensor(tensor)));
  }
  return shapes;
}

/// Gives the trace the key of calls of these sizes.
void pin(FunctionCore::Trace &trace, const std::vector<Shape> &shapes) {
  trace.open.clear();
  trace.rigid = true;
  std::size_t number = 0;
  for (const SignatureEntry &entry : entries_of(trace.key)) {
    if (entry.node() != Node::tensor) continue;
    const Shape &shape = shapes[number++];
    for (std::size_t i = 0; i < shape.size(); ++i) {
      trace.key[entry.at + 1 + i] = static_cast<std::uint64_t>(shape[i]);
      if (shape[i] == unknown) leave_open(trace.key, trace.open, entry.at + 1 + i);
    }
  }
}

void check_defined(const std::string &name, const ArgumentReader &arguments) {
  if (arguments.undefined >= 0)
    throw ValueError(name + ": tensor " + std::to_string(arguments.undefined) +
                     " of the arguments is undefined: it was never given a value");
}

void check_fits(const std::string &name, std::size_t number, const TensorType &spec,
                const TensorType &type) {
  const std::string message = name + ": tensor " + std::to_string(number) +
                              " of the arguments is " + to_string(type) +
                              ", but the signature says " + to_string(spec);
  if (spec.dtype != type.dtype) throw DTypeError(message);
  if (is_any_rank(spec.shape)) return;
  if (spec.shape.size() != type.shape.size()) throw ShapeError(message);
  for (std::size_t i = 0; i < spec.shape.size(); ++i)
    if (spec.shape[i] >= 0 && spec.shape[i] != type.shape[i]) throw ShapeError(message);
}

/// Where sizes of one name stand in a call's key: pairs of the first and another. Throws ShapeError
/// where they differ. Nothing is said of those that a trace around the call leaves open.
std::vector<std::pair<std::uint32_t, std::uint32_t>>
check_names(const std::string &name, const SignatureKey &key,
            const std::vector<TensorType> &signature) {
  struct First {
    std::size_t word, tensor, axis;
  };
  std::map<std::int64_t, First> firsts;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> equal;
  std::size_t tensor = 0;
  for (const SignatureEntry &entry : entries_of(key)) {
    if (entry.node() != Node::tensor) continue;
    const Shape &shape = signature[tensor].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!is_named(shape[axis])) continue;
      const std::size_t word = entry.at + 1 + axis;
      const auto [found, is_first] = firsts.try_emplace(shape[axis], First{word, tensor, axis});
      const First &first = found->second;
      if (is_first) continue;
      if (key[word] != key[first.word] && key[word] != kUnknownSize &&
          key[first.word] != kUnknownSize)
        throw ShapeError(name + ": the size '" + name_of_size(shape[axis]) + "' is " +
                         std::to_string(key[first.word]) + " in axis " +
                         std::to_string(first.axis) + " of tensor " + std::to_string(first.tensor) +
                         " of the arguments, but " + std::to_string(key[word]) + " in axis " +
                         std::to_string(axis) + " of tensor " + std::to_string(tensor));
      equal.emplace_back(static_cast<std::uint32_t>(first.word), static_cast<std::uint32_t>(word));
    }
    ++tensor;
  }
  return equal;
}

} // namespace

TracePtr FunctionCore::Impl::plan_for_signature(const ArgumentReader &arguments,
                                                const std::vector<TensorType> &signature) const {
  const std::vector<TensorType> types = tensor_types(arguments.key);
  if (types.size() != signature.size())
    throw ValueError(options.name + ": the signature has " + std::to_string(signature.size()) +
                     " tensors, but the call has " + std::to_string(types.size()));
  for (std::size_t i = 0; i < types.size(); ++i)
    check_fits(options.name, i, signature[i], types[i]);
  auto trace = std::make_shared<Trace>();
  trace->key = arguments.key;
  trace->ones_too = true;
  trace->equal = check_names(options.name, arguments.key, signature);
  const bool are_equal = std::ranges::all_of(trace->equal, [&](const auto &pair) {
    return arguments.key[pair.first] != kUnknownSize && arguments.key[pair.second] != kUnknownSize;
  });
  if (!trace->equal.empty() && are_equal)
    for (const TensorType &type : signature) trace->names.push_back(type.shape);
  std::size_t number = 0;
  for (const SignatureEntry &entry : entries_of(arguments.key)) {
    if (entry.node() != Node::tensor) continue;
    const Shape &shape = signature[number++].shape;
    for (std::size_t i = 0; i + 1 < entry.words; ++i)
      if (is_any_rank(shape) || shape[i] < 0) leave_open(trace->key, trace->open, entry.at + 1 + i);
  }
  return trace;
}

TracePtr FunctionCore::Impl::plan(const ArgumentReader &arguments) const {
  if (!options.signature.empty()) return plan_for_signature(arguments, options.signature);
  auto trace = std::make_shared<Trace>();
  trace->key = arguments.key;
  // Calls inside other traces may leave sizes open themselves.
  for (const SignatureEntry &entry : entries_of(arguments.key))
    if (entry.node() == Node::tensor)
      for (std::size_t at = entry.at + 1; at < entry.at + entry.words; ++at)
        if (trace->key[at] == kUnknownSize) leave_open(trace->key, trace->open, at);
  return trace;
}

void FunctionCore::Impl::relax(Trace &trace, const Trace &near,
                               const ArgumentReader &arguments) const {
  const std::vector<std::uint32_t> differing = *differing_sizes(near.key, arguments.key);
  for (const std::uint32_t at : differing)
    if (arguments.key[at] != 1) leave_open(trace.key, trace.open, at);
  if (trace.open.empty() || !logging()) return;
  std::string line = options.name + ": ";
  for (const std::string &difference : differences(near.key, arguments.key))
    line += difference + "; ";
  log_line(line + "traced again for all such sizes");
}

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

Device FunctionCore::Impl::device_of(const ArgumentReader &arguments) const {
  Device device = options.device;
  for (const TensorImpl *impl : arguments.tensors)
    if (device == Device()) device = impl->device;
  return device;
}

bool FunctionCore::Impl::trace(Trace &trace, const ArgumentReader &arguments, const Tracee &tracee,
                               const std::vector<Shape> *shapes, std::uint32_t orders,
                               ScalarConstants *shared) const {
  const auto start = std::chrono::steady_clock::now();
  const profile::Scope scope(profile::Kind::trace, std::string_view(options.name));
  const TraceFrame frame(this, options.name, &trace.key);
  const TracedFor traced_for(device_of(arguments));
  const Interpreter *const around = Interpreter::current();
  const bool outermost = around == nullptr || !around->traces();
  std::optional<ProgramKernel> kernel = KernelOf::take(options.name);
  Tracer tracer({.name = options.name,
                 .for_call = shapes != nullptr,
                 .checkpoint = options.checkpoint,
                 .tf32 = options.tf32,
                 .orders = std::max(orders, 1u)});
  std::vector<Tensor> inputs;
  for (const TensorType &type : tensor_types(trace.key)) {
    const std::size_t i = inputs.size();
    inputs.push_back(
        tracer.input(shapes == nullptr ? TracedType(type) : TracedType(type, (*shapes)[i]),
                     i < trace.names.size() ? trace.names[i] : Shape()));
  }
  std::vector<VariablePointer> stand_ins;
  for (const VariableRef &parameter :
       tracer.parameters({arguments.variables.data(), arguments.variables.size()}))
    stand_ins.push_back(&parameter);
  push_interpreter(&tracer);
  struct Pop {
    Tracer &tracer;
    ~Pop() { pop_interpreter(&tracer); }
  } pop{tracer};
  const std::vector<Tensor> results = [&] {
    const UserCode user;
    return tracee(inputs, stand_ins);
  }();
  Program program = tracer.finish(results);
  program.kernel = std::move(kernel);
  // What the values of a call in another trace are is known there.
  if (outermost && ranks_schedule_of(program).digest != 0) check_ranks_agree(program);
  if (shared != nullptr) shared->share(program);
  trace.program = std::make_shared<const Program>(std::move(program));
  trace.note_cuts();
  if (tracer.pinned()) pin(trace, *shapes);
  trace.single_use = tracer.uses_outer_trace();
  for (std::size_t i = 0; i < arguments.variables.size(); ++i) {
    trace.stand_ins.push_back(&trace.program->parameters[i]);
    trace.captured.push_back(tracer.captured_parameters()[i] ? *arguments.variables[i] : nullptr);
  }
  trace.trace_ms = milliseconds_since(start);
  return tracer.pinned();
}

TracePtr FunctionCore::Impl::create(const ArgumentReader &arguments, const Tracee &tracee,
                                    std::shared_ptr<void> &prototype, bool inside,
                                    const std::vector<Shape> *shapes, std::uint32_t orders) {
  // Inside, the caller's trace wants to know all sizes, and the code is the caller's anyway.
  const bool may_relax = options.reduce_retracing && options.signature.empty() && !inside;
  const TracePtr near = may_relax ? cache.nearest_in_size(arguments) : nullptr;
  TracePtr fresh = plan(arguments);
  fresh->rigid = near && near->rigid;
  std::vector<Shape> own;
  if (near && !near->rigid) {
    relax(*fresh, *near, arguments);
    own = shapes_of(arguments);
    if (!fresh->open.empty()) shapes = &own;
  }
  TraceFrame::check_endless(this, options.name, fresh->key);
  // Inside, constants go into the caller's program.
  ScalarConstants *const shared = inside || cache.size() == 0 ? nullptr : &constants;
  const bool pinned = trace(*fresh, arguments, tracee, shapes, orders, shared);
  fresh->prototype = std::move(prototype);
  if (pinned && near) {
    near->rigid = true;
    if (logging()) log_line(options.name + ": it needs to know these sizes; traced for them alone");
  }
  if (pinned && inside) recorder()->pin();
  if (!fresh->single_use) insert(fresh);
  return fresh;
}

void FunctionCore::Impl::insert(const TracePtr &trace) {
  const std::size_t dropped = cache.insert(trace);
  if (dropped != 0 && logging())
    log_line(options.name + ": more than " + std::to_string(options.max_traces) +
             " traces; the one unused for longest is dropped");
}

TracePtr FunctionCore::Impl::find_or_create(const ArgumentReader &arguments, const Tracee &tracee,
                                            std::shared_ptr<void> &prototype, bool inside,
                                            std::uint32_t orders) {
  check_defined(options.name, arguments);
  if (!options.signature.empty())
    static_cast<void>(plan_for_signature(arguments, options.signature));
  const bool exactly = inside && options.signature.empty();
  std::optional<std::vector<Shape>> of_call;
  if (exactly && recorder()->for_call()) of_call = shapes_of(arguments);
  const std::vector<Shape> *const shapes = of_call ? &*of_call : nullptr;
  if (TracePtr found = cache.find(arguments, exactly, shapes, orders)) return found;
  const std::lock_guard one(tracing());
  // Another thread may have been faster.
  if (TracePtr found = cache.find(arguments, exactly, shapes, orders)) return found;
  return create(arguments, tracee, prototype, inside, shapes, orders);
}

void FunctionCore::Impl::compile(Trace &trace) {
  if (trace.compiled.load(std::memory_order_acquire)) return;
  const forks::Delay whole;
  const std::lock_guard one(trace.compiling);
  if (trace.compiled.load(std::memory_order_relaxed)) return;
  std::string dump = options.dump;
  if (!dump.empty()) dump += "/" + file_name_of(options.name) + "." + std::to_string(next_dump++);
  CompiledCode code = cache::compile(*trace.program, dump, options.device);
  trace.report = std::move(code.report);
  trace.report.trace_ms = trace.trace_ms;
  trace.report.total_ms += trace.trace_ms;
  trace.report.arena_bytes = code.arena_bytes;
  trace.report.traced_ops = static_cast<int>(trace.program->nodes.size());
  if (logging() && trace.report.phases.size() > 1) log_line(times_of(options.name, trace.report));
  trace.call.emplace(trace.program, std::move(code), nullptr, nullptr, options.device);
  trace.compiled.store(true, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

TracePtr FunctionCore::find(const std::source_location &where, const ArgumentReader &arguments,
                            const Tracee &tracee, std::shared_ptr<void> &prototype) {
  TracePtr last = impl_->cache.last();
  if (last && last->serves(arguments)) return last;
  const CallLine site(where);
  TracePtr trace = impl_->find_or_create(arguments, tracee, prototype, /*inside=*/false, 0);
  try {
    impl_->compile(*trace);
  } catch (...) {
    impl_->cache.erase(trace);
    throw;
  }
  impl_->cache.set_last(trace);
  return trace;
}

std::vector<Tensor> FunctionCore::run(const std::source_location &where, Trace &trace,
                                      const ArgumentReader &arguments) {
  std::optional<CallLine> line; // which only profiles want of code that is there
  if (profile::on()) line.emplace(where);
  return trace.call->run(arguments.tensors,
                         {arguments.variables.data(), arguments.variables.size()});
}

TracePtr FunctionCore::find_taped(const std::source_location &where,
                                  const ArgumentReader &arguments, const Tracee &tracee,
                                  std::shared_ptr<void> &prototype) {
  const CallLine site(where);
  std::uint32_t orders = 0;
  for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous())
    orders += i->records();
  const Interpreter::Scope eager(nullptr);
  return impl_->find_or_create(arguments, tracee, prototype, /*inside=*/false, orders);
}

std::optional<std::vector<Tensor>> FunctionCore::run_taped(const std::source_location &where,
                                                           Trace &trace,
                                                           const ArgumentReader &arguments) {
  const CallLine site(where);
  return trace.taped(impl_->options.device)
      ->call({arguments.tensors.data(), arguments.tensors.size()},
             {arguments.variables.data(), arguments.variables.size()}, [&] {
               impl_->compile(trace);
               return run(where, trace, arguments);
             });
}

TracePtr FunctionCore::find_inside(const std::source_location &where,
                                   const ArgumentReader &arguments, const Tracee &tracee,
                                   std::shared_ptr<void> &prototype) {
  const CallLine site(where);
  return impl_->find_or_create(arguments, tracee, prototype, /*inside=*/true, recorder()->orders());
}

std::vector<Tensor> FunctionCore::call(const std::source_location &where, Trace &trace,
                                       const ArgumentReader &arguments) {
  const CallLine site(where);
  return recorder()->call(trace.program, arguments.tensors,
                          {arguments.variables.data(), arguments.variables.size()});
}

FunctionCore::Inlined::Inlined(const FunctionCore &core) {
  if (Interpreter::current()->traces())
    frame_ = std::make_unique<TraceFrame>(core.impl_.get(), core.impl_->options.name, nullptr);
}

FunctionCore::Inlined::~Inlined() = default;

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

std::shared_ptr<const Program> FunctionCore::record(const std::source_location &where,
                                                    const std::vector<TensorType> &types,
                                                    const ArgumentReader &arguments,
                                                    const Tracee &tracee) {
  const CallSite site(where);
  const Interpreter::Scope eager(nullptr);
  const std::lock_guard one(tracing());
  const TracePtr trace = impl_->plan_for_signature(arguments, types);
  impl_->trace(*trace, arguments, tracee);
  return trace->program;
}

const FunctionOptions &FunctionCore::options() const { return impl_->options; }

const CompileReport &FunctionCore::report(const Trace &trace) const { return trace.report; }

/// The GPU whose code is shown: where the function runs; of kernels also where it runs on none.
static std::string chip_to_show(Phase phase, Device device) {
  if (device != Device()) return chip_of(device::runtime_of(device).facts());
  if (phase != Phase::ptx) return {};
  return device::gpus().empty() ? "sm_90a" : chip_of(device::gpus().front()->facts());
}

std::string FunctionCore::ir(const ArgumentReader &arguments, const Tracee &tracee, Phase phase) {
  check_defined(impl_->options.name, arguments);
  check_phase(impl_->options.name + ": ir", phase);
  const std::lock_guard one(tracing());
  const TracePtr trace = impl_->plan(arguments);
  impl_->trace(*trace, arguments, tracee);
  const forks::Delay whole;
  return compiler_backend().ir(*trace->program, phase,
                               chip_to_show(phase, impl_->device_of(arguments)));
}

Graph FunctionCore::graph(const ArgumentReader &arguments, const Tracee &tracee) {
  check_defined(impl_->options.name, arguments);
  const std::lock_guard one(tracing());
  const TracePtr trace = impl_->plan(arguments);
  impl_->trace(*trace, arguments, tracee);
  return graph_of(*trace->program);
}

std::string FunctionCore::explain(const ArgumentReader &arguments) const {
  check_defined(impl_->options.name, arguments);
  if (!impl_->options.signature.empty())
    static_cast<void>(impl_->plan_for_signature(arguments, impl_->options.signature));
  const std::string name = impl_->options.name + ": ";
  if (impl_->cache.find(arguments, /*exactly=*/false, nullptr, /*orders=*/0)) return name + "hit";
  const TracePtr near = impl_->cache.nearest(arguments);
  if (!near) return name + "miss: there is no trace yet";
  std::string why;
  for (const std::string &difference : differences(near->key, arguments.key))
    why += (why.empty() ? "" : "; ") + difference;
  if (why.empty()) why = near->other_binding(arguments);
  if (why.empty()) why = near->other_cut();
  return name + "miss: " + why;
}

std::size_t FunctionCore::trace_count() const { return impl_->cache.size(); }

} // namespace weft::detail
