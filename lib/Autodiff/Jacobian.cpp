// Jacobians on the tape: the records run backwards once for all elements of the target.
#include "Autodiff/Batching.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Autodiff/TensorEmitter.h"
#include "Ops/DeviceOps.h"
#include "Runtime/Variable.h"

namespace weft::autodiff {

namespace {

/// The type, with the sizes of the call that is traced, which the trace is pinned to.
TensorType type_for_call(const Tensor &tensor) {
  return {detail::type_of(tensor).dtype, detail::shape_for_call(tensor)};
}
TensorType type_of_source(const GradientSource &source) {
  return source.variable() ? source.variable()->type() : type_for_call(source.tensor());
}

void check_sizes_known(const char *name, const char *what, const TensorType &type) {
  if (type.shape.is_static()) return;
  throw ShapeError(std::string(name) + ": the " + what + " is " + to_string(type) +
                   ", but a jacobian needs all sizes to be known");
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::uint64_t result = 1; // unsigned: sizes beside a 0 may multiply to anything
  for (const std::int64_t size : sizes) result *= static_cast<std::uint64_t>(size);
  return static_cast<std::int64_t>(result);
}

Ints joined(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  Ints result(a.begin(), a.end());
  for (const std::int64_t size : b) result.push_back(size);
  return result;
}

/// The rows of the identity matrix, n of them.
Tensor one_hots(std::int64_t n, DType dtype) {
  TensorEmitter e;
  const auto count = [&](std::int64_t axis) {
    return dispatch(OpCode::iota, {}, Attrs{DType::i64, Ints{n, n}, axis});
  };
  return e.select(e.equal(count(0), count(1)), e.scalar(1, dtype), e.scalar(0, dtype));
}

} // namespace

/// The gradients of the target for each of `count` seeds, a tensor (count, target's shape), along a
/// new first axis; undefined where nothing connects.
std::vector<Tensor> Tape::gradients_for(const char *name, const Tensor &target,
                                        std::span<const GradientSource> sources,
                                        const Tensor &seeds, std::int64_t count, bool vectorize) {
  std::vector<Tensor> gradients;
  {
    const Use use(*this);
    gradients = vectorize ? at_once(name, target, sources, seeds, count)
                          : one_by_one(target, sources, seeds, count);
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (!gradients[i].defined()) warn_of_derivatives({&target, 1}, sources[i]);
  }
  note_derivatives(sources, gradients);
  return gradients;
}

std::vector<Tensor> Tape::at_once(const char *name, const Tensor &target,
                                  std::span<const GradientSource> sources, const Tensor &seeds,
                                  std::int64_t count) {
  Batcher batcher(name, count);
  push_interpreter(&batcher);
  struct Pop {
    Batcher &batcher;
    ~Pop() { pop_interpreter(&batcher); }
  } pop{batcher};
  std::vector<Tensor> gradients =
      run({&target, 1}, sources, {batcher.batch(seeds)}, /*keep=*/options_.persistent);
  for (Tensor &gradient : gradients)
    if (gradient.defined()) gradient = batcher.members(gradient);
  return gradients;
}

std::vector<Tensor> Tape::one_by_one(const Tensor &target, std::span<const GradientSource> sources,
                                     const Tensor &seeds, std::int64_t count) {
  TensorEmitter e;
  const Shape shape = detail::shape_for_call(target);
  std::vector<std::vector<Tensor>> rows(sources.size());
  for (std::int64_t i = 0; i < count; ++i) {
    Ints starts(shape.size() + 1), limits(joined(Ints{i + 1}, shape)), strides(shape.size() + 1, 1);
    starts[0] = i;
    const Tensor seed = e.reshape(e.slice(seeds, starts, limits, strides), shape);
    const std::vector<Tensor> gradients = run({&target, 1}, sources, {seed}, /*keep=*/true);
    for (std::size_t s = 0; s < sources.size(); ++s)
      if (gradients[s].defined())
        rows[s].push_back(
            e.reshape(gradients[s], joined(Ints{1}, detail::type_of(gradients[s]).shape)));
  }
  std::vector<Tensor> result;
  for (const std::vector<Tensor> &row : rows)
    result.push_back(row.empty() ? Tensor()
                                 : dispatch(OpCode::concatenate, row, Attrs{std::int64_t{0}}));
  return result;
}

/// What a target of that dtype, which is not floating, would have to be.
static std::string why_no_jacobian(DType dtype) {
  return is_complex(dtype) ? "; that of a complex one is two: of its real and its imaginary part"
                           : "; only floating tensors have derivatives";
}

std::vector<Tensor> Tape::jacobian(const Tensor &target, std::span<const GradientSource> sources,
                                   const JacobianOptions &options) {
  check_use({&target, 1}, sources);
  DeviceOfOperands device;
  device.follow(target);
  check_unconnected(options.unconnected);
  const TensorType type = type_for_call(target);
  if (!is_floating(type.dtype))
    throw DTypeError("jacobian: the target is " + to_string(type) + why_no_jacobian(type.dtype));
  check_sizes_known("jacobian", "target", type);
  for (const GradientSource &source : sources)
    check_sizes_known("jacobian", "source", type_of_source(source));
  TensorEmitter e;
  const std::int64_t count = product(type.shape);
  std::vector<Tensor> gradients(sources.size());
  if (count == 0) spend_unless_persistent();
  else
    gradients =
        gradients_for("jacobian", target, sources,
                      e.reshape(one_hots(count, type.dtype), joined(Ints{count}, type.shape)),
                      count, options.vectorize);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TensorType source = type_of_source(sources[i]);
    const Ints shape = joined(type.shape, source.shape);
    if (gradients[i].defined()) gradients[i] = e.reshape(gradients[i], shape);
    else if (carries_gradient(source.dtype) &&
             (count == 0 || options.unconnected == Unconnected::zero))
      gradients[i] = e.broadcast(detail::placed(e.scalar(0, source.dtype)), shape);
  }
  return gradients;
}

