// One number per op, generated from the op records.
#pragma once

#include <cstdint>

namespace weft {

/// Every op that a program can contain, in the order of the records.
enum class OpCode : std::uint16_t {
#define WEFT_OP(enumerator) enumerator,
#include <weft/detail/opcodes.inc>
#undef WEFT_OP
};

} // namespace weft
