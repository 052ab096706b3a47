// Calls of collectives: their attributes, and their names, by which compiled code asks the library
// for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "OpDefs/OpInfo.h"

namespace weft {

/// The attribute of a call with that name, or null if its op has none.
const Attr *attr_of(OpCode op, const Attrs &attrs, std::string_view name);

/// Whether all ranks of the group get the same of a collective.
bool gives_the_same(OpCode op);

/// What such names begin with, which no callable of a user's has.
inline constexpr std::string_view kCollectivePrefix = "weft.";

/// "weft.all_gather 0 4 0 0": the op and its attributes in the record's order, lists in brackets.
std::string collective_symbol(OpCode op, const Attrs &attrs);

struct CollectiveCall {
  OpCode op;
  Attrs attrs;
};
/// The call of such a name; nothing for another one.
std::optional<CollectiveCall> collective_of(std::string_view symbol);

} // namespace weft
