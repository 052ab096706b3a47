// Attention in blocks of queries (FlashAttention-2, Dao 2023, with whole rows of keys): forward,
// and a gradient that computes the weights again.
#include <weft/nn/attention.h>

#include <cmath>
#include <limits>

#include "NN/Build.h"
#include "Support/CallSite.h"
#include "Support/NumberText.h"
#include <weft/control_flow.h>
#include <weft/custom_gradient.h>
#include <weft/ops.h>

namespace weft::nn {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Tensor product(const Tensor &a, const Tensor &b) { return matmul(a, b); }
Tensor times_transposed(const Tensor &a, const Tensor &b) {
  return matmul(a, b, {.transpose_rhs = true});
}
Tensor transposed_times(const Tensor &a, const Tensor &b) {
  return matmul(a, b, {.transpose_lhs = true});
}

/// A part of the rows of queries.
struct Rows {
  Tensor first;       ///< number of the first one, i64
  std::int64_t count; ///< unknown, if they are all and a trace does not know how many
  Tensor query, mask; ///< theirs
};

/// x with 0 for what is not finite, so that weights of 0 times it are 0.
Tensor finite_of(const Tensor &x) { return select((x - x) == 0, x, 0); }

/// For each row of x (.., rows, depth) 0, or NaN if something in it is not finite.
Tensor poison_of(const Tensor &x) { return sum(x - x, {.axes = Ints{-1}, .keepdims = true}); }

/// What all blocks share.
struct Problem {
  Tensor key;
  Causal causal;
  double scale;
  double dropout;
  Tensor seed;              ///< of dropout, i64(1,)
  std::int64_t queries = 0; ///< of one head: rows of a group are heads * queries
  std::int64_t keys = 0;
  /// Whether some rows may not look at some keys, which then have no influence on them, be they
  /// NaN.
  bool hides = false;
  Tensor poison; ///< if it hides: of the rows of values, in a row

