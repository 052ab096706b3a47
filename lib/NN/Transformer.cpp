// Layers around attention: many heads, transformer layers, positional encodings.
#include <weft/nn/attention.h>

#include <cmath>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include "Support/CallSite.h"
#include "Support/Messages.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

DenseOptions projection(const MultiHeadAttentionOptions &options) {
  return {.use_bias = options.use_bias,
          .kernel_initializer = options.kernel_initializer,
          .dtype = options.dtype};
}

std::int64_t depth_of(std::int64_t size, const MultiHeadAttentionOptions &options,
                      const std::source_location &where) {
  const CallSite site(where);
  const LayerName name("MultiHeadAttention");
  const std::string prefix = "MultiHeadAttention: ";
  check_size(name, "size", size);
  check_at_least_one(name, "head", options.heads);
  const std::int64_t key_heads = options.key_heads.value_or(options.heads);
  if (key_heads < 1 || options.heads % key_heads != 0)
    throw ValueError(prefix + "the " + std::to_string(key_heads) +
                     " heads of keys do not divide the " + std::to_string(options.heads) +
                     " heads");
  if (!(options.dropout >= 0 && options.dropout < 1))
    throw ValueError(prefix + "dropout is " + number_text(options.dropout) +
                     ", but must be at least 0 and below 1");
  const std::int64_t depth = options.depth.value_or(size / options.heads);
  if (!options.depth && size % options.heads != 0)
    throw ValueError(prefix + "the " + std::to_string(options.heads) +
                     " heads do not divide the size " + std::to_string(size) +
                     ": give the depth of a head");
  check_size(name, "depth", depth);
  if (options.rotary && depth % 2 != 0)
    throw ValueError(prefix + "rotary turns pairs of entries, but the depth of a head is " +
                     std::to_string(depth));
  std::int64_t together = 0;
  if (__builtin_mul_overflow(options.heads, depth, &together)) together = -1;
  check_variable(name, "kernel", {size, together < 0 ? size : together});
  return depth;
}

/// (batch, length, heads * depth) as (batch, heads, length, depth), and back. A trace is pinned to
/// sizes that it can know: attention needs them to go in blocks.
Tensor heads_of(const Tensor &x, std::int64_t heads, std::int64_t depth) {
  Shape shape = detail::type_of(x).shape;
  if (shape[0] == unknown && shape[1] == unknown) shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, depth}), {0, 2, 1, 3});
}
Tensor together(const Tensor &x) {
  const Tensor turned = transpose(x, {0, 2, 1, 3});
  const Shape shape = detail::type_of(turned).shape;
  return reshape(turned, {shape[0], shape[1], shape[2] * shape[3]});
}

} // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t size, const MultiHeadAttentionOptions &options,
                                       std::source_location where)
    : query(options.heads * depth_of(size, options, where), projection(options), where),
      key(options.key_heads.value_or(options.heads) * depth_of(size, options, where),
          projection(options), where),
      value(options.key_heads.value_or(options.heads) * depth_of(size, options, where),
            projection(options), where),
      output(size, projection(options), where), heads_(options.heads),
      key_heads_(options.key_heads.value_or(options.heads)), depth_(depth_of(size, options, where)),
      causal_(options.causal), dropout_(options.dropout), rotary_(options.rotary),
      drop_(options.dropout), name_("MultiHeadAttention") {}

Tensor MultiHeadAttention::of(const Operand &x, const Operand &others,
                              const AttentionCall &call) const {
  const LayerCall site(name_, x.where());
  const Tensor from = x.materialize(), to = others.materialize();
  for (const Tensor *tensor : {&from, &to})
    if (detail::type_of(*tensor).shape.size() != 3)
      throw ShapeError(site.prefix() + "x must be (batch, length, size), but is " +
                       to_string(detail::type_of(*tensor)));
  Tensor q = heads_of(query(from), heads_, depth_), k = heads_of(key(to), key_heads_, depth_);
  const Tensor v = heads_of(value(to), key_heads_, depth_);
  if (rotary_) {
    q = rotary(q);
    k = rotary(k);
  }
  Tensor mask = call.mask;
  // (batch, queries, keys), the same for all heads.
  if (mask.defined() && mask.rank() == 3) mask = mask[{all, newaxis}];
  AttentionOptions options{.causal = causal_};
  if (call.training && dropout_ > 0) {
    options.dropout = dropout_;
    options.generator = drop_.generator();
  }
  return site.result(output(together(attention(q, k, v, mask, options))));
}

namespace {

MultiHeadAttentionOptions attention_options(const TransformerOptions &options, Causal causal) {
  return {.heads = options.heads, .causal = causal, .dropout = options.dropout};
}
DenseOptions middle(const TransformerOptions &options) {
  return {.activation = options.activation ? options.activation : Activation(relu)};
}

} // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t size,
                                                 const TransformerOptions &options,
                                                 std::source_location where)
    : attention(size, attention_options(options, options.causal), where),
      norm1(size, {.epsilon = options.epsilon}, where),
      norm2(size, {.epsilon = options.epsilon}, where),
      inner(options.inner.value_or(4 * size), middle(options), where), outer(size, {}, where),
      dropout(options.dropout, where), norm_first_(options.norm_first) {}

