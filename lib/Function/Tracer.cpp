// Records op calls as a program.
#include "Function/Tracer.h"

#include <algorithm>

#include "Runtime/NewTensor.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"

namespace weft {

Tracer::Tracer(std::string name, bool relaxed, std::string checkpoint, std::uint32_t orders)
    : ref_(new Ref), orders_(orders) {
  ref_->references = 1;
  ref_->destroy = [](detail::TraceRef *self) { delete static_cast<Ref *>(self); };
  ref_->size_wanted = [](detail::TraceRef *self) {
    auto *ref = static_cast<Ref *>(self);
    ref->wanted = true;
    if (ref->relaxed) throw SizeWanted();
  };
  ref_->function = name;
  ref_->name = ref_->function.c_str();
  ref_->relaxed = relaxed;
  program_.name = std::move(name);
  program_.checkpoint = std::move(checkpoint);
}

bool Tracer::relaxed() const { return ref_->relaxed; }
bool Tracer::size_wanted() const { return ref_->wanted; }

Tracer::~Tracer() {
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

ValueId Tracer::add_value(TensorType type) {
  program_.values.push_back(std::move(type));
  region_of_.push_back(open_.empty() ? 0 : open_.back().number);
  return static_cast<ValueId>(program_.values.size() - 1);
}

Tensor Tracer::wrap(ValueId value) {
  const TensorType &type = program_.values[value];
  return detail::new_traced(type.dtype, type.shape, ref_, value);
}

Tensor Tracer::input(const TensorType &type) {
  program_.inputs.push_back(add_value(type));
  return wrap(program_.inputs.back());
}

ValueId Tracer::add_constant(const Tensor &tensor) {
  const Tensor dense = tensor.contiguous();
  auto data = std::make_shared<ConstantData>();
  data->type = dense.type();
  data->bytes = dense.impl()->data;
  data->owner = std::make_shared<Tensor>(dense);
  // Outside of all constructs, where whatever comes later may use it.
  const ValueId value = add_value(data->type);
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
  const ValueId value = add_value(detail::type_of(tensor));
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
  if (written) program_.written[index] = true;
}

Tensor Tracer::apply(const OpCall &call) {
  std::vector<TensorType> types;
  types.reserve(call.operands.size());
  ProgramNode node{call.op, {}, call.attrs, kNoValue, nullptr, here()};
  for (const Tensor &operand : call.operands) {
    if (!operand.defined())
      throw StateError(std::string(op_info(call.op).name) + ": an operand is undefined");
    node.operands.push_back(value_of(operand));
    types.push_back(program_.values[node.operands.back()]);
  }
  TensorType result;
  if (const VariableRef *named = variable_in(call.attrs)) {
    const VariableRef variable = known(*named);
    *variable_in(node.attrs) = variable;
    result = variable->type();
    note_variable(variable, op_info(call.op).effects.writes);
  } else {
    Result<TensorType> inferred = infer({call.op, types, call.attrs});
    if (!inferred)
      raise(inferred.fault().kind,
            std::string(op_info(call.op).name) + ": " + inferred.fault().message);
    result = *std::move(inferred);
  }
  const bool has_result = op_info(call.op).results != 0;
  if (has_result) node.result = add_value(std::move(result));
  const ValueId value = node.result;
  nodes().push_back(std::move(node));
  return has_result ? wrap(value) : Tensor();
}

Program Tracer::finish(std::span<const Tensor> results) {
  for (const Tensor &result : results) {
    if (!result.defined())
      throw ValueError(program_.name + ": a tensor of the result is undefined");
    program_.outputs.push_back(value_of(result));
  }
  check_made();
  program_.collect_hosts();
  return std::move(program_);
}

} // namespace weft
