// Reverse mode: the tape's records from the last to the first, each through its op's rule.
#include "Autodiff/Tape.h"

#include <algorithm>

#include "Autodiff/Cotangents.h"
#include "Autodiff/Rules/Rules.h"
#include "Ops/DeviceOps.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Limits.h"
#include <weft/ops.h>

namespace weft::autodiff {

void Tape::check_use(std::span<const Tensor> targets,
                     std::span<const GradientSource> sources) const {
  if (spent_)
    throw StateError("GradientTape: gradient was already called on this tape, which is not "
                     "persistent; make it with {.persistent = true}, or reset it");
  for (const Tensor &target : targets)
    if (!target.defined()) throw StateError("GradientTape: a target is undefined");
  const auto traced = [](const Tensor &target) { return target.traced(); };
  if (running_ && inside_.empty() && !is_active() && std::ranges::any_of(targets, traced))
    throw StateError(
        "GradientTape: the tape was created outside of the traced function that asks it "
        "for a gradient, and records a call of that function as a whole; ask it "
        "behind the call, or create the tape inside");
  if (!options_.persistent) check_outside("gradient of a tape that is not persistent");
  for (const GradientSource &source : sources)
    if (!source.variable() && !source.tensor().defined())
      throw StateError("GradientTape: a source is undefined");
}

void Tape::check_options(std::size_t targets, const GradientOptions &options) {
  check_unconnected(options.unconnected);
  const std::vector<Tensor> &weights = options.output_gradients;
  if (!weights.empty() && weights.size() != targets)
    throw ValueError("GradientTape: there are " + std::to_string(weights.size()) +
                     " output gradients for " + std::to_string(targets) + " targets");
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!weights[i].defined())
      throw StateError("GradientTape: output gradient " + std::to_string(i) + " is undefined");
}

void check_like(const std::string &what, const Tensor &given, const char *whose,
                const Tensor &like) {
  const TensorType type = detail::type_of(given), wanted = detail::type_of(like);
  const std::string problem =
      what + " is " + to_string(type) + ", but " + whose + " is " + to_string(wanted);
  if (type.dtype != wanted.dtype) throw DTypeError(problem);
  if (!may_be_equal(type.shape, wanted.shape)) throw ShapeError(problem);
}

void check_unconnected(Unconnected unconnected) {
  if (unconnected == Unconnected::none || unconnected == Unconnected::zero) return;
  throw ValueError("GradientTape: the value " + std::to_string(static_cast<int>(unconnected)) +
                   " is neither Unconnected::none nor Unconnected::zero");
}

std::vector<Tensor> Tape::gradient(std::span<const Tensor> targets,
                                   std::span<const GradientSource> sources,
                                   const GradientOptions &options) {
  check_use(targets, sources);
  DeviceOfOperands device;
  device.follow(targets);
  const std::vector<Tensor> &weights = options.output_gradients;
  check_options(targets.size(), options);
  std::vector<Tensor> gradients;
  {
    // What follows is for the other interpreters of this thread, not for this tape; and even if it
    // fails, this was the one use of a tape that is not persistent.
    const Use use(*this);
    gradients = run(targets, sources, weights, options_.persistent);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (gradients[i].defined()) continue;
      warn_of_derivatives(targets, sources[i]);
      if (options.unconnected == Unconnected::zero) gradients[i] = zeros_for(sources[i]);
    }
  }
  note_derivatives(sources, gradients);
  return gradients;
}

Tensor Tape::zeros_for(const GradientSource &source) {
  const TensorType type =
      source.variable() ? source.variable()->type() : detail::type_of(source.tensor());
  if (!carries_gradient(type.dtype)) return {};
  if (!type.shape.is_static()) return TensorEmitter().filled(0, source.tensor());
  const Device device =
      source.variable() ? source.variable()->device() : source.tensor().impl()->device;
  return detail::placed_on(device, zeros(type.shape, type.dtype));
}

std::vector<SlicedGradient> Tape::sliced_gradient(std::span<const Tensor> targets,
                                                  std::span<const GradientSource> sources,
                                                  const GradientOptions &options) {
  check_use(targets, sources);
  DeviceOfOperands device;
  device.follow(targets);
  check_options(targets.size(), options);
  std::vector<SlicedGradient> gradients;
  {
    const Use use(*this);
    Cotangents cotangents;
    run_all(targets, sources, options.output_gradients, options_.persistent, cotangents);
    for (const GradientSource &source : sources) {
      std::optional<SlicedGradient> gradient = sliced(source, cotangents);
      if (!gradient) warn_of_derivatives(targets, source);
      gradients.push_back(gradient                                   ? *std::move(gradient)
                          : options.unconnected == Unconnected::zero ? zeros_for(source)
                                                                     : Tensor());
    }
  }
  for (const SlicedGradient &gradient : gradients) {
    const auto *slices = std::get_if<IndexedSlices>(&gradient);
    note_derivatives(sources, {slices ? &slices->values : &std::get<Tensor>(gradient), 1});
  }
  return gradients;
}

