// The inputs of the shapes of work: arrays that Weft's program and the peers' make alike, from a
// description that goes from one to the other as text.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::bench {

/// What the elements of an input are.
enum class Elements {
  uniform,  ///< f32 in [low, high), in steps of 2^-24 of the range
  distinct, ///< f32 in [0, 1), no two alike; as many as a power of two
  index,    ///< i64 in [0, high)
  f64,      ///< the numbers of `uniform` in f64
  definite, ///< f64 in [low, high) at (i, j) and (j, i), with the number of rows on the diagonal
  c128,     ///< complex numbers whose parts are two inputs of `uniform` in turn
};

/// One input. Its numbers follow from this and its place among a row's inputs.
struct WorkInput {
  Elements elements = Elements::uniform;
  std::vector<std::int64_t> shape;
  double low = 0;
  double high = 1;

  std::int64_t size() const {
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    return count;
  }
};

inline constexpr const char *kElementNames[] = {"uniform", "distinct", "index",
                                                "f64",     "definite", "c128"};

/// The shortest text that is read as this very number: peers begin with the same bits.
inline std::string exact_text(double value) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value).ptr};
}

/// "uniform:2048x2048:-1:1", as peers read it from their command line.
inline std::string text_of(const WorkInput &input) {
  std::string sizes;
  for (const std::int64_t n : input.shape) sizes += (sizes.empty() ? "" : "x") + std::to_string(n);
  return std::string(kElementNames[static_cast<int>(input.elements)]) + ":" + sizes + ":" +
         exact_text(input.low) + ":" + exact_text(input.high);
}

/// Reads what `text_of` writes. Throws std::invalid_argument for anything else.
inline WorkInput input_of(const std::string &text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ':') parts.emplace_back();
    else parts.back() += c;
  WorkInput input;
  const auto *const name = std::find(std::begin(kElementNames), std::end(kElementNames), parts[0]);
  if (parts.size() != 4 || name == std::end(kElementNames))
    throw std::invalid_argument("'" + text + "' describes no input");
  input.elements = static_cast<Elements>(name - std::begin(kElementNames));
  for (const char *at = parts[1].c_str(); *at != '\0';) {
    char *end = nullptr;
    input.shape.push_back(std::strtoll(at, &end, 10));
    at = *end == 'x' ? end + 1 : end;
  }
  input.low = std::stod(parts[2]);
  input.high = std::stod(parts[3]);
  return input;
}

/// 32 well mixed bits for element `i` of a row's input number `place` (Wellons' lowbias32).
inline std::uint32_t mixed_bits(std::int64_t i, std::int64_t place) {
  auto x = static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(place + 1) * 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

/// One number in [low, high), in steps of 2^-24 of the range.
inline double uniform_at(const WorkInput &input, std::int64_t i, std::int64_t place) {
  return input.low + (input.high - input.low) * ((mixed_bits(i, place) >> 8) * 0x1p-24);
}

/// The elements of a floating input.
inline std::vector<float> floats_of(const WorkInput &input, std::int64_t place) {
  const std::int64_t size = input.size();
  std::vector<float> values(static_cast<std::size_t>(size));
  if (input.elements == Elements::distinct) {
    // Steps that each can be undone, on as many bits as there are elements: a permutation.
    const int bits = std::countr_zero(static_cast<std::uint64_t>(size));
    const std::uint32_t mask = static_cast<std::uint32_t>(size) - 1;
    for (std::int64_t i = 0; i < size; ++i) {
      std::uint32_t x = static_cast<std::uint32_t>(i) ^ (mixed_bits(0, place) & mask);
      for (int turn = 0; turn < 3; ++turn) x = ((x ^ (x >> (bits / 2))) * 0x2c1b3c6dU) & mask;
      values[static_cast<std::size_t>(i)] =
          static_cast<float>(static_cast<double>(x) / static_cast<double>(size));
    }
    return values;
  }
  for (std::int64_t i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<float>(uniform_at(input, i, place));
  return values;
}

/// The elements of an input in f64.
inline std::vector<double> doubles_of(const WorkInput &input, std::int64_t place) {
  std::vector<double> values(static_cast<std::size_t>(input.size()));
  const std::int64_t n = input.shape.back();
  for (std::int64_t i = 0; i < input.size(); ++i) {
    const std::int64_t row = i / n, column = i % n;
    const bool symmetric = input.elements == Elements::definite;
    const std::int64_t at = symmetric ? std::max(row, column) * n + std::min(row, column) : i;
    values[static_cast<std::size_t>(i)] =
        uniform_at(input, at, place) + (symmetric && row == column ? static_cast<double>(n) : 0);
  }
  return values;
}

/// The elements of a complex input.
inline std::vector<std::complex<double>> complexes_of(const WorkInput &input, std::int64_t place) {
  std::vector<std::complex<double>> values(static_cast<std::size_t>(input.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(2 * i);
    values[i] = {uniform_at(input, at, place), uniform_at(input, at + 1, place)};
  }
  return values;
}

/// The elements of an input of indices.
inline std::vector<std::int64_t> indices_of(const WorkInput &input, std::int64_t place) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(input.size()));
  const auto bound = static_cast<std::uint64_t>(input.high);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<std::int64_t>((mixed_bits(static_cast<std::int64_t>(i), place) * bound) >> 32);
  return values;
}

} // namespace weft::bench
