// What users get wrong, and the words they get: the same eager and traced, with a type, and
// the process goes on.
#include "../Testing.h"

#include <functional>

#include <weft/weft.h>

namespace weft {
namespace {

/// A call that is wrong, on operands that a traced function is given as arguments.
struct Mistake {
  std::string name;
  std::vector<Tensor> operands;
  std::function<Tensor(const std::vector<Tensor> &)> call;
  ErrorKind kind;
  std::string words;
};

const std::int64_t kHuge = std::int64_t{1} << 62;

std::vector<Mistake> mistakes() {
  using Operands = std::vector<Tensor>;
  const Tensor m = zeros({2, 3}), v = zeros({4}), n = arange(4), flags = tensor({true, false}),
               scalar = tensor(1.f);
  const auto kShape = ErrorKind::shape, kDType = ErrorKind::dtype, kIndex = ErrorKind::index,
             kValue = ErrorKind::value;
  return {
      // Shapes that do not fit together.
      {"Add",
       {m, v},
       [](const Operands &x) { return x[0] + x[1]; },
       kShape,
       "add: the shapes do not broadcast: lhs is (2, 3) and rhs is (4,)"},
      {"Select",
       {flags, v, v},
       [](const Operands &x) { return select(x[0], x[1], x[2]); },
       kShape,
       "select: the shapes do not broadcast: pred is (2,), on_true is (4,) and on_false is (4,)"},
      {"MatmulInner",
       {m, m},
       [](const Operands &x) { return matmul(x[0], x[1]); },
       kShape,
       "matmul: the inner dimensions differ: lhs is (2, 3) and rhs is (2, 3), so 3 meets 2"},
      {"MatmulTransposed",
       {m, m},
       [](const Operands &x) {
         return matmul(x[0], x[1], {.transpose_lhs = true, .transpose_rhs = true});
       },
       kShape,
       "matmul: the inner dimensions differ: lhs is (2, 3) transposed and rhs is (2, 3) "
       "transposed, so 2 meets 3"},
      {"MatmulBatch",
       {zeros({2, 1, 3}), zeros({4, 3, 1})},
       [](const Operands &x) { return matmul(x[0], x[1]); },
       kShape,
       "matmul: the batch dimensions do not broadcast: lhs is (2, 1, 3) and rhs is (4, 3, 1)"},
      {"Concatenate",
       {m, zeros({2, 4})},
       [](const Operands &x) { return concatenate({x[0], x[1]}); },
       kShape,
       "concatenate: the shapes differ outside axis 0: xs[0] is (2, 3) and xs[1] is (2, 4)"},
      {"Reshape",
       {m},
       [](const Operands &x) { return reshape(x[0], {4, 2}); },
       kShape,
       "reshape: x of shape (2, 3) has 6 elements, which do not fill the shape (4, 2)"},
      {"ReshapeRest",
       {m},
       [](const Operands &x) { return reshape(x[0], {4, -1}); },
       kShape,
       "reshape: x of shape (2, 3) has 6 elements, which do not fill the shape (4, -1)"},
      {"ReshapeNegative",
       {m},
       [](const Operands &x) { return reshape(x[0], {-2, 3}); },
       kShape,
       "reshape: size -2 is negative; one size may be -1, which stands for what the others leave"},
      {"Broadcast",
       {m},
       [](const Operands &x) { return broadcast(x[0], {3, 2}); },
       kShape,
       "broadcast: x of shape (2, 3) does not broadcast to the shape (3, 2)"},
      {"Updates",
       {m, tensor({0}), m},
       [](const Operands &x) { return scatter_add(x[0], x[1], x[2]); },
       kShape,
       "scatter_add: updates must have shape (1, 3) for x of shape (2, 3) and indices of shape "
       "(1,), but has (2, 3)"},
      // Ranks.
      {"MatmulScalar",
       {m, scalar},
       [](const Operands &x) { return matmul(x[0], x[1]); },
       kShape,
       "matmul: rhs is a scalar, but a matrix product needs rank 1 or more"},
      {"MatmulVector",
       {v, v},
       [](const Operands &x) { return matmul(x[0], x[1], {.transpose_lhs = true}); },
       kShape,
       "matmul: lhs has rank 1 and cannot be transposed"},
      {"SliceRank",
       {m},
       [](const Operands &x) { return slice(x[0], {0}, {1}, {1}); },
       kShape,
       "slice: starts (0,) has 1 entry, but x has shape (2, 3)"},
      {"TransposeRank",
       {m},
       [](const Operands &x) { return transpose(x[0], {0}); },
       kShape,
       "transpose: permutation (0,) has 1 entry, but x has shape (2, 3)"},
      {"PadValue",
       {m, v},
       [](const Operands &x) { return pad(x[0], x[1], {0, 0}, {0, 0}, {0, 0}); },
       kShape,
       "pad: value must be a scalar, but has shape (4,)"},
      {"SwapOfAVector",
       {v},
       [](const Operands &x) { return x[0].mT(); },
       kShape,
       "mT: the tensor of shape (4,) has fewer than two axes to swap"},
      {"TooManyIndices",
       {v},
       [](const Operands &x) { return x[0][{0, 1}]; },
       kIndex,
       "index: 2 indices for a tensor of shape (4,) (rank 1)"},
      // DTypes.
      {"NegateBool",
       {flags},
       [](const Operands &x) { return negate(x[0]); },
       kDType,
       "negate: x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, "
       "c64, c128), "
       "but it is "
       "bool(2,)"},
      {"BitsOfFloats",
       {v, v},
       [](const Operands &x) { return bitwise_and(x[0], x[1]); },
       kDType,
       "bitwise_and: lhs must be an integer or bool (bool, i8, i16, i32, i64, u8, u16, u32, u64), "
       "but it is f32(4,)"},
      {"MatmulBool",
       {flags, flags},
       [](const Operands &x) { return matmul(x[0], x[1]); },
       kDType,
       "matmul: lhs must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, "
       "c64, c128), "
       "but it is "
       "bool(2,)"},
      {"GatherByFloats",
       {v, v},
       [](const Operands &x) { return gather(x[0], x[1]); },
       kDType,
       "gather: indices must be an integer (i32, i64), but it is f32(4,)"},
      {"SelectByNumbers",
       {n, v, v},
       [](const Operands &x) { return select(x[0], x[1], x[2]); },
       kDType,
       "select: pred must be bool (bool), but it is i32(4,)"},
      {"CheckOfNumbers",
       {n},
       [](const Operands &x) {
         check(x[0], "numbers");
         return x[0];
       },
       kDType,
       "check: condition must be bool (bool), but it is i32(4,)"},
      {"UpdatesOfAnotherDType",
       {v, tensor({0}), tensor({1})},
       [](const Operands &x) { return scatter_add(x[0], x[1], x[2]); },
       kDType,
       "scatter_add: the dtypes differ: x is f32 and updates is i32"},
      {"ScalarTooLarge",
       {n},
       [](const Operands &x) { return x[0] + (std::int64_t{1} << 40); },
       kValue,
       "add: the scalar 1099511627776 does not fit the dtype i32"},
      // Axes and indices.
      {"SumAxis",
       {m},
       [](const Operands &x) { return sum(x[0], {.axes = Ints{2}}); },
       kIndex,
       "sum: axis 2 is out of range for x of shape (2, 3) (rank 2)"},
      {"SumNegativeAxis",
       {m},
       [](const Operands &x) { return sum(x[0], {.axes = Ints{-3}}); },
       kIndex,
       "sum: axis -3 is out of range for x of shape (2, 3) (rank 2)"},
      {"MeanAxisTwice",
       {m},
       [](const Operands &x) { return mean(x[0], {.axes = Ints{1, -1}}); },
       kValue,
       "mean: axis 1 is given twice"},
      {"ArgmaxOfScalar",
       {scalar},
       [](const Operands &x) { return argmax(x[0]); },
       kIndex,
       "argmax: axis -1 is out of range for a tensor of rank 0"},
      {"ArgmaxOfNothing",
       {zeros({0, 3})},
       [](const Operands &x) { return argmax(x[0], {.axis = 0}); },
       kShape,
       "argmax: x has the shape (0, 3): there is no element to choose along axis 0"},
      {"CumsumOfScalar",
       {scalar},
       [](const Operands &x) { return cumsum(x[0]); },
       kIndex,
       "cumsum: axis -1 is out of range for x of shape () (rank 0)"},
      {"ArgsortAxis",
       {m},
       [](const Operands &x) { return argsort(x[0], {.axis = 2}); },
       kIndex,
       "argsort: axis 2 is out of range for x of shape (2, 3) (rank 2)"},
      {"RecurrenceShape",
       {v, m},
       [](const Operands &x) { return linear_recurrence(x[0], x[1]); },
       kShape,
       "linear_recurrence: a must have the shape of x, (2, 3), but has (4,)"},
      {"RecurrenceFlags",
       {m},
       [](const Operands &x) {
         return linear_recurrence(x[0], x[0], {.exclusive = true, .shifted = true});
       },
       kValue,
       "linear_recurrence: it is either exclusive or shifted, not both"},
      {"TakeAlongAxisShape",
       {m, tensor({0, 1})},
       [](const Operands &x) { return take_along_axis(x[0], x[1]); },
       kShape,
       "take_along_axis: indices must have x's sizes but for axis 1: x is (2, 3) and indices is "
       "(2,)"},
      {"AddAlongAxisUpdates",
       {m, tensor({{0}, {1}}), zeros({2, 2})},
       [](const Operands &x) { return add_along_axis(x[0], x[1], x[2]); },
       kShape,
       "add_along_axis: updates must have the shape of indices, (2, 1), but has (2, 2)"},
      {"TopKOfFewer",
       {v},
       [](const Operands &x) { return top_k(x[0], 5).values; },
       kValue,
       "top_k: the first 5 are asked for, but axis 0 of x, which has shape (4,), is shorter"},
      {"TopKOfNegative",
       {v},
       [](const Operands &x) { return top_k(x[0], -1).indices; },
       kValue,
       "top_k: k is -1, which is negative"},
      {"ConcatenateAxis",
       {m, m},
       [](const Operands &x) { return concatenate({x[0], x[1]}, {.axis = 2}); },
       kIndex,
       "concatenate: axis 2 is out of range for xs[0] of shape (2, 3) (rank 2)"},
      {"Permutation",
       {m},
       [](const Operands &x) { return transpose(x[0], {0, 0}); },
       kValue,
       "transpose: (0, 0) is not a permutation of the axes of x, which has shape (2, 3)"},
      {"SliceRange",
       {v},
       [](const Operands &x) { return slice(x[0], {1}, {5}, {1}); },
       kIndex,
       "slice: the slice 1:5 is out of range for axis 0 of x, which has shape (4,)"},
      {"SliceStride",
       {v},
       [](const Operands &x) { return slice(x[0], {1}, {3}, {0}); },
       kValue,
       "slice: stride 0 of axis 0 is not positive"},
      {"Index",
       {m},
       [](const Operands &x) { return x[0][{1, 3}]; },
       kIndex,
       "index: 3 is out of range for axis 1 of a tensor of shape (2, 3)"},
      {"IndexFromTheEnd",
       {m},
       [](const Operands &x) { return x[0][-3]; },
       kIndex,
       "index: -3 is out of range for axis 0 of a tensor of shape (2, 3)"},
      {"StepOfZero",
       {v},
       [](const Operands &x) { return x[0][slice({}, {}, 0)]; },
       kValue,
       "index: the step of slice 0 is 0"},
      {"Padding",
       {v, scalar},
       [](const Operands &x) { return pad(x[0], x[1], {-1}, {0}, {0}); },
       kValue,
       "pad: padding must not be negative, but low is (-1,), high is (0,) and interior is (0,)"},
      {"ReverseAxis",
       {v},
       [](const Operands &x) { return reverse(x[0], {.axes = Ints{1}}); },
       kIndex,
       "reverse: axis 1 is out of range for x of shape (4,) (rank 1)"},
      // Products of sizes that no integer holds.
      {"HugeBroadcast",
       {scalar},
       [](const Operands &x) { return broadcast(x[0], {kHuge, 4}); },
       kShape,
       "broadcast: a tensor of shape (4611686018427387904, 4) has more bytes than 2^63 - 1"},
      {"HugePad",
       {v, scalar},
       [](const Operands &x) { return pad(x[0], x[1], {kHuge}, {kHuge}, {0}); },
       kShape,
       "pad: the padded size of axis 0 exceeds 2^63 - 1"},
      {"HugeInterior",
       {v, scalar},
       [](const Operands &x) { return pad(x[0], x[1], {0}, {0}, {kHuge}); },
       kShape,
       "pad: the padded size of axis 0 exceeds 2^63 - 1"},
      {"HugeReshape",
       {v},
       [](const Operands &x) { return reshape(x[0], {kHuge, 4}); },
       kShape,
       "reshape: a tensor of shape (4611686018427387904, 4) has more elements than 2^63 - 1"},
      {"HugeIota",
       {},
       [](const Operands &) { return iota(f32, {kHuge, 4}); },
       kShape,
       "iota: a tensor of shape (4611686018427387904, 4) has more bytes than 2^63 - 1"},
      {"HugeProduct",
       {zeros({kHuge, 0}), zeros({0, kHuge})},
       [](const Operands &x) { return matmul(x[0], x[1]); },
       kShape,
       "matmul: a tensor of shape (4611686018427387904, 4611686018427387904) has more bytes than "
       "2^63 - 1"},
      {"HugeSum",
       {zeros({0, kHuge, 4})},
       [](const Operands &x) { return sum(x[0], {.axes = Ints{0}}); },
       kShape,
       "sum: a tensor of shape (4611686018427387904, 4) has more bytes than 2^63 - 1"},
      {"HugeOuterSum",
       {zeros({kHuge, 0, 1}), zeros({0, kHuge})},
       [](const Operands &x) { return sum(x[0] + x[1], {.axes = Ints{1}}); },
       kShape,
       "sum: a tensor of shape (4611686018427387904, 4611686018427387904) has more bytes than 2^63 "
       "- 1"},
      // Shapes that make no sense.
      {"NegativeIota",
       {},
       [](const Operands &) { return iota(i32, {-2}); },
       kShape,
       "iota: the shape has a size of -2, which is negative"},
      {"BoolIota",
       {},
       [](const Operands &) { return iota(DType::boolean, {2}); },
       kDType,
       "iota: dtype must be a number, but it is bool"},
      {"NothingToConcatenate",
       {},
       [](const Operands &) { return concatenate(std::span<const Tensor>()); },
       kValue,
       "concatenate: there is nothing to concatenate: xs is empty"},
      {"PrintWithoutValue",
       {v},
       [](const Operands &x) {
         print("one {} and two {}", x[0]);
         return x[0];
       },
       kValue,
       "print: the format has 2 {} for 1 values"},
      {"Undefined",
       {v},
       [](const Operands &x) { return x[0] + Tensor(); },
       ErrorKind::state,
       "add: rhs is an undefined tensor: it was never given a value"},
      {"UndefinedUnary",
       {},
       [](const Operands &) { return exp(Tensor()); },
       ErrorKind::state,
       "exp: x is an undefined tensor: it was never given a value"},
      {"Device",
       {v},
       [](const Operands &x) { return x[0].size(1) > 0 ? x[0] : x[0]; },
       kIndex,
       "size: axis 1 is out of range for a tensor of shape (4,) (rank 1)"},
  };
}

class Mistakes : public testing::TestWithParam<Mistake> {
protected:
  /// Runs it, and checks that an error of the right class and words comes.
  template <class F>
  static void expect_error(const F &run) {
    try {
      run();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error &error) {
      EXPECT_EQ(error.message(), GetParam().words);
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(GetParam().kind)) << error.what();
    }
  }
};

TEST_P(Mistakes, SameWordsEagerAndTraced) {
  const Mistake &mistake = GetParam();
  auto traced =
      function([&](const std::vector<Tensor> &operands) { return mistake.call(operands); });
  for (int again = 0; again < 2; ++again) {
    expect_error([&] { static_cast<void>(mistake.call(mistake.operands)); });
    expect_error([&] { static_cast<void>(traced(mistake.operands)); });
  }
  // The thread traces no more, and computes.
  EXPECT_EQ(traced.trace_count(), 0u);
  EXPECT_EQ((tensor({1.f, 2.f}) + 1).to_vector<float>(), (std::vector<float>{2, 3}));
}

INSTANTIATE_TEST_SUITE_P(Errors, Mistakes, testing::ValuesIn(mistakes()),
                         [](const auto &info) { return info.param.name; });

TEST(FunctionErrors, ATraceThatFailsMayBeTriedAgain) {
  bool wrong = true;
  auto f = function([&](const Tensor &x) { return wrong ? x + zeros({7}) : x * 2; });
  EXPECT_THROWS(f(zeros({3})), ShapeError,
                "add: the shapes do not broadcast: lhs is (3,) and rhs is (7,)");
  EXPECT_EQ(f.trace_count(), 0u);
  wrong = false;
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{2, 2, 2}));
  auto thrower =
      function([](const Tensor &) -> Tensor { throw std::runtime_error("the user's own"); });
  EXPECT_THROWS(thrower(ones({3})), std::runtime_error, "the user's own");
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST(FunctionErrors, WrongSignatures) {
  auto f = function([](const std::vector<Tensor> &xs) { return xs[0] + 1; },
                    {.name = "predict", .signature = {spec(f32, {unknown, 2})}});
  using Tensors = std::vector<Tensor>;
  const Tensor x = ones({3, 2});
  EXPECT_THROWS(f(Tensors{x, x}), ValueError,
                "predict: the signature has 1 tensors, but the call has 2");
  EXPECT_THROWS(f(Tensors{}), ValueError,
                "predict: the signature has 1 tensors, but the call has 0");
  EXPECT_THROWS(
      f(Tensors{ones({3, 3})}), ShapeError,
      "predict: tensor 0 of the arguments is f32(3, 3), but the signature says f32(?, 2)");
  EXPECT_THROWS(f(Tensors{ones({2})}), ShapeError,
                "predict: tensor 0 of the arguments is f32(2,), but the signature says f32(?, 2)");
  EXPECT_THROWS(
      f(Tensors{ones({3, 2}, f64)}), DTypeError,
      "predict: tensor 0 of the arguments is f64(3, 2), but the signature says f32(?, 2)");
  EXPECT_EQ(f(Tensors{x}).type(), spec(f32, {3, 2}));
  // The same after there is a trace.
  EXPECT_THROWS(
      f(Tensors{ones({3, 3})}), ShapeError,
      "predict: tensor 0 of the arguments is f32(3, 3), but the signature says f32(?, 2)");
  EXPECT_EQ(f(Tensors{ones({5, 2})}).type(), spec(f32, {5, 2}));
}