Tensor Tape::batch_jacobian(const Tensor &target, const GradientSource &source,
                            const JacobianOptions &options) {
  check_use({&target, 1}, {&source, 1});
  DeviceOfOperands device;
  device.follow(target);
  check_unconnected(options.unconnected);
  const TensorType type = type_for_call(target), by = type_of_source(source);
  const std::string both = "target is " + to_string(type) + " and the source " + to_string(by);
  if (!is_floating(type.dtype))
    throw DTypeError("batch_jacobian: the " + both + why_no_jacobian(type.dtype));
  if (type.shape.empty() || by.shape.empty())
    throw ShapeError("batch_jacobian: the " + both +
                     ", but both must have a first axis, of the members of the batch");
  check_sizes_known("batch_jacobian", "target", type);
  check_sizes_known("batch_jacobian", "source", by);
  if (type.shape[0] != by.shape[0])
    throw ShapeError("batch_jacobian: the " + both +
                     ", but the first axes must have one size, that of the batch");
  // A seed for each element of a member, the same in all members: they do not meet.
  const std::int64_t members = type.shape[0];
  const auto inner = std::span(type.shape).subspan(1), inner_by = std::span(by.shape).subspan(1);
  const std::int64_t count = product(inner);
  const Ints shape = joined(joined(Ints{members}, inner), inner_by);
  TensorEmitter e;
  Tensor gradient;
  if (count == 0) {
    spend_unless_persistent();
  } else {
    const Tensor hots = e.reshape(one_hots(count, type.dtype), joined(Ints{count, 1}, inner));
    gradient = gradients_for("batch_jacobian", target, {&source, 1},
                             e.broadcast(hots, joined(Ints{count, members}, inner)), count,
                             options.vectorize)[0];
  }
  if (!gradient.defined()) {
    if (count != 0 && options.unconnected == Unconnected::none) return gradient;
    return carries_gradient(by.dtype) ? e.broadcast(detail::placed(e.scalar(0, by.dtype)), shape)
                                      : Tensor();
  }
  Ints order{1, 0};
  for (std::size_t i = 0; i < inner_by.size(); ++i)
    order.push_back(static_cast<std::int64_t>(i) + 2);
  return e.reshape(e.transpose(gradient, order), shape);
}

} // namespace weft::autodiff
