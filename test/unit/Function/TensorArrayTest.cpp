// Arrays of tensors: the same elements on values and in traces, growth, and what is no element.
#include "../Testing.h"
#include "Both.h"

#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<std::int64_t>;

/// Expects the same error eagerly and traced.
template <class Error, class F, class... Args>
void both_throw(const std::string &words, const F &f, const Args &...args) {
  EXPECT_THROWS(static_cast<void>(f(args...)), Error, words);
  EXPECT_THROWS(static_cast<void>(function(f)(args...)), Error, words);
}

/// The same of a check that fails.
template <class F, class... Args>
void both_fail(const std::string &words, const F &f, const Args &...args) {
  EXPECT_THROWS(static_cast<void>(f(args...)), AssertionError, "assertion failed: " + words);
  EXPECT_THROWS(static_cast<void>(function(f)(args...)), AssertionError,
                "assertion failed in function: " + words);
}

// Members that may hold different numbers of elements have no one shape, and are refused by name.
TEST(TensorArray, DoesNotGrowByMember) {
  const Tensor n = tensor(Numbers{0, 3}), x = tensor({1.f, 2.f});
  const auto grown = [](const Tensor &n, const Tensor &x) {
    const TensorArray array = cond(
        n > 0, [&] { return TensorArray(f32, {}).append(x).append(x); },
        [&] { return TensorArray(f32, {}).append(x).append(-x); });
    return array.append(x).stack();
  };
  const std::string words = "TensorArray::append: vmap: the sizes of pad differ by member, so "
                            "there is no one shape for all";
  EXPECT_THROWS(static_cast<void>(vmap(grown)(n, x)), StateError, words);
  EXPECT_THROWS(static_cast<void>(function(vmap(grown))(n, x)), StateError, words);
}

// Row A8 of the table, in C++.
TEST(TensorArray, A8_GrowsInALoop) {
  const auto f = [](const Tensor &n) {
    const TensorArray squares = for_loop(
        n, [](const Tensor &i, const TensorArray &array) { return array.write(i, i * i); },
        TensorArray(i64, {}));
    return squares.stack();
  };
  EXPECT_EQ(both(f, tensor(std::int64_t{5})).to_vector<std::int64_t>(), (Numbers{0, 1, 4, 9, 16}));
  EXPECT_EQ(both(f, tensor(std::int64_t{0})).shape(), (Shape{0}));
  const Tensor many = both(f, tensor(std::int64_t{1000}));
  EXPECT_EQ(many.size(), 1000);
  EXPECT_EQ(many[999].item<std::int64_t>(), 999 * 999);
}

TEST(TensorArray, A8_AWriteThatIsNotUsedIsLost) {
  const auto f = [](const Tensor &n) {
    return for_loop(
               n,
               [](const Tensor &i, TensorArray array) {
                 static_cast<void>(array.append(i));
                 return array;
               },
               TensorArray(i64, {}))
        .stack();
  };
  EXPECT_EQ(both(f, tensor(std::int64_t{3})).shape(), (Shape{0}));
}

TEST(TensorArray, CollectsInAWhileLoop) {
  const auto f = [](const Tensor &start) {
    const auto [last, steps] =
        while_loop([](const Tensor &n, const TensorArray &) { return n > 1; },
                   [](const Tensor &n, const TensorArray &seen) {
                     const Tensor next = cond(
                         n % 2 == 0, [&] { return cast(n / 2, i64); }, [&] { return 3 * n + 1; });
                     return std::tuple(next, seen.append(next));
                   },
                   start, TensorArray(i64, {}));
    return steps.stack();
  };
  EXPECT_EQ(both(f, tensor(std::int64_t{6})).to_vector<std::int64_t>(),
            (Numbers{3, 10, 5, 16, 8, 4, 2, 1}));
  EXPECT_EQ(both(f, tensor(std::int64_t{27})).size(), 111);
}

TEST(TensorArray, GapsAreZero) {
  const auto f = [](const Tensor &x) {
    return TensorArray(f32, {2}).write(3, x).write(1, x * 2).stack();
  };
  EXPECT_EQ(both(f, tensor({1.f, 2.f})).to_vector<float>(), (Floats{0, 0, 2, 4, 0, 0, 1, 2}));
}

TEST(TensorArray, ReadsGathersAndJoins) {
  const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const auto read = [](const Tensor &x) {
    const TensorArray array = TensorArray::unstack(x);
    return array.read(1) + array.append(10 * array.read(0)).read(array.size());
  };
  EXPECT_EQ(both(read, x).to_vector<float>(), (Floats{13, 24}));
  const auto gathered = [](const Tensor &x) {
    return TensorArray::unstack(x).append(x[0]).gather(tensor({3, 1}));
  };
  EXPECT_EQ(both(gathered, x).to_vector<float>(), (Floats{1, 2, 3, 4}));
  const auto joined = [](const Tensor &x) { return TensorArray::unstack(x).append(x[0]).concat(); };
  EXPECT_EQ(both(joined, x).to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6, 1, 2}));
  const auto size = [](const Tensor &x) { return TensorArray::unstack(x).write(6, x[0]).size(); };
  EXPECT_EQ(both(size, x).item<std::int64_t>(), 7);
  EXPECT_EQ(TensorArray::unstack(x).element_shape(), (Shape{2}));
  EXPECT_EQ(TensorArray(i32, {3}, 2).stack().to_vector<int>(), (std::vector<int>(6, 0)));
}

