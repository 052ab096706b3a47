// Random programs with variables, branches, loops, calls and handles that are chosen at run time,
// as text.
#pragma once

#include <cstdint>
#include <string>

namespace weft::test {

/// A module whose @main does this and that. In @main, ops with effects carry `touch`: for each
/// variable, and last for what a person sees, 0 for not at all, 1 for a read and 2 for a write, as
/// the program was generated, not as the compiler finds out.
std::string randomProgram(std::uint64_t seed);

/// The same with a straight line of `effects` effects on two variables, none of whose operands is
/// the result of another.
std::string randomLine(std::uint64_t seed, int effects);

} // namespace weft::test
