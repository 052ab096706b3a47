// What is at the ends of i64, too large, too deep or of too many dimensions: the same answer on
// values and traced, or an error that names the limit.
#include "../Testing.h"
#include "Both.h"

#include <cmath>
#include <functional>

#include <weft/nn.h>
#include <weft/weft.h>

namespace weft {
namespace {

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The numbers that a loop goes through, which are few, as Python's range has them.
std::vector<std::int64_t> range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  std::vector<std::int64_t> numbers;
  for (__int128 at = start; step > 0 ? at < stop : at > stop; at += step)
    numbers.push_back(static_cast<std::int64_t>(at));
  return numbers;
}

// Nothing is counted that would overflow, which the sanitizers see.
TEST(Limits, SizesBesideAZero) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Tensor none = zeros({most, 0}, f64);
  const auto twice = function([](const Tensor &x) { return x * 2; });
  EXPECT_EQ(twice(none).shape(), none.shape());
  const auto flat = function([](const Tensor &x) { return reshape(x, {most, 0, 2}); });
  EXPECT_EQ(flat(none).shape(), (Shape{most, 0, 2}));
  const auto slope = [](const Tensor &x) { return sum(x * x); };
  EXPECT_EQ(grad(slope)(none).shape(), none.shape());
}

TEST(Limits, LoopsCountToTheEndsOfI64) {
  constexpr std::int64_t low = INT64_MIN, high = INT64_MAX, large = std::int64_t{1} << 62;
  struct Case {
    std::int64_t start, stop, step;
  };
  for (const auto [start, stop, step] : {Case{low, 0, large},
                                         {5, low, -large},
                                         {high - 3, high, 2},
                                         {high - 4, high, 3},
                                         {low, low + 3, 1},
                                         {low + 3, low, -1},
                                         {low + 4, low, -3},
                                         {low, high, large},
                                         {high, low, -large},
                                         {high - 2, high, 1},
                                         {high, high - 3, -2},
                                         {low, high, high},
                                         {high, low, -high},
                                         {0, high, high},
                                         {high, low, 1},
                                         {low, high, -1}}) {
    const std::vector<std::int64_t> numbers = range(start, stop, step);
    std::uint64_t sum = 1;
    for (const std::int64_t number : numbers) sum = sum * 31 + static_cast<std::uint64_t>(number);
    const auto f = [&, step = step](const Tensor &from, const Tensor &to) {
      return for_loop(
          {from, to, step}, [](const Tensor &i, const Tensor &s) { return s * 31 + i; },
          tensor(std::int64_t{1}));
    };
    SCOPED_TRACE(testing::Message() << start << ".." << stop << " by " << step);
    EXPECT_EQ(both(f, tensor(start), tensor(stop)).item<std::int64_t>(),
              static_cast<std::int64_t>(sum));
    // The same of bounds that the compiler knows, and the derivative by what the loop carries.
    const auto constant = [&, start = start, stop = stop, step = step](const Tensor &x) {
      return for_loop({start, stop, step}, [](Tensor, const Tensor &y) { return y * 2.0; }, x);
    };
    const double product = std::ldexp(1.0, static_cast<int>(numbers.size()));
    EXPECT_EQ(both(constant, tensor(1.0)).item<double>(), product);
    EXPECT_EQ(function(grad(constant))(tensor(1.0)).item<double>(), product);
  }
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST(Limits, BytesThatOverflowAreNoMemory) {
  const auto resized = function([](const Tensor &x, const Tensor &n) {
    return sum(pad(x, 0.f, {0, 0}, {n, 0}, {0, 0}) * 2.f, {.axes = Ints{1}})[0];
  });
  const auto repeated = function([](const Tensor &x, const Tensor &n) {
    const Tensor many = broadcast(x, {n, 2, 4});
    return concatenate({many, many})[0];
  });
  const auto stacked =
      function([](const Tensor &n) { return sum(TensorArray(f32, {}, n).stack(), {}); });
  const auto padded = function([](const Tensor &x, const Tensor &n) {
    return sum(pad(broadcast(x, {n, 2, 4}), 0.f, {0, 0, 0}, {3, 3, 3}, {0, 0, 0}));
  });
  for (const int bits : {59, 60, 61, 62}) {
    SCOPED_TRACE(bits);
    const Tensor count = tensor(std::int64_t{1} << bits);
    EXPECT_THROW(resized(ones({2, 4}), count), Error);
    EXPECT_THROW(repeated(ones({2, 4}), count), Error);
    EXPECT_THROW(padded(ones({2, 4}), count), Error);
    EXPECT_THROW(stacked(count), Error);
  }
  EXPECT_THROW(resized(ones({2, 4}), tensor(INT64_MAX)), Error);
}

TEST(Limits, SumsOfSizesOverflowInEmptyTensorsToo) {
  const auto joined = function([](const Tensor &x, const Tensor &n) {
    const Tensor many = broadcast(x, {n, 0});
    return concatenate({many, many});
  });
  EXPECT_EQ(joined(zeros({0}), tensor(std::int64_t{3})).shape(), (Shape{6, 0}));
  EXPECT_THROWS(joined(zeros({0}), tensor(std::int64_t{1} << 62)), ShapeError,
                "concatenate: the size of axis 0 exceeds 2^63 - 1");
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// A tensor of as many dimensions as there may be.
Tensor widest() {
  Shape shape;
  for (std::int64_t i = 1; i < max_rank; ++i) shape.push_back(1);
  shape.push_back(3);
  return ones(shape);
}

TEST(Limits, RankIsLimitedWhereverItGrows) {
  const std::string words = "a tensor has at most 64 dimensions";
  const Tensor x = widest();
  const auto expect = [&](const auto &f) {
    for (const bool traced : {false, true}) {
      SCOPED_TRACE(traced);
      try {
        const auto y = traced ? function(f)(x) : f(x);
        ADD_FAILURE() << "it gave a tensor of rank " << y.rank();
      } catch (const ShapeError &error) {
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      }
    }
  };
  expect([](const Tensor &t) { return t[newaxis]; });
  expect([](const Tensor &t) { return t[{ellipsis, newaxis, newaxis}]; });
  expect([](const Tensor &t) { return nn::one_hot(cast(t, i32), 3); });
  expect([](const Tensor &t) {
    Ints wider(t.shape());
    wider.insert(0, 2);
    return broadcast(t, wider);
  });
  expect([](const Tensor &t) { return gather(t, zeros({1, 1}, i32)); });
  expect([](const Tensor &t) {
    Ints wider(70, 1);
    wider[0] = 3;
    return reshape(t, wider);
  });
  expect([](const Tensor &t) {
    GradientTape tape;
    tape.watch(t);
    const Tensor y = t * t;
    return tape.jacobian(y, {t})[0];
  });
  expect([](const Tensor &t) { return TensorArray(t.dtype(), t.shape(), 2).stack(); });
  // As many as there may be are no error.
  EXPECT_EQ(both([](const Tensor &t) { return exp(t) + t; }, x).rank(), max_rank);
}

//===----------------------------------------------------------------------===//
// Nesting
//===----------------------------------------------------------------------===//

Tensor nested(const Tensor &x, int depth) {
  if (depth == 0) return x + 1;
  return cond(
      x > static_cast<float>(depth), [&] { return nested(x, depth - 1); }, [&] { return x; });
}

TEST(Limits, BranchesNestedTooDeepAreAnError) {
  const auto deep = [](int depth) {
    return function([depth](const Tensor &x) { return nested(x, depth); }, {.name = "deep"});
  };
  EXPECT_EQ(deep(100)(tensor(200.f)).item<float>(), 201.f);
  EXPECT_THROWS(deep(5000)(tensor(1.f)), StateError,
                "cond: branches and loops are nested more than 256 deep in the trace of deep; a "
                "trace has all of them in it, whichever a call takes");
}

// Each function is not too deep, but they are in one another's branches.
TEST(Limits, CallsCountAsNesting) {
  auto inner = function([](const Tensor &x) { return nested(x, 200); }, {.name = "inner"});
  auto outer = function(
      [&](const Tensor &x) {
        std::function<Tensor(int)> at = [&](int depth) -> Tensor {
          if (depth == 0) return inner(x);
          return cond(
              x > static_cast<float>(depth), [&] { return at(depth - 1); }, [&] { return x; });
        };
        return at(100);
      },
      {.name = "outer"});
  EXPECT_THROW(outer(tensor(1.f)), Error);
}

// Calls are inlined, so 40 functions that call one another twice would be 2^40 ops.
TEST(Limits, CallsThatDoubleWhatIsCalled) {
  std::function<Tensor(const Tensor &)> chain = [](const Tensor &x) { return sin(x); };
  for (int i = 0; i < 40; ++i)
    chain = function([chain](const Tensor &x) { return chain(chain(x)); }, {.name = "chain"});
  try {
    static_cast<void>(chain(ones({2})));
    ADD_FAILURE() << "compiled";
  } catch (const CompileError &error) {
    EXPECT_EQ(error.message().find("chain: 'chain_21' has more than 1048576 ops, those of called "
                                   "functions counted at every call: calls are inlined; call in a "
                                   "loop what is called often\n"),
              0U)
        << error.message();
  }
}

} // namespace
} // namespace weft