TEST(FunctionErrors, UndefinedArgumentsAndResults) {
  auto f = function([](const Tensor &x) { return x + 1; }, {.name = "plus"});
  const std::string words =
      "plus: tensor 0 of the arguments is undefined: it was never given a value";
  for (int i = 0; i < 2; ++i) { // before there is a trace, and after
    EXPECT_THROWS(f(Tensor()), ValueError, words);
    EXPECT_THROWS(static_cast<void>(f.ir(Tensor(), Phase::trace)), ValueError, words);
    EXPECT_THROWS(static_cast<void>(f.explain(Tensor())), ValueError, words);
    EXPECT_THROWS(function([&](const Tensor &x) { return f(x) + f(Tensor()); })(ones({1})),
                  ValueError, words);
    static_cast<void>(f(ones({2})));
  }
  auto g = function([](const Tensor &) { return Tensor(); }, {.name = "empty"});
  EXPECT_THROWS(g(ones({1})), ValueError, "empty: a tensor of the result is undefined");
  EXPECT_EQ(f(ones({1})).item<float>(), 2);
}

TEST(FunctionErrors, TensorsThatLeaveTheirTrace) {
  Tensor escaped;
  auto leak = function(
      [&](const Tensor &x) {
        escaped = x * 2;
        return x;
      },
      {.name = "leak"});
  const Tensor x = ones({2});
  static_cast<void>(leak(x));
  ASSERT_TRUE(escaped.traced());
  EXPECT_EQ(escaped.type(), spec(f32, {2}));
  EXPECT_THROWS(escaped + 1, StateError,
                "add: lhs of type f32(2,) stands for a value of a traced function and was used "
                "outside of its trace");
  EXPECT_THROWS(matmul(x, escaped), StateError,
                "matmul: rhs of type f32(2,) stands for a value of a traced function and was used "
                "outside of its trace");
  auto other = function([&](const Tensor &y) { return y + escaped; }, {.name = "other"});
  EXPECT_THROWS(other(x), StateError,
                "a tensor of the traced function 'leak' is used while tracing 'other': a tensor "
                "may not leave its trace; "
                "return it instead");
  auto plain = function([](const Tensor &y) { return y + 1; }, {.name = "plain"});
  EXPECT_THROWS(plain(escaped), StateError,
                "plain: an argument is a tensor of the traced function 'leak', whose trace has "
                "ended: a tensor may not leave its trace; return it instead");
  EXPECT_THROWS(
      Variable(escaped, "kept"), StateError,
      "Variable: the initial value of 'kept' is a value of a trace that has ended; make variables "
      "outside traced functions");
  EXPECT_THROW(static_cast<void>(escaped.item<float>()), StateError);
  EXPECT_THROW(static_cast<void>(escaped.to_vector<float>()), StateError);
  EXPECT_EQ((x + 1).to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST(FunctionErrors, ValuesThatAreNotThereYet) {
  auto branch = function([](const Tensor &x) { return x.sum().item<float>() > 0 ? x : -x; });
  EXPECT_THROW(static_cast<void>(branch(ones({2}))), StateError);
  auto look = function([](const Tensor &x) { return full({2}, x.to_vector<float>()[0]); });
  EXPECT_THROW(static_cast<void>(look(ones({2}))), StateError);
  EXPECT_EQ((ones({2}) + 1).to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST(FunctionErrors, AssignsThatDoNotFit) {
  const Variable v(zeros({2}), "weights");
  auto shape = function([&](const Tensor &x) { v.assign(x); });
  auto add = function([&](const Tensor &x) { v.assign_add(x); });
  const auto refused = [&](auto &&run, const std::string &words) {
    EXPECT_THROWS(run(ones({3})), ShapeError,
                  words + ": the variable 'weights' is f32(2,), but the value is f32(3,)");
    EXPECT_THROWS(run(ones({2}, f64)), DTypeError,
                  words + ": the variable 'weights' is f32(2,), but the value is f64(2,)");
  };
  refused([&](const Tensor &x) { v.assign(x); }, "assign");
  refused(shape, "assign");
  refused([&](const Tensor &x) { v.assign_add(x); }, "assign_add");
  refused(add, "assign_add");
  shape(ones({2}));
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(FunctionErrors, MoreMemoryThanThereIs) {
  const std::int64_t many = std::int64_t{1} << 50;
  // The system gives pages, a few more than asked for.
  const std::string words = "out of memory: asked for 45035996273";
  const auto expect_out_of_memory = [&](auto &&run) {
    try {
      static_cast<void>(run());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const OutOfMemory &error) {
      EXPECT_NE(error.message().find(words), std::string_view::npos) << error.what();
    }
  };
  expect_out_of_memory([&] { return zeros({many}); });
  expect_out_of_memory([&] { return broadcast(ones({1}), {many}) + 1; });
  auto f = function([&](const Tensor &x) { return broadcast(x, {many}) + 1; });
  for (int i = 0; i < 2; ++i) expect_out_of_memory([&] { return f(ones({1})); });
  EXPECT_EQ((ones({2}) + 1).to_vector<float>(), (std::vector<float>{2, 2}));
}

} // namespace
} // namespace weft