Tensor TransformerEncoderLayer::operator()(const Operand &operand,
                                           const AttentionCall &call) const {
  const CallSite site(operand.where());
  const Tensor x = operand.materialize();
  const CallOptions training{.training = call.training};
  const auto feed = [&](const Tensor &y) { return dropout(outer(inner(y)), training); };
  if (norm_first_) {
    const Tensor y = x + dropout(attention(norm1(x), call), training);
    return y + feed(norm2(y));
  }
  const Tensor y = norm1(x + dropout(attention(x, call), training));
  return norm2(y + feed(y));
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t size,
                                                 const TransformerOptions &options,
                                                 std::source_location where)
    : self_attention(size,
                     attention_options(options, options.causal == Causal::no ? Causal::top_left
                                                                             : options.causal),
                     where),
      cross_attention(size, attention_options(options, Causal::no), where),
      norm1(size, {.epsilon = options.epsilon}, where),
      norm2(size, {.epsilon = options.epsilon}, where),
      norm3(size, {.epsilon = options.epsilon}, where),
      inner(options.inner.value_or(4 * size), middle(options), where), outer(size, {}, where),
      dropout(options.dropout, where), norm_first_(options.norm_first) {}

Tensor TransformerDecoderLayer::operator()(const Operand &operand, const Operand &others,
                                           const AttentionCall &self,
                                           const AttentionCall &cross) const {
  const CallSite site(operand.where());
  const Tensor x = operand.materialize(), encoded = others.materialize();
  const CallOptions training{.training = self.training};
  const auto feed = [&](const Tensor &y) { return dropout(outer(inner(y)), training); };
  const auto meet = [&](const Tensor &y) {
    return dropout(cross_attention(y, encoded, cross), training);
  };
  if (norm_first_) {
    const Tensor y = x + dropout(self_attention(norm1(x), self), training);
    const Tensor z = y + meet(norm2(y));
    return z + feed(norm3(z));
  }
  const Tensor y = norm1(x + dropout(self_attention(x, self), training));
  const Tensor z = norm2(y + meet(y));
  return norm3(z + feed(z));
}

namespace {

void check_base(const char *function, double base) {
  if (!(base > 0 && std::isfinite(base)))
    throw ValueError(std::string(function) + ": base is " + number_text(base) +
                     ", but must be positive and finite");
}

/// The angles (length, count) of positions: p / base^(2i / size).
Tensor angles(const Tensor &positions, std::int64_t count, std::int64_t size, double base) {
  const Tensor exponents = iota(DType::f64, {count}) * (-2. / static_cast<double>(size));
  return reshape(cast(positions, DType::f64), {-1, 1}) * power(base, exponents);
}

} // namespace

Tensor positional_encoding(std::int64_t length, std::int64_t size, double base, DType dtype,
                           std::source_location where) {
  const CompositeCall site("positional_encoding", where);
  if (length < 1 || size < 1)
    throw ValueError("positional_encoding: length and size must be at least 1, but are " +
                     std::to_string(length) + " and " + std::to_string(size));
  check_base("positional_encoding", base);
  if (!is_floating(dtype))
    throw DTypeError("positional_encoding: the dtype must be floating, but it is " +
                     std::string(name_of(dtype)));
  const std::int64_t pairs = size / 2 + size % 2;
  const Tensor turned = angles(iota(DType::i64, {length}), pairs, size, base);
  const Tensor both = concatenate(
      {reshape(sin(turned), {length, pairs, 1}), reshape(cos(turned), {length, pairs, 1})},
      {.axis = -1});
  return cast(reshape(both, {length, 2 * pairs})[{weft::all, slice(0, size)}], dtype);
}

Tensor rotary(const Operand &x, bool interleaved, double base) {
  const CallBeside site("rotary", x);
  const Tensor value = x.materialize();
  const TensorType type = detail::type_of(value);
  if (type.shape.size() < 2 || type.shape.back() == unknown || type.shape.back() % 2 != 0)
    throw ShapeError("rotary: x must be (.., length, depth) of an even depth, but is " +
                     to_string(type));
  check_base("rotary", base);
  if (!is_floating(type.dtype))
    throw DTypeError("rotary: x must be floating, but is " + to_string(type));
  const std::int64_t depth = type.shape.back(), half = depth / 2;
  const Tensor turned = angles(positions_along(value, -2), half, depth, base);
  const Tensor c = cast(cos(turned), type.dtype), s = cast(sin(turned), type.dtype);
  const auto part = [&](const Slice &which) { return value[{ellipsis, which}]; };
  const Tensor a = interleaved ? part(slice(0, {}, 2)) : part(slice(0, half)),
               b = interleaved ? part(slice(1, {}, 2)) : part(slice(half, depth));
  const Tensor first = a * c - b * s, second = b * c + a * s;
  if (!interleaved) return concatenate({first, second}, {.axis = -1});
  const Tensor pairs =
      concatenate({first[{ellipsis, newaxis}], second[{ellipsis, newaxis}]}, {.axis = -1});
  return reshape(pairs, type.shape);
}

} // namespace weft::nn
