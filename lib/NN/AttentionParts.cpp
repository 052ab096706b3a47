// Attention in parts whose scores stay in the cache (FlashAttention-2, Dao 2023, with whole rows of
// keys): forward, and a gradient that computes the weights again.
#include "NN/AttentionParts.h"

#include <limits>

#include "NN/Build.h"
#include "Ops/DeviceOps.h"
#include "Runtime/OnDevice.h"
#include <weft/control_flow.h>
#include <weft/ops.h>

namespace weft::nn::attention_parts {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Tensor product(const Tensor &a, const Tensor &b) { return matmul(a, b); }
Tensor times_transposed(const Tensor &a, const Tensor &b) {
  return matmul(a, b, {.transpose_rhs = true});
}
Tensor transposed_times(const Tensor &a, const Tensor &b) {
  return matmul(a, b, {.transpose_lhs = true});
}

Tensor in(DType dtype, const Tensor &x) { return x.dtype() == dtype ? x : cast(x, dtype); }
/// In the type that its numbers are computed in: softmax rounds nothing in between.
Tensor wide(const Tensor &x) { return in(dtype_info(x.dtype()).compute, x); }

} // namespace

Tensor finite_of(const Tensor &x) { return select((x - x) == 0, x, 0); }
Tensor poison_of(const Tensor &x) { return sum(x - x, {.axes = Ints{-1}, .keepdims = true}); }

Tensor along_of(const Tensor &output, const Tensor &cotangent) {
  return sum(wide(output) * wide(cotangent), {.axes = Ints{-1}, .keepdims = true});
}

Tensor Problem::scores(const Rows &rows, const Memory &memory) const {
  Tensor s = wide(times_transposed(rows.query, memory.key));
  if (hides) s = s + memory.poison;
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
      last = last + (count_along(memory.key, -2) -
                     (queries == unknown ? count_along(rows.query, -2) : weft::tensor(queries)));
  }
  return select(positions_along(memory.key, -2) <= last, s, kMinusInfinity);
}

Tensor Problem::kept(const Rows &rows, const Tensor &weights) const {
  const Tensor state = concatenate({seed, reshape(rows.number, {1})});
  const Tensor drawn =
      draw_uniform(state, detail::sizes_of(weights), dtype_info(weights.dtype()).compute);
  return select(drawn < 1 - dropout, 1 / (1 - dropout), zeros({}, weights.dtype()));
}

