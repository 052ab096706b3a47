// What is written for one tensor, run on many at once: `vmap` of other languages is made of it.
#pragma once

#include <cstdint>
#include <memory>

#include <weft/tensor.h>

namespace weft::detail {

/// While it lives, ops of this thread on tensors that stand for `count` members each are done on
/// all members at once: by the op itself with the members along a leading axis where its record
/// says how, else once per member. It nests with tapes, traces and itself.
class Batch {
public:
  /// `name` is for messages, and lives for ever. Throws ValueError for a count below 1.
  Batch(const char *name, std::int64_t count);
  ~Batch();
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;

  /// A tensor that stands for the slices of `members` along axis 0. Throws ShapeError unless there
  /// are `count`.
  Tensor one(const Tensor &members) const;
  /// All members of what was computed, along a new axis 0; the value once for each where it is the
  /// same for all.
  Tensor all(const Tensor &value) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace weft::detail
