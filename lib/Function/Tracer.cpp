// Records op calls as a program.
#include "Function/Tracer.h"

#include <algorithm>

#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"

namespace weft {

Tracer::Tracer(Options options) : ref_(new Ref), orders_(options.orders) {
  ref_->references = 1;
  ref_->destroy = [](detail::TraceRef *self) { delete static_cast<Ref *>(self); };
  ref_->hint = [](detail::TraceRef *self, const detail::TensorImpl &impl, int axis) {
    const Tracer *tracer = static_cast<Ref *>(self)->tracer;
    return tracer == nullptr ? unknown : tracer->hint(impl.trace_value, axis);
  };
  ref_->pin = [](detail::TraceRef *self) { static_cast<Ref *>(self)->tracer->pin(); };
  ref_->function = options.name;
  ref_->name = ref_->function.c_str();
  ref_->tracer = this;
  program_.name = std::move(options.name);
  program_.checkpoint = std::move(options.checkpoint);
  program_.tf32 = options.tf32;
  if (options.for_call) program_.hints = hints_ = std::make_shared<ProgramHints>();
}

Tracer::~Tracer() {
  ref_->tracer = nullptr;
  if (ref_->references.fetch_sub(1) == 1) ref_->destroy(ref_);
}

thread_local constinit std::uint64_t Tracer::recorded_ = 0;
constinit std::atomic<detail::ForeignLine (*)()> Tracer::line_finder_ = nullptr;

ProgramLocation Tracer::here() {
  ++recorded_;
  const std::source_location &where = CallSite::current();
  if (is_users(where))
    return {file_number(where.file_name()), where.line(), where.column(), CallSite::function()};
  if (const auto finder = line_finder_.load(std::memory_order_relaxed); finder != nullptr)
    if (const detail::ForeignLine found = finder(); found.line != 0)
      return {file_number(found.file), found.line, found.column, CallSite::function()};
  return {0, 0, 0, CallSite::function()};
}

std::uint32_t Tracer::file_number(const char *name) {
  if (name != last_file_) {
    std::vector<std::string> &files = program_.files;
    auto found = std::find(files.begin(), files.end(), name);
    if (found == files.end()) found = files.insert(found, name);
    last_file_ = name;
    last_file_number_ = static_cast<std::uint32_t>(found - files.begin());
  }
  return last_file_number_;
}

ValueId Tracer::add_value(TracedType type) {
  if (hints_) hints_->shapes.push_back(std::move(type.hint));
  program_.values.push_back(std::move(type.type));
  region_of_.push_back(open_.empty() ? 0 : open_.back().number);
  return static_cast<ValueId>(program_.values.size() - 1);
}

Tensor Tracer::wrap(ValueId value) {
  const TensorType &type = program_.values[value];
  return detail::new_traced(type.dtype, type.shape, ref_, value);
}

Tensor Tracer::input(const TracedType &type, const Shape &names) {
  program_.inputs.push_back(add_value(type));
  if (!names.empty()) {
    program_.names.resize(program_.inputs.size());
    program_.names.back() = names;
  }
  return wrap(program_.inputs.back());
}

ValueId Tracer::add_constant(const Tensor &tensor) {
  const Tensor dense = detail::on_host(tensor).contiguous();
  auto data = std::make_shared<ConstantData>();
  data->type = dense.type();
  data->bytes = dense.impl()->data;
  data->owner = std::make_shared<Tensor>(dense);
  // Outside of all constructs, where whatever comes later may use it.
  const ValueId value = add_value(data->type);
  if (hints_) hints_->values.emplace(value, dense);
  region_of_[value] = 0;
  program_.nodes.push_back(
      {OpCode::constant, {}, Attrs{ConstantRef(std::move(data))}, value, nullptr, here()});
  return value;
}

ValueId Tracer::value_of(const Tensor &tensor) {
  const detail::TensorImpl *impl = tensor.impl();
  if (impl->storage == detail::Storage::traced) {
    const auto *base = static_cast<const detail::TraceRef *>(impl->base);
    if (base->destroy != ref_->destroy) // of another kind of interpreter, above this one
      throw StateError(
          std::string(base->name) +
          ": control flow of a traced function cannot be done on many tensors at "
          "once" +
          (std::string_view(base->name) == "vmap" ? "" : "; ask with {.vectorize = false}"));
    const Ref *owner = static_cast<const Ref *>(base);
    if (owner == ref_) {
      if (is_open(region_of_[impl->trace_value])) return impl->trace_value;
      throw StateError(program_.name +
                       ": a tensor created inside a branch or a loop's body is used "
                       "outside of it; return it from there instead");
    }
    const Tracer *outer = outer_of(owner);
    if (outer == nullptr)
      throw StateError("a tensor of the traced function '" + owner->function +
                       "' is used while tracing '" + program_.name +
                       "': a tensor may not leave its trace; return it instead");
    // The trace around finds out later whether it may be used where the call stands.
    uses_outer_ = true;
    if (auto found = captured_.find(impl); found != captured_.end()) return found->second;
    alive_.push_back(tensor);
    return captured_.emplace(impl, add_capture(tensor)).first->second;
  }
  if (auto found = captured_.find(impl); found != captured_.end()) return found->second;
  // Constants are folded; a larger tensor would make the code as large.
  const bool folds = impl->size == 1 && !(never_a_constant_ && never_a_constant_(tensor));
  const ValueId value = folds ? add_constant(tensor) : add_capture(tensor);
  if (folds) program_.folded.push_back(tensor);
  alive_.push_back(tensor);
  captured_.emplace(impl, value);
  return value;
}

ValueId Tracer::add_capture(const Tensor &tensor) {
  const ValueId value = add_value(TracedType(tensor));
  if (hints_ && tensor.traced() && tensor.rank() == 0 && is_integer(tensor.dtype())) {
    auto *outer = static_cast<detail::TraceRef *>(tensor.impl()->base);
    if (const std::int64_t known = outer->hint(outer, *tensor.impl(), -1); known != unknown)
      hints_->values.emplace(value, detail::new_scalar(known).astype(tensor.dtype()));
  }
  region_of_[value] = 0;
  program_.captured.push_back(value);
  // Of a program apart it only passes through, and is looked up by who it is.
  program_.captures.push_back(never_a_constant_ ? tensor : tensor.contiguous());
  return value;
}

void Tracer::note_variable(const VariableRef &variable, bool written) {
  const std::size_t index = program_.variable_index(variable);
  if (index == program_.variables.size()) {
    program_.variables.push_back(variable);
    program_.written.push_back(false);
  }
  if (!written) return;
  if (const auto cut = variable->cut())
    throw StateError(program_.name + ": " +
                     said_of_cut("the variable '" + variable->name() + "'", cut->ranks) +
                     ", which a traced function cannot assign: assign it behind the call, or "
                     "call the optimizer's gather_state() first");
  program_.written[index] = true;
  variable->note_traced_write();
}

Tensor Tracer::apply(const OpCall &call) {
  for (const Tensor &operand : call.operands)
    if (!operand.defined())
      throw StateError(std::string(op_info(call.op).name) + ": an operand is undefined");
  if (call.op == OpCode::size_of)
    if (std::optional<Tensor> known = known_size(call)) return *std::move(known);
  ProgramNode node{call.op, {}, call.attrs, kNoValue, nullptr, here()};
  for (const Tensor &operand : call.operands) node.operands.push_back(value_of(operand));
  std::vector<TracedType> results;
  if (const VariableRef *named = variable_in(call.attrs)) {
    const VariableRef variable = known(*named);
    *variable_in(node.attrs) = variable;
    results.emplace_back(variable->type());
    note_variable(variable, op_info(call.op).effects.writes);
  } else {
    results = infer_results(call, node);
  }
  const bool has_result = op_info(call.op).results != 0;
  if (has_result) node.result = add_value(std::move(results.front()));
  const ValueId value = node.result;
  for (std::size_t i = 0; i < call.more.size(); ++i)
    call.more[i] = wrap(add_value(std::move(results[i + 1])));
  if (hints_ && has_result) keep_value(call, node);
  nodes().push_back(std::move(node));
  if (!has_result) return {};
  Tensor wrapped = wrap(value);
  if (call.op == OpCode::size_of)
    sizes_.insert_or_assign({nodes().back().operands[0], SizeAttrs(call.attrs).axis}, wrapped);
  return wrapped;
}

Program Tracer::finish(std::span<const Tensor> results) {
  for (const Tensor &result : results) {
    if (!result.defined())
      throw ValueError(program_.name + ": a tensor of the result is undefined");
    program_.outputs.push_back(value_of(result));
  }
  check_made();
  if (pinned_) {
    if (only_at_run_time_) raise(*std::move(only_at_run_time_));
    specialize();
  }
  program_.collect_hosts();
  return std::move(program_);
}

} // namespace weft
