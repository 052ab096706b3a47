// Tensors: factories, elements, views, devices, scalars as operands.
#include "../Testing.h"
#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"

#include <cmath>
#include <limits>
#include <utility>

#include <weft/tensor.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(Tensor, FromLists) {
  const Tensor scalar = tensor(2.5);
  EXPECT_EQ(scalar.dtype(), f64);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(scalar.item<double>(), 2.5);

  const Tensor matrix = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  EXPECT_EQ(matrix.type(), spec(f32, {2, 3}));
  EXPECT_EQ(matrix.size(0), 2);
  EXPECT_EQ(matrix.size(-1), 3);
  EXPECT_EQ(matrix.to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6}));

  EXPECT_EQ(tensor({{{1, 2}}, {{3, 4}}}).type(), spec(i32, {2, 1, 2}));
  EXPECT_EQ(tensor({true, false}).type(), spec(DType::boolean, {2}));
  EXPECT_EQ(tensor(std::vector<std::int64_t>{1, 2, 3, 4}, {2, 2}).type(), spec(i64, {2, 2}));
}

TEST(Tensor, FromVectors) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(tensor(values).shape(), (Shape{6}));
  EXPECT_EQ(tensor(values, {2, 3}).to_vector<double>(), values);
  EXPECT_EQ(tensor(std::vector<bool>{true, false}).dtype(), DType::boolean);
  EXPECT_EQ(tensor(std::vector<float>()).shape(), (Shape{0}));
}

TEST(Tensor, RaggedLists) {
  EXPECT_THROWS(
      tensor({{1, 2}, {3}}), ShapeError,
      "tensor: the nested list is ragged: at depth 1 one list has 2 entries and another 1");
  EXPECT_THROWS(tensor({{{1}, {2, 3}}}), ShapeError,
                "tensor: the nested list is ragged: at depth 2 one list has 1 entry and another 2");
  EXPECT_THROWS(tensor(std::vector<int>{1, 2, 3}, {2, 2}), ShapeError,
                "tensor: the shape (2, 2) has 4 elements, but 3 are given");
}

