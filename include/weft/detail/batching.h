// What is written for one tensor, run on many at once: `vmap` of other languages is made of it.
#pragma once

#include <memory>
#include <span>

#include <weft/tensor.h>

namespace weft::detail {

/// While it lives, ops of this thread on tensors that stand for several members each are done on
/// all members at once: by the op itself with the members along a leading axis where its record
/// says how, else once per member. It nests with tapes, traces and itself.
class Batch {
public:
  /// Of as many members as these have slices along their first axes, which a trace may not know.
  /// `name` is for messages, and lives for ever. Throws ValueError where there are none, or they
  /// differ; the program checks what a trace does not know.
  Batch(const char *name, std::span<const Tensor> mapped);
  ~Batch();
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;

  /// A tensor that stands for the slices along axis 0 of one of those.
  Tensor one(const Tensor &members) const;
  /// All members of what was computed, along a new axis 0; the value once for each where it is the
  /// same for all.
  Tensor all(const Tensor &value) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace weft::detail
