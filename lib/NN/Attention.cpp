// Attention: what it takes, its groups of heads and its gradient, and the functions that a GPU has
// kernels for.
#include <weft/nn/attention.h>

#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "Autodiff/VariableLayers.h"
#include "Function/KernelOf.h"
#include "Function/Tracer.h"
#include "NN/AttentionParts.h"
#include "NN/Build.h"
#include "OpDefs/ShapeFunctions.h"
#include "Ops/DeviceOps.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"
#include "Support/Fork.h"
#include "Support/Messages.h"
#include <weft/custom_gradient.h>
#include <weft/function.h>
#include <weft/ops.h>

namespace weft::nn {

namespace {

using attention_parts::along_of;
using attention_parts::Attention;
using attention_parts::Cotangent;
using attention_parts::finite_of;
using attention_parts::Memory;
using attention_parts::PartGradients;
using attention_parts::PartResult;
using attention_parts::poison_of;
using attention_parts::Problem;
using shapes::may_equal;

/// Whether one kernel may compute it where the tensors are: what the compiler says in the end.
bool may_be_kernel(const Problem &problem, const Tensor &query, const Tensor &key) {
  const Device device = query.traced() ? weft::detail::traced_for() : query.device();
  const DType dtype = query.dtype();
  return device != Device() && (dtype == DType::bf16 || dtype == DType::f16) &&
         problem.dropout == 0 && weft::detail::type_of(query).shape.is_static() &&
         weft::detail::type_of(key).shape.is_static();
}

/// Who runs a call of a function, under all who only look at what is called; nothing where tensors
/// stand for others.
std::optional<Interpreter *> runner_of_calls() {
  Interpreter *at = Interpreter::current();
  for (; at != nullptr && dynamic_cast<Tracer *>(at) == nullptr; at = at->previous())
    if (!at->takes_pullbacks() && dynamic_cast<autodiff::Watcher *>(at) == nullptr)
      return std::nullopt;
  return at;
}

/// The computation of a problem on all heads and rows, of what its function is given.
Attention attention_of(const Problem &problem, const Tensor &query, const Tensor &key,
                       const Tensor &value, const Tensor &mask) {
  Memory memory{key, value, {}};
  if (problem.hides) {
    memory.poison = poison_of(value).mT();
    memory.value = finite_of(value);
  }
  return Attention(problem, memory, query * problem.scale, mask);
}

PartGradients gradients(const Problem &problem, const Attention &all, const Cotangent &by_output) {
  const PartGradients by = all.backward_all(by_output);
  return {by.query * problem.scale, by.key, by.value};
}

/// A part of a problem as a traced function of query, key, value, for gradients a `Cotangent`, and
/// maybe a mask.
using PartFunction = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

/// What one kernel may compute: the op, and the function that is marked as that.
struct KernelPart {
  const char *op, *function;
  std::vector<Tensor> (*compute)(const Problem &, const std::vector<Tensor> &);
};

const KernelPart kForward{
    "attention", "attention_forward", [](const Problem &problem, const std::vector<Tensor> &x) {
      const Tensor mask = x.size() > 3 ? x[3] : Tensor();
      const PartResult result = attention_of(problem, x[0], x[1], x[2], mask).forward_all();
      return std::vector{result.output, result.logs};
    }};
const KernelPart kBackward{"attention_gradients", "attention_backward",
                           [](const Problem &problem, const std::vector<Tensor> &x) {
                             const Tensor mask = x.size() > 6 ? x[6] : Tensor();
                             const Attention all = attention_of(problem, x[0], x[1], x[2], mask);
                             const PartGradients by = gradients(problem, all, {x[5], x[4], x[3]});
                             return std::vector{by.query, by.key, by.value};
                           }};

/// That of a problem, which drops nothing out; the same one each time, so that it is compiled once.
/// Called at once, too, it is what a program calls.
PartFunction function_of(const KernelPart &part, const Problem &problem) {
  using Key = std::tuple<const char *, Causal, double, std::int64_t, std::int64_t, bool>;
  static forks::Mutex<std::mutex> mutex;
  static std::map<Key, PartFunction> &known = *new std::map<Key, PartFunction>;
  const std::lock_guard lock(mutex);
  // Those of sizes that do not come again would pile up.
  constexpr std::size_t kMost = 256;
  if (known.size() >= kMost) known.clear();
  PartFunction &found = known[Key(part.op, problem.causal, problem.scale, problem.queries,
                                  problem.keys, problem.hides)];
  if (!found) {
    auto marked = function([problem, compute = part.compute](
                               const std::vector<Tensor> &x) { return compute(problem, x); },
                           {.name = part.function, .reduce_retracing = false});
    found = function([marked](const std::vector<Tensor> &x) { return marked(x); },
                     {.name = part.op, .reduce_retracing = false});
  }
  return found;
}

/// A part of a problem as a function of its own, which is one kernel where the target has one.
/// Nothing where there can be none.
std::optional<std::vector<Tensor>> as_function(const KernelPart &part, Problem problem,
                                               std::vector<Tensor> x, const Tensor &mask) {
  if (!may_be_kernel(problem, x[0], x[1])) return std::nullopt;
  const std::optional<Interpreter *> runner = runner_of_calls();
  if (!runner) return std::nullopt;
  const Interpreter::Scope under(*runner);
  if (mask.defined()) x.push_back(mask);
  problem.seed = Tensor();
  const std::string causal = problem.causal == Causal::no         ? "no"
                             : problem.causal == Causal::top_left ? "top_left"
                                                                  : "bottom_right";
  const weft::detail::KernelOf kernel(
      part.function,
      {.op = part.op,
       .attributes = {{"causal", causal}, {"scale", problem.scale}, {"queries", problem.queries}}});
  return function_of(part, problem)(x);
}

/// Throws unless the three fit; gives how many heads of queries share one of keys.
std::int64_t check(const Tensor &query, const Tensor &key, const Tensor &value,
                   const AttentionOptions &options) {
  const TensorType q = weft::detail::type_of(query), k = weft::detail::type_of(key),
                   v = weft::detail::type_of(value);
  const std::string types = to_string(q) + ", " + to_string(k) + " and " + to_string(v);
  if (!is_floating(q.dtype) || k.dtype != q.dtype || v.dtype != q.dtype)
    throw DTypeError("attention: query, key and value must be floating and of one dtype, but are " +
                     types);
  const std::size_t rank = q.shape.size();
  if (rank < 3 || k.shape.size() != rank || v.shape.size() != rank)
    throw ShapeError("attention: query, key and value must be (batch.., heads, length, depth), but "
                     "are " +
                     types);
  bool fits = may_equal(q.shape.back(), k.shape.back()) &&
              may_equal(k.shape.end()[-2], v.shape.end()[-2]) &&
              may_equal(k.shape.end()[-3], v.shape.end()[-3]);
  for (std::size_t axis = 0; axis + 3 < rank; ++axis)
    fits =
        fits && may_equal(q.shape[axis], k.shape[axis]) && may_equal(q.shape[axis], v.shape[axis]);
  if (!fits)
    throw ShapeError("attention: the batches of query, key and value, the depths of query and key, "
                     "and the heads and lengths of key and value must be equal, but they are " +
                     types);
  if (!(options.dropout >= 0 && options.dropout < 1))
    throw ValueError("attention: dropout is " + number_text(options.dropout) +
                     ", but must be at least 0 and below 1");
  if (options.scale && !std::isfinite(*options.scale))
    throw ValueError("attention: scale is " + number_text(*options.scale) + ", but must be finite");
  const std::int64_t heads = q.shape.end()[-3], key_heads = k.shape.end()[-3];
  if (heads == key_heads || heads == unknown || key_heads == unknown) return 1;
  if (key_heads == 0 || heads % key_heads != 0)
    throw ShapeError("attention: the " + std::to_string(key_heads) +
                     " heads of keys do not divide the " + std::to_string(heads) +
                     " heads of queries");
  return heads / key_heads;
}

/// Throws unless the mask fits the scores (batch.., heads, queries, keys).
void check_mask(const Tensor &mask, const Tensor &query, const Tensor &key) {
  const Shape shape = weft::detail::type_of(mask).shape;
  Shape scores = weft::detail::type_of(query).shape;
  scores.back() = weft::detail::type_of(key).shape.end()[-2];
  bool fits = shape.size() <= scores.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    const std::int64_t size = scores[i + scores.size() - shape.size()];
    fits = shape[i] == 1 || size == 1 || may_equal(shape[i], size);
  }
  if (!fits)
    throw ShapeError("attention: the mask has shape " + to_string(shape) +
                     ", which does not broadcast with (batch.., heads, queries, keys), here " +
                     to_string(scores));
}

/// (.., heads, length, n) as (.., heads / group, group * length, n), and back.
Tensor grouped(const Tensor &x, std::int64_t group) {
  if (group == 1) return x;
  const Shape shape = x.shape();
  Ints sizes(shape.begin(), shape.end());
  sizes.end()[-3] /= group;
  sizes.end()[-2] *= group;
  return reshape(x, sizes);
}
Tensor ungrouped(const Tensor &x, std::int64_t group) {
  if (group == 1) return x;
  const Shape shape = x.shape();
  Ints sizes(shape.begin(), shape.end());
  sizes.end()[-3] *= group;
  sizes.end()[-2] /= group;
  return reshape(x, sizes);
}

/// What the numbers of dropout follow from.
Tensor seed_of(const AttentionOptions &options) {
  constexpr std::int64_t kSeeds = std::int64_t{1} << 53;
  if (options.dropout_key.defined())
    return random::randint({1}, 0, kSeeds, {.key = options.dropout_key});
  const random::Generator generator =
      options.generator ? *options.generator : random::process_generator();
  return generator.randint({1}, 0, kSeeds);
}

/// Each head of keys or values (.., heads, length, n) as often as queries share it.
Tensor repeated(const Tensor &x, std::int64_t group) {
  std::vector<std::int64_t> heads;
  for (std::int64_t head = 0; head < weft::detail::size_for_call(x, -3); ++head)
    heads.insert(heads.end(), static_cast<std::size_t>(group), head);
  return gather(x, tensor(heads), {.axis = x.rank() - 3});
}

} // namespace

