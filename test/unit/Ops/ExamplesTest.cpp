// The examples of the records of ops and composites, as the reference prints them.
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include <weft/composites.h>
#include <weft/random.h>

namespace weft {
namespace {

/// Reads a number, and gives where the text goes on.
std::size_t read_number(std::string_view text, std::size_t at, double &value) {
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc()) ADD_FAILURE() << "no number at '" << text.substr(at) << "'";
  return error != std::errc() ? text.size() : static_cast<std::size_t>(end - text.data());
}

/// A tensor from its text: "[[1, 2], [3, 4]]", "[true, false]" (which is bool), "24", "[1+2j, 3]".
Tensor literal(std::string_view text, DType dtype = f32) {
  std::vector<double> values, beside;
  bool is_complex = false;
  std::vector<std::int64_t> counts; // elements seen at each depth of brackets
  Shape shape;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      if (++depth > counts.size()) {
        counts.push_back(0);
        shape.push_back(0);
      }
      counts[depth - 1] = text[at + 1] == ']' ? 0 : 1;
      ++at;
    } else if (c == ']') {
      shape[depth - 1] = counts[depth - 1];
      --depth;
      ++at;
    } else if (c == ',') {
      ++counts[depth - 1];
      ++at;
    } else if (c == ' ') {
      ++at;
    } else if (text.substr(at, 4) == "true" || text.substr(at, 5) == "false") {
      dtype = DType::boolean;
      values.push_back(c == 't');
      at += c == 't' ? 4 : 5;
    } else {
      double value = 0, imaginary = 0;
      at = read_number(text, at, value);
      if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
        is_complex = true;
        const double sign = text[at] == '-' ? -1 : 1;
        at = read_number(text, at + 1, imaginary) + 1; // behind the j
        imaginary *= sign;
      }
      values.push_back(value);
      beside.push_back(imaginary);
    }
  }
  if (is_complex) return complex(tensor(values, shape), tensor(beside, shape));
  return cast(tensor(values, shape), dtype);
}

/// Values to the digits that the reference prints. The dtype of a result written without a point
/// may be an integer.
void expect_example(const Tensor &actual, const Tensor &expected) {
  ASSERT_EQ(to_string(actual.shape()), to_string(expected.shape()));
  EXPECT_EQ(actual.dtype() == DType::boolean, expected.dtype() == DType::boolean);
  if (is_complex(actual.dtype())) {
    expect_example(imag(actual), imag(expected));
    return expect_example(real(actual), real(expected));
  }
  const std::vector<double> have = actual.to_vector<double>(), want = expected.to_vector<double>();
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(have[i], want[i], 1e-6 * std::max(1.0, std::abs(want[i]))) << "element " << i;
}

void expect_example(const std::vector<Tensor> &actual, const std::vector<Tensor> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) expect_example(actual[i], expected[i]);
}

#include "Examples.inc"

} // namespace
} // namespace weft
