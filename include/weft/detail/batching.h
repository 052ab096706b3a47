// What is written for one tensor, run on many at once: what `vmap` is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <weft/tensor.h>

namespace weft::detail {

/// An argument of vmap with the axis that is mapped over in front. Throws IndexError if it has no
/// such axis.
Tensor to_front(const Tensor &argument, std::int64_t axis);
/// A result of vmap with its new axis where it is wanted. Throws IndexError if it has no such axis.
Tensor from_front(const Tensor &result, std::int64_t axis);
/// Throws ValueError unless vmap has as many axes as arguments, or none.
void check_axes(std::size_t axes, std::size_t arguments);
/// Throws ValueError: a variable is not mapped over.
[[noreturn]] void refuse_variable();
/// Whether tensors of this thread may stand for several.
bool is_batching();

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
