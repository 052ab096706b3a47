// What reverse mode has of each tensor on its way back: sums of cotangents, whole or in slices.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "Autodiff/Tape.h"
#include "Autodiff/TensorEmitter.h"
#include <weft/ops.h>

namespace weft::autodiff {

/// Cotangents of the tensors that depend on a source, by identity.
class Tape::Cotangents {
public:
  /// What a cotangent is the sum of.
  struct Parts {
    Tensor dense; ///< undefined if there is none
    std::vector<IndexedSlices> slices;
  };

  /// All slices as one, which are some.
  static IndexedSlices joined(std::span<const IndexedSlices> slices) {
    if (slices.size() == 1) return slices[0];
    const bool alike = std::ranges::all_of(slices, [&](const IndexedSlices &s) {
      return s.indices.dtype() == slices[0].indices.dtype();
    });
    std::vector<Tensor> values, indices;
    for (const IndexedSlices &s : slices) {
      values.push_back(s.values);
      indices.push_back(alike ? s.indices
                              : dispatch(OpCode::cast, {&s.indices, 1}, Attrs{DType::i64}));
    }
    const Attrs first_axis{std::int64_t{0}};
    return {dispatch(OpCode::concatenate, values, first_axis),
            dispatch(OpCode::concatenate, indices, first_axis), slices[0].dense_shape};
  }
  static Tensor densified(const Parts &parts) {
    if (parts.slices.empty()) return parts.dense;
    const IndexedSlices all = joined(parts.slices);
    return parts.dense.defined() ? scatter_add(parts.dense, all.indices, all.values) : all.dense();
  }

  /// Marks a tensor as one whose cotangent is of use; sources keep theirs to the end.
  void want(std::uint64_t identity, bool source) {
    const std::uint32_t fresh = static_cast<std::uint32_t>(entries_.size());
    const std::uint32_t index = indices_.insert(identity, fresh);
    if (index == fresh) entries_.emplace_back();
    entries_[index].source |= source;
  }
  bool wanted(std::uint64_t identity) { return indices_.contains(identity); }

  void add(std::uint64_t identity, const Tensor &cotangent) {
    Tensor &sum = entries_[*indices_.find(identity)].sum.dense;
    sum = sum.defined() ? emitter.add(sum, cotangent) : cotangent;
  }
  /// Adds slices along the first axis, which stay slices until someone takes the whole.
  void add(std::uint64_t identity, IndexedSlices slices) {
    Parts &sum = entries_[*indices_.find(identity)].sum;
    sum.slices.push_back(std::move(slices));
    std::int64_t rows = 0;
    for (const IndexedSlices &s : sum.slices) rows += detail::type_of(s.indices).shape[0];
    // Unknown ones count as few. More of them than there are rows in all are no saving any more.
    if (rows > sum.slices[0].dense_shape[0]) sum = {densified(sum), {}};
  }
  /// The cotangent of a recorded result, complete when all later records have run; undefined if
  /// there is none.
  Tensor take(std::uint64_t identity) {
    const std::uint32_t *index = indices_.find(identity);
    if (index == nullptr) return {};
    Entry &entry = entries_[*index];
    if (!entry.sum.slices.empty()) entry.sum = {densified(entry.sum), {}};
    return entry.source ? entry.sum.dense : std::move(entry.sum.dense);
  }
  /// The same of a source, where slices stay slices.
  Parts parts(std::uint64_t identity) {
    const std::uint32_t *index = indices_.find(identity);
    return index == nullptr ? Parts() : entries_[*index].sum;
  }

  TensorEmitter emitter;

private:
  struct Entry {
    Parts sum;
    bool source = false;
  };
  IdentityMap<std::uint32_t> indices_;
  std::vector<Entry> entries_;
};

} // namespace weft::autodiff
