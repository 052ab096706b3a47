// Tests of the tree of replicas: the same bits however replicas are spread over ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "../Testing.h"
#include "Distributed/Tree.h"

namespace weft::distributed {
namespace {

std::vector<float> values_of(std::int64_t replica, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] =
        std::sin(static_cast<float>(replica * 131 + static_cast<std::int64_t>(i) * 7)) *
        std::pow(10.0F, static_cast<float>((replica + static_cast<std::int64_t>(i)) % 9) - 4);
  return values;
}

/// The sum over replicas as `ranks` ranks add it: each its own subtrees, then all of those.
std::vector<float> sum_over(int ranks, std::int64_t replicas, std::size_t count) {
  const Combiner add("test", Reduction::sum, DType::f32);
  std::vector<std::vector<float>> kept, parts;
  for (std::int64_t i = 0; i < replicas; ++i) kept.push_back(values_of(i, count));
  std::vector<std::byte> room;
  std::vector<NodeValues> given;
  parts.reserve(static_cast<std::size_t>(replicas));
  for (int r = 0; r < ranks; ++r) {
    const auto [begin, end] = share_of(replicas, r, ranks);
    for (const Node &node : nodes_of(begin, end, replicas)) {
      std::vector<NodeValues> leaves;
      for (std::int64_t i = node.index << node.level;
           i < std::min((node.index + 1) << node.level, replicas); ++i)
        leaves.push_back(
            {{0, i},
             reinterpret_cast<const std::byte *>(kept[static_cast<std::size_t>(i)].data())});
      parts.emplace_back(count);
      combine_tree(add, node, replicas, leaves, count, 4,
                   reinterpret_cast<std::byte *>(parts.back().data()), room);
      given.push_back({node, reinterpret_cast<const std::byte *>(parts.back().data())});
    }
  }
  std::vector<float> sum(count);
  combine_tree(add, root_of(replicas), replicas, given, count, 4,
               reinterpret_cast<std::byte *>(sum.data()), room);
  return sum;
}

TEST(Tree, EveryNumberOfRanksGivesTheSameBits) {
  for (std::int64_t replicas = 1; replicas <= 17; ++replicas) {
    const std::vector<float> one = sum_over(1, replicas, 37);
    for (int ranks = 2; ranks <= replicas; ++ranks) {
      const std::vector<float> several = sum_over(ranks, replicas, 37);
      EXPECT_EQ(std::memcmp(one.data(), several.data(), one.size() * 4), 0)
          << replicas << " replicas on " << ranks << " ranks";
    }
  }
}

TEST(Tree, AddsInPairsOfPairs) {
  const auto at = [](std::int64_t replica) { return values_of(replica, 1)[0]; };
  EXPECT_EQ(sum_over(1, 5, 1)[0], ((at(0) + at(1)) + (at(2) + at(3))) + at(4));
  EXPECT_EQ(sum_over(3, 7, 1)[0], ((at(0) + at(1)) + (at(2) + at(3))) + ((at(4) + at(5)) + at(6)));
}

TEST(Tree, ARunIsFewSubtrees) {
  for (std::int64_t count = 1; count <= 70; ++count)
    for (std::int64_t begin = 0; begin < count; ++begin)
      for (std::int64_t end = begin + 1; end <= count; ++end) {
        const std::vector<Node> nodes = nodes_of(begin, end, count);
        std::int64_t next = begin;
        for (const Node &node : nodes) {
          EXPECT_EQ(node.index << node.level, next);
          next = std::min((node.index + 1) << node.level, count);
        }
        EXPECT_EQ(next, end);
        EXPECT_LE(static_cast<double>(nodes.size()),
                  std::max(1.0, 2 * std::log2(static_cast<double>(count))));
      }
}

TEST(Tree, SharesAreEvenAndAll) {
  for (std::int64_t count :
       {std::int64_t{0}, std::int64_t{5}, std::int64_t{64}, std::int64_t{1} << 61}) {
    std::int64_t next = 0;
    for (int i = 0; i < 7; ++i) {
      const auto [begin, end] = share_of(count, i, 7);
      EXPECT_EQ(begin, next);
      EXPECT_LE(end - begin, count / 7 + 1);
      next = end;
    }
    EXPECT_EQ(next, count);
  }
}

TEST(Tree, CombinesEveryDTypeThatHasArithmetic) {
#define WEFT_DTYPE(enumerator, Type, name, ...)                                                    \
  if (!is_storage(DType::enumerator) && DType::enumerator != DType::boolean) {                     \
    const Combiner add("test", Reduction::sum, DType::enumerator);                                 \
    const Type a[3] = {Type(1), Type(2), Type(3)}, b[3] = {Type(4), Type(5), Type(6)};             \
    Type c[3] = {};                                                                                \
    add(a, b, c, 3);                                                                               \
    EXPECT_TRUE(c[0] == Type(5) && c[1] == Type(7) && c[2] == Type(9)) << name;                    \
    if (!is_complex(DType::enumerator)) {                                                          \
      const Combiner largest("test", Reduction::max, DType::enumerator);                           \
      largest(a, b, c, 3);                                                                         \
      EXPECT_TRUE(c[0] == b[0] && c[1] == b[1] && c[2] == b[2]) << name;                           \
    }                                                                                              \
  }
#include <weft/dtypes.def>
  const Combiner any("test", Reduction::max, DType::boolean);
  const bool a[3] = {false, true, false}, b[3] = {false, false, true};
  bool c[3] = {};
  any(a, b, c, 3);
  EXPECT_TRUE(!c[0] && c[1] && c[2]);
}

TEST(Tree, RefusesWhatHasNoArithmetic) {
  EXPECT_THROWS(Combiner("all_reduce", Reduction::sum, DType::boolean), DTypeError,
                "all_reduce: bools have no sum: cast them to integers, or ask for the maximum "
                "(any) or the minimum (all)");
  EXPECT_THROWS(Combiner("all_reduce", Reduction::mean, DType::i32), DTypeError,
                "all_reduce: a mean wants floating-point numbers, not i32: cast them first");
  EXPECT_THROWS(Combiner("all_reduce", Reduction::max, DType::c64), DTypeError,
                "all_reduce: complex numbers have no order");
  EXPECT_THROWS(Combiner("all_reduce", Reduction::sum, DType::f8e5m2), DTypeError,
                "all_reduce: f8e5m2 is a dtype for storage: cast it to one with arithmetic first");
}

} // namespace
} // namespace weft::distributed
