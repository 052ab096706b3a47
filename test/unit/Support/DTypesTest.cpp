// The table of dtypes: every row by itself, and the common dtype of several, which follows from
// kinds and bits alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <weft/dtype.h>

using namespace weft;

namespace {

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i < kNumDTypes; ++i) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

/// Whether a dtype holds every number of another exactly.
bool holds(DType wide, DType narrow) {
  const DTypeInfo &a = dtype_info(wide), &b = dtype_info(narrow);
  if (is_storage(wide) || is_storage(narrow)) return wide == narrow; // nothing is done with both
  if (a.kind == b.kind) return a.bits > b.bits || wide == narrow;    // f16 and bf16 do not
  if (b.kind == DTypeKind::boolean) return true;
  if (a.kind == DTypeKind::integer && b.kind == DTypeKind::unsigned_integer) return a.bits > b.bits;
  return false;
}

TEST(DTypes, RowsAreToldApart) {
  for (const DType dtype : all_dtypes()) {
    const DTypeInfo &info = dtype_info(dtype);
    EXPECT_EQ(parse_dtype(info.name), dtype);
    EXPECT_EQ(item_size(dtype) * 8, static_cast<std::size_t>(info.bits));
    for (const DType other : all_dtypes()) {
      if (other == dtype) continue;
      const DTypeInfo &theirs = dtype_info(other);
      EXPECT_NE(info.name, theirs.name);
      EXPECT_NE(info.numpy, theirs.numpy);
      EXPECT_NE(info.mlir, theirs.mlir);
      EXPECT_NE(info.npy, theirs.npy);
      EXPECT_NE(info.safetensors, theirs.safetensors);
      EXPECT_FALSE(info.dlpack == theirs.dlpack && info.bits == theirs.bits);
    }
    EXPECT_TRUE(holds(info.compute, dtype) || item_size(info.compute) == 8 || is_storage(dtype));
    EXPECT_EQ(dtype_info(info.compute).compute, info.compute);
    EXPECT_EQ(dtype_info(info.sum).sum, info.sum);
  }
  EXPECT_EQ(name_of(static_cast<DType>(77)), "?");
  EXPECT_EQ(parse_dtype("?"), std::nullopt);
}

TEST(DTypes, TheCommonDtypeIsTheLeastOfItsKind) {
  for (const DType a : all_dtypes())
    for (const DType b : all_dtypes()) {
      const std::optional<DType> common = DTypeJoin{a, b}.common();
      EXPECT_EQ(common, (DTypeJoin{b, a}.common()));
      if (is_storage(a) || is_storage(b)) {
        EXPECT_EQ(common, a == b ? std::optional(a) : std::nullopt);
        continue;
      }
      if (is_complex(a) || is_complex(b)) { // of parts that hold those of both
        EXPECT_EQ(common, complex_of(a) == DType::c128 || complex_of(b) == DType::c128
                              ? DType::c128
                              : DType::c64);
        continue;
      }
      if (is_floating(a) != is_floating(b)) {
        EXPECT_EQ(common, is_floating(a) ? a : b);
        continue;
      }
      std::optional<DType> least; // of those that hold both, and are of no higher kind
      for (const DType dtype : all_dtypes()) {
        if (!holds(dtype, a) || !holds(dtype, b)) continue;
        const auto rank = [](DType of) {
          return std::tuple(is_floating(of), is_integer(of), item_size(of), !is_unsigned(of));
        };
        if (!least || rank(dtype) < rank(*least)) least = dtype;
      }
      EXPECT_EQ(common, least) << name_of(a) << " " << name_of(b);
    }
}

TEST(DTypes, TheJoinDoesNotDependOnTheOrder) {
  for (const DType a : all_dtypes())
    for (const DType b : all_dtypes())
      for (const DType c : all_dtypes()) {
        const std::optional<DType> all = DTypeJoin{a, b, c}.common();
        std::array<DType, 3> order = {a, b, c};
        std::sort(order.begin(), order.end());
        do {
          EXPECT_EQ((DTypeJoin{order[0], order[1], order[2]}.common()), all);
          // One after the other it is the same, unless two have nothing in common.
          const std::optional<DType> two = DTypeJoin{order[0], order[1]}.common();
          if (two) {
            EXPECT_EQ((DTypeJoin{*two, order[2]}.common()), all)
                << name_of(order[0]) << " " << name_of(order[1]) << " " << name_of(order[2]);
          }
        } while (std::next_permutation(order.begin(), order.end()));
      }
}

TEST(DTypes, ComplexOnesHaveParts) {
  EXPECT_EQ(component_of(DType::c64), DType::f32);
  EXPECT_EQ(component_of(DType::c128), DType::f64);
  EXPECT_EQ(component_of(DType::i32), DType::i32);
  EXPECT_EQ(complex_of(DType::u8), DType::c64);
  EXPECT_EQ(complex_of(DType::f64), DType::c128);
  EXPECT_TRUE(is_inexact(DType::c64));
  EXPECT_FALSE(is_floating(DType::c64));
}

TEST(DTypes, OfNoDtypesThereIsNone) { EXPECT_EQ(DTypeJoin().common(), std::nullopt); }

} // namespace
