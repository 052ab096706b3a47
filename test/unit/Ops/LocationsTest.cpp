// Errors of op calls name the user's file and line, also through layers, losses and loops.
#include "../Testing.h"

#include <weft/weft.h>

#include <filesystem>

namespace weft {
namespace {

/// The error that `run` throws.
template <class F>
Error error_of(const F &run) {
  try {
    run();
  } catch (const Error &error) {
    return error;
  }
  return {ErrorKind::internal, "nothing was thrown", SourceLocation()};
}

/// The expression throws an error that names this line, with this message.
#define EXPECT_HERE(expression, words)                                                             \
  do {                                                                                             \
    const Error error = error_of([&] { static_cast<void>(expression); });                          \
    EXPECT_EQ(error.message(), words);                                                             \
    EXPECT_EQ(error.location().file, __FILE__);                                                    \
    EXPECT_EQ(error.location().line, __LINE__) << error.what();                                    \
    const char *const kind = error.kind() == ErrorKind::assertion ? "" : "error: ";                \
    EXPECT_EQ(error.what(), std::filesystem::path(__FILE__).filename().string() + ":" +            \
                                std::to_string(__LINE__) + ": " + kind + (words));                 \
  } while (false)

Tensor of_shape(const Shape &shape) { return ones(shape); }

TEST(Locations, OfOps) {
  const Tensor a = of_shape({2, 3}), b = of_shape({4});
  const std::string add_words(error_of([&] { add(a, b); }).message());
  EXPECT_TRUE(add_words.starts_with("add: ")) << add_words;
  EXPECT_HERE(add(a, b), add_words);
  EXPECT_HERE(a + b, add_words);
  EXPECT_HERE(a + Tensor(b), add_words);
  EXPECT_HERE(add(a, {1.f, 2.f, 3.f, 4.f}), add_words);
  EXPECT_HERE(sum(a, {.axes = Ints{2}}),
              "sum: axis 2 is out of range for x of shape (2, 3) (rank 2)");
  EXPECT_HERE(concatenate({a, b}), std::string(error_of([&] { concatenate({a, b}); }).message()));
  EXPECT_HERE(concatenate({}), "concatenate: there is nothing to concatenate: xs is empty");
  const std::vector<Tensor> both{a, b};
  EXPECT_HERE(concatenate(both), std::string(error_of([&] { concatenate({a, b}); }).message()));
  EXPECT_HERE(select(a, a, b), std::string(error_of([&] { select(a, a, b); }).message()));
  EXPECT_HERE(exp(Tensor()), "exp: x is an undefined tensor: it was never given a value");
  EXPECT_HERE(square(tensor(true)), "square: lhs must be a number (i8, i16, i32, i64, u8, u16, "
                                    "u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool()");
  EXPECT_HERE(relu(Tensor()), "relu: lhs is an undefined tensor: it was never given a value");
  EXPECT_HERE(iota(DType::i32, {-1}),
              std::string(error_of([&] { iota(DType::i32, {-1}); }).message()));
}

// An operator belongs to the line of its second operand, where its sign usually stands too.
TEST(Locations, OfOperatorsOnTheirOwnLines) {
  const Tensor a = of_shape({2}), b = of_shape({3});
  const std::uint32_t line = __LINE__;
  const Error error = error_of([&] {
    return a    // + 2
           + a  // + 3
           + b  // + 4
           + a; // + 5
  });
  EXPECT_EQ(error.location().line, line + 4);
}

TEST(Locations, OfMembersAndFactories) {
  const Tensor a = of_shape({2, 3});
  EXPECT_HERE(a.sum(Ints{2}), std::string(error_of([&] { sum(a, {.axes = Ints{2}}); }).message()));
  EXPECT_HERE(a.reshape({7}), std::string(error_of([&] { reshape(a, {7}); }).message()));
  EXPECT_HERE(a.transpose({0, 0}), std::string(error_of([&] { transpose(a, {0, 0}); }).message()));
  EXPECT_HERE(of_shape({2}).mT(), "mT: the tensor of shape (2,) has fewer than two axes to swap");
  EXPECT_HERE((a[{0, 7}]), "index: 7 is out of range for axis 1 of a tensor of shape (2, 3)");
  EXPECT_HERE(Tensor().dtype(), "dtype: the tensor is undefined: it was never given a value");
  EXPECT_HERE(Tensor().shape(), "shape: the tensor is undefined: it was never given a value");
  EXPECT_HERE(Tensor().contiguous(),
              "contiguous: the tensor is undefined: it was never given a value");
  EXPECT_HERE(a[9], "index: 9 is out of range for axis 0 of a tensor of shape (2, 3)");
  EXPECT_HERE(a.item<float>(), "item: the tensor of shape (2, 3) has 6 elements, not one");
  EXPECT_HERE(a.span<int>(),
              "span: the tensor's dtype is f32, but its elements are asked for as i32");
  EXPECT_HERE(a.size(2), "size: axis 2 is out of range for a tensor of shape (2, 3) (rank 2)");
  EXPECT_HERE(tensor({{1, 2}, {3}}), "tensor: the nested list is ragged: at depth 1 one list has 2 "
                                     "entries and another 1");
  EXPECT_HERE(tensor(std::vector<int>{1, 2}, {3}),
              "tensor: the shape (3,) has 3 elements, but 2 are given");
  EXPECT_HERE(arange(0, 1, 0), "arange: the step is 0");
}

TEST(Locations, OfVariables) {
  const Variable v(of_shape({2}), "v");
  EXPECT_HERE(v.assign(of_shape({3})),
              std::string(error_of([&] { v.assign(of_shape({3})); }).message()));
  EXPECT_HERE(v.assign_sub(of_shape({3})),
              std::string(error_of([&] { v.assign_sub(of_shape({3})); }).message()));
  EXPECT_HERE(Variable(Tensor(), "w"),
              std::string(error_of([&] { Variable(Tensor(), "w"); }).message()));
}

TEST(Locations, OfEffects) {
  EXPECT_HERE(check(tensor(false), "x is {}", 3), "assertion failed: x is 3");
  EXPECT_HERE(print("{} and {}", 1),
              std::string(error_of([&] { print("{} and {}", 1); }).message()));
}

// What layers, losses, optimizers and random tensors compute belongs to the line that calls them.
TEST(Locations, OfLayersAndTheRest) {
  const Tensor x = of_shape({2, 3});
  const nn::Dense dense(4, 5);
  const nn::Sequential model{nn::Dense(3, 4), nn::Dense(5, 6, {.name = "second"})};
  EXPECT_HERE(dense(x), "Dense: the last axis of x is 3, but the layer was built for 4");
  EXPECT_HERE(model(x), "second: the last axis of x is 4, but the layer was built for 5");
  EXPECT_HERE(nn::dropout(cast(x, DType::i32), 0.5), "dropout: x must be floating, but it is i32");
  EXPECT_HERE(losses::mean_squared_error(x, of_shape({4})),
              "mean_squared_error: targets and predictions must have the same shape, but are "
              "f32(2, 3) and f32(4,)");
  EXPECT_HERE(losses::softmax_cross_entropy(x, of_shape({2})),
              "softmax_cross_entropy: logits must be (batch, classes), but have shape (2,)");
  EXPECT_HERE(optimizers::SGD({dense.kernel}).apply_gradients({x}),
              "SGD: the variable '" + dense.kernel.name() +
                  "' is f32(4, 5), but its gradient is f32(2, 3)");
  EXPECT_HERE(random::uniform({-2}), "random::uniform: a tensor cannot have the size -2 in axis 0");
  EXPECT_HERE(random::permutation(-1), "random::permutation: n is -1");
  EXPECT_HERE(random::Generator(1).randint({2}, 3, 3),
              "random::randint: the range [3, 3) is empty");
}

// Bodies are the user's code: their calls have lines of their own, and so has the construct.
TEST(Locations, OfControlFlow) {
  const Tensor x = of_shape({2}), y = of_shape({3});
  const std::string words(error_of([&] { x + y; }).message());
  EXPECT_HERE(cond(
                  x, [&] { return x; }, [&] { return y; }),
              "cond: the condition must be a bool scalar, but it is f32(2,)");
  EXPECT_HERE(for_loop(
                  x, [&](Tensor, Tensor s) { return s; }, y),
              "for_loop: the stop must be an integer scalar, but it is f32(2,)");
  std::uint32_t line = 0; // of the call that fails
  const auto in_cond = [&] {
    return cond(tensor(true), [&] { return line = __LINE__, x + y; }, [&] { return y; });
  };
  EXPECT_EQ(error_of(in_cond).location().line, line);
  const auto in_loop = [&] {
    const auto body = [&](Tensor, Tensor s) { return line = __LINE__, s + y; };
    return for_loop(3, body, x);
  };
  EXPECT_EQ(error_of(in_loop).location().line, line);
  const auto in_while = [&] {
    const auto body = [&](Tensor s) { return line = __LINE__, s + y; };
    return while_loop([&](Tensor s) { return s.sum() < 10; }, body, x);
  };
  EXPECT_EQ(error_of(in_while).location().line, line);
  const auto in_scan = [&] {
    const auto body = [&](Tensor carry, Tensor row) {
      line = __LINE__, carry = carry + y;
      return std::pair(carry, row);
    };
    return scan(body, x, of_shape({4, 2}));
  };
  EXPECT_EQ(error_of(in_scan).location().line, line);
  EXPECT_EQ(error_of(in_scan).message(), words);
}

// What the user throws is handed on as it is.
TEST(Locations, OfWhatTheUserThrows) {
  const auto run = [] {
    return for_loop(2, [](Tensor, Tensor) -> Tensor { throw ValueError("mine"); }, of_shape({2}));
  };
  EXPECT_STREQ(error_of(run).what(), "mine");
  EXPECT_FALSE(error_of(run).location().known());
}

// A call in which nothing failed leaves no line behind.
TEST(Locations, EndWithTheCall) {
  static_cast<void>(nn::Dense(3, 4)(of_shape({2, 3})));
  static_cast<void>(error_of([] { of_shape({2}) + of_shape({3}); }));
  EXPECT_FALSE(ValueError("mine").location().known());
}

} // namespace
} // namespace weft
