// Ops that move elements, eagerly: views, joins, padding, gathers and scatters.
#include "../Testing.h"

#include "Ops/Interpreter.h"
#include <weft/ops.h>

namespace weft {
namespace {

using Values = std::vector<int>;

Values values(const Tensor &x) { return x.to_vector<int>(); }

TEST(Movement, ViewsShareElements) {
  const Tensor x = arange(6);
  const auto *first = x.span<int>().data();
  EXPECT_EQ(x.reshape({2, 3}).span<int>().data(), first);
  EXPECT_EQ(x.reshape({3, -1}).shape(), (Shape{3, 2}));
  for (const Tensor &view : {transpose(x.reshape({2, 3}), {1, 0}), broadcast(x, {2, 6}),
                             slice(x, {1}, {5}, {2}), reverse(x)})
    EXPECT_EQ(view.impl()->storage, detail::Storage::view);
  // A transposed tensor in another shape takes a copy.
  EXPECT_EQ(values(x.reshape({2, 3}).mT().reshape({6})), (Values{0, 3, 1, 4, 2, 5}));
}

TEST(Movement, Values) {
  const Tensor x = arange(6).reshape({1, 2, 3});
  EXPECT_EQ(transpose(x, {2, 0, 1}).shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(values(transpose(x, {2, 0, 1})), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values(broadcast(tensor({{1}, {2}}), {2, 2, 2})), (Values{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(values(slice(x, {0, 1, 0}, {1, 2, 3}, {1, 1, 2})), (Values{3, 5}));
  EXPECT_EQ(values(reverse(x)), (Values{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values(reverse(x, {.axes = Ints{-1}})), (Values{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(iota(i32, {2, 3}, {.axis = 1})), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values(iota(i32, {2, 3}, {.axis = 0})), (Values{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(iota(f64, {2, 0}, {.axis = 0}).size(), 0);
}

TEST(Movement, EmptyAndScalar) {
  const std::int64_t big = std::int64_t{1} << 40;
  const Tensor nothing = zeros({0, big, big});
  EXPECT_EQ(reverse(nothing).shape(), nothing.shape());
  EXPECT_EQ(slice(nothing, {0, big, 1}, {0, big, 2}, {1, 1, 1}).shape(), (Shape{0, 0, 1}));
  EXPECT_EQ(transpose(nothing, {2, 1, 0}).shape(), (Shape{big, big, 0}));
  EXPECT_EQ(tensor(5).reshape({1, 1}).shape(), (Shape{1, 1}));
  EXPECT_EQ(broadcast(tensor(5), {0, 3}).size(), 0);
  EXPECT_EQ(values(broadcast(tensor(5), {})), (Values{5}));
  EXPECT_EQ(values(transpose(tensor(5), {})), (Values{5}));
  EXPECT_EQ(slice(arange(3), {1}, {3}, {std::int64_t{1} << 62}).size(), 1);
}

TEST(Movement, Concatenate) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(values(concatenate({x, x}, {.axis = 0})), (Values{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(values(concatenate({x, x.mT()}, {.axis = -1})), (Values{1, 2, 1, 3, 3, 4, 2, 4}));
  EXPECT_EQ(values(concatenate({zeros({0}, i32), arange(2), zeros({0}, i32)})), (Values{0, 1}));
  EXPECT_EQ(concatenate({tensor({1}), tensor({1.5f})}).dtype(), f32);
  const std::vector<Tensor> many(50, x);
  EXPECT_EQ(concatenate(many).shape(), (Shape{100, 2}));
  EXPECT_THROWS(
      concatenate({x, zeros({3, 3}, i32)}), ShapeError,
      "concatenate: the shapes differ outside axis 0: xs[0] is (2, 2) and xs[1] is (3, 3)");
  EXPECT_THROWS(concatenate(std::vector<Tensor>()), ValueError,
                "concatenate: there is nothing to concatenate: xs is empty");
}

TEST(Movement, Pad) {
  EXPECT_EQ(values(pad({1, 2}, 0, {1}, {2}, {1})), (Values{0, 1, 0, 2, 0, 0}));
  EXPECT_EQ(values(pad(tensor({{1, 2}, {3, 4}}), 9, {1, 0}, {0, 1}, {0, 2})),
            (Values{9, 9, 9, 9, 9, 1, 9, 9, 2, 9, 3, 9, 9, 4, 9}));
  EXPECT_EQ(values(pad(zeros({0}, i32), 7, {1}, {1}, {5})), (Values{7, 7}));
  EXPECT_EQ(values(pad(tensor({{1, 2}, {3, 4}}).mT(), 0, {0, 0}, {0, 0}, {0, 0})),
            (Values{1, 3, 2, 4}));
  EXPECT_EQ(values(pad(tensor({5}), 0, {0}, {1}, {std::int64_t{1} << 62})), (Values{5, 0}));
}

TEST(Movement, Gather) {
  const Tensor x = tensor({{10, 20, 30}, {40, 50, 60}});
  EXPECT_EQ(values(gather(x, {1, 0, 1})), (Values{40, 50, 60, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(values(gather(x, {{2, 0}}, {.axis = 1})), (Values{30, 10, 60, 40}));
  EXPECT_EQ(gather(x, {{2, 0}}, {.axis = 1}).shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(values(gather(x, arange(2, i64), {.axis = -1})), (Values{10, 20, 40, 50}));
  EXPECT_EQ(values(gather(x.mT(), 2)), (Values{30, 60}));
  EXPECT_EQ(gather(x, zeros({0}, i32)).shape(), (Shape{0, 3}));
  EXPECT_THROWS(gather(x, {0, 2}), IndexError,
                "gather: index 2 is out of range for an axis of size 2");
  EXPECT_THROWS(gather(x, -1), IndexError,
                "gather: index -1 is out of range for an axis of size 2");
  EXPECT_THROWS(gather(x, {0.f}), DTypeError,
                "gather: indices must be an integer (i32, i64), but it is f32(1,)");
}

TEST(Movement, GatherManyByThreads) {
  const Tensor x = arange(1000).reshape({100, 10}), indices = arange(100000) % 100;
  const Tensor y = gather(x, indices);
  for (std::int64_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y.span<int>()[static_cast<std::size_t>(i)], i / 10 % 100 * 10 + i % 10);
}

TEST(Movement, ScatterAdd) {
  EXPECT_EQ(values(scatter_add(zeros({3}, i32), {2, 0, 2}, {1, 2, 3})), (Values{2, 0, 4}));
  EXPECT_EQ(values(scatter_add(tensor({{1, 1}, {1, 1}}), {1}, {{5}, {6}}, {.axis = 1})),
            (Values{1, 6, 1, 7}));
  EXPECT_EQ(scatter_add(zeros({2, 3}), zeros({0}, i32), zeros({0, 3})).shape(), (Shape{2, 3}));
  EXPECT_THROWS(scatter_add(zeros({3}), {3}, {1.f}), IndexError,
                "scatter_add: index 3 is out of range for an axis of size 3");
  // Many updates of few rows, by threads: each sum in order.
  const std::int64_t count = 3000, width = 64;
  const Tensor updates = (arange(count * width) % 13).reshape({count, width});
  const Tensor y = scatter_add(zeros({5, width}, i32), arange(count) % 5, updates);
  std::vector<int> expected(static_cast<std::size_t>(5 * width));
  for (std::int64_t i = 0; i < count * width; ++i)
    expected[static_cast<std::size_t>(i / width % 5 * width + i % width)] +=
        static_cast<int>(i % 13);
  EXPECT_EQ(values(y), expected);
}

TEST(Movement, Constants) {
  auto data = std::make_shared<ConstantData>();
  auto numbers = std::make_shared<const std::vector<int>>(Values{1, 2, 3});
  data->type = spec(i32, {3});
  data->bytes = numbers->data();
  data->owner = numbers;
  std::weak_ptr<const std::vector<int>> watch = numbers;
  numbers.reset();
  Tensor x = dispatch(OpCode::constant, {}, Attrs{ConstantRef(std::move(data))});
  EXPECT_EQ(values(x), (Values{1, 2, 3}));
  EXPECT_FALSE(watch.expired());
  x = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Movement, Errors) {
  EXPECT_THROWS(arange(6).reshape({4}), ShapeError,
                "reshape: x of shape (6,) has 6 elements, which do not fill the shape (4,)");
  EXPECT_THROWS(transpose(zeros({2, 3}), {0, 0}), ValueError,
                "transpose: (0, 0) is not a permutation of the axes of x, which has shape (2, 3)");
  EXPECT_THROWS(broadcast(zeros({2}), {3}), ShapeError,
                "broadcast: x of shape (2,) does not broadcast to the shape (3,)");
  EXPECT_THROWS(slice(zeros({4}), {1}, {5}, {1}), IndexError,
                "slice: the slice 1:5 is out of range for axis 0 of x, which has shape (4,)");
  EXPECT_THROWS(tensor({1, 2}).mT(), ShapeError,
                "mT: the tensor of shape (2,) has fewer than two axes to swap");
}

// Sizes were multiplied from the left, so that a 0 behind large ones came too late.
TEST(Movement, ErrorsNameTheOp) {
  const Tensor x = tensor({1.f, 2.f}), many = tensor(std::int64_t{1} << 62);
  EXPECT_THROWS(
      broadcast(x, {many, 2}), ShapeError,
      "broadcast: a tensor of shape (4611686018427387904, 2) has more bytes than 2^63 - 1");
  EXPECT_THROWS(reverse(x, {.axes = Ints{0, 0}}), ValueError, "reverse: axis 0 is given twice");
}

TEST(Movement, ReshapesNothingWhateverTheOrderOfItsSizes) {
  const std::int64_t m = std::int64_t{1} << 62;
  for (const Ints &shape : {Ints{0, m, m}, Ints{m, 0, m}, Ints{m, m, 0}})
    EXPECT_EQ(reshape(zeros({0}), shape).shape(), Shape(shape));
}

} // namespace
} // namespace weft