namespace {

/// Of values that are finite if the problem hides some.
PartResult forward(const Problem &problem, const Rows &rows, const Memory &memory) {
  const Tensor s = problem.scores(rows, memory);
  const Tensor largest = reduce_max(s, {.axes = Ints{-1}, .keepdims = true});
  // Of a row that sees nothing: weights 0, and nothing that is not finite. NaN stays.
  const Tensor from = select(equal(largest, kMinusInfinity), 0, largest);
  Tensor weights = exp(s - from);
  const Tensor total = sum(weights, {.axes = Ints{-1}, .keepdims = true});
  const Tensor positive = select(equal(total, 0), 1, total);
  if (problem.dropout > 0) weights = weights * problem.kept(rows, weights);
  const DType dtype = memory.value.dtype();
  return {in(dtype, wide(product(in(dtype, weights), memory.value)) / positive),
          from + log(positive)};
}

PartGradients backward(const Problem &problem, const Rows &rows, const Memory &memory,
                       const Cotangent &by_output) {
  const Tensor s = problem.scores(rows, memory);
  Tensor weights = exp(s - by_output.logs), key = memory.key, query = rows.query,
         along = by_output.along, dy = by_output.cotangent;
  if (problem.hides) {
    // What is not finite goes to what is seen, by the weights, and nowhere else.
    weights = select(equal(s, kMinusInfinity), 0, weights + wide(poison_of(dy)));
    key = finite_of(key);
    query = finite_of(query);
    along = finite_of(along);
    dy = finite_of(dy);
  }
  Tensor by_weights = wide(times_transposed(dy, memory.value));
  Tensor used = weights;
  if (problem.dropout > 0) {
    const Tensor kept = problem.kept(rows, weights);
    used = weights * kept;
    by_weights = by_weights * kept;
  }
  const DType dtype = query.dtype();
  const Tensor by_scores = in(dtype, weights * (by_weights - along));
  return {product(by_scores, key), transposed_times(by_scores, query),
          transposed_times(in(dtype, used), dy)};
}

/// What a computation on slices gives: for each slice its parts, and for all of them sums.
struct Pieces {
  std::vector<Tensor> parts, sums;
};

/// x with other sizes instead of the first `replaced`.
Tensor with_leading(const Tensor &x, const Ints &sizes, std::size_t replaced) {
  const Shape shape = weft::detail::type_of(x).shape;
  Ints all = sizes;
  for (std::size_t axis = replaced; axis < shape.size(); ++axis) all.push_back(shape[axis]);
  return reshape(x, all);
}

/// Runs `part(first, size, slices)`, which gives Pieces, on the tensors `xs` cut into blocks of
/// `size` along their first axes, which have `count` slices: in a loop, and once for what is left
/// over. `sums` are the sums of no slices.
template <class Part>
Pieces in_blocks(std::int64_t count, std::int64_t size, const std::vector<Tensor> &xs,
                 const std::vector<Tensor> &sums, const Part &part) {
  if (size >= count) return part(zeros({}, DType::i64), count, xs);
  const std::int64_t blocks = count / size, looped = blocks * size;
  const auto between = [&](std::int64_t from, std::int64_t to) {
    std::vector<Tensor> slices;
    for (const Tensor &x : xs) slices.push_back(x[{slice(from, to), ellipsis}]);
    return slices;
  };
  const auto add = [](const std::vector<Tensor> &to, std::vector<Tensor> one) {
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = to[i] + one[i];
    return one;
  };
  using State = std::pair<Tensor, std::vector<Tensor>>;
  const auto iteration = [&](const State &state, const std::vector<Tensor> &slices) {
    Pieces pieces = part(state.first, size, slices);
    return std::pair(State(state.first + size, add(state.second, std::move(pieces.sums))),
                     std::move(pieces.parts));
  };
  std::vector<Tensor> cut = between(0, looped);
  for (Tensor &x : cut) x = with_leading(x, {blocks, size}, 1);
  const auto [last, parts] = scan(iteration, State(zeros({}, DType::i64), sums), cut);
  Pieces all{{}, last.second};
  for (const Tensor &x : parts) all.parts.push_back(with_leading(x, {looped}, 2));
  if (looped == count) return all;
  Pieces rest = part(full({}, looped, DType::i64), count - looped, between(looped, count));
  for (std::size_t i = 0; i < all.parts.size(); ++i)
    all.parts[i] = concatenate({all.parts[i], rest.parts[i]}, {.axis = 0});
  all.sums = add(all.sums, std::move(rest.sums));
  return all;
}

} // namespace

MaskRows::MaskRows(const Tensor &mask, const Ints &leading, std::int64_t heads) {
  Ints shape = mask.shape();
  while (shape.size() < leading.size() + 2) shape.insert(0, 1);
  per_head_ = shape.end()[-2];
  const Ints own(shape.begin(), shape.end() - 2);
  std::int64_t count = 1;
  for (const std::int64_t size : own) count *= size;
  table_ = reshape(mask, {count * per_head_, shape.back()});
  if (count > 1)
    begins_ =
        reshape(broadcast(reshape(iota(DType::i64, {count}) * per_head_, own), leading), {heads});
}

Tensor MaskRows::of(const Tensor &begins, const Tensor &first, std::int64_t count) const {
  if (!table_.defined() || (per_head_ == 1 && !begins.defined())) return table_;
  Tensor rows = begins;
  if (begins.defined()) rows = begins[{ellipsis, newaxis}];
  if (per_head_ > 1) {
    const Tensor in_head = iota(DType::i64, {count}) + first;
    rows = begins.defined() ? rows + in_head : in_head;
  }
  return gather(table_, rows);
}

Cut Cut::of(std::int64_t heads, std::int64_t rows, std::int64_t keys, Device device) {
  const std::int64_t elements = device == Device() ? 1 << 18 : 1 << 29;
  const std::int64_t of_head = rows * keys;
  if (heads * of_head <= 2 * elements) return {heads, rows};
  if (of_head <= elements) {
    const std::int64_t most = elements / of_head;
    // Nothing left over, if that can be.
    for (std::int64_t some = most; 2 * some > most; --some)
      if (heads % some == 0) return {some, rows};
    return {most, rows};
  }
  std::int64_t some = 32;
  while (keys * some * 2 <= elements) some *= 2;
  return {1, std::min(some, rows)};
}

