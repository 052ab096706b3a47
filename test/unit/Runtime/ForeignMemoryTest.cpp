// Tensors on memory of somebody else: views of it, who is told when, what is refused, and that
// nobody writes to it.
#include <weft/foreign_memory.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

#include <sys/mman.h>

#include "../Testing.h"
#include <weft/detail/indexing.h>
#include <weft/function.h>
#include <weft/log.h>
#include <weft/ops.h>
#include <weft/optimizers.h>
#include <weft/variable.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

/// A page with floats from 0 on, which only reads reach.
class ReadOnlyPage {
public:
  static constexpr std::size_t kBytes = 4096;

  ReadOnlyPage() {
    void *memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = static_cast<float *>(memory);
    std::iota(data_, data_ + kBytes / sizeof(float), 0.F);
    mprotect(memory, kBytes, PROT_READ);
  }
  ~ReadOnlyPage() { munmap(data_, kBytes); }
  ReadOnlyPage(const ReadOnlyPage &) = delete;
  ReadOnlyPage &operator=(const ReadOnlyPage &) = delete;

  const float *data() const { return data_; }

private:
  float *data_;
};

/// Options with a deleter that counts.
struct Counted {
  int calls = 0;
  const void *last = nullptr;

  MemoryOptions options() {
    return {.deleter = [this](void *data) {
      ++calls;
      last = data;
    }};
  }
};

