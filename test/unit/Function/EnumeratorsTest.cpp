// Values that a cast makes of numbers and that are in no enumeration: typed errors wherever a user
// hands one over, on values and while a function is traced.
#include "../Testing.h"

#include <functional>

#include <weft/weft.h>

namespace weft {
namespace {

const auto no_dtype = static_cast<DType>(77);

/// The call throws an error of this kind whose message has these words, eagerly and in a trace.
void expect_refused(ErrorKind kind, const std::string &words,
                    const std::function<void(const Tensor &)> &call) {
  auto traced = function([&](const Tensor &x) {
    call(x);
    return x;
  });
  const std::function<void(const Tensor &)> both[] = {call,
                                                      [&](const Tensor &x) { (void)traced(x); }};
  for (const auto &run : both) {
    try {
      run(tensor({1.f, 2.f}));
      ADD_FAILURE() << "nothing was thrown instead of: " << words;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(error.message().find(words), std::string_view::npos) << error.what();
    }
  }
}

TEST(Enumerators, DTypes) {
  const std::string words = "the value 77 is no dtype; there are bool, i8, i16, i32, i64, u8, u16, "
                            "u32, u64, f16, bf16, f32, f64, c64, c128, f8e4m3fn, f8e5m2";
  const auto refused = [&](const std::function<void(const Tensor &)> &call) {
    expect_refused(ErrorKind::dtype, words, call);
  };
  refused([](const Tensor &x) { cast(x, no_dtype); });
  refused([](const Tensor &x) { (void)x.astype(no_dtype); });
  refused([](const Tensor &) { iota(no_dtype, {2}); });
  refused([](const Tensor &) { full({2}, 1, no_dtype); });
  refused([](const Tensor &) { zeros({2}, no_dtype); });
  refused([](const Tensor &) { ones({2}, no_dtype); });
  refused([](const Tensor &) { arange(3, no_dtype); });
  refused([](const Tensor &) { arange(0, 3, 1, no_dtype); });
  refused([](const Tensor &) { eye(3, no_dtype); });
  refused([](const Tensor &) { nn::one_hot(tensor({1}), 2, no_dtype); });
  refused([](const Tensor &) { TensorArray(no_dtype, {2}); });
  refused([](const Tensor &) { draw_uniform(tensor({0l, 0l}), {2}, no_dtype); });
  refused([](const Tensor &) { draw_permutation(tensor({0l, 0l}), {2}, no_dtype); });
  for (const Shape &shape : {Shape{2}, Shape{unknown}})
    refused([&](const Tensor &x) {
      host_call([](const Tensor &y) { return y; }, {.results = {spec(no_dtype, shape)}}, x);
    });
  // The distributions name what they need.
  expect_refused(ErrorKind::dtype, "random::uniform: the dtype must be floating",
                 [](const Tensor &) { random::uniform({2}, {.dtype = no_dtype}); });
  expect_refused(ErrorKind::dtype, "random::normal: the dtype must be floating",
                 [](const Tensor &) { random::normal({2}, {.dtype = no_dtype}); });
  expect_refused(ErrorKind::dtype, "random::randint: the dtype must be an integer",
                 [](const Tensor &) { random::randint({2}, 0, 3, {.dtype = no_dtype}); });
  expect_refused(ErrorKind::dtype, "random::permutation: the dtype must be an integer",
                 [](const Tensor &) { random::permutation(2, {.dtype = no_dtype}); });
  // A signature that no argument has.
  auto f = function([](const Tensor &x) { return x; }, {.signature = {spec(no_dtype, {2})}});
  EXPECT_THROW(f(tensor({1.f, 2.f})), DTypeError);
}

TEST(Enumerators, Phases) {
  auto f = function([](const Tensor &x) { return x + 1; }, {.name = "f"});
  EXPECT_THROWS(f.ir(tensor(1.f), static_cast<Phase>(200)), ValueError,
                "f: ir: the value 200 is no phase; there are trace, differentiate, control-deps, "
                "simplify, lift-state, linalg, schedule, bufferize, llvm, object, ptx");
}

TEST(Enumerators, Unconnected) {
  const auto neither = static_cast<Unconnected>(9);
  const std::string words =
      "GradientTape: the value 9 is neither Unconnected::none nor Unconnected::zero";
  const auto refused = [&](const std::function<void(GradientTape &, const Tensor &)> &ask) {
    expect_refused(ErrorKind::value, words, [&](const Tensor &x) {
      GradientTape tape;
      tape.watch(x);
      ask(tape, x * x);
    });
  };
  const Tensor other = tensor(1.f);
  refused([&](GradientTape &tape, const Tensor &y) {
    tape.gradient(y, {other}, {.unconnected = neither});
  });
  refused([&](GradientTape &tape, const Tensor &y) {
    tape.sliced_gradient(y, {other}, {.unconnected = neither});
  });
  refused([&](GradientTape &tape, const Tensor &y) {
    tape.jacobian(y, {other}, {.unconnected = neither});
  });
  refused([&](GradientTape &tape, const Tensor &y) {
    tape.batch_jacobian(y, other, {.unconnected = neither});
  });
}

TEST(Enumerators, OfDevices) {
  expect_refused(ErrorKind::device, "to: there is no device of the kind 9:0; the only CPU is cpu:0",
                 [](auto &) { (void)tensor(1.f).to(static_cast<DeviceKind>(9)); });
}

// An output gradient that was never given a value does not count as ones.
TEST(Enumerators, UndefinedOutputGradients) {
  GradientTape tape({.persistent = true});
  const Tensor x = tensor({1.f, 2.f});
  tape.watch(x);
  const Tensor y = x * x, z = x + 1;
  EXPECT_THROWS(tape.gradient(y, {x}, {.output_gradients = {Tensor()}}), StateError,
                "GradientTape: output gradient 0 is undefined");
  EXPECT_THROWS(tape.gradient({y, z}, {x}, {.output_gradients = {ones({2}), Tensor()}}), StateError,
                "GradientTape: output gradient 1 is undefined");
  EXPECT_THROWS(tape.sliced_gradient(y, {x}, {.output_gradients = {Tensor()}}), StateError,
                "GradientTape: output gradient 0 is undefined");
}

} // namespace
} // namespace weft
