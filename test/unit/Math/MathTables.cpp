// Reads the tables from their files.
#include "MathTables.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <type_traits>

namespace weft::math_tables {
namespace {

template <class T>
constexpr const char *kFormat = std::is_same_v<T, float> ? "f32" : "f64";

/// The next number of a line, which may be hexadecimal, inf or nan: what streams cannot read.
template <class T>
bool read_number(std::istringstream &line, T &number) {
  std::string word;
  if (!(line >> word)) return false;
  char *end = nullptr;
  // A number of the table is one of the format, so reading it as a double is exact.
  number = static_cast<T>(std::strtod(word.c_str(), &end));
  if (*end != 0) throw std::runtime_error("not a number: " + word);
  return true;
}

} // namespace

template <class T>
Table<T> read_table(const std::string &function) {
  const std::string path =
      std::string(WEFT_SOURCE_DIR "/test/unit/Math/Tables/") + kFormat<T> + "/" + function + ".txt";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Table<T> table;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    std::istringstream line(text);
    T first, second, third;
    if (!read_number(line, first) || !read_number(line, second))
      throw std::runtime_error(path + ": no row: " + text);
    table.x.push_back(first);
    if (read_number(line, third)) {
      table.y.push_back(second);
      table.result.push_back(third);
    } else {
      table.result.push_back(second);
    }
  }
  return table;
}

template <class T>
std::uint64_t steps_between(T got, T want) {
  constexpr std::uint64_t far = std::numeric_limits<std::uint64_t>::max();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : far;
  if (std::signbit(got) != std::signbit(want)) return far;
  // Numbers of one sign are in the order of their images; infinity follows the largest.
  using Image = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const Image distance = std::bit_cast<Image>(got) - std::bit_cast<Image>(want);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

template Table<float> read_table(const std::string &);
template Table<double> read_table(const std::string &);
template std::uint64_t steps_between(float, float);
template std::uint64_t steps_between(double, double);

} // namespace weft::math_tables