TEST(Tensor, Fills) {
  EXPECT_EQ(full({2}, 7).to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(zeros({1, 2}, i64).type(), spec(i64, {1, 2}));
  EXPECT_EQ(ones({}, f64).item<double>(), 1);
  EXPECT_EQ(full({1}, 3e9, i32).item<std::int32_t>(), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(arange(3).to_vector<int>(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(arange(-3).size(), 0);
  EXPECT_EQ(arange(1, 2, 0.25).to_vector<float>(), (Floats{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(arange(3., 0., -1.).to_vector<float>(), (Floats{3, 2, 1}));
  EXPECT_EQ(arange(3, 0, -1).to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 2, 1}));
  EXPECT_EQ(arange(2, std::size_t(4)).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 3}));
  EXPECT_THROWS(arange(0, ~std::uint64_t{0}), ValueError,
                "arange: start, stop and step must be below 2^63");
  EXPECT_EQ(eye(2).to_vector<float>(), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(eye(0).shape(), (Shape{0, 0}));
  EXPECT_THROWS(arange(0, 1, 0), ValueError, "arange: the step is 0");
  EXPECT_THROWS(arange(0, INFINITY, 1), ValueError, "arange: start, stop and step must be finite");
}

TEST(Tensor, RangesOfIntegersAreExact) {
  using Longs = std::vector<std::int64_t>;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max(), big = 1LL << 62;
  const auto range = [](std::int64_t start, std::int64_t stop, std::int64_t step) {
    return arange(start, stop, step, i64).to_vector<std::int64_t>();
  };
  EXPECT_EQ(range(most - 2, most, 1), (Longs{most - 2, most - 1}));
  EXPECT_EQ(range(most, 0, -big), (Longs{most, most - big}));
  EXPECT_EQ(range(least, most, big), (Longs{least, -big, 0, big}));
  EXPECT_EQ(range(most, least, least), (Longs{most, -1}));
  EXPECT_EQ(range(3, 3, -1), Longs());
  EXPECT_EQ(arange(0, 3, 2, f32).to_vector<float>(), (Floats{0, 2}));
  EXPECT_THROWS(range(0, 1, 0), ValueError, "arange: the step is 0");
  EXPECT_THROWS(range(least, most, 1), ShapeError,
                "arange: the range has more elements than 2^63 - 1");
  EXPECT_THROWS(arange(most - 1, most, 1, i32), ValueError,
                "arange: the range has the number 9223372036854775806, which does not fit the "
                "dtype i32");
}

TEST(Tensor, ImpossibleShapes) {
  EXPECT_THROWS(zeros({2, -3}), ShapeError, "zeros: a tensor cannot have the size -3 in axis 1");
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_THROWS(
      zeros({big, big}), ShapeError,
      "zeros: a tensor of shape (1099511627776, 1099511627776) has more bytes than 2^63 - 1");
  EXPECT_EQ(zeros({big, big, 0}).size(), 0);
  Shape deep;
  for (int i = 0; i < 300; ++i) deep.push_back(1);
  EXPECT_THROWS(zeros(deep), ShapeError,
                "zeros: a tensor has at most 64 dimensions, but here are 300");
  deep.resize(64);
  EXPECT_EQ(zeros(deep).size(), 1);
}

TEST(Tensor, Undefined) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  const std::string words = ": the tensor is undefined: it was never given a value";
  EXPECT_THROWS(static_cast<void>(nothing.shape()), StateError, "shape" + words);
  EXPECT_THROWS(static_cast<void>(nothing.dtype()), StateError, "dtype" + words);
  EXPECT_THROWS(static_cast<void>(nothing.size()), StateError, "size" + words);
  EXPECT_THROWS(static_cast<void>(nothing.type()), StateError, "type" + words);
  EXPECT_THROWS(static_cast<void>(nothing.item<float>()), StateError, "item" + words);
  EXPECT_THROWS(static_cast<void>(nothing.to_vector<float>()), StateError, "to_vector" + words);
  EXPECT_THROWS(static_cast<void>(nothing.contiguous()), StateError, "contiguous" + words);
  EXPECT_THROWS(static_cast<void>(Operand(nothing).materialize()), StateError,
                "an operand is undefined: it was never given a value");
}

TEST(Tensor, Elements) {
  const Tensor x = tensor({1.5f, -2.5f});
  EXPECT_EQ(x.span<float>()[1], -2.5f);
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, -2}));
  EXPECT_THROWS(static_cast<void>(x.item<float>()), ShapeError,
                "item: the tensor of shape (2,) has 2 elements, not one");
  EXPECT_THROWS(static_cast<void>(x.span<double>()), DTypeError,
                "span: the tensor's dtype is f32, but its elements are asked for as f64");
  EXPECT_THROWS(static_cast<void>(x.size(1)), IndexError,
                "size: axis 1 is out of range for a tensor of shape (2,) (rank 1)");
  EXPECT_THROWS(static_cast<void>(x.shape()[1]), IndexError,
                "shape: axis 1 is out of range for 1 axis: those of a shape count from 0");
  EXPECT_THROWS(static_cast<void>(zeros({2, 3}).shape()[-1]), IndexError,
                "shape: axis -1 is out of range for 2 axes: those of a shape count from 0");
  EXPECT_EQ(tensor(NAN).item<int>(), 0);
  EXPECT_EQ(tensor(1e30).item<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(tensor(-1e30).item<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
}

TEST(Tensor, HandlesShare) {
  Tensor a = tensor({1, 2, 3});
  const Tensor b = a; // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(a.span<int>().data(), b.span<int>().data());
  Tensor c = std::move(a);
  EXPECT_FALSE(a.defined()); // NOLINT(bugprone-use-after-move)
  const Tensor &itself = c;
  c = itself;
  EXPECT_EQ(c.to_vector<int>(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(c.impl(), b.impl());
}

TEST(Tensor, Views) {
  Tensor column;
  {
    const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
    column = detail::new_view(x, Ints{2}, Ints{3}, 1);
    EXPECT_FALSE(column.is_contiguous());
    EXPECT_TRUE(detail::new_view(x, Ints{1, 3}, Ints{99, 1}, 3).is_contiguous());
    EXPECT_TRUE(detail::new_view(x, Ints{0, 3}, Ints{-1, -7}, 0).is_contiguous());
    // A view of a view keeps the owner only.
    const Tensor again = detail::new_view(column, Ints{1}, Ints{1}, 1);
    EXPECT_EQ(again.impl()->base, x.impl());
    EXPECT_EQ(again.item<int>(), 3); // offsets count elements of memory
  }
  EXPECT_EQ(column.to_vector<int>(), (std::vector<int>{2, 5})); // outlives x
  EXPECT_EQ(column.contiguous().to_vector<int>(), (std::vector<int>{2, 5}));
  EXPECT_THROWS(static_cast<void>(column.span<int>()), StateError,
                "span: the tensor of shape (2,) is a view whose elements are not contiguous; take "
                "contiguous() first");
}

TEST(Tensor, ExternalMemory) {
  static int freed = 0;
  static float memory[] = {1, 2};
  const detail::ExternalOwner owner{[](void *context) { *static_cast<int *>(context) += 1; },
                                    &freed};
  {
    const Tensor x = detail::new_external(f32, Ints{2}, memory, owner);
    EXPECT_EQ(x.span<float>().data(), memory);
    const Tensor view = detail::new_view(x, Ints{1}, Ints{1}, 1);
    EXPECT_EQ(view.item<float>(), 2);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
  EXPECT_THROW(detail::new_external(f32, Ints{-2}, memory, owner), ShapeError);
  EXPECT_EQ(freed, 2);
}

TEST(Tensor, TracedHasNoElements) {
  static bool wanted = false;
  static detail::TraceRef trace{1, [](detail::TraceRef *) {}, "f",
                                [](detail::TraceRef *, const detail::TensorImpl &, int) {
                                  wanted = true;
                                  return unknown;
                                },
                                [](detail::TraceRef *) {}};
  const Tensor x = detail::new_traced(f32, Ints{2, unknown}, &trace, 3);
  EXPECT_TRUE(x.traced());
  EXPECT_FALSE(wanted);
  EXPECT_EQ(x.size(), unknown);
  EXPECT_TRUE(std::exchange(wanted, false));
  EXPECT_EQ(x.size(0), 2);
  EXPECT_FALSE(wanted);
  EXPECT_EQ(to_string(x), "tensor(traced, shape=(2, ?), dtype=f32)");
  EXPECT_THROWS(
      static_cast<void>(x.item<float>()), StateError,
      "item: the tensor of type f32(2, ?) stands for a value of a traced function and has "
      "no elements while it is traced: return it, print it with print(), decide by it with cond or "
      "while_loop, or take it to a host_call");
  EXPECT_EQ(trace.references, 2u);
}

TEST(Tensor, Devices) {
  EXPECT_EQ(tensor(1).device(), Device{});
  EXPECT_EQ(parse_device("cpu"), Device{});
  EXPECT_EQ(to_string(parse_device("gpu:1")), "gpu:1");
  EXPECT_EQ(to_string(parse_device("cuda:0")), "gpu:0");
  EXPECT_EQ(to_string(parse_device("/GPU:0")), "gpu:0");
  EXPECT_EQ(to_string(parse_device("/device:CPU:0")), "cpu:0");
  for (const char *bad : {"", "tpu", "cpu:", "cpu:x", "gpu:256", "cpu:0 ", "gpu:-1"})
    EXPECT_THROWS(parse_device(bad), ValueError,
                  "'" + std::string(bad) +
                      "' is not a device; devices are named like cpu, cpu:0 and gpu:1");
  EXPECT_EQ(tensor(1).to(parse_device("cpu")).item<int>(), 1);
  EXPECT_EQ(tensor(1).to("cpu").item<int>(), 1);
  EXPECT_THROWS(tensor(1).to("cpu:1"), DeviceError,
                "to: there is no device cpu:1; the only CPU is cpu:0");
}

TEST(Tensor, ScalarOperands) {
  EXPECT_TRUE(Operand(1).weak());
  EXPECT_EQ(Operand(true).dtype(), DType::boolean);
  EXPECT_EQ(Operand(1).dtype(), i32);
  EXPECT_EQ(Operand(std::size_t{7}).materialize(f64).item<double>(), 7);
  EXPECT_EQ(Operand(std::int64_t{1} << 40).dtype(), i64);
  EXPECT_EQ(Operand(1.5).dtype(), f32);
  EXPECT_THROWS(Operand(std::int64_t{1} << 40).materialize(i32), ValueError,
                "the scalar 1099511627776 does not fit the dtype i32");
}

TEST(StridedCopy, AllWaysThroughAnArray) {
  // Sizes around the tile of 16, all permutations of the axes, every item size.
  const auto check = [](auto zero, DType dtype) {
    using T = decltype(zero);
    const Ints dims{3, 17, 33};
    const Tensor x = arange(3 * 17 * 33, dtype);
    const Ints strides{17 * 33, 33, 1};
    Ints order{0, 1, 2};
    do {
      Ints sizes, moved;
      for (const std::int64_t axis : order) {
        sizes.push_back(dims[static_cast<std::size_t>(axis)]);
        moved.push_back(strides[static_cast<std::size_t>(axis)]);
      }
      moved[0] = -moved[0]; // and one of them backwards
      const std::int64_t offset = (sizes[0] - 1) * -moved[0];
      const std::vector<T> copied =
          detail::new_view(x, sizes, moved, offset).contiguous().template to_vector<T>();
      const auto source = x.span<T>();
      std::size_t at = 0;
      for (std::int64_t i = 0; i < sizes[0]; ++i)
        for (std::int64_t j = 0; j < sizes[1]; ++j)
          for (std::int64_t k = 0; k < sizes[2]; ++k)
            ASSERT_EQ(copied[at++], source[static_cast<std::size_t>(offset + i * moved[0] +
                                                                    j * moved[1] + k * moved[2])]);
    } while (std::next_permutation(order.begin(), order.end()));
  };
  check(0, i32);
  check(0., f64);
  check(false, DType::boolean);
}

TEST(StridedCopy, LargeArraysByThreads) {
  const std::int64_t n = 1500;
  const Tensor x = arange(n * n);
  const std::vector<int> turned =
      detail::new_view(x, Ints{n, n}, Ints{1, n}, 0).contiguous().to_vector<int>();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_EQ(turned[static_cast<std::size_t>(i * n + j)], j * n + i);
}

} // namespace
} // namespace weft