  /// Scaled products, -infinity where a row may not look. Where it may, something in the key or the
  /// value that is not finite makes them NaN.
  Tensor scores(const Rows &rows) const {
    Tensor s = times_transposed(rows.query, key) * scale;
    if (hides) s = s + poison;
    if (rows.mask.defined())
      s = rows.mask.dtype() == DType::boolean
              ? select(rows.mask, s, kMinusInfinity)
              : select(equal(rows.mask, kMinusInfinity), kMinusInfinity, s + rows.mask);
    if (causal == Causal::no) return s;
    // Of an unknown number all queries are looked at, and heads are not grouped.
    const Tensor row = queries == unknown ? positions_along(rows.query, -2)
                                          : (iota(DType::i64, {rows.count}) + rows.first) % queries;
    Tensor last = reshape(row, {rows.count, 1});
    if (causal == Causal::bottom_right) {
      if (keys != unknown && queries != unknown) last = last + (keys - queries);
      else
        last = last + (count_along(key, -2) -
                       (queries == unknown ? count_along(rows.query, -2) : weft::tensor(queries)));
    }
    return select(positions_along(key, -2) <= last, s, kMinusInfinity);
  }
  /// What weights are multiplied by: 0, or 1 / (1 - dropout). The same for the same rows.
  Tensor kept(const Rows &rows, const Tensor &weights) const {
    const Tensor state = concatenate({seed, reshape(rows.first, {1})});
    const Tensor drawn = draw_uniform(state, weights, weights.dtype());
    return select(drawn < 1 - dropout, 1 / (1 - dropout), zeros({}, weights.dtype()));
  }
};

struct BlockResult {
  Tensor output, logs; ///< of the sums of exponentials, a column
};

/// Of values that are finite if the problem hides some.
BlockResult forward(const Problem &problem, const Rows &rows, const Tensor &value) {
  const Tensor s = problem.scores(rows);
  const Tensor largest = max(s, {.axes = Ints{-1}, .keepdims = true});
  // Of a row that may see nothing: weights 0, and nothing that is not finite.
  const Tensor from = select(largest > kMinusInfinity, largest, 0);
  Tensor weights = exp(s - from);
  const Tensor total = sum(weights, {.axes = Ints{-1}, .keepdims = true});
  const Tensor positive = select(total > 0, total, 1);
  if (problem.dropout > 0) weights = weights * problem.kept(rows, weights);
  return {product(weights, value) / positive, from + log(positive)};
}

struct BlockGradients {
  Tensor query, key, value;
};

BlockGradients backward(const Problem &problem, const Rows &rows, const Tensor &value,
                        const Tensor &output, const Tensor &logs, const Tensor &cotangent) {
  const Tensor s = problem.scores(rows);
  Tensor weights = exp(s - logs), key = problem.key, query = rows.query, y = output, dy = cotangent;
  if (problem.hides) {
    // What is not finite goes to what is seen, by the weights, and nowhere else.
    weights = select(equal(s, kMinusInfinity), 0, weights + poison_of(dy));
    key = finite_of(key);
    query = finite_of(query);
    y = finite_of(y);
    dy = finite_of(dy);
  }
  Tensor by_weights = times_transposed(dy, value);
  Tensor used = weights;
  if (problem.dropout > 0) {
    const Tensor kept = problem.kept(rows, weights);
    used = weights * kept;
    by_weights = by_weights * kept;
  }
  const Tensor along = sum(dy * y, {.axes = Ints{-1}, .keepdims = true});
  const Tensor by_scores = weights * (by_weights - along) * problem.scale;
  return {product(by_scores, key), transposed_times(by_scores, query), transposed_times(used, dy)};
}

/// How many rows of queries are computed at a time: as many as keep their weights, of all heads,
/// within about a megabyte.
std::int64_t rows_at_a_time(std::int64_t heads, std::int64_t keys) {
  constexpr std::int64_t elements = 1 << 18;
  std::int64_t rows = 32;
  while (rows < 512 && heads * keys * rows * 2 <= elements) rows *= 2;
  return rows;
}

/// The blocks that the rows (.., rows, n) of a tensor are cut into, in front: (blocks, .., n), and
/// what is left over.
Tensor blocks_of(const Tensor &x, std::int64_t blocks, std::int64_t rows) {
  const Shape shape = weft::detail::type_of(x).shape;
  Ints cut(shape.begin(), shape.end() - 2), order;
  const auto leading = static_cast<std::int64_t>(cut.size());
  for (const std::int64_t size : {blocks, rows, shape.back()}) cut.push_back(size);
  order.push_back(leading);
  for (std::int64_t axis = 0; axis < leading; ++axis) order.push_back(axis);
  order.push_back(leading + 1);
  order.push_back(leading + 2);
  const Tensor part = x[{ellipsis, slice(0, blocks * rows), slice({}, {})}];
  return transpose(reshape(part, cut), order);
}

/// The reverse: (blocks, .., rows, n) as (.., blocks * rows, n).
Tensor joined(const Tensor &blocks) {
  const Shape shape = weft::detail::type_of(blocks).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  Ints order, together(shape.begin() + 1, shape.end() - 2);
  for (std::int64_t axis = 1; axis < rank - 2; ++axis) order.push_back(axis);
  for (const std::int64_t axis : {std::int64_t{0}, rank - 2, rank - 1}) order.push_back(axis);
  together.push_back(shape[0] * shape.end()[-2]);
  together.push_back(shape.back());
  return reshape(transpose(blocks, order), together);
}

/// The computation on all rows of queries, which are known to be many or few.
class Attention {
public:
  Attention(Problem problem, const Tensor &query, const Tensor &mask, std::int64_t heads)
      : problem_(std::move(problem)), mask_(mask) {
    const Shape shape = weft::detail::type_of(query).shape;
    rows_ = shape.end()[-2];
    if (!shape.is_static() || problem_.keys == unknown) return;
    const std::int64_t at_a_time = rows_at_a_time(heads, problem_.keys);
    if (rows_ < 2 * at_a_time) return;
    block_ = at_a_time;
    blocks_ = rows_ / at_a_time;
    // What has the same mask for all rows is not cut.
    if (mask_.defined()) cut_mask_ = mask_.rank() >= 2 && mask_.size(-2) != 1;
  }

  BlockResult forward_all(const Tensor &query, const Tensor &value) const {
    if (blocks_ == 0) return forward(problem_, whole(query), value);
    const auto body = [&](const Tensor &number, const std::pair<Tensor, Tensor> &at) {
      const BlockResult result = forward(problem_, rows_of(number, at.first, at.second), value);
      return std::pair(number + block_, std::pair(result.output, result.logs));
    };
    const Tensor queries = blocks_of(query, blocks_, block_);
    const auto [last, parts] = scan(body, zeros({}, DType::i64), std::pair(queries, mask_blocks()));
    BlockResult all{joined(parts.first), joined(parts.second)};
    if (blocks_ * block_ == rows_) return all;
    const BlockResult rest = forward(problem_, left_over(query), value);
    return {concatenate({all.output, rest.output}, {.axis = -2}),
            concatenate({all.logs, rest.logs}, {.axis = -2})};
  }

