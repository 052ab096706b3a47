// Rows of TensorFlow's guides on watching a run, by their numbers.
#include "../Testing.h"

#include <filesystem>
#include <regex>

#include <unistd.h>

#include <weft/events.h>
#include <weft/weft.h>

namespace weft {
namespace {

TEST(Rows, S002_28_MeanOverCalls) {
  const metrics::Mean mean;
  mean.update(0);
  mean.update(5);
  EXPECT_EQ(mean.result().item<float>(), 2.5F);
  mean.update({8, 9});
  EXPECT_EQ(mean.result().item<float>(), 5.5F);
}

// The loss of 1,000 steps, one in a hundred.
TEST(Rows, S002_29_ScalarsOfARun) {
  const std::string folder = ::testing::TempDir() + "weft-rows-tb/";
  std::filesystem::remove_all(folder);
  const Variable global_step(std::int64_t{0});
  {
    const events::Writer writer(folder);
    for (int attempt = 0; attempt < 1000; ++attempt) {
      global_step.assign_add(1);
      const std::int64_t step = global_step.value().item<std::int64_t>();
      const double loss = 1 - 0.001 * static_cast<double>(step);
      if (step % 100 == 0) writer.scalar("loss", loss, global_step);
    }
  }
  const auto series = events::read_scalars(folder).at("loss");
  ASSERT_EQ(series.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(series[i].first, static_cast<std::int64_t>(100 * (i + 1)));
    EXPECT_NEAR(series[i].second, 0.9 - 0.1 * static_cast<double>(i), 1e-6);
  }
}

TEST(Rows, S002_30_NameOfTheFile) {
  const std::string folder = ::testing::TempDir() + "weft-rows-name/";
  std::filesystem::remove_all(folder);
  const events::Writer writer(folder);
  const std::filesystem::path path = writer.path();
  EXPECT_EQ(path.parent_path(), std::filesystem::path(folder).parent_path());
  const std::regex name("events\\.out\\.tfevents\\.[0-9]{10}\\..+\\." + std::to_string(getpid()) +
                        "\\.[0-9]+\\.v2");
  EXPECT_TRUE(std::regex_match(path.filename().string(), name)) << path;
}

} // namespace
} // namespace weft
