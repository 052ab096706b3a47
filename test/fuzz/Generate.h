// Makes random programs for the fuzzer.
#pragma once

#include "Program.h"

namespace weft::fuzz {

/// The program of that seed, the same on every machine.
Program random_program(std::uint64_t seed);

} // namespace weft::fuzz
