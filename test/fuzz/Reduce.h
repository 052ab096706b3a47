// Makes programs of the fuzzer smaller.
#pragma once

#include "Program.h"

#include <functional>

namespace weft::fuzz {

/// Programs with a little less than this one each, the largest cuts first.
std::vector<Program> smaller_programs(const Program &program);

/// The first of these programs that is interesting, or their number.
using FindFirst = std::function<std::size_t(const std::vector<Program> &)>;

/// A program that is interesting, of which no smaller one is that we know to make, or that
/// `goes_on` leaves us with.
Program reduce(Program program, const FindFirst &first_interesting,
               const std::function<bool()> &goes_on);

} // namespace weft::fuzz
