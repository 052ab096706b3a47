"""Layers of Keras about attention, and embeddings."""

from __future__ import annotations

import math
from typing import Any

import weft as wf
from weft import _weft
from weft._arguments import options
from weft._trees import is_listed

from . import _layers
from ._elements import sizes_as_values
from ._keras import Layer

_networks: Any = wf.nn


class Embedding(_networks.Embedding):
    """The rows of a table that integers choose. Masks do not go along with tensors: `mask_zero` is a
    ValueError."""

    @options
    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        mask_zero: bool = False,
        input_length: int | None = None,
        **other: Any,
    ) -> None:
        if mask_zero:
            raise _weft.ValueError(
                "Embedding: mask_zero is True, and masks do not go along with tensors: leave it away, and "
                "give the layers behind it mask=tf.not_equal(ids, 0)"
            )
        if embeddings_initializer != "uniform":
            other["embeddings_initializer"] = embeddings_initializer
        _networks.Embedding.__init__(self, input_dim, output_dim, **other)


class MultiHeadAttention(Layer):
    """Attention of many heads (Vaswani et al. 2017): `layer(query, value, key=value)` of tensors
    (batch, length, features), to (batch, length of queries, features of queries).

    `attention_mask` is true where a query sees a key: (batch, queries, keys), or with the heads in
    front of these. A query that sees none has zeros.
    """

    @options
    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: int | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._heads, self._depth, self._rate, self._size = num_heads, key_dim, dropout, output_shape
        self._options = dict(
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
        )
        wide = num_heads * (key_dim if value_dim is None else value_dim)
        dense = _networks.Dense
        self.query_dense = dense(num_heads * key_dim, **self._options)
        self.key_dense = dense(num_heads * key_dim, **self._options)
        self.value_dense = dense(wide, **self._options)
        self._generator = _layers.generator(None)

    def build(self, input_shape: Any, dtype: Any = "float32") -> None:
        size = self._size if self._size is not None else input_shape[-1]
        self.output_dense = _networks.Dense(size, **self._options)

    def _split(self, x: Any) -> Any:
        """(batch, length, heads times depth) to (batch, heads, length, depth)."""
        sizes = sizes_as_values(x)
        apart = wf.reshape(x, [*sizes[:2], self._heads, x.shape[-1] // self._heads])
        return wf.transpose(apart, [0, 2, 1, 3])

    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        q = self._split(self.query_dense(query))
        k = self._split(self.key_dense(value if key is None else key))
        v = self._split(self.value_dense(value))
        mask = None if attention_mask is None else wf.cast(attention_mask, "bool")
        if mask is not None and mask.ndim < 4:
            mask = mask[:, None] if mask.ndim == 3 else mask[None, None]
        rate = self._rate if training else 0.0
        if return_attention_scores:
            result, weights = attended(
                q, k, v, mask, use_causal_mask, 1 / math.sqrt(self._depth), rate, self._generator
            )
            return self._joined(result), weights
        result = wf.nn.attention(
            q, k, v, mask, causal=use_causal_mask, dropout=rate, generator=self._generator
        )
        return self._joined(result)

    def _joined(self, x: Any) -> Any:
        moved: Any = wf.transpose(x, [0, 2, 1, 3])
        sizes = sizes_as_values(moved)
        return self.output_dense(wf.reshape(moved, [*sizes[:2], moved.shape[2] * moved.shape[3]]))


def attended(
    query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: Any, rate: float, generator: Any
) -> tuple[Any, Any]:
    """Attention by whole matrices of weights, which are the second result."""
    scores: Any = wf.matmul(query, key, transpose_rhs=True) * scale
    return weighted(scores, value, mask, causal, rate, generator)


def weighted(
    scores: Any, value: Any, mask: Any, causal: bool, rate: float, generator: Any
) -> tuple[Any, Any]:
    """The sums of values by the softmax of scores, and that."""
    if causal:
        low = wf.cast(wf.tril(wf.ones_like(scores)), "bool")
        mask = low if mask is None else wf.logical_and(mask, low)
    if mask is not None:
        scores = wf.where(mask, scores, -math.inf)
    most = wf.stop_gradient(wf.maximum(_weft.reduce_max(scores, -1, keepdims=True), -1e30))
    powers = wf.exp(scores - most)
    weights = powers / wf.maximum(wf.sum(powers, -1, keepdims=True), 1e-30)
    if rate:
        drawn = wf.random.Generator.uniform(generator, sizes_as_values(weights))
        kept = wf.select(wf.greater_equal(drawn, rate), weights / (1 - rate), wf.zeros_like(weights))
        return wf.matmul(kept, value), weights
    return wf.matmul(weights, value), weights


class Attention(Layer):
    """Attention by dot products (Luong et al. 2015), `layer([query, value, key])` of tensors (batch,
    length, depth); `score_mode` 'concat' is a sum of tanh(query + key) instead."""

    @options
    def __init__(
        self,
        use_scale: bool = False,
        score_mode: str = "dot",
        dropout: float = 0.0,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if score_mode not in ("dot", "concat"):
            raise _weft.ValueError(f"Attention: score_mode is {score_mode!r}: it is 'dot' or 'concat'")
        self._mode, self._rate, self._scaled = score_mode, dropout, use_scale
        self._generator = _layers.generator(seed)

    def build(self, input_shape: Any, dtype: Any = "float32") -> None:
        if self._scaled:
            self.scale = self.add_weight((), "ones", name="scale")
        if self._mode == "concat":
            self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight")

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        query, value, *rest = [wf.asarray(x) for x in inputs]
        key = rest[0] if rest else value
        seen = _of_keys(mask)
        result = weighted(
            self._scores(query, key), value, seen, use_causal_mask, self._rate if training else 0.0, self._generator
        )
        return result if return_attention_scores else result[0]

    def _scores(self, query: Any, key: Any) -> Any:
        if self._mode == "dot":
            scores: Any = wf.matmul(query, key, transpose_rhs=True)
            return scores * self.scale if self._scaled else scores
        sums = wf.tanh(_apart(query, key) * (self.scale if self._scaled else 1.0))
        return wf.sum(sums, -1) * self.concat_score_weight


class AdditiveAttention(Attention):
    """Attention by sums of tanh(query + key) (Bahdanau et al. 2015), each feature with a weight that is
    learnt where `use_scale` says so."""

    @options
    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **options: Any) -> None:
        super().__init__(use_scale, "dot", dropout, **options)

    def build(self, input_shape: Any, dtype: Any = "float32") -> None:
        if self._scaled:
            self.scale = self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale")

    def _scores(self, query: Any, key: Any) -> Any:
        sums = wf.tanh(_apart(query, key))
        return wf.sum(sums * self.scale if self._scaled else sums, -1)


def _apart(query: Any, key: Any) -> Any:
    """The sum of each query and each key: (batch, queries, keys, depth)."""
    return query[:, :, None] + key[:, None]


def _of_keys(mask: Any) -> Any:
    """The mask of keys in a list of those of queries and of values."""
    found: Any = mask[1] if is_listed(mask) and len(mask) > 1 else None
    return None if found is None else wf.cast(found, "bool")[:, None]
