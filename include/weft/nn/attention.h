// Attention: the function, the layer of many heads, transformer layers, positional encodings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/nn/dense.h>
#include <weft/nn/dropout.h>
#include <weft/nn/layer.h>
#include <weft/nn/normalization.h>
#include <weft/options.h>
#include <weft/random.h>

namespace weft::nn {

/// Which keys a query may see.
enum class Causal : std::int32_t {
  no,           ///< all
  top_left,     ///< query i sees keys 0 to i
  bottom_right, ///< the last query sees all keys, each before it one less
};

/// Options of `attention`.
struct AttentionOptions {
  Causal causal = Causal::no;
  /// Of the products; by default 1 / sqrt(depth).
  std::optional<double> scale = std::nullopt;
  /// Share of the weights that are dropped, the others divided by 1 - dropout.
  double dropout = 0;
  /// Where dropout has its numbers from; by default `random::process_generator()`.
  std::optional<random::Generator> generator = std::nullopt;
  /// The key of dropout's numbers, in place of a generator.
  Tensor dropout_key = {};
};
WEFT_OPTIONS(AttentionOptions, causal, scale, dropout, generator, dropout_key)

/// softmax(query key^T scale + mask) value (Vaswani et al. 2017), of rows (.., heads, length,
/// depth). The matrix of weights is never whole in memory: blocks of queries are computed one after
/// the other, and again for the gradient, so that memory grows with the length and not with its
/// square. Fewer heads of keys and values serve groups of neighbouring queries' heads (Ainslie et
/// al. 2023). A query that may see nothing has zeros, and zeros as gradients.
///
/// Throws ShapeError if ranks, lengths or depths do not fit or the heads of keys do not divide
/// those of queries, DTypeError unless all are floating of one dtype, ValueError for a dropout
/// outside of [0, 1), or a generator and a key.
/// \param query (batch.., heads, queries, depth), of at least three axes
/// \param key (batch.., heads of keys, keys, depth)
/// \param value (batch.., heads of keys, keys, depth of values)
/// \param mask what broadcasts to (batch.., heads, queries, keys): bools, true where the query sees
///     the key, or numbers that are added to the scaled products, through which no gradient flows;
///     undefined for none
/// \return (batch.., heads, queries, depth of values)
Tensor attention(const Operand &query, const Operand &key, const Operand &value,
                 const Tensor &mask = {}, const AttentionOptions &options = {});

/// Options of `MultiHeadAttention`.
struct MultiHeadAttentionOptions {
  std::int64_t heads = 8;
  /// Of keys and values, which divide `heads`; as many if there are none given.
  std::optional<std::int64_t> key_heads = std::nullopt;
  /// Of each head; by default size / heads.
  std::optional<std::int64_t> depth = std::nullopt;
  Causal causal = Causal::no;
  double dropout = 0;
  bool use_bias = true;
  /// Whether queries and keys are turned by their positions (`rotary`).
  bool rotary = false;
  VariableInitializer kernel_initializer = initializers::glorot_uniform();
  DType dtype = DType::f32;
};
WEFT_OPTIONS(MultiHeadAttentionOptions, heads, key_heads, depth, causal, dropout, use_bias, rotary,
             kernel_initializer, dtype)

/// What a call of attention is told.
struct AttentionCall {
  /// (batch, queries, keys) or what `attention` takes.
  Tensor mask = {};
  bool training = false;
};

/// Attention of many heads (Vaswani et al. 2017): dense layers make queries, keys and values of
/// each head, and bring the heads' results together.
class MultiHeadAttention {
public:
  /// Throws ValueError unless the heads divide the size, or `depth` is given, and the heads of keys
  /// divide the heads.
  explicit MultiHeadAttention(std::int64_t size, const MultiHeadAttentionOptions &options = {},
                              std::source_location where = WEFT_HERE);

