// Attention in parts whose scores stay in the cache: what they share, and how all of it is cut.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/nn/attention.h>

namespace weft::nn::attention_parts {

/// Rows of queries, of one head or of several.
struct Rows {
  Tensor first;       ///< number of the first one in its head, i64
  std::int64_t count; ///< of each head; unknown, if they are all and a trace does not know how many
  Tensor query, mask; ///< theirs; the query is scaled
  Tensor number;      ///< of the first one among those of all heads, for dropout
};

/// x with 0 for what is not finite, so that weights of 0 times it are 0.
Tensor finite_of(const Tensor &x);

/// For each row of x (.., rows, depth) 0, or NaN if something in it is not finite.
Tensor poison_of(const Tensor &x);

/// For each row of the output, with its cotangent, what all gradients of scores have in common: the
/// sum of both's products (rows, 1), in the type that sums are computed in.
Tensor along_of(const Tensor &output, const Tensor &cotangent);

/// Keys and values of one head or of several.
struct Memory {
  Tensor key, value;
  Tensor poison; ///< if some keys are hidden: of the rows of values, in a row
};

/// What all parts share.
struct Problem {
  Causal causal;
  double scale;
  double dropout;
  Tensor seed;              ///< of dropout, i64(1,)
  std::int64_t queries = 0; ///< of one head: rows of a group are heads * queries
  std::int64_t keys = 0;
  /// Whether some rows may not look at some keys, which then have no influence on them, be they
  /// NaN.
  bool hides = false;

  /// Products, -infinity where a row may not look. Where it may, something in the key or the value
  /// that is not finite makes them NaN.
  Tensor scores(const Rows &rows, const Memory &memory) const;
  /// What weights are multiplied by: 0, or 1 / (1 - dropout). The same for the same rows.
  Tensor kept(const Rows &rows, const Tensor &weights) const;
};

/// The output, and the logarithms of the sums of exponentials, a column of the type that these are
/// computed in.
struct PartResult {
  Tensor output, logs;
};

/// What gradients are computed of beside the problem: rows of the output's cotangent, of what
/// `along_of` gives, and of the logarithms.
struct Cotangent {
  Tensor cotangent, along, logs;
};

struct PartGradients {
  Tensor query, key, value; ///< the first by the scaled query
};

/// The mask of any rows: a table of the rows of a mask, and where those of each head begin.
class MaskRows {
public:
  MaskRows() = default;
  /// For scores of the sizes `leading`, rows, keys.
  MaskRows(const Tensor &mask, const Ints &leading, std::int64_t heads);

  /// The first row of each head; undefined if all heads have the same rows.
  const Tensor &begins() const { return begins_; }

  /// That of `count` rows of each head, from `first` on; `begins` are those of the heads, one of
  /// rank 0 of a head without an axis, undefined if all are the same.
  Tensor of(const Tensor &begins, const Tensor &first, std::int64_t count) const;

private:
  Tensor table_, begins_;
  std::int64_t per_head_ = 1;
};

/// How heads and rows are cut, so that the scores of a part, which go through memory several times,
/// stay in a core's own cache: some heads at a time, or some rows of one head. On a GPU, where all
/// of a part run at the same time, so that they leave most of its memory free.
struct Cut {
  std::int64_t heads, rows;

  static Cut of(std::int64_t heads, std::int64_t rows, std::int64_t keys, Device device);
};

/// The computation on all heads and rows: in parts if all sizes are known and there are many.
class Attention {
public:
  /// `query` is scaled.
  Attention(Problem problem, Memory memory, const Tensor &query, const Tensor &mask);

  PartResult forward_all() const;
  PartGradients backward_all(const Cotangent &by_output) const;

private:
  Rows whole() const;

  /// Runs `of_rows(rows, memory, own)` on all parts, where `own` are the parts' own rows of `rest`,
  /// and gives what it gives for all heads (heads, ..): parts, then sums, which begin with
  /// `none(memory)` in each head.
  template <class None, class OfRows>
  std::vector<Tensor> run(const std::vector<Tensor> &rest, const None &none,
                          const OfRows &of_rows) const;

  Problem problem_;
  Memory memory_;
  Tensor query_, mask_;
  std::int64_t rows_ = 0, heads_ = 0;
  Ints leading_; ///< the sizes in front of rows and keys, whose product is heads_
  Cut cut_{};
  MaskRows masks_;
  bool in_parts_ = false;
};

} // namespace weft::nn::attention_parts
