// The call of compiled code: buffers in, buffers out.
#include "Function/CompiledCall.h"

#include <algorithm>

#include "OpDefs/ShapeFunctions.h"
#include "Program/Sites.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/ReplicaVariables.h"
#include "Support/Allocator.h"
#include "Support/Fault.h"
#include "Support/Profile.h"

namespace weft {

/// The backward half of a derivative has a name of its own.
static std::string name_of_event(const Program &program) {
  const bool forward = program.part && program.part->half == DerivativePart::Half::forward;
  return program.name + (forward ? " (forward)" : "");
}

CompiledCall::CompiledCall(std::shared_ptr<const Program> program, CompiledCode code,
                           std::shared_ptr<const Program> source,
                           std::shared_ptr<const LocationTable> locations, Device device)
    : program_(std::move(program)), code_(std::move(code)), profiled_(source ? source : program_),
      event_(profile::kept(name_of_event(source ? *source : *program_))),
      locations_(locations ? std::move(locations) : locations_of(source ? source : program_)),
      source_(source ? std::move(source) : program_), device_(device) {
  for (const VariableRef &variable : program_->variables) {
    const auto cut = variable->cut();
    variables_.push_back(cut ? cut->part : variable);
    const auto &parameters = program_->parameters;
    const auto found = std::find(parameters.begin(), parameters.end(), variable);
    parameter_.push_back(
        found == parameters.end() ? -1 : static_cast<std::int32_t>(found - parameters.begin()));
  }
  const std::vector<std::string> symbols = program_->host_symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i)
    hosts_.push_back({symbols[i], program_->hosts[i]});
  for (ValueId value : program_->outputs) {
    const TensorType &type = program_->values[value];
    outputs_.push_back(type.shape.is_static()
                           ? detail::new_external(type.dtype, type.shape, nullptr,
                                                  {.release = [](void *) {}, .context = nullptr})
                           : Tensor());
  }
  for (const Tensor &capture : program_->captures)
    if (!detail::on_cpu(capture)) captured_on_ = capture.device();
  schedule_ = ranks_schedule_of(*source_);
  for (ValueId value : program_->inputs)
    static_inputs_ &= program_->values[value].shape.is_static();
}

namespace {

/// The memory for the temporaries of one call.
class Arena {
public:
  Arena(std::size_t bytes, const std::string &function) {
    if (bytes == 0) return;
    try {
      block_ = allocator::allocate(bytes);
    } catch (const OutOfMemory &error) {
      throw OutOfMemory(function +
                        ": no memory for its temporaries: " + std::string(error.message()));
    }
  }
  ~Arena() {
    if (block_.memory != nullptr) allocator::deallocate(block_.memory, block_.size_class);
  }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  std::byte *memory() const { return static_cast<std::byte *>(block_.memory); }

private:
  allocator::Block block_{nullptr, 0};
};

/// Holds the written variables of a call exclusively, in one order for all calls, and puts their
/// buffers back at its end.
class VariableUpdates {
public:
  template <class Variable>
  VariableUpdates(const std::vector<bool> &written, const Variable &variable) {
    for (std::size_t i = 0; i < written.size(); ++i)
      if (written[i]) order_.push_back(&variable(i));
    // Any order will do that all calls share; no result depends on it.
    // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order)
    std::sort(order_.begin(), order_.end());
  }
  /// Throws StateError if a call around this one holds one of them.
  void lock() {
    for (; locked_ < order_.size(); ++locked_) order_[locked_]->lock_update();
  }
  ~VariableUpdates() {
    for (std::size_t i = 0; i < locked_; ++i) order_[i]->unlock_update();
  }

private:
  detail::InlineVector<VariableState *, 16> order_;
  std::size_t locked_ = 0;
};

} // namespace

/// What compiled code gave, as a tensor of its dtype: the code knows of integers how many bits they
/// have, and of complex numbers the parts, along a last axis.
static Tensor as_typed(const Tensor &given, DType dtype) {
  detail::TensorImpl *const impl = given.impl();
  if (!is_complex(dtype)) {
    impl->dtype = dtype;
    return given;
  }
  const std::size_t rank = std::size_t{impl->rank} - 1;
  Ints strides;
  for (std::size_t axis = 0; axis < rank; ++axis) strides.push_back(impl->strides()[axis] / 2);
  return detail::new_view_as(given, dtype, impl->sizes().first(rank), strides, 0);
}

