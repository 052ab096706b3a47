// The doors by which compiled code calls routines, one per op and dtype.
#include "Kernels/Routine.h"
#include "OpDefs/OpInfo.h"
#include "Runtime/CallContext.h"

namespace {

/// An error is one of the user's call at `site`. Called on the thread that called the entry.
void run_routine(weft::CallContext *context, std::int64_t site, weft::OpCode op, weft::DType dtype,
                 const std::int64_t *numbers, std::initializer_list<void *> data) {
  try {
    weft::kernels::run_routine(op, dtype, numbers, data);
  } catch (...) {
    weft::rethrow_at_site(context, site, weft::op_info(op).name);
  }
  context->moves = nullptr;
  context->move_count = 0;
}

} // namespace

#define WEFT_ROUTINE_DOORS
#include "Routines.inc"