TEST(TensorArray, OldArraysKeepTheirElements) {
  const auto f = [](const Tensor &x) {
    const TensorArray empty(f32, {});
    const TensorArray one = empty.append(x), two = one.append(x + 1), other = one.append(x + 2);
    const TensorArray changed = two.write(0, -x), longer = two.append(x + 3);
    return concatenate(
        {empty.stack(), one.stack(), two.stack(), other.stack(), changed.stack(), longer.stack()});
  };
  EXPECT_EQ(both(f, tensor(1.f)).to_vector<float>(), (Floats{1, 1, 2, 1, 3, -1, 2, 1, 2, 4}));
}

TEST(TensorArray, AppendsInPlace) {
  TensorArray array(f32, {4});
  array = array.append(ones({4}));
  const Tensor before = array.stack();
  for (int i = 0; i < 5; ++i) array = array.append(ones({4}) * i);
  EXPECT_EQ(array.stack().span<float>().data(), before.span<float>().data());
  EXPECT_EQ(before.shape(), (Shape{1, 4}));
  EXPECT_EQ(before.to_vector<float>(), Floats(4, 1));
  EXPECT_EQ(array.stack().to_vector<float>()[20], 4);
}

// The compiler finds out how long it is before the loop, which is not how long it is behind.
TEST(TensorArray, GrowsFromAKnownLength) {
  const auto f = [](const Tensor &x) {
    const TensorArray two = TensorArray::unstack(x[{newaxis, all}]).append(x);
    const TensorArray last =
        for_loop(2, [&](const Tensor &, const TensorArray &) { return two.append(x * 2); }, two);
    return last.stack();
  };
  EXPECT_EQ(both(f, tensor({1.f, 2.f})).to_vector<float>(), (Floats{1, 2, 1, 2, 2, 4}));
}

TEST(TensorArray, CrossesFunctions) {
  const auto add = [](const TensorArray &array, const Tensor &x) { return array.append(x); };
  auto traced = function(add);
  TensorArray array(f32, {});
  for (int i = 0; i < 20; ++i) {
    array = traced(array, tensor(static_cast<float>(i)));
    array = array.append(-i);
  }
  EXPECT_EQ(array.size().item<std::int64_t>(), 40);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(array.read(2 * i).item<float>(), static_cast<float>(i));
    EXPECT_EQ(array.read(2 * i + 1).item<float>(), static_cast<float>(-i));
  }
}

TEST(TensorArray, Differentiates) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  GradientTape tape;
  tape.watch(x);
  TensorArray array(f32, {});
  for (int i = 0; i < 3; ++i) array = array.append(x[i] * x[i]);
  array = array.write(1, 0);
  const Tensor loss = sum(array.stack() * tensor({1.f, 10.f, 100.f})) + array.read(2);
  const auto [dx] = tape.gradient(loss, {x});
  EXPECT_EQ(dx.to_vector<float>(), (Floats{2, 0, 606}));
}

TEST(TensorArray, SaysWhatIsNoElement) {
  const auto read = [](const Tensor &i) { return TensorArray(f32, {}, 3).read(i); };
  both_fail("TensorArray::read: index 3 is out of range for 3 elements", read, tensor(3));
  both_fail("TensorArray::read: index -1 is out of range for 3 elements", read, tensor(-1));
  // Room that a trace has beyond the elements is none.
  const auto past = [](const Tensor &i) {
    return TensorArray(f32, {}, 3).append(1).read(i) + TensorArray(f32, {}, 3).append(1).read(3);
  };
  both_fail("TensorArray::read: index 4 is out of range for 4 elements", past, tensor(4));
  const auto fixed = [](const Tensor &i) {
    return TensorArray(f32, {}, 3, {.dynamic_size = false}).write(i, 1).stack();
  };
  EXPECT_EQ(both(fixed, tensor(2)).to_vector<float>(), (Floats{0, 0, 1}));
  both_fail("TensorArray::write: index 3 is out of range for 3 elements", fixed, tensor(3));
  const auto below = [](const Tensor &i) { return TensorArray(f32, {}, 3).write(i, 1).stack(); };
  both_fail("TensorArray::write: index -2 is out of range for 3 elements", below, tensor(-2));

  // Where one more would be no number, and where as much memory cannot be.
  both_fail("TensorArray::write: index 9223372036854775807 is out of range for 3 elements", below,
            tensor(std::numeric_limits<std::int64_t>::max()));
  const auto half = [](const Tensor &i) { return TensorArray(i32, {}, 3).write(i, 0.5).stack(); };
  both_throw<DTypeError>("TensorArray::write: the value is f32(), but the elements are i32()", half,
                         tensor(1));

  const auto shape = [](const Tensor &x) { return TensorArray(f32, {2}).append(x).stack(); };
  both_throw<ShapeError>("TensorArray::append: the value is f32(3,), but the elements are f32(2,)",
                         shape, ones({3}));
  both_throw<DTypeError>("TensorArray::append: the value is i32(2,), but the elements are f32(2,)",
                         shape, ones({2}, i32));
  const auto number = [](const Tensor &i) { return TensorArray(f32, {}, 2).read(i); };
  both_throw<DTypeError>("TensorArray::read: the index must be an integer scalar, but it is f32()",
                         number, tensor(1.f));
  both_throw<ShapeError>(
      "TensorArray::concat: scalars cannot be joined; stack them",
      [](const Tensor &n) { return TensorArray(f32, {}, n).concat(); }, tensor(2));
  both_throw<ShapeError>(
      "TensorArray::unstack: a scalar has no slices to take it apart into",
      [](const Tensor &x) { return TensorArray::unstack(x).stack(); }, tensor(2));
  both_throw<ShapeError>(
      "TensorArray: a size is -2, which is negative",
      [](const Tensor &n) { return TensorArray(f32, {}, n).stack(); }, tensor(-2));
}

} // namespace
} // namespace weft
