// Routines: what computes an op of kind routine, one function template per op, for eager and
// compiled code alike.
#pragma once

#include <weft/detail/opcode.h>
#include <weft/dtype.h>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace weft::kernels {

/// A tensor that a routine reads or writes. Strides count elements and may be anything in what is
/// read, 0 and negative ones included; what is written overlaps neither itself nor another.
struct RoutineTensor {
  std::int64_t rank;
  const std::int64_t *sizes, *strides;
  void *data;

  template <class T>
  T *elements() const {
    return static_cast<T *>(data);
  }
};

/// A call of a routine: the operands, then the results, of which every element is written, and the
/// attributes in the order of the record, as integers. Whatever the routine throws reaches the
/// caller.
struct RoutineCall {
  std::span<const RoutineTensor> operands, results;
  std::span<const std::int64_t> attrs;
};
using Routine = void (*)(const RoutineCall &);

#include "RoutineAttrs.inc"

/// The routine that computes the op for a first operand of that dtype; null if there is none.
Routine routine_of(OpCode op, DType dtype);

/// Runs it, unless no result has an element.
void run_routine(OpCode op, DType dtype, const RoutineCall &call);

/// The call that compiled code makes: `numbers` are rank, sizes and strides of each tensor, then
/// the attributes; `data` are the elements of operands and results. Complex ones are real ones
/// with a last axis more, of real and imaginary parts. Throws what the shape function
/// says of the sizes, which compiled code may not have known.
void run_routine(OpCode op, DType dtype, const std::int64_t *numbers,
                 std::initializer_list<void *> data);

} // namespace weft::kernels
