// Why a gradient is missing: the tape follows the paths that its records do not.
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Log.h"

namespace weft::autodiff {

bool Tape::any_broken(std::span<const Tensor> operands) {
  if (broken_.empty()) return false;
  for (const Tensor &operand : operands)
    if (operand.defined() &&
        broken_.contains(operand.impl()->identity.load(std::memory_order_relaxed)))
      return true;
  return false;
}

void Tape::note_unrecorded(const OpCall &call, const Tensor &result, bool breaks) {
  note_one_unrecorded(call, result, breaks);
  for (const Tensor &other : call.more) note_one_unrecorded(call, other, breaks);
}

void Tape::note_one_unrecorded(const OpCall &call, const Tensor &result, bool breaks) {
  detail::InlineVector<std::uint64_t, 4> operands;
  for (const Tensor &operand : call.operands)
    operands.push_back(operand.impl()->identity.load(std::memory_order_relaxed));
  if (result.defined())
    return note_path(
        {.op = call.op, .breaks = breaks, .result = identity_of(result), .dtype = result.dtype()},
        operands);
  const VariableRef *assigned = variable_in(call.attrs);
  if (assigned == nullptr) return;
  // An assign, whose value the next reads have.
  const VariableRef &variable = *assigned;
  const std::uint64_t value = assigned_[variable] = new_identity();
  note_path({.op = call.op, .breaks = true, .result = value, .variable = variable}, operands);
}

void Tape::note_path(Unrecorded call, std::span<const std::uint64_t> operands) {
  call.after = records_.size();
  call.first = static_cast<std::uint32_t>(unrecorded_operands_.size());
  call.operands = static_cast<std::uint32_t>(operands.size());
  call.where = CallSite::current();
  broken_.insert(call.result);
  unrecorded_.push_back(std::move(call));
  unrecorded_operands_.insert(unrecorded_operands_.end(), operands.begin(), operands.end());
}

void Tape::note_derivatives(std::span<const GradientSource> sources,
                            std::span<const Tensor> derivatives) {
  if (!options_.persistent || !recording()) return;
  std::vector<std::uint64_t> operands;
  for (const GradientSource &source : sources) {
    std::uint64_t own = 0;
    for (const std::uint64_t identity : identities(source, own)) operands.push_back(identity);
  }
  for (const Tensor &derivative : derivatives)
    if (derivative.defined() && !is_watched(derivative))
      note_path({.op = kPullback,
                 .breaks = true,
                 .result = identity_of(derivative),
                 .dtype = derivative.dtype()},
                operands);
}

void Tape::warn_of_derivatives(std::span<const Tensor> targets,
                               const GradientSource &source) const {
  if (!options_.persistent || broken_.empty()) return;
  for (const Tensor &target : targets)
    if (const Path path = path_between(target, source);
        path.breaks_at != nullptr && path.breaks_at->op == kPullback)
      return warn_line("GradientTape: " + describe(path, source));
}

Tape::Path Tape::path_between(const Tensor &target, const GradientSource &source) const {
  std::uint64_t own = 0;
  // Of what depends on the source; of the second each with the location of the break.
  IdentitySet connected;
  IdentityMap<std::uint32_t> broken, refused;
  for (const std::uint64_t identity : identities(source, own))
    if (watched_.contains(identity)) connected.insert(identity);
  if (connected.empty()) return {.watched = false};

  const auto follow = [&](const Unrecorded &call) {
    const auto operands = std::span(unrecorded_operands_).subspan(call.first, call.operands);
    for (const std::uint64_t operand : operands)
      if (call.breaks && connected.contains(operand)) {
        broken.insert(call.result, static_cast<std::uint32_t>(&call - unrecorded_.data()));
        return;
      }
    for (const std::uint64_t operand : operands)
      if (const std::uint32_t *at = broken.find(operand)) {
        broken.insert(call.result, *at);
        return;
      }
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    for (; next < unrecorded_.size() && unrecorded_[next].after <= i; ++next)
      follow(unrecorded_[next]);
    const Record &record = records_[i];
    const auto operands = std::span(values_).subspan(record.first, record.operands);
    const Attached *attached = record.op == kPullback ? &attached_[record.more] : nullptr;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (!connected.contains(operands[o].identity)) continue;
      std::uint32_t by = kNoAttrs; // an index in attached_
      if (const std::uint32_t *before = refused.find(operands[o].identity)) by = *before;
      else if (attached != nullptr && attached->refusal && o >= attached->refused) by = record.more;
      for (const Value &result : results_of(record)) {
        connected.insert(result.identity);
        if (by != kNoAttrs) refused.insert(result.identity, by);
      }
    }
  }
  for (; next < unrecorded_.size(); ++next) follow(unrecorded_[next]);

  const std::uint64_t end = target.impl()->identity.load(std::memory_order_relaxed);
  if (const std::uint32_t *at = refused.find(end)) return {.refusal = attached_[*at].refusal};
  if (connected.contains(end)) return {.reaches = true};
  const std::uint32_t *at = broken.find(end);
  return {.breaks_at = at != nullptr ? &unrecorded_[*at] : nullptr};
}

std::string Tape::describe(const Path &path, const GradientSource &source) {
  const std::string name =
      source.variable() ? "the variable '" + source.variable()->name() + "'" : "the source";
  if (!path.watched)
    return source.variable() ? name + " was not read while the tape watched it"
                             : name + " is not watched: call watch before it is used";
  if (path.refusal) {
    const std::string line = to_string(path.refusal->location);
    return "the gradient of the target by " + name + " is an error at " +
           (line.empty() ? "" : line + ": ") + path.refusal->message;
  }
  if (path.reaches) return "the gradient of the target reaches " + name;
  if (path.breaks_at == nullptr)
    return "the tape saw no path from " + name +
           " to the target: it may lead through numbers that the program took out (item, span, "
           "to_vector) or a host call, or through what ran before the source was watched or while "
           "recording was suspended";
  const Unrecorded &call = *path.breaks_at;
  const bool derivative = call.op == kPullback;
  const std::string line = to_string(location_of(call.where));
  const std::string_view inactive = derivative ? "" : op_info(call.op).inactive;
  const std::string why =
      derivative         ? "a tape does not record the derivatives that it gives; nest tapes"
      : call.variable    ? "a read of the variable '" + call.variable->name() + "' begins anew"
      : inactive.empty() ? "its result is " + std::string(name_of(call.dtype))
                         : std::string(inactive);
  return "the path from " + name + " to the target breaks at " +
         (derivative ? "gradient" : std::string(op_info(call.op).name)) +
         (line.empty() ? "" : " (" + line + ")") + ": " + why;
}

std::string Tape::explain(const Tensor &target, const GradientSource &source) const {
  if (spent_)
    throw StateError("GradientTape: explain has to come before the gradient of a tape that is not "
                     "persistent; make the tape with {.persistent = true}");
  check_use({&target, 1}, {&source, 1});
  const DType dtype = source.variable() ? source.variable()->type().dtype : source.tensor().dtype();
  if (carries_gradient(dtype)) return describe(path_between(target, source), source);
  return (source.variable() ? "the variable '" + source.variable()->name() + "'" : "the source") +
         " is " + std::string(name_of(dtype)) + ": only floating tensors have gradients";
}

} // namespace weft::autodiff
