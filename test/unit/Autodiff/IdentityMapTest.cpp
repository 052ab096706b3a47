// The hash tables of identities: against those of the standard library.
#include "Autodiff/IdentityMap.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft::autodiff {
namespace {

/// Numbers as tensors get them: runs of neighbours, some far apart, some again.
std::vector<std::uint64_t> some_identities() {
  std::mt19937_64 random(1); // NOLINT(bugprone-random-generator-seed): the same numbers every time
  std::vector<std::uint64_t> keys;
  while (keys.size() < 20000) {
    const std::uint64_t far = random() % 4 == 0 && !keys.empty() ? keys[random() % keys.size()]
                                                                 : 1 + (random() >> random() % 60);
    for (std::uint64_t i = 0, length = 1 + random() % 100; i < length; ++i) keys.push_back(far + i);
  }
  return keys;
}

TEST(IdentityMap, HoldsWhatCameFirst) {
  IdentityMap<std::uint32_t> map;
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.find(1), nullptr);
    std::unordered_map<std::uint64_t, std::uint32_t> oracle;
    for (const std::uint64_t key : some_identities()) {
      const auto value = static_cast<std::uint32_t>(oracle.size());
      ASSERT_EQ(map.insert(key, value), oracle.try_emplace(key, value).first->second);
    }
    EXPECT_FALSE(map.empty());
    EXPECT_EQ(map.find(0), nullptr);
    for (const auto &[key, value] : oracle) {
      ASSERT_NE(map.find(key), nullptr) << key;
      EXPECT_EQ(*map.find(key), value);
      EXPECT_EQ(map.contains(key + 1), oracle.contains(key + 1));
    }
    map.clear();
  }
}

TEST(IdentitySet, HoldsWhatCame) {
  IdentitySet set;
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(set.empty());
    EXPECT_FALSE(set.contains(1));
    std::unordered_set<std::uint64_t> oracle;
    for (const std::uint64_t key : some_identities()) {
      ASSERT_EQ(set.contains(key), oracle.contains(key)) << key;
      set.insert(key);
      oracle.insert(key);
    }
    EXPECT_FALSE(set.empty());
    EXPECT_FALSE(set.contains(0));
    for (const std::uint64_t key : oracle)
      for (const std::uint64_t near : {key - 1, key, key + 1, key + 64})
        ASSERT_EQ(set.contains(near), oracle.contains(near)) << near;
    set.clear();
  }
}

} // namespace
} // namespace weft::autodiff