  /// Of x (batch, length, size) to itself.
  Tensor operator()(const Operand &x, const AttentionCall &call = {}) const {
    return of(x, x, call);
  }
  /// Of queries (batch, queries, size) to others (batch, keys, size of these).
  template <class Others, // a template, which no braces match
            class = std::enable_if_t<std::is_convertible_v<const Others &, Operand>>>
  Tensor operator()(const Operand &x, const Others &others, const AttentionCall &call = {}) const {
    return of(x, others, call);
  }

  Dense query, key, value, output;

  WEFT_FIELDS(MultiHeadAttention, query, key, value, output, drop_, name_)

private:
  Tensor of(const Operand &x, const Operand &others, const AttentionCall &call) const;

  std::int64_t heads_, key_heads_, depth_;
  Causal causal_;
  double dropout_;
  bool rotary_;
  Dropout drop_; ///< whose numbers attention takes
  LayerName name_;
};

/// Options of transformer layers.
struct TransformerOptions {
  std::int64_t heads = 8;
  /// Of the feed-forward part's middle; by default four times the size.
  std::optional<std::int64_t> inner = std::nullopt;
  Activation activation = {}; ///< of the middle, `relu` by default
  double dropout = 0;
  /// Norms in front of each part (Xiong et al. 2020), or behind what it is added to, as in the
  /// paper.
  bool norm_first = false;
  Causal causal = Causal::no;
  double epsilon = 1e-5;
};
WEFT_OPTIONS(TransformerOptions, heads, inner, activation, dropout, norm_first, causal, epsilon)

/// Self-attention, then two dense layers, each added to its input and normalized.
class TransformerEncoderLayer {
public:
  explicit TransformerEncoderLayer(std::int64_t size, const TransformerOptions &options = {},
                                   std::source_location where = WEFT_HERE);
  /// x (batch, length, size).
  Tensor operator()(const Operand &x, const AttentionCall &call = {}) const;
  Tensor operator()(const Operand &x, const CallOptions &options) const {
    return (*this)(x, AttentionCall{.training = options.training});
  }

  MultiHeadAttention attention;
  LayerNorm norm1, norm2;
  Dense inner, outer;
  Dropout dropout;

  WEFT_FIELDS(TransformerEncoderLayer, attention, norm1, norm2, inner, outer, dropout)

private:
  bool norm_first_;
};

/// The same with attention to an encoder's result between the two.
class TransformerDecoderLayer {
public:
  /// Self-attention is causal unless the options say otherwise by `top_left` or `bottom_right`.
  explicit TransformerDecoderLayer(std::int64_t size, const TransformerOptions &options = {},
                                   std::source_location where = WEFT_HERE);
  /// x (batch, length, size), encoded (batch, other length, size).
  Tensor operator()(const Operand &x, const Operand &encoded, const AttentionCall &self = {},
                    const AttentionCall &cross = {}) const;

  MultiHeadAttention self_attention, cross_attention;
  LayerNorm norm1, norm2, norm3;
  Dense inner, outer;
  Dropout dropout;

  WEFT_FIELDS(TransformerDecoderLayer, self_attention, cross_attention, norm1, norm2, norm3, inner,
              outer, dropout)

private:
  bool norm_first_;
};

/// Sines and cosines of positions (length, size): entry 2i of position p is sin(p / base^(2i /
/// size)), entry 2i + 1 the cosine (Vaswani et al. 2017). Throws ValueError unless length and size
/// are at least 1.
Tensor positional_encoding(std::int64_t length, std::int64_t size, double base = 10'000,
                           DType dtype = DType::f32, std::source_location where = WEFT_HERE);

/// x (.., length, depth) with pairs of entries turned by the angle position base^(-2i / depth) (Su
/// et al. 2021): entries i and i + depth / 2, as Llama's weights have it, or, interleaved, 2i and
/// 2i +
/// 1. Throws ShapeError for an odd depth.
Tensor rotary(const Operand &x, bool interleaved = false, double base = 10'000);

} // namespace weft::nn
