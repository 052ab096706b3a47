// Scans: loops that read one slice of their inputs in each iteration and stack what they give.
#include <algorithm>

#include <weft/control_flow.h>

#include "Function/Beneath.h"
#include "Function/Tracer.h"
#include "Ops/ConstructChecks.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"

namespace weft::detail {

namespace {

std::string prefix(std::string_view name) { return std::string(name) + ": "; }

/// What the user's code gives; its op calls have lines of their own.
std::vector<Tensor> results_of(const Body &iteration, std::span<const Tensor> inputs) {
  const UserCode user;
  return iteration(inputs);
}

/// x `count` times along a new leading axis.
Tensor repeated(const Tensor &x, const Size &count) {
  Sizes shape{count};
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) shape.push_back(x.size(axis));
  return broadcast(x, shape);
}

/// The sizes of the slices of x along its first axis.
Sizes slice_sizes(const Tensor &x) {
  Sizes sizes;
  for (std::int64_t axis = 1; axis < x.rank(); ++axis) sizes.push_back(x.size(axis));
  return sizes;
}

/// The size of the first axes, which must be one; unknown if a trace does not know it.
std::int64_t common_length(std::string_view name, std::span<const Tensor> xs) {
  if (xs.empty())
    throw ValueError(prefix(name) + "there is no tensor to go along; for_loop counts iterations");
  std::int64_t length = unknown;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].rank() == 0)
      throw ShapeError(prefix(name) + "tensor " + std::to_string(i) +
                       " of what it goes along is a scalar");
    const std::int64_t size = xs[i].impl()->dims()[0];
    if (size == unknown) continue;
    if (length != unknown && size != length)
      throw ShapeError(prefix(name) + "the first sizes differ: tensor " + std::to_string(i) +
                       " has shape " + to_string(detail::type_of(xs[i]).shape) +
                       ", but another has " + std::to_string(length) + " slices");
    length = size;
  }
  return length;
}

TracedType slice_type(const Tensor &x) {
  const auto rest = [](const Shape &shape) {
    return Shape(std::span<const std::int64_t>(shape).subspan(1));
  };
  return {{x.dtype(), rest(type_of(x).shape)}, rest(hint_of(x))};
}

/// What an iteration gives besides the carries, found out by tracing one.
struct IterationResults {
  std::vector<TensorType> types;
  bool has_effects = false; ///< whether it does more than to compute them

  bool are_static() const {
    return std::ranges::all_of(types,
                               [](const TensorType &type) { return type.shape.is_static(); });
  }
};

/// The trace at the end of a chain of interpreters.
Tracer &trace_under(Interpreter &interpreter) {
  Interpreter *at = &interpreter;
  while (dynamic_cast<Tracer *>(at) == nullptr) at = at->previous();
  return dynamic_cast<Tracer &>(*at);
}

/// Results, when carries begin with the types in `carries`, which become those of every iteration.
IterationResults resolve_types(std::string_view name, const Body &iteration,
                               std::vector<TracedType> &carries, std::span<const Tensor> xs,
                               Interpreter &tracer) {
  const std::vector<TracedType> before = carries;
  IterationResults results;
  const auto noted = [&](std::span<const Tensor> inputs) {
    std::vector<Tensor> values = iteration(inputs);
    results.has_effects = !trace_under(tracer).effect().empty();
    return values;
  };
  for (;;) {
    std::vector<TracedType> inputs = carries;
    for (const Tensor &x : xs) inputs.push_back(slice_type(x));
    const std::vector<TracedType> after = tracer.types_of(name, noted, inputs);
    const std::span<const TracedType> all(after);
    if (widen_loop_variables(name, before, carries, all.first(carries.size()))) continue;
    results.types.clear();
    for (const TracedType &result : all.subspan(carries.size()))
      results.types.push_back(result.type);
    return results;
  }
}

/// The same where nothing is traced.
IterationResults results_of_values(std::string_view name, const Body &iteration,
                                   std::span<const Tensor> carries, std::span<const Tensor> xs) {
  Tracer tracer{{.name = std::string(name), .checkpoint = {}}};
  const Beneath beneath(&tracer);
  std::vector<TracedType> types(carries.begin(), carries.end());
  return resolve_types(name, iteration, types, xs, *Interpreter::current());
}

Tensor stacked(std::string_view name, const std::vector<Tensor> &parts) {
  std::vector<Tensor> rows;
  for (const Tensor &part : parts) {
    if (part.dtype() != parts[0].dtype() ||
        !(detail::type_of(part).shape == detail::type_of(parts[0]).shape))
      throw ShapeError(prefix(name) + "what the body gives changes from " +
                       to_string(detail::type_of(parts[0])) + " to " +
                       to_string(detail::type_of(part)) + ", and cannot be stacked");
    Ints row{1};
    for (const std::int64_t size : detail::type_of(part).shape) row.push_back(size);
    rows.push_back(part.reshape(row));
  }
  return concatenate(rows, {.axis = 0});
}

/// What an iteration on zeros gives, for the sizes of what would be stacked.
std::vector<Tensor> results_on_zeros(const Body &iteration, std::vector<Tensor> carries,
                                     std::span<const Tensor> xs) {
  for (const Tensor &x : xs)
    carries.push_back(placed_beside(x, zeros(slice_sizes(x), type_of(x).dtype)));
  return results_of(iteration, carries);
}

