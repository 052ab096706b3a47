// The tables of correctly rounded results in Tables/, and how far a result is from such a one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::math_tables {

/// Arguments and correctly rounded results of a function on f32 or f64.
template <class T>
struct Table {
  std::vector<T> x, y; ///< y is empty for a function of one argument
  std::vector<T> result;
};

/// The table of a function: "exp", "pow", ...; throws if there is none.
template <class T>
Table<T> read_table(const std::string &function);

/// How many numbers of the format apart two results are. Results of different sign, zeros too, and
/// a NaN beside a number are as far apart as can be; NaNs are alike.
template <class T>
std::uint64_t steps_between(T got, T want);

} // namespace weft::math_tables