Tensor attention(const Operand &query, const Operand &key, const Operand &value, const Tensor &mask,
                 const AttentionOptions &options) {
  const CallBeside site("attention", query, key, value);
  Tensor q = query.materialize(), k = key.materialize(), v = value.materialize();
  std::int64_t group = check(q, k, v, options);
  if (options.generator && options.dropout_key.defined())
    throw ValueError("attention: a generator and a key are given: one of them is wanted");
  const bool sizes_wanted = options.causal != Causal::no || group > 1;
  if (group > 1 && !q.shape().is_static() &&
      (mask.defined() || weft::detail::size_for_call(q, -2) == unknown)) {
    // Rows of several heads cannot be put behind each other where their number is unknown.
    k = repeated(k, group);
    v = repeated(v, group);
    group = 1;
  }
  Problem problem{.causal = options.causal,
                  .scale = options.scale.value_or(0),
                  .dropout = options.dropout,
                  .seed = {},
                  .queries = sizes_wanted ? weft::detail::size_for_call(q, -2)
                                          : weft::detail::type_of(q).shape.end()[-2],
                  .keys = sizes_wanted ? weft::detail::size_for_call(k, -2)
                                       : weft::detail::type_of(k).shape.end()[-2],
                  .hides = mask.defined() || options.causal != Causal::no};
  if (!options.scale)
    problem.scale = 1 / std::sqrt(static_cast<double>(weft::detail::size_for_call(q, -1)));
  if (options.dropout > 0) problem.seed = seed_of(options);
  Tensor shaped = mask;
  if (mask.defined()) {
    if (is_floating(mask.dtype())) shaped = stop_gradient(mask.astype(q.dtype()));
    else if (mask.dtype() != DType::boolean)
      throw DTypeError("attention: the mask must be bools or floating, but is " +
                       to_string(weft::detail::type_of(mask)));
    check_mask(mask, q, k);
    if (group > 1) {
      Shape all = q.shape();
      all.back() = weft::detail::size_for_call(k, -2);
      shaped = grouped(broadcast(shaped, all), group);
    }
  }
  const auto computed = custom_gradient(
      [&](const Tensor &rows, const Tensor &keys, const Tensor &values) {
        const auto all = [problem, shaped, rows, keys, values] {
          return attention_of(problem, rows, keys, values, shaped);
        };
        const auto called = as_function(kForward, problem, {rows, keys, values}, shaped);
        std::optional<Attention> own;
        if (!called) own = all();
        const PartResult result =
            called ? PartResult{(*called)[0], (*called)[1]} : own->forward_all();
        return Pullback{
            result.output,
            [problem, shaped, rows, keys, values, all, own, result](const Tensor &cotangent) {
              PartResult known = result;
              std::optional<Attention> parts = own;
              if (!own) {
                // Who differentiates this as well has to see it as ops.
                if (!is_watched(rows) && !is_watched(keys) && !is_watched(values) &&
                    !is_watched(cotangent)) {
                  const Tensor along = along_of(result.output, cotangent);
                  if (const auto by =
                          as_function(kBackward, problem,
                                      {rows, keys, values, result.logs, along, cotangent}, shaped))
                    return std::tuple((*by)[0], (*by)[1], (*by)[2]);
                }
                parts = all();
                known = parts->forward_all();
              }
              const PartGradients by = gradients(
                  problem, *parts, {cotangent, along_of(known.output, cotangent), known.logs});
              return std::tuple(by.query, by.key, by.value);
            }};
      },
      {.name = "attention"});
  return ungrouped(computed(grouped(q, group), k, v), group);
}

} // namespace weft::nn