void Tape::run_all(std::span<const Tensor> targets, std::span<const GradientSource> sources,
                   const std::vector<Tensor> &seeds, bool keep, Cotangents &cotangents,
                   const Behind &behind) {
  want_sources(sources, cotangents);
  want_what_depends(cotangents);
  seed(targets, seeds, cotangents);
  run_backwards(cotangents, keep, behind);
}

std::vector<Tensor> Tape::run(std::span<const Tensor> targets,
                              std::span<const GradientSource> sources,
                              const std::vector<Tensor> &seeds, bool keep) {
  Cotangents cotangents;
  run_all(targets, sources, seeds, keep, cotangents);
  std::vector<Tensor> gradients;
  for (const GradientSource &source : sources) {
    std::uint64_t own = 0;
    Tensor sum;
    for (std::uint64_t identity : identities(source, own)) {
      const Tensor part = cotangents.take(identity);
      if (part.defined()) sum = sum.defined() ? cotangents.emitter.add(sum, part) : part;
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
void Tape::want_what_depends(Cotangents &cotangents) {
  for (const Record &record : records_) {
    const auto operands = std::span(values_).subspan(record.first, record.operands);
    if (std::ranges::any_of(operands,
                            [&](const Value &value) { return cotangents.wanted(value.identity); }))
      for (const Value &result : results_of(record)) cotangents.want(result.identity, false);
  }
}

void Tape::seed(std::span<const Tensor> targets, const std::vector<Tensor> &weights,
                Cotangents &cotangents) {
  TensorEmitter &e = cotangents.emitter;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Tensor &target = targets[i];
    Tensor seed = weights.empty() ? Tensor() : weights[i];
    if (seed.defined()) {
      check_like("GradientTape: output gradient " + std::to_string(i), seed, "its target", target);
      seed = matched(seed, target);
    }
    const std::uint64_t identity = target.impl()->identity.load(std::memory_order_relaxed);
    if (!cotangents.wanted(identity)) continue;
    if (!seed.defined() && is_complex(target.dtype()))
      throw DTypeError("GradientTape: the target is " + to_string(detail::type_of(target)) +
                       ", but gradients are of real numbers: take its real part or its abs, or "
                       "give output_gradients");
    if (!seed.defined()) seed = e.filled(1, target);
    cotangents.add(identity, seed);
  }
}

void Tape::run_backwards(Cotangents &cotangents, bool keep, const Behind &behind) {
  for (std::size_t i = records_.size(); i-- > 0;) {
    const Record &record = records_[i];
    if (record.op == kPullback) {
      run_pullback(record, cotangents);
    } else {
      Tensor given[kMostResults];
      const std::span<const Value> results = results_of(record);
      bool some = false;
      for (std::size_t r = 0; r < results.size(); ++r) {
        given[r] = cotangents.take(results[r].identity);
        some |= given[r].defined();
      }
      if (some) run_rule(record, {given, results.size()}, cotangents);
    }
    if (behind) behind(i);
    if (keep) continue;
    // Nothing before this record needs what it saved.
    const std::size_t values = record.operands + results_of(record).size();
    for (const Value &value : std::span(values_).subspan(record.first, values))
      if (value.saved >= 0) saved_[value.saved] = Tensor();
    if (record.op == kPullback) attached_to(record).pullback = nullptr;
  }
}

bool may_be_equal(const Shape &a, const Shape &b) {
  return std::ranges::equal(
      a, b, [](std::int64_t x, std::int64_t y) { return x == y || x == unknown || y == unknown; });
}

Tensor matched(const Tensor &value, const Tensor &like) {
  if (detail::type_of(value).shape.is_static() && detail::type_of(like).shape.is_static())
    return value;
  return dispatch(OpCode::match_shape, std::array{value, like});
}

void check_gradients(std::string_view name, std::span<const Tensor> gradients,
                     std::span<const TensorType> types) {
  const std::string who(name);
  if (gradients.size() != types.size())
    throw ValueError(who + ": the pullback must give " + std::to_string(types.size()) +
                     (types.size() == 1 ? " gradient" : " gradients, one per argument") +
                     ", but it gave " + std::to_string(gradients.size()));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const TensorType type = detail::type_of(gradients[i]);
    const std::string problem = who + ": gradient " + std::to_string(i) + " of the pullback is " +
                                to_string(type) + ", but its argument is " + to_string(types[i]);
    if (type.dtype != types[i].dtype) throw DTypeError(problem);
    if (!may_be_equal(type.shape, types[i].shape)) throw ShapeError(problem);
  }
}

void check_gradients(std::string_view name, std::span<Tensor> gradients,
                     std::span<const Tensor> arguments, bool natural) {
  std::vector<TensorType> types;
  for (const Tensor &argument : arguments) types.push_back(detail::type_of(argument));
  check_gradients(name, gradients, types);
  for (std::size_t i = 0; i < gradients.size() && !natural; ++i)
    if (gradients[i].defined()) gradients[i] = matched(gradients[i], arguments[i]);
}

void Tape::run_pullback(const Record &record, Cotangents &cotangents) {
  const Attached &attached = attached_to(record);
  std::vector<Tensor> given;
  bool some = false;
  for (const Value &result : results_of(record)) {
    given.push_back(cotangents.take(result.identity));
    some |= given.back().defined();
  }
  if (!some) return;
  auto operands = std::span(values_).subspan(record.first, record.operands);
  if (attached.refusal) {
    const auto wanted = [&](const Value &value) { return cotangents.wanted(value.identity); };
    if (std::ranges::any_of(operands.subspan(attached.refused), wanted)) attached.refusal->raise();
    operands = operands.first(attached.refused);
  }
  TensorEmitter &e = cotangents.emitter;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Value &result = results_of(record)[i];
    if (given[i].defined() || !attached.zeros || !carries_gradient(result.dtype)) continue;
    given[i] = result.saved < 0 ? e.broadcast(e.scalar(0, result.dtype), type_of(result).shape)
                                : e.filled(0, saved_[static_cast<std::size_t>(result.saved)]);
  }
  const std::vector<Tensor> gradients = [&] {
    const UserCode lines_of_its_own;
    const RecursionGuard guard(attached.name, kEndlessPullback);
    return attached.pullback(given);
  }();
  const AsIfAt site(record.where);
  std::vector<TensorType> types;
  for (const Value &operand : operands) types.push_back(type_of(operand));
  check_gradients(attached.name, gradients, types);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() || !cotangents.wanted(operands[i].identity)) continue;
    const std::int32_t saved = operands[i].saved;
    cotangents.add(operands[i].identity,
                   saved < 0 ? gradients[i]
                             : matched(gradients[i], saved_[static_cast<std::size_t>(saved)]));
  }
}

