// Numbers of C++ on their way into tensors: every type keeps its value or is refused, in lists and
// as weak scalars.
#include "../Testing.h"

#include <complex>
#include <cstdint>
#include <limits>

#include <weft/weft.h>

namespace weft {
namespace {

constexpr std::uint64_t kLarge = 10'000'000'000'000'000'000U; // between 2^63 and 2^64
constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(Numbers, UnsignedBeyondTheSignedKeepTheirValue) {
  EXPECT_EQ((tensor({1.0}) + kLargest).to_vector<double>()[0], 18446744073709551616.0);
  EXPECT_EQ((tensor({1.0F}) * kLarge).to_vector<float>()[0], 1e19F);
  EXPECT_EQ((kLarge - tensor({0.0})).to_vector<double>()[0], 1e19);
  EXPECT_EQ(full({1}, kLarge, f64).to_vector<double>()[0], 1e19);
  auto f = function([](Tensor x) { return x + kLarge; });
  EXPECT_EQ(f(tensor({0.0})).to_vector<double>()[0], 1e19);
  Variable v(zeros({2}, f64), "v");
  v.assign(kLarge);
  EXPECT_EQ(v.value().to_vector<double>(), (std::vector<double>{1e19, 1e19}));
  EXPECT_TRUE(logical_and(tensor(true), tensor({1.0}) < kLarge).to_vector<bool>()[0]);
}

TEST(Numbers, WholeOnesThatDoNotFitAreRefused) {
  EXPECT_THROWS(tensor({std::int64_t{1}}) * kLarge, ValueError,
                "multiply: the scalar 10000000000000000000 does not fit the dtype i64");
  EXPECT_THROWS(add(kLargest, kLargest), ValueError,
                "add: the scalar 18446744073709551615 does not fit the dtype i32");
  EXPECT_THROWS(full({2}, kLarge, i64), ValueError,
                "full: the scalar 10000000000000000000 does not fit the dtype i64");
  EXPECT_THROWS(full({2}, std::int64_t{1} << 40, i32), ValueError,
                "full: the scalar 1099511627776 does not fit the dtype i32");
  EXPECT_THROW(for_loop(kLarge, [](Tensor, Tensor x) { return x; }, 0), ValueError);
  EXPECT_THROWS(tensor({1, 2})[{kLarge}], IndexError,
                "index: 9223372036854775807 is out of range for axis 0 of a tensor of shape (2,)");
}

TEST(Numbers, EveryIntegerTypeIsAWeakScalar) {
  const auto sum_with = [](auto value) {
    return (tensor({1, 2}) + value).template to_vector<int>();
  };
  const std::vector<int> expected{4, 5};
  EXPECT_EQ(sum_with(std::int8_t{3}), expected);
  EXPECT_EQ(sum_with(std::uint8_t{3}), expected);
  EXPECT_EQ(sum_with(std::int16_t{3}), expected);
  EXPECT_EQ(sum_with(3U), expected);
  EXPECT_EQ(sum_with(3L), expected);
  EXPECT_EQ(sum_with(3LL), expected);
  EXPECT_EQ(sum_with(3ULL), expected);
  EXPECT_EQ(sum_with(std::size_t{3}), expected);
  EXPECT_EQ((tensor({1, 2}) + -1LL).to_vector<int>(), (std::vector<int>{0, 1}));
  EXPECT_EQ((tensor({1.0F}) + 0.5L).dtype(), f32);
}

TEST(Numbers, EveryIntegerTypeIsAnIndex) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ((x[{std::size_t{1}, 0U}].item<int>()), 3);
  EXPECT_EQ((x[{-1LL, std::int8_t{1}}].item<int>()), 4);
}

TEST(Numbers, LongLongIsI64) {
  EXPECT_EQ(tensor({1LL, 2LL}).dtype(), i64);
  EXPECT_EQ(tensor(5L).dtype(), i64);
  EXPECT_EQ(tensor(7).item<long long>(), 7);
  EXPECT_EQ(tensor({1L, 2L}).to_vector<long long>(), (std::vector<long long>{1, 2}));
  EXPECT_EQ(tensor({1L, 2L}).span<long>()[1], 2);
}

TEST(Numbers, FullKeepsEveryWholeNumber) {
  const std::int64_t beyond_double = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(full({2}, beyond_double, i64).to_vector<std::int64_t>()[1], beyond_double);
  EXPECT_EQ(full({2}, 2.7, i32).to_vector<int>(), (std::vector<int>{2, 2})); // as cast
  EXPECT_EQ(full({}, true).item<float>(), 1);
  EXPECT_EQ(full({2, 1}, tensor(3), f64).to_vector<double>(), (std::vector<double>{3, 3}));
  EXPECT_THROWS(full({2}, ones({2})), ShapeError,
                "full: the value has the shape (2,), but one number is wanted: broadcast repeats "
                "tensors");
  EXPECT_THROWS(full({2}, Tensor()), StateError, "full: the value is an undefined tensor");
  auto f = function([](Tensor x) { return full({2}, x, f64); });
  EXPECT_EQ(f(tensor(1.5F)).to_vector<double>(), (std::vector<double>{1.5, 1.5}));
  EXPECT_EQ(grad([](Tensor x) { return sum(full({3}, x)); })(2.F).item<float>(), 3);
}

TEST(Numbers, AreComparedWithIntegersByValue) {
  const Tensor bytes = tensor({std::uint8_t{0}, std::uint8_t{255}});
  EXPECT_EQ((bytes < 300).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ((bytes == -1).to_vector<bool>(), (std::vector<bool>{false, false}));
  const Tensor large = tensor({std::uint64_t{0}, kLargest});
  EXPECT_EQ((large > -1).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ((tensor({-1LL, 5LL}) < large).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ((tensor({-1LL, 5LL}) < kLarge).to_vector<bool>(), (std::vector<bool>{true, true}));
  auto f = function([](Tensor x) { return x >= -1; });
  EXPECT_EQ(f(large).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_THROWS(maximum(bytes, 300), ValueError,
                "maximum: the scalar 300 does not fit the dtype u8");
}

TEST(Numbers, SumsAreComputedInTheDtypeAsked) {
  const Tensor bytes = tensor({std::uint8_t{200}, std::uint8_t{100}});
  EXPECT_EQ(sum(bytes).dtype(), u32);
  EXPECT_EQ(sum(bytes, {.dtype = u8}).item<int>(), 44);
  EXPECT_EQ(mean(bytes, {.dtype = f64}).item<double>(), 150);
  EXPECT_EQ(cumprod(bytes, {.dtype = i16}).to_vector<int>(), (std::vector<int>{200, 20000}));
  EXPECT_EQ(linalg::trace(ones({2, 2}), {.dtype = f64}).dtype(), f64);
  EXPECT_THROWS(
      sum(bytes, {.dtype = DType::boolean}), DTypeError,
      "sum: x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, "
      "c64, c128), but it is bool(2,)");
}

TEST(Numbers, FillWhatIsLikeATensor) {
  const Tensor x = ones({2}, c64);
  EXPECT_EQ(full_like(x, 7, u8).to_vector<int>(), (std::vector<int>{7, 7}));
  EXPECT_EQ(zeros_like(x, i64).dtype(), i64);
  EXPECT_EQ(ones_like(x).dtype(), c64);
  EXPECT_EQ(eye(2, 3, 1, i32).to_vector<int>(), (std::vector<int>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(linspace(0, 1, 3).to_vector<float>(), (std::vector<float>{0, 0.5, 1}));
  EXPECT_EQ(linspace(0, 3, 4, {.endpoint = false, .dtype = i32}).to_vector<int>(),
            (std::vector<int>{0, 0, 1, 2}));
  EXPECT_THROWS(linspace(0, 1, -1), ValueError, "linspace: num is -1, which is negative");
}

TEST(Numbers, ListsOfSeveralTypesArePromoted) {
  EXPECT_EQ(tensor({1, 2.5}).dtype(), f64);
  EXPECT_EQ(tensor({1, 2.5}).to_vector<double>(), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(tensor({1, 2.5F}).dtype(), f32);
  EXPECT_EQ(tensor({true, 2}).dtype(), i32);
  EXPECT_EQ(tensor({1, 2LL}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(tensor({{1, 2.5}, {3, 4}}).shape(), (Shape{2, 2}));
  EXPECT_EQ(tensor({{{1, 2.5}, {3, 4}}}).to_vector<double>(), (std::vector<double>{1, 2.5, 3, 4}));
  EXPECT_EQ((tensor({1.F, 1.F}) + Operand({1, 2.5F})).to_vector<float>(),
            (std::vector<float>{2, 3.5}));
  EXPECT_THROWS(tensor({{1, 2.5}, {3}}), ShapeError,
                "tensor: the nested list is ragged: at depth 1 one list has 2 entries and another "
                "1");
}

TEST(Numbers, ComplexOnes) {
  const std::complex<double> i(0, 1);
  EXPECT_EQ((tensor({1.F}) + i).dtype(), c64);
  EXPECT_EQ((tensor({1}) * i).dtype(), c64);
  EXPECT_EQ((tensor({1.0}) + i).dtype(), c128);
  EXPECT_EQ((tensor({std::complex<float>(1, 2)}) + 2.5).dtype(), c64);
  EXPECT_EQ((tensor(i) * tensor({1.0})).item<std::complex<double>>(), i);
  EXPECT_EQ(weft::exp(i).dtype(), c64);
  EXPECT_EQ(tensor({1.0, i}).to_vector<std::complex<double>>(),
            (std::vector<std::complex<double>>{1, i}));
  EXPECT_EQ(full({2}, i, c64).to_vector<std::complex<float>>(),
            (std::vector<std::complex<float>>{{0, 1}, {0, 1}}));
  EXPECT_EQ(to_string(tensor({std::complex<float>(1, -2.5F)})),
            "tensor([1-2.5j], shape=(1,), dtype=c64)");
  EXPECT_THROWS(tensor(i).item<double>(), DTypeError,
                "item: the tensor is c128, and f64 has no imaginary part: take real(x) or imag(x)");
  EXPECT_THROWS(full({1}, i, f64), DTypeError,
                "full: a complex number is no element of the dtype f64: take its real part");
  Variable v(zeros({1}), "v");
  EXPECT_THROWS(v.assign(i), DTypeError,
                "assign: the variable 'v' is f32(1,), but the value is complex");
  EXPECT_THROWS(less(i, i), DTypeError,
                "less: lhs must be a real number or bool (bool, i8, i16, i32, i64, u8, u16, u32, "
                "u64, f16, bf16, f32, f64), but it is c64()");
}

} // namespace
} // namespace weft
