// read_idx: dtypes, shapes and values of the tensors that come out of IDX files.
#include <weft/data.h>

#include <gtest/gtest.h>

#include <numeric>

namespace weft::data {
namespace {

const std::string kFolder = WEFT_SOURCE_DIR "/examples/digits/data/";

TEST(ReadIdx, GivesTheDigitsAsBytes) {
  const Tensor images = read_idx(kFolder + "digits-images.idx3-ubyte");
  EXPECT_EQ(images.dtype(), DType::u8);
  EXPECT_EQ(images.shape(), Shape({1797, 8, 8}));
  // The first image is a zero; its second row reads 0 0 13 15 10 15 5 0.
  const std::vector<std::uint8_t> pixels = images.to_vector<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(pixels.begin() + 8, pixels.begin() + 16),
            (std::vector<std::uint8_t>{0, 0, 13, 15, 10, 15, 5, 0}));
}

TEST(ReadIdx, ConvertsToTheDtypeAskedFor) {
  const Tensor labels = read_idx(kFolder + "digits-labels.idx1-ubyte", {.dtype = DType::f32});
  EXPECT_EQ(labels.dtype(), DType::f32);
  EXPECT_EQ(labels.shape(), Shape({1797}));
  const std::vector<float> values = labels.to_vector<float>();
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0f), 8070);
}

TEST(ReadIdx, ThrowsForAFileThatIsNotThere) {
  try {
    read_idx("digits.idx");
    FAIL() << "no error";
  } catch (const IOError &error) {
    EXPECT_EQ(error.message(), "read_idx: digits.idx: there is no such file");
  }
}

} // namespace
} // namespace weft::data