std::vector<Tensor> scan_values(std::string_view name, const Body &iteration,
                                std::vector<Tensor> carries, std::span<const Tensor> xs,
                                std::int64_t length, bool reverse) {
  const std::size_t carried = carries.size();
  std::vector<std::vector<Tensor>> ys;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t at = reverse ? length - 1 - i : i;
    std::vector<Tensor> inputs = carries;
    for (const Tensor &x : xs) inputs.push_back(x[Index(at)]);
    std::vector<Tensor> after = results_of(iteration, inputs);
    for (const Tensor &result : after)
      if (!result.defined())
        throw ValueError(prefix(name) + "a tensor that a body returns is undefined");
    for (std::size_t c = 0; c < carried; ++c) {
      check_loop_variable(name, c, detail::type_of(carries[c]), detail::type_of(after[c]));
      carries[c] = after[c];
    }
    ys.resize(after.size() - carried);
    for (std::size_t y = 0; y < ys.size(); ++y) ys[y].push_back(after[carried + y]);
  }
  if (length == 0) {
    IterationResults results = results_of_values(name, iteration, carries, xs);
    if (!results.are_static() && !results.has_effects) {
      const std::vector<Tensor> like = results_on_zeros(iteration, carries, xs);
      for (std::size_t y = 0; y < results.types.size(); ++y)
        results.types[y] = type_of(like[carried + y]);
    }
    for (const TensorType &type : results.types) {
      Shape shape{0};
      for (const std::int64_t size : type.shape) shape.push_back(size == unknown ? 0 : size);
      const Tensor made = zeros(shape, type.dtype);
      carries.push_back(xs.empty() ? made : placed_beside(xs[0], made));
    }
    return carries;
  }
  for (std::vector<Tensor> &parts : ys) {
    if (reverse) std::reverse(parts.begin(), parts.end());
    carries.push_back(stacked(name, parts));
  }
  return carries;
}

} // namespace

std::vector<Tensor> scan(std::string_view name, const Body &iteration, std::vector<Tensor> carries,
                         std::span<const Tensor> xs, bool reverse,
                         const std::source_location &where) {
  const CompositeCall site("scan", where);
  const std::int64_t length = common_length(name, xs);
  Interpreter *tracer = Interpreter::current();
  if (tracer == nullptr || !tracer->traces())
    return scan_values(name, iteration, std::move(carries), xs, length, reverse);

  std::vector<TracedType> types(carries.begin(), carries.end());
  const IterationResults results = resolve_types(name, iteration, types, xs, *tracer);
  const Tensor count = length == unknown ? size_of(xs[0]) : new_scalar(length);
  const std::size_t carried = carries.size();
  // Around the user's iteration there are ops of the scan itself.
  const auto iteration_at = [&](const Tensor &number, std::span<const Tensor> now) {
    const Tensor at = reverse ? count - 1 - number : number;
    std::vector<Tensor> arguments(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(carried));
    for (const Tensor &x : xs) arguments.push_back(gather(x, at));
    return std::pair(at, results_of(iteration, arguments));
  };
  const auto iterations_from = [&](std::int64_t first, std::vector<Tensor> state) {
    return weft::detail::count(
        name, Iterations(first, count),
        [&](std::span<const Tensor> inputs) {
          const CompositeCall inside("scan", where);
          const std::span<const Tensor> now = inputs.subspan(1);
          auto [at, after] = iteration_at(inputs[0], now);
          for (std::size_t i = carried; i < after.size(); ++i)
            after[i] = update_slice(now[i], at, after[i]);
          return after;
        },
        std::move(state));
  };
  if (results.are_static()) {
    std::vector<Tensor> state = carries;
    for (const TensorType &type : results.types) {
      Sizes shape{length == unknown ? Size(count) : Size(length)};
      for (const std::int64_t size : type.shape) shape.push_back(size);
      state.push_back(zeros(shape, type.dtype));
    }
    return iterations_from(0, std::move(state));
  }
  // The sizes of what is stacked are those that the first iteration gives. Without an iteration
  // they are those of one on zeros, which nobody computes for its sizes alone; if it did something
  // besides, it must not run, and they are 0.
  const bool may_run = !results.has_effects;
  return branch(
      name, count > 0,
      [&](std::span<const Tensor>) {
        const CompositeCall inside("scan", where);
        std::vector<Tensor> state = iteration_at(new_scalar(std::int64_t{0}), carries).second;
        for (std::size_t i = carried; i < state.size(); ++i) state[i] = repeated(state[i], count);
        return iterations_from(1, std::move(state));
      },
      [&](std::span<const Tensor>) {
        const CompositeCall inside("scan", where);
        std::vector<Tensor> state = carries, like;
        if (may_run) like = results_on_zeros(iteration, carries, xs);
        for (std::size_t i = 0; i < results.types.size(); ++i) {
          Shape shape{0};
          for (const std::int64_t size : results.types[i].shape)
            shape.push_back(size == unknown ? 0 : size);
          state.push_back(may_run ? repeated(stop_gradient(like[carried + i]), 0)
                                  : zeros(shape, results.types[i].dtype));
        }
        return state;
      });
}

} // namespace weft::detail
