// DLPack in C++: tensors for other libraries and tensors of their arrays, with a library of the
// test's own on the other side.
#include <weft/detail/dlpack.h>

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "../Testing.h"
#include <weft/foreign_memory.h>
#include <weft/ops.h>

namespace weft {
namespace {

using namespace detail::dlpack;
using Floats = std::vector<float>;

/// An array of another library, which counts how often it is given up.
template <class Kind>
struct Other {
  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  std::vector<std::int64_t> sizes = {2, 3}, strides;
  int given_up = 0;
  Kind array{};

  Other() {
    array.array = {.data = values.data(),
                   .device = {kCpu, 0},
                   .rank = 2,
                   .dtype = {.code = 2, .bits = 32, .lanes = 1},
                   .shape = sizes.data(),
                   .strides = nullptr,
                   .byte_offset = 0};
    array.context = this;
    array.deleter = [](Kind *self) { ++static_cast<Other *>(self->context)->given_up; };
    if constexpr (std::is_same_v<Kind, ManagedVersioned>) array.major = array.minor = 1;
  }
  Tensor take(std::optional<bool> copy = std::nullopt) {
    if constexpr (std::is_same_v<Kind, ManagedVersioned>)
      return from_dlpack(reinterpret_cast<DLManagedTensorVersioned *>(&array), copy);
    else return from_dlpack(reinterpret_cast<DLManagedTensor *>(&array), copy);
  }
};
using New = Other<ManagedVersioned>;
using Old = Other<Managed>;

template <class Kind>
void there_without_a_copy() {
  Other<Kind> other;
  {
    const Tensor x = other.take();
    EXPECT_EQ(x.type(), spec(f32, {2, 3}));
    EXPECT_EQ(x.span<float>().data(), other.values.data());
    const Tensor view = x[{1}];
    EXPECT_EQ(other.given_up, 0);
  }
  EXPECT_EQ(other.given_up, 1);
}

TEST(Dlpack, ArraysOfOthers) {
  there_without_a_copy<ManagedVersioned>();
  there_without_a_copy<Managed>();
}

TEST(Dlpack, StridesAndOffsets) {
  New other;
  other.sizes = {3, 2};
  other.strides = {-1, -3};
  other.array.array.strides = other.strides.data();
  other.array.array.byte_offset = 5 * sizeof(float);
  EXPECT_EQ(other.take().to_vector<float>(), (Floats{5, 2, 4, 1, 3, 0}));
  EXPECT_EQ(other.given_up, 1);

  Old scalar;
  scalar.array.array.rank = 0;
  scalar.array.array.shape = nullptr;
  scalar.array.array.byte_offset = 8;
  EXPECT_EQ(scalar.take().item<float>(), 2);

  New empty;
  empty.sizes = {0, 3};
  empty.array.array.data = nullptr;
  EXPECT_EQ(empty.take().shape(), (Shape{0, 3}));
  EXPECT_EQ(empty.given_up, 1);
}

TEST(Dlpack, Copies) {
  New other;
  const Tensor x = other.take(true);
  EXPECT_EQ(other.given_up, 1);
  other.values[0] = 9;
  EXPECT_EQ(x.to_vector<float>()[0], 0);

  New copied; // by its library, for us
  copied.array.flags = kCopied;
  {
    const Tensor y = copied.take(true);
    EXPECT_EQ(y.span<float>().data(), copied.values.data());
  }
  EXPECT_EQ(copied.given_up, 1);

  std::vector<std::byte> bytes(64);
  New unaligned;
  unaligned.array.array.data = bytes.data() + 1;
  EXPECT_EQ(unaligned.take().to_vector<float>(), Floats(6, 0));
  EXPECT_EQ(unaligned.given_up, 1);
  EXPECT_THROWS(unaligned.take(false), ValueError,
                "from_dlpack: the array has elements that are not aligned, and copy is false");
  EXPECT_EQ(unaligned.given_up, 2);
}

TEST(Dlpack, WhatIsRefusedIsGivenUp) {
  const auto refused = [](auto change, const std::string &words) {
    New other;
    change(other);
    try {
      static_cast<void>(other.take());
      ADD_FAILURE() << words;
    } catch (const Error &error) {
      EXPECT_EQ(words_of(error), "from_dlpack: the array " + words);
    }
    EXPECT_EQ(other.given_up, 1) << words;
  };
  refused([](New &o) { o.array.major = 2; }, "speaks version 2 of DLPack, and Weft version 1");
  refused([](New &o) { o.array.array.device.type = 10; },
          "is on a device of DLPack's kind 10: move it to the CPU first");
  refused([](New &o) { o.array.array.dtype = {.code = 4, .bits = 16, .lanes = 2}; },
          "has elements of DLPack's type 4 with 16 bits and 2 lanes, which no dtype holds");
  refused([](New &o) { o.array.array.rank = 65; }, "has 65 axes: a tensor has at most 64");
  refused([](New &o) { o.array.array.shape = nullptr; },
          "has 2 axes, but no sizes: its pointer to them is null");
  refused([](New &o) { o.array.array.data = nullptr; },
          "is of shape (2, 3), but has no elements: its pointer to them is null");
  EXPECT_THROWS(from_dlpack(static_cast<DLManagedTensorVersioned *>(nullptr)), ValueError,
                "from_dlpack: the pointer is null, where that to an array is wanted");
  EXPECT_THROWS(from_dlpack(static_cast<DLManagedTensor *>(nullptr)), ValueError,
                "from_dlpack: the pointer is null, where that to an array is wanted");
}

TEST(Dlpack, TensorsForOthers) {
  const Tensor x = reshape(arange(6, f32), {2, 3});
  ManagedVersioned *array = managed(to_dlpack(x));
  EXPECT_EQ(array->major, 1U);
  EXPECT_EQ(array->minor, 1U);
  EXPECT_EQ(array->flags, kReadOnly);
  EXPECT_EQ(array->array.data, x.span<float>().data());
  EXPECT_EQ(array->array.rank, 2);
  EXPECT_EQ(array->array.dtype.code, 2);
  EXPECT_EQ(array->array.dtype.bits, 32);
  EXPECT_EQ(array->array.shape[1], 3);
  EXPECT_EQ(array->array.strides[0], 3);
  array->deleter(array);

  const Tensor view = transpose(x, {1, 0})[{slice({}, {}, -1)}];
  const Tensor again = from_dlpack(to_dlpack(view));
  EXPECT_EQ(again.to_vector<float>(), view.to_vector<float>());
  EXPECT_EQ(from_dlpack(to_dlpack_unversioned(view)).to_vector<float>(), view.to_vector<float>());

  array = managed(to_dlpack(view, true));
  EXPECT_EQ(array->flags, kCopied);
  EXPECT_NE(array->array.data, view.impl()->data);
  EXPECT_EQ(array->array.strides[0], 2);
  array->deleter(array);
}

TEST(Dlpack, LibrariesOfBeforeGetNoMemoryThatMayBeReadOnly) {
  const std::array<float, 2> values = {1, 2};
  const Tensor foreign = Tensor::from_memory(std::span(values)), own = ones({2});
  Managed *array = managed(to_dlpack_unversioned(foreign[{slice(1, {})}]));
  EXPECT_NE(array->array.data, &values[1]);
  *static_cast<float *>(array->array.data) = 9;
  array->deleter(array);
  EXPECT_EQ(values[1], 2);
  array = managed(to_dlpack_unversioned(own));
  EXPECT_EQ(array->array.data, own.span<float>().data());
  array->deleter(array);
  ManagedVersioned *told = managed(to_dlpack(foreign));
  EXPECT_EQ(told->array.data, values.data());
  EXPECT_EQ(told->flags, kReadOnly);
  told->deleter(told);
}

} // namespace
} // namespace weft