/// Where the calls of the replica that this thread runs are; the CPU if nothing says so.
static Device device_of_replica() {
  const ReplicaVariables *const replica = ReplicaVariables::current();
  return replica == nullptr ? Device() : replica->device().value_or(Device());
}

/// Makes the results whose sizes are known, and says how many others there are, which the code
/// makes.
template <class Buffers, class Make>
std::size_t CompiledCall::make_results(std::vector<Tensor> &results, Buffers &buffers,
                                       const Make &make) const {
  std::size_t others = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].defined()) {
      ++others;
      continue;
    }
    results[i] = make(outputs_[i].impl());
    buffers.push_back(results[i].impl()->data);
  }
  return others;
}

void CompiledCall::take_sized(std::vector<Tensor> &results, std::vector<Tensor> &sized) const {
  for (std::size_t i = 0, next = 0; next < sized.size(); ++i)
    if (!outputs_[i].defined())
      results[i] = as_typed(sized[next++], program_->values[program_->outputs[i]].dtype);
}

std::vector<Tensor> CompiledCall::run(std::span<detail::TensorImpl *const> inputs,
                                      std::span<const detail::VariablePointer> variables) {
  if (schedule_.digest == 0) [[likely]]
    return run_alone(inputs, variables);
  const GroupsScope alone(schedule_, program_->name);
  const RanksScope together(&schedule_);
  set_ranks_know_of_error(false);
  try {
    return run_alone(inputs, variables);
  } catch (const std::exception &error) {
    tell_ranks(schedule_, error.what());
    throw;
  }
}

std::vector<Tensor> CompiledCall::run_alone(std::span<detail::TensorImpl *const> inputs,
                                            std::span<const detail::VariablePointer> variables) {
  const profile::Scope scope(profile::Kind::function, event_);
  if (const Device device = place_of(inputs, variables); device != Device()) [[unlikely]] {
    try {
      return run_on(on(device), inputs, variables);
    } catch (const OutOfMemory &error) { // of the device, which does not know whose memory it is
      if (!error.message().starts_with("gpu:")) throw;
      raise(ErrorKind::out_of_memory, program_->name + ": " + std::string(error.message()));
    }
  }
  const CompiledCode *code = nullptr;
  if (profile::on() && profile::inside_functions()) [[unlikely]]
    code = profiled_.code(code_);
  const NoteTable *const notes = code != nullptr ? &profiled_ : nullptr;
  if (code == nullptr) code = &code_;
  detail::InlineVector<void *, 64> buffers;
  detail::InlineVector<std::int64_t, 16> dims;
  std::vector<Tensor> kept; // contiguous copies, and values of variables that are only read
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    detail::TensorImpl *impl = inputs[i];
    refuse_traced(program_->name, impl);
    if (!impl->plain) {
      detail::retain(impl);
      kept.push_back(Tensor(impl).contiguous());
      impl = kept.back().impl();
    }
    buffers.push_back(impl->data);
    if (static_inputs_) continue;
    const Shape &shape = program_->values[program_->inputs[i]].shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == unknown) dims.push_back(impl->dims()[d]);
  }
  for (const Tensor &capture : program_->captures) buffers.push_back(capture.impl()->data);

  // Read before any is held: calls that read what the other one writes would wait for each other.
  const std::size_t values = kept.size();
  for (const std::size_t index : code->variables)
    if (!program_->written[index]) kept.push_back(variable(index, variables).load().contiguous());
  VariableUpdates updates(program_->written,
                          [&](std::size_t i) -> VariableState & { return variable(i, variables); });
  updates.lock();
  detail::InlineVector<VariableState *, 16> used;
  for (std::size_t next = values; const std::size_t index : code->variables) {
    used.push_back(&variable(index, variables));
    buffers.push_back(program_->written[index] ? used.back()->update_buffer()
                                               : kept[next++].impl()->data);
  }

  std::vector<Tensor> results(outputs_.size());
  std::vector<Tensor> sized(make_results(results, buffers, [&](const detail::TensorImpl *like) {
    return detail::new_tensor_like_contiguous(like, like->dtype);
  }));

  CallContext context;
  fill(context);
  context.outputs = sized.data();
  context.output_count = static_cast<std::int64_t>(sized.size());
  context.notes = notes;
  const Arena arena(code->arena_bytes, program_->name);
  context.arena = arena.memory();
  {
    const VariablesInUse in_use({used.data(), used.size()});
    code->entry(buffers.data(), dims.data(), &context);
  }

  take_sized(results, sized);
  return results;
}