Attention::Attention(Problem problem, Memory memory, const Tensor &query, const Tensor &mask)
    : problem_(std::move(problem)), memory_(std::move(memory)), query_(query), mask_(mask) {
  const Shape shape = weft::detail::type_of(query).shape;
  rows_ = shape.end()[-2];
  if (!shape.is_static() || !weft::detail::type_of(memory_.key).shape.is_static()) return;
  leading_ = Ints(shape.begin(), shape.end() - 2);
  heads_ = 1;
  for (const std::int64_t size : leading_) heads_ *= size;
  cut_ = Cut::of(heads_, rows_, problem_.keys,
                 query.traced() ? weft::detail::traced_for() : query.device());
  in_parts_ = cut_.heads < heads_ || cut_.rows < rows_;
  if (in_parts_ && mask.defined()) masks_ = MaskRows(mask, leading_, heads_);
}

Rows Attention::whole() const {
  return {zeros({}, DType::i64), rows_, query_, mask_, zeros({}, DType::i64)};
}

template <class None, class OfRows>
std::vector<Tensor> Attention::run(const std::vector<Tensor> &rest, const None &none,
                                   const OfRows &of_rows) const {
  std::vector<Tensor> xs = {query_, memory_.key, memory_.value};
  if (problem_.hides) xs.push_back(memory_.poison);
  xs.insert(xs.end(), rest.begin(), rest.end());
  for (Tensor &x : xs) x = with_leading(x, {heads_}, leading_.size());
  if (masks_.begins().defined()) xs.push_back(masks_.begins());

  const auto of_heads = [&](const Tensor &head, std::int64_t count,
                            const std::vector<Tensor> &all) {
    std::size_t at = 0;
    std::vector<Tensor> rows_of = {all[at++]};
    Memory memory{all[at], all[at + 1], {}};
    at += 2;
    if (problem_.hides) memory.poison = all[at++];
    for (std::size_t i = 0; i < rest.size(); ++i) rows_of.push_back(all[at++]);
    Tensor begins = masks_.begins().defined() ? all[at] : Tensor();
    const auto part = [&](const Tensor &first, std::int64_t rows,
                          const std::vector<Tensor> &slices) {
      return of_rows(
          Rows{first, rows, slices[0], masks_.of(begins, first, rows), head * rows_ + first},
          memory, std::vector<Tensor>(slices.begin() + 1, slices.end()));
    };
    Pieces pieces;
    if (cut_.rows == rows_) {
      pieces = part(zeros({}, DType::i64), rows_, rows_of);
    } else {
      // One head; its axis comes back at the end.
      for (Tensor *x : {&memory.key, &memory.value}) *x = with_leading(*x, {}, 1);
      if (problem_.hides) memory.poison = with_leading(memory.poison, {}, 1);
      for (Tensor &x : rows_of) x = with_leading(x, {}, 1);
      if (begins.defined()) begins = with_leading(begins, {}, 1);
      pieces = in_blocks(rows_, cut_.rows, rows_of, none(memory), part);
      for (std::vector<Tensor> *list : {&pieces.parts, &pieces.sums})
        for (Tensor &x : *list) x = x[newaxis];
    }
    pieces.parts.insert(pieces.parts.end(), pieces.sums.begin(), pieces.sums.end());
    return Pieces{std::move(pieces.parts), {}};
  };
  return in_blocks(heads_, cut_.heads, xs, {}, of_heads).parts;
}

PartResult Attention::forward_all() const {
  if (!in_parts_) return forward(problem_, whole(), memory_);
  const auto of_rows = [&](const Rows &rows, const Memory &memory, const std::vector<Tensor> &) {
    const PartResult one = forward(problem_, rows, memory);
    return Pieces{{one.output, one.logs}, {}};
  };
  const std::vector<Tensor> parts =
      run({}, [](const Memory &) { return std::vector<Tensor>(); }, of_rows);
  return {with_leading(parts[0], leading_, 1), with_leading(parts[1], leading_, 1)};
}

PartGradients Attention::backward_all(const Cotangent &by_output) const {
  if (!in_parts_) return backward(problem_, whole(), memory_, by_output);
  const auto of_rows = [&](const Rows &rows, const Memory &memory, const std::vector<Tensor> &own) {
    const PartGradients by = backward(problem_, rows, memory, {own[0], own[1], own[2]});
    return Pieces{{by.query}, {by.key, by.value}};
  };
  const auto none = [](const Memory &memory) {
    return std::vector<Tensor>{zeros_like(memory.key), zeros_like(memory.value)};
  };
  const std::vector<Tensor> parts =
      run({by_output.cotangent, by_output.along, by_output.logs}, none, of_rows);
  return {with_leading(parts[0], leading_, 1), with_leading(parts[1], leading_, 1),
          with_leading(parts[2], leading_, 1)};
}

} // namespace weft::nn::attention_parts
