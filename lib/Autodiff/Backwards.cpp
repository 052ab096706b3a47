// Reverse mode: the tape's records from the last to the first, each through its op's rule.
#include "Autodiff/Tape.h"
#include "Autodiff/TensorEmitter.h"
#include "OpDefs/Derivatives/Rules.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"

namespace weft::autodiff {

/// Cotangents of the tensors that depend on a source, by identity.
class Tape::Cotangents {
public:
  /// Marks a tensor as one whose cotangent is of use; sources keep theirs to the end.
  void want(std::uint64_t identity, bool source) {
    const std::uint32_t fresh = static_cast<std::uint32_t>(entries_.size());
    const std::uint32_t place = places_.insert(identity, fresh);
    if (place == fresh) entries_.emplace_back();
    entries_[place].source |= source;
  }
  bool wanted(std::uint64_t identity) { return places_.contains(identity); }

  void add(std::uint64_t identity, const Tensor &cotangent) {
    Tensor &sum = entries_[*places_.find(identity)].sum;
    sum = sum.defined() ? emitter.add(sum, cotangent) : cotangent;
  }
  /// The cotangent of a recorded result, complete when all later records have run; undefined if
  /// there is none.
  Tensor take(std::uint64_t identity) {
    std::uint32_t *place = places_.find(identity);
    if (place == nullptr) return {};
    Entry &entry = entries_[*place];
    return entry.source ? entry.sum : std::move(entry.sum);
  }

  TensorEmitter emitter;

private:
  struct Entry {
    Tensor sum;
    bool source = false;
  };
  IdentityMap places_;
  std::vector<Entry> entries_;
};

std::vector<Tensor> Tape::gradient(std::span<const Tensor> targets,
                                   std::span<const GradientSource> sources,
                                   const GradientOptions &options) {
  if (spent_)
    throw StateError("GradientTape: gradient was already called on this tape, which is not "
                     "persistent; make it with {.persistent = true}, or reset it");
  const std::vector<Tensor> &weights = options.output_gradients;
  if (!weights.empty() && weights.size() != targets.size())
    throw ValueError("GradientTape: there are " + std::to_string(weights.size()) +
                     " output gradients for " + std::to_string(targets.size()) + " targets");
  for (const Tensor &target : targets)
    if (!target.defined()) throw StateError("GradientTape: a target is undefined");
  for (const GradientSource &source : sources)
    if (!source.variable() && !source.tensor().defined())
      throw StateError("GradientTape: a source is undefined");

  // What follows is for the other interpreters of this thread, not for this tape; and even if it
  // fails, this was the one use of a tape that is not persistent.
  struct Use {
    Tape &tape;
    explicit Use(Tape &tape) : tape(tape) { tape.pause(); }
    ~Use() {
      tape.resume();
      if (!tape.options_.persistent) tape.spend();
    }
  } use(*this);

  Cotangents cotangents;
  want_sources(sources, cotangents);
  want_what_depends(cotangents);
  seed(targets, weights, cotangents);
  run_backwards(cotangents);

  std::vector<Tensor> gradients;
  for (const GradientSource &source : sources) {
    std::uint64_t own = 0;
    Tensor sum;
    for (std::uint64_t identity : identities(source, own)) {
      const Tensor part = cotangents.take(identity);
      if (part.defined()) sum = sum.defined() ? cotangents.emitter.add(sum, part) : part;
    }
    if (!sum.defined() && options.unconnected == Unconnected::zero) {
      const TensorType type =
          source.variable() ? source.variable()->type() : detail::type_of(source.tensor());
      if (carries_gradient(type.dtype)) sum = zeros(type.shape, type.dtype);
    }
    gradients.push_back(std::move(sum));
  }
  return gradients;
}

/// The identities that a source goes by; `own` holds that of a tensor.
std::span<const std::uint64_t> Tape::identities(const GradientSource &source,
                                                std::uint64_t &own) const {
  if (source.variable()) {
    const auto reads = reads_.find(source.variable());
    return reads == reads_.end() ? std::span<const std::uint64_t>() : reads->second;
  }
  own = source.tensor().impl()->identity.load(std::memory_order_relaxed);
  return {&own, 1};
}

void Tape::want_sources(std::span<const GradientSource> sources, Cotangents &cotangents) {
  for (const GradientSource &source : sources) {
    std::uint64_t own = 0;
    for (std::uint64_t identity : identities(source, own))
      if (watched_.contains(identity)) cotangents.want(identity, true);
  }
}

/// Marks every recorded result that depends on what is marked.
void Tape::want_what_depends(Cotangents &cotangents) const {
  for (const Record &record : records_)
    for (std::uint32_t i = record.first; i < record.first + record.operands; ++i)
      if (cotangents.wanted(values_[i].identity)) {
        cotangents.want(values_[record.first + record.operands].identity, false);
        break;
      }
}

void Tape::seed(std::span<const Tensor> targets, const std::vector<Tensor> &weights,
                Cotangents &cotangents) {
  TensorEmitter &e = cotangents.emitter;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Tensor &target = targets[i];
    Tensor seed = weights.empty() ? Tensor() : weights[i];
    if (seed.defined()) {
      const std::string problem = "GradientTape: output gradient " + std::to_string(i) + " is " +
                                  to_string(detail::type_of(seed)) + ", but its target is " +
                                  to_string(detail::type_of(target));
      if (seed.dtype() != target.dtype()) throw DTypeError(problem);
      if (!(detail::type_of(seed).shape == detail::type_of(target).shape))
        throw ShapeError(problem);
    }
    const std::uint64_t identity = target.impl()->identity.load(std::memory_order_relaxed);
    if (!cotangents.wanted(identity)) continue;
    if (!seed.defined()) {
      const Tensor one = e.scalar(1, target.dtype());
      seed = detail::type_of(target).shape.is_static()
                 ? e.broadcast(one, detail::type_of(target).shape)
                 : e.select(e.equal(target, target), one, one);
    }
    cotangents.add(identity, seed);
  }
}