void CompiledCall::fill(CallContext &context) const {
  context.function = program_->name.c_str();
  context.locations = locations_.get();
  context.hosts = hosts_.data();
  context.host_count = hosts_.size();
}

Device CompiledCall::place_of(std::span<detail::TensorImpl *const> inputs,
                              std::span<const detail::VariablePointer> variables) const {
  if (device_ != Device()) return device_;
  if (const Device device = device_of_replica(); device != Device()) return device;
  for (const detail::TensorImpl *impl : inputs)
    if (!impl->plain && impl->device != Device()) return impl->device;
  for (const std::size_t index : code_.variables)
    if (const VariableState &state = variable(index, variables); state.elsewhere())
      return state.device();
  return captured_on_;
}

DeviceProgram &CompiledCall::on(Device device) {
  const forks::Delay whole;
  const std::lock_guard one(mutex_);
  std::unique_ptr<DeviceProgram> &found = devices_[device.index];
  if (found) return *found;
  if (code_.ptx.empty() && code_.for_device == nullptr)
    raise(ErrorKind::device, program_->name +
                                 ": it was compiled for processors, and cannot run on " +
                                 to_string(device));
  CompiledCode code = device == device_ ? code_ : code_.for_device(*source_, device);
  found = std::make_unique<DeviceProgram>(*program_, std::move(code), device);
  return *found;
}

std::vector<Tensor> CompiledCall::run_on(DeviceProgram &there,
                                         std::span<detail::TensorImpl *const> inputs,
                                         std::span<const detail::VariablePointer> variables) {
  const Device device = there.device();
  const CompiledCode &code = there.compiled();
  const bool moves = device_ != Device() || device_of_replica() == device;
  DeviceCall call(there.code());
  std::vector<void *> buffers;
  std::vector<std::int64_t> dims;
  std::vector<Tensor> kept = inputs_on(device, program_->name, inputs, moves);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    buffers.push_back(detail::address(*kept[i].impl()));
    const Shape &shape = program_->values[program_->inputs[i]].shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == unknown) dims.push_back(kept[i].impl()->dims()[d]);
  }
  for (const Tensor &capture : there.captures())
    buffers.push_back(detail::address(*capture.impl()));

  // As in a call on the host: what is only read is read before any is held.
  const std::size_t values = kept.size();
  for (const std::size_t index : code.variables) {
    VariableState &state = variable(index, variables);
    if (!moves) check_may_move(device, program_->name, state);
    if (!program_->written[index]) kept.push_back(for_kernels(state.load_on(device), device));
  }
  VariableUpdates updates(program_->written,
                          [&](std::size_t i) -> VariableState & { return variable(i, variables); });
  updates.lock();
  detail::InlineVector<VariableState *, 16> used;
  for (std::size_t next = values; const std::size_t index : code.variables) {
    used.push_back(&variable(index, variables));
    buffers.push_back(program_->written[index] ? used.back()->update_buffer_on(device)
                                               : detail::address(*kept[next++].impl()));
  }

  std::vector<Tensor> results(outputs_.size());
  std::vector<Tensor> sized(make_results(results, buffers, [&](const detail::TensorImpl *like) {
    return detail::new_tensor_on(device, like->dtype, like->sizes());
  }));
  CallContext context;
  fill(context);
  context.outputs = sized.data();
  context.output_count = static_cast<std::int64_t>(sized.size());
  context.device = &call;
  if (code.arena_bytes > 0) context.arena = call.allocate(code.arena_bytes);
  {
    const VariablesInUse in_use({used.data(), used.size()});
    code.entry(buffers.data(), dims.data(), &context);
  }
  take_sized(results, sized);
  return results;
}

} // namespace weft
