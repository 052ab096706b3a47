// Collectives as records have them, done by this rank: at once, and for compiled code.
#pragma once

#include <source_location>

#include "Distributed/World.h"
#include "OpDefs/OpInfo.h"
#include <weft/tensor.h>

namespace weft::distributed {

/// The function that users call it by.
const char *function_of(OpCode op, const Attrs &attrs);

/// Whether it sends anything: what each rank does by itself no other one waits for.
bool sends(OpCode op);

/// Throws IndexError or ValueError for arguments that are none in a group of that size, and
/// StateError if the record says that it has another one.
void check_arguments(OpCode op, const Attrs &attrs, const detail::GroupState &group);

/// Does it on values: all ranks of the group do. An axis may be counted from the end. Undefined for
/// a barrier.
Tensor execute(OpCode op, const Attrs &attrs, const Group &group, const Tensor &x,
               const std::source_location &where);

/// The number by which programs name a group, which from now on lives as long as the process.
std::int64_t number_of(const std::shared_ptr<detail::GroupState> &group);
/// The group of such a number. Throws StateError if this process has none.
std::shared_ptr<detail::GroupState> group_of(std::int64_t number);

/// With WEFT_CHECK_SAME=1 that `x` has the same elements on all ranks of the group, who all call
/// it; else nothing. Throws AssertionError, on all of them, where it has not; in a trace it is a
/// check.
void check_same(const char *function, const Tensor &x, const Group &group);

namespace detail {
/// Takes numbers from `first` on for groups that ranks of this one make now, who agreed on it.
/// Throws StateError if the engine has no tags for so many.
void reserve_numbers(GroupState &group, const char *function, int first, int count);
} // namespace detail

} // namespace weft::distributed