  BlockGradients backward_all(const Tensor &query, const Tensor &value, const BlockResult &result,
                              const Tensor &cotangent) const {
    if (blocks_ == 0)
      return backward(problem_, whole(query), value, result.output, result.logs, cotangent);
    using Sums = std::tuple<Tensor, Tensor, Tensor>;
    using Slices = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
    const auto body = [&](const Sums &sums, const Slices &at) {
      const auto &[number, by_key, by_value] = sums;
      const auto &[q, mask, output, logs, dy] = at;
      const BlockGradients one =
          backward(problem_, rows_of(number, q, mask), value, output, logs, dy);
      return std::pair(Sums(number + block_, by_key + one.key, by_value + one.value), one.query);
    };
    const auto cut = [&](const Tensor &x) { return blocks_of(x, blocks_, block_); };
    const auto [sums, by_queries] = scan(
        body, Sums(zeros({}, DType::i64), zeros_like(problem_.key), zeros_like(value)),
        Slices(cut(query), mask_blocks(), cut(result.output), cut(result.logs), cut(cotangent)));
    BlockGradients all{joined(by_queries), std::get<1>(sums), std::get<2>(sums)};
    if (blocks_ * block_ == rows_) return all;
    const auto rest_of = [&](const Tensor &x) { return rest(x); };
    const BlockGradients last = backward(problem_, left_over(query), value, rest_of(result.output),
                                         rest_of(result.logs), rest_of(cotangent));
    return {concatenate({all.query, last.query}, {.axis = -2}), all.key + last.key,
            all.value + last.value};
  }

private:
  Rows whole(const Tensor &query) const { return {zeros({}, DType::i64), rows_, query, mask_}; }
  Rows rows_of(const Tensor &first, const Tensor &query, const Tensor &mask) const {
    return {first, block_, query, cut_mask_ ? mask : mask_};
  }
  Tensor rest(const Tensor &x) const {
    return x[{ellipsis, slice(blocks_ * block_, rows_), slice({}, {})}];
  }
  Rows left_over(const Tensor &query) const {
    return {full({}, blocks_ * block_, DType::i64), rows_ - blocks_ * block_, rest(query),
            cut_mask_ ? rest(mask_) : mask_};
  }
  /// A block of the mask for each block of rows; where it is not cut, a number nobody looks at.
  Tensor mask_blocks() const {
    return cut_mask_ ? blocks_of(mask_, blocks_, block_) : zeros({blocks_}, DType::i32);
  }

  Problem problem_;
  Tensor mask_;
  std::int64_t rows_ = 0, block_ = 0, blocks_ = 0;
  bool cut_mask_ = false;
};

bool may_equal(std::int64_t a, std::int64_t b) { return a == b || a == unknown || b == unknown; }

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

/// Each head of keys or values (.., heads, length, n) as often as queries share it.
Tensor repeated(const Tensor &x, std::int64_t group) {
  std::vector<std::int64_t> heads;
  for (std::int64_t head = 0; head < x.size(-3); ++head)
    heads.insert(heads.end(), static_cast<std::size_t>(group), head);
  return gather(x, tensor(heads), {.axis = x.rank() - 3});
}

} // namespace

Tensor attention(const Operand &query, const Operand &key, const Operand &value, const Tensor &mask,
                 const AttentionOptions &options) {
  const CompositeCall site("attention", query.where());
  Tensor q = query.materialize(), k = key.materialize(), v = value.materialize();
  std::int64_t group = check(q, k, v, options);
  const bool sizes_wanted = options.causal != Causal::no || group > 1;
  if (group > 1 && !q.shape().is_static() && (mask.defined() || q.size(-2) == unknown)) {
    // Rows of several heads cannot be put behind each other where their number is unknown.
    k = repeated(k, group);
    v = repeated(v, group);
    group = 1;
  }
  Problem problem{.key = {},
                  .causal = options.causal,
                  .scale = options.scale.value_or(0),
                  .dropout = options.dropout,
                  .seed = {},
                  .queries = sizes_wanted ? q.size(-2) : weft::detail::type_of(q).shape.end()[-2],
                  .keys = sizes_wanted ? k.size(-2) : weft::detail::type_of(k).shape.end()[-2],
                  .hides = mask.defined() || options.causal != Causal::no,
                  .poison = {}};
  if (!options.scale) problem.scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  if (options.dropout > 0) {
    const random::Generator generator =
        options.generator ? *options.generator : random::process_generator();
    problem.seed = generator.randint({1}, 0, std::int64_t{1} << 53);
  }
  Tensor shaped = mask;
  if (mask.defined()) {
    if (is_floating(mask.dtype())) shaped = stop_gradient(mask.astype(q.dtype()));
    else if (mask.dtype() != DType::boolean)
      throw DTypeError("attention: the mask must be bools or floating, but is " +
                       to_string(weft::detail::type_of(mask)));
    check_mask(mask, q, k);
    if (group > 1) {
      Shape all = q.shape();
      all.back() = k.size(-2);
      shaped = grouped(broadcast(shaped, all), group);
    }
  }
  const Shape shape = weft::detail::type_of(k).shape;
  std::int64_t heads = 1;
  for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis)
    heads *= shape[axis] == unknown ? 1 : shape[axis];

  const auto computed = custom_gradient(
      [&](const Tensor &rows, const Tensor &keys, const Tensor &values) {
        Problem own = problem;
        own.key = keys;
        if (own.hides) own.poison = poison_of(values).mT();
        const Tensor seen = own.hides ? finite_of(values) : values;
        const Attention all(own, rows, shaped, heads);
        const BlockResult result = all.forward_all(rows, seen);
        return Pullback{result.output, [all, rows, seen, result](const Tensor &cotangent) {
                          const BlockGradients by = all.backward_all(rows, seen, result, cotangent);
                          return std::tuple(by.query, by.key, by.value);
                        }};
      },
      {.name = "attention"});
  return ungrouped(computed(grouped(q, group), k, v), group);
}

} // namespace weft::nn