void Tape::run_backwards(Cotangents &cotangents) {
  for (std::size_t i = records_.size(); i-- > 0;) {
    const Record &record = records_[i];
    const Value &result = values_[record.first + record.operands];
    const Tensor cotangent = cotangents.take(result.identity);
    if (cotangent.defined()) run_rule(record, cotangent, cotangents);
    if (options_.persistent) continue;
    // Nothing before this record needs what it saved.
    for (std::uint32_t v = record.first; v <= record.first + record.operands; ++v)
      if (values_[v].saved >= 0) saved_[values_[v].saved] = Tensor();
  }
}

void Tape::run_rule(const Record &record, const Tensor &cotangent, Cotangents &cotangents) {
  if (record.op == kConstruct)
    throw StateError("GradientTape: the gradient passes through a " +
                     std::get<std::string>(record.attrs.at(0)) +
                     " inside a traced function, which has no gradient yet; put what it computes "
                     "under stop_gradient, or take the gradient outside of the function");
  // A derivative belongs to the line that it is of.
  const AsIfAt site(record.where.line() != 0 ? record.where : CallSite::current());
  std::vector<Tensor> operands(record.operands), gradients(record.operands);
  std::vector<TensorType> types(record.operands);
  detail::InlineVector<bool, 8> wanted;
  const auto saved = [&](const Value &value) {
    return value.saved >= 0 ? saved_[value.saved] : Tensor();
  };
  for (std::uint32_t i = 0; i < record.operands; ++i) {
    const Value &value = values_[record.first + i];
    operands[i] = saved(value);
    types[i] = type_of(value);
    wanted.push_back(cotangents.wanted(value.identity));
  }
  const Value &result = values_[record.first + record.operands];
  const Tensor result_value = saved(result);
  const TensorType result_type = type_of(result);
  VjpCall<TensorEmitter> call({.op = record.op,
                               .attrs = record.attrs,
                               .operand_types = types,
                               .result_type = result_type,
                               .operands = operands,
                               .result = result_value,
                               .cotangent = cotangent,
                               .wanted = wanted,
                               .gradients = gradients});
  vjp(cotangents.emitter, record.op, call);
  for (std::uint32_t i = 0; i < record.operands; ++i)
    if (gradients[i].defined()) cotangents.add(values_[record.first + i].identity, gradients[i]);
}

} // namespace weft::autodiff