TEST(FromMemory, ReadsThereWithoutACopy) {
  std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const Tensor x = Tensor::from_memory(values.data(), {2, 3});
  EXPECT_EQ(x.type(), spec(f32, {2, 3}));
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(x.span<float>().data(), values.data());
  EXPECT_EQ((x * 2).to_vector<float>(), (Floats{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(matmul(x, transpose(x, {1, 0})).to_vector<float>(), (Floats{14, 32, 32, 77}));
  const std::int64_t scalar = 7;
  EXPECT_EQ(Tensor::from_memory(&scalar, {}).item<std::int64_t>(), 7);
  EXPECT_EQ(Tensor::from_memory(std::span(values)).shape(), (Shape{6}));
  EXPECT_EQ(Tensor::from_memory(std::span<const float, 6>(values), {3, 2}).shape(), (Shape{3, 2}));
  const void *raw = values.data();
  EXPECT_EQ(Tensor::from_memory(raw, {6}, {.dtype = f32}).to_vector<float>()[5], 6);
  const auto bytes = std::as_bytes(std::span(values));
  EXPECT_EQ(Tensor::from_memory(bytes, {2}, {.dtype = f64}).dtype(), f64);
}

TEST(FromMemory, Strides) {
  std::array<std::int32_t, 6> values = {0, 1, 2, 3, 4, 5};
  const std::span all(values);
  const auto list = [](const Tensor &x) { return x.to_vector<std::int32_t>(); };
  using List = std::vector<std::int32_t>;
  EXPECT_EQ(list(Tensor::from_memory(all, {3, 2}, {.strides = {1, 3}})), (List{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(list(Tensor::from_memory(all, {3}, {.strides = {2}})), (List{0, 2, 4}));
  EXPECT_EQ(list(Tensor::from_memory(all, {6}, {.strides = {-1}, .offset = 5})),
            (List{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(list(Tensor::from_memory(values.data() + 5, {3}, {.strides = {-2}})), (List{5, 3, 1}));
  EXPECT_EQ(list(Tensor::from_memory(all, {2, 3}, {.strides = {0, 1}})), (List{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(list(Tensor::from_memory(all, {}, {.offset = 4})), (List{4}));
  const Tensor row_major = Tensor::from_memory(all, {2, 3}, {.strides = {3, 1}});
  EXPECT_TRUE(row_major.is_contiguous());
  const Tensor flipped = Tensor::from_memory(all, {2, 3}, {.strides = {-3, -1}, .offset = 5});
  EXPECT_EQ(list(flipped + 1), (List{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(list(flipped[{1, slice(0, 2)}]), (List{2, 1}));
  EXPECT_EQ(sum(flipped).item<std::int32_t>(), 15);
}

TEST(FromMemory, EmptyOnesAreOnNothing) {
  Counted counted;
  EXPECT_EQ(Tensor::from_memory(static_cast<float *>(nullptr), {0, 3}, counted.options()).shape(),
            (Shape{0, 3}));
  EXPECT_EQ(counted.calls, 1);
  EXPECT_EQ(Tensor::from_memory(std::span<double>()).type(), spec(f64, {0}));
  EXPECT_EQ(Tensor::from_memory(std::span<double>(), {2, 0}, {.strides = {7, -7}}).size(), 0);
  EXPECT_EQ(sum(Tensor::from_memory(std::span<double>())).item<double>(), 0);
}

TEST(FromMemory, TheDeleterIsCalledOnce) {
  std::array<float, 4> values = {1, 2, 3, 4};
  Counted counted;
  {
    Tensor x = Tensor::from_memory(values.data(), {2, 2}, counted.options());
    const Tensor view = x[{0}], copy = x;
    x = Tensor();
    EXPECT_EQ(counted.calls, 0);
    EXPECT_EQ(view.to_vector<float>(), (Floats{1, 2}));
  }
  EXPECT_EQ(counted.calls, 1);
  EXPECT_EQ(counted.last, values.data());
  {
    const Tensor strided = Tensor::from_memory(
        values.data(), {2}, {.strides = {2}, .deleter = counted.options().deleter});
    EXPECT_EQ(counted.calls, 1);
  }
  EXPECT_EQ(counted.calls, 2);
  static_cast<void>(Tensor::from_memory(values.data(), {4},
                                        {.deleter = counted.options().deleter, .copy = true}));
  EXPECT_EQ(counted.calls, 3);
}

TEST(FromMemory, TheOwnerLivesAsLongAsATensor) {
  auto owner = std::make_shared<Floats>(Floats{1, 2, 3});
  const std::weak_ptr<Floats> watch = owner;
  Tensor x = Tensor::from_memory(owner->data(), {3}, {.owner = owner});
  owner.reset();
  ASSERT_FALSE(watch.expired());
  Tensor view = x[{slice(1, {})}];
  x = Tensor();
  EXPECT_EQ(view.to_vector<float>(), (Floats{2, 3}));
  // The last one may go on another thread.
  std::thread([gone = std::move(view)] {}).join();
  EXPECT_TRUE(watch.expired());
}

TEST(FromMemory, AFailureTellsTheOwnerToo) {
  alignas(8) std::array<std::byte, 64> bytes = {};
  auto *floats = reinterpret_cast<float *>(bytes.data());
  Counted counted;
  int expected = 0;
  const auto fails = [&](const auto &make) {
    EXPECT_THROW(make(), Error);
    EXPECT_EQ(counted.calls, ++expected);
  };
  const MemoryOptions plain = counted.options();
  const auto with = [&](auto change) {
    MemoryOptions options = plain;
    change(options);
    return options;
  };
  fails([&] { Tensor::from_memory(floats, {-1}, plain); });
  fails([&] { Tensor::from_memory(floats, {std::int64_t{1} << 62, 8}, plain); });
  fails([&] { Tensor::from_memory(static_cast<float *>(nullptr), {1}, plain); });
  fails([&] { Tensor::from_memory(bytes.data(), {1}, plain); });
  fails([&] { Tensor::from_memory(floats, {1}, with([](auto &o) { o.dtype = f64; })); });
  fails([&] { Tensor::from_memory(floats, {1}, with([](auto &o) { o.strides = {1, 2}; })); });
  fails([&] { Tensor::from_memory(bytes.data() + 1, {1}, with([](auto &o) { o.dtype = f32; })); });
  fails([&] { Tensor::from_memory(std::span(floats, 4), {5}, plain); });
  bytes[0] = std::byte{2};
  fails([&] {
    Tensor::from_memory(bytes.data(), {1}, with([](auto &o) { o.dtype = DType::boolean; }));
  });
}

TEST(FromMemory, WhatIsWrongIsNamed) {
  alignas(8) std::array<float, 4> values = {1, 2, 3, 4};
  const std::span all(values);
  const auto bytes = std::as_bytes(all);
  EXPECT_THROWS(Tensor::from_memory(all, {5}), ShapeError,
                "from_memory: the memory has 4 elements, but a tensor of shape (5,) reaches 5");
  EXPECT_THROWS(Tensor::from_memory(all, {2, 2}, {.strides = {3, 1}}), ShapeError,
                "from_memory: the memory has 4 elements, but a tensor of shape (2, 2) reaches 5");
  EXPECT_THROWS(Tensor::from_memory(all, {2}, {.strides = {-1}}), ShapeError,
                "from_memory: a tensor of shape (2,) with these strides begins 1 elements before "
                "the memory: the option offset says where index 0 is");
  EXPECT_THROWS(Tensor::from_memory(values.data(), {2}, {.strides = {std::int64_t{1} << 62}}),
                ShapeError,
                "from_memory: a tensor of shape (2,) with these strides reaches further than 2^63 "
                "- 1 bytes");
  EXPECT_THROWS(Tensor::from_memory(all, {2, 2}, {.strides = {1}}), ShapeError,
                "from_memory: there are 1 strides for the 2 axes of the shape (2, 2)");
  EXPECT_THROWS(Tensor::from_memory(bytes.subspan(1), {2}, {.dtype = f32}), ValueError,
                "from_memory: the elements are not aligned: those of f32 are at multiples of 4 "
                "bytes; the option copy takes them from anywhere");
  EXPECT_THROWS(Tensor::from_memory(bytes, {2}), DTypeError,
                "from_memory: the pointer is to bytes: say what they are by the option dtype");
  EXPECT_THROWS(Tensor::from_memory(all, {2}, {.dtype = i32}), DTypeError,
                "from_memory: the pointer is to elements of f32, but the option dtype is i32");
  EXPECT_THROWS(Tensor::from_memory(static_cast<double *>(nullptr), {2}), ValueError,
                "from_memory: the pointer is null, but a tensor of shape (2,) has elements");
  const std::array<unsigned char, 3> bools = {0, 1, 7};
  EXPECT_THROWS(
      Tensor::from_memory(std::as_bytes(std::span(bools)), {3}, {.dtype = DType::boolean}),
      ValueError, "from_memory: element 2 is the byte 7, but a bool is 0 or 1");
}

TEST(FromMemory, CopiesTakeElementsFromAnywhere) {
  alignas(8) std::array<std::byte, 64> bytes = {};
  const std::array<double, 6> values = {1, 2, 3, 4, 5, 6};
  std::memcpy(bytes.data() + 3, values.data(), sizeof values);
  const auto from = std::span<const std::byte>(bytes).subspan(3);
  const Tensor x = Tensor::from_memory(from, {2, 3}, {.dtype = f64, .copy = true});
  const Tensor flipped = Tensor::from_memory(
      from, {3, 2}, {.dtype = f64, .strides = {-1, -3}, .offset = 5, .copy = true});
  bytes.fill(std::byte{0});
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(flipped.to_vector<double>(), (std::vector<double>{6, 3, 5, 2, 4, 1}));
}

/// What has the members of std::mdspan that from_memory reads, and those alone.
struct View {
  float *data_handle() const { return data; }
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t i) const { return sizes[i]; }
  std::size_t stride(std::size_t i) const { return strides[i]; }

  float *data;
  std::array<std::size_t, 2> sizes, strides;
};
struct UnstridedView : View {
  static constexpr bool is_strided() { return false; }
};
struct ScalarView {
  const double *data_handle() const { return data; }
  static constexpr std::size_t rank() { return 0; }
  std::size_t extent(std::size_t) const { return 0; }
  std::size_t stride(std::size_t) const { return 0; }

  const double *data;
};

TEST(FromMemory, ViewsWithTheMembersOfMdspan) {
  Floats values = {1, 2, 3, 4, 5, 6, 7, 8};
  Counted counted;
  {
    const Tensor x = Tensor::from_memory(View{values.data(), {2, 3}, {4, 1}}, counted.options());
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2, 3, 5, 6, 7}));
    EXPECT_EQ(x[{0}].span<float>().data(), values.data());
  }
  EXPECT_EQ(counted.calls, 1);
  EXPECT_EQ(Tensor::from_memory(View{values.data(), {4, 2}, {1, 4}}).to_vector<float>(),
            (Floats{1, 5, 2, 6, 3, 7, 4, 8}));
  const double one = 1;
  EXPECT_EQ(Tensor::from_memory(ScalarView{&one}).type(), spec(f64, {}));
  EXPECT_THROWS(Tensor::from_memory(UnstridedView{{values.data(), {2, 2}, {2, 1}}}), ValueError,
                "from_memory: the view's elements have no strides: copy them first");
  EXPECT_THROWS(Tensor::from_memory(View{values.data(), {2, 2}, {2, 1}}, {.strides = {2, 1}}),
                ValueError, "from_memory: the view says its strides itself, and the options too");
  EXPECT_THROWS(Tensor::from_memory(View{values.data(), {2, 2}, {2, 1}}, {.offset = 1}), ValueError,
                "from_memory: the view says itself where its elements are, so the option offset is "
                "0: take a view of fewer, or the pointer and its shape");
}

#if defined(__cpp_lib_mdspan)
TEST(FromMemory, Mdspan) {
  Floats values = {1, 2, 3, 4, 5, 6};
  const std::mdspan rows(values.data(), 2, 3);
  EXPECT_EQ(Tensor::from_memory(rows).to_vector<float>(), values);
  const std::mdspan<const float, std::extents<int, 3, 2>, std::layout_left> columns(values.data());
  EXPECT_EQ(Tensor::from_memory(columns).to_vector<float>(), (Floats{1, 4, 2, 5, 3, 6}));
}
#endif

TEST(FromMemory, ReadOnlyMemoryIsNeverWritten) {
  const ReadOnlyPage page;
  const std::span memory(page.data(), 8);
  Tensor x = Tensor::from_memory(memory);
  // What an update in place would write to is copied.
  const std::vector<Index> first = {Index(0)};
  EXPECT_FALSE(detail::assign_in_place(x, first, tensor(9.F)));
  EXPECT_EQ(x.at(0).set(9).to_vector<float>()[0], 9);
  x += 1;
  EXPECT_EQ(x.to_vector<float>()[0], 1);

  Variable v(Tensor::from_memory(memory), "v");
  v.assign_add(1);
  v[0].assign(7);
  EXPECT_EQ(v.value().to_vector<float>()[0], 7);
  Variable compiled(Tensor::from_memory(memory));
  auto step = function([&](Tensor y) {
    compiled.assign_add(y);
    return sum(compiled);
  });
  EXPECT_EQ(step(Tensor::from_memory(memory)).item<float>(), 56);
  EXPECT_EQ(step(Tensor::from_memory(memory)).item<float>(), 84);
  Variable weights(Tensor::from_memory(memory), "weights");
  optimizers::SGD(std::vector{weights}, {.learning_rate = 1})
      .apply_gradients(std::vector{ones({8})});
  EXPECT_EQ(weights.value().to_vector<float>()[1], 0);
  EXPECT_EQ(page.data()[0], 0);
  EXPECT_EQ(page.data()[7], 7);
}

TEST(FromMemory, ADeleterThatThrowsIsWarnedOf) {
  static std::vector<std::string> lines;
  lines.clear();
  const LogSink before = set_log_sink([](std::string_view line) { lines.emplace_back(line); });
  const float value = 1;
  static_cast<void>(Tensor::from_memory(
      &value, {}, {.deleter = [](void *) { throw std::runtime_error("no way"); }}));
  set_log_sink(before);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "the deleter of a tensor's memory threw: no way");
}

TEST(Filled, WritesWhereTheElementsStay) {
  float *written = nullptr;
  const Tensor x = Tensor::filled<float>({2, 3}, [&](std::span<float> to) {
    written = to.data();
    std::iota(to.begin(), to.end(), 0.F);
  });
  EXPECT_EQ(x.span<float>().data(), written);
  EXPECT_EQ(x.type(), spec(f32, {2, 3}));
  EXPECT_EQ(x.to_vector<float>(), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Tensor::filled<bool>({}, [](std::span<bool> to) { to[0] = true; }).item<bool>(), true);
  EXPECT_EQ(Tensor::filled<int>({0, 2}, [](std::span<int> to) { EXPECT_TRUE(to.empty()); }).size(),
            0);
  EXPECT_THROW(Tensor::filled<int>({2}, [](std::span<int>) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_THROW(Tensor::filled<int>({-2}, [](std::span<int>) { ADD_FAILURE(); }), ShapeError);
}

} // namespace
} // namespace weft