/// What a gather along the first axis hands back: the slices of its cotangent. Nothing where a size
/// must be known for that and is not.
std::optional<IndexedSlices> Tape::slices_of(const Record &gather, const Tensor &indices,
                                             std::span<const TensorType> types,
                                             const Tensor &cotangent) const {
  const Shape &shape = types[0].shape, &index_sizes = types[1].shape;
  if (std::get<std::int64_t>(attrs_of(gather)[0]) != 0 || !shape.is_static()) return std::nullopt;
  if (index_sizes.size() == 1) return IndexedSlices{cotangent, indices, shape};
  if (!index_sizes.is_static()) return std::nullopt;
  std::uint64_t product = 1; // unsigned: sizes beside a 0 may multiply to anything
  for (const std::int64_t size : index_sizes) product *= static_cast<std::uint64_t>(size);
  const auto count = static_cast<std::int64_t>(product);
  Ints slices(shape);
  slices[0] = count;
  TensorEmitter e;
  return IndexedSlices{e.reshape(cotangent, slices), e.reshape(indices, Ints{count}), shape};
}

void Tape::run_rule(const Record &record, std::span<const Tensor> given, Cotangents &cotangents) {
  // A derivative belongs to the line, and the user's function, that it is of.
  const AsIfAt site(record.where.line() != 0 ? record.where : CallSite::current(), record.function);
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
  if (record.op == OpCode::gather && wanted[0])
    if (std::optional<IndexedSlices> slices = slices_of(record, operands[1], types, given[0]))
      return cotangents.add(values_[record.first].identity, *std::move(slices));
  Tensor results[kMostResults];
  TensorType result_types[kMostResults];
  bool has_cotangent[kMostResults];
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Value &result = results_of(record)[i];
    results[i] = saved(result);
    result_types[i] = type_of(result);
    has_cotangent[i] = given[i].defined();
  }
  VjpCall<TensorEmitter> call({.op = record.op,
                               .attrs = attrs_of(record),
                               .operand_types = types,
                               .result_types = {result_types, given.size()},
                               .operands = operands,
                               .results = {results, given.size()},
                               .cotangents = given,
                               .has_cotangent = {has_cotangent, given.size()},
                               .wanted = wanted,
                               .gradients = gradients});
  vjp(cotangents.emitter, record.op, call);
  for (std::uint32_t i = 0; i < record.operands; ++i)
    if (gradients[i].defined()) cotangents.add(values_[record.first + i].identity, gradients[i]);
}

} // namespace weft::autodiff
