// PNG and JPEG: against what Pillow reads from the same files, and files that are damaged.
#include <weft/data.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/io.h>
#include <weft/ops.h>

#include "TestFiles.h"

#include <cmath>
#include <limits>

namespace weft::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Integers = std::vector<std::int32_t>;

TEST(Images, PngOfAllKindsAsPillowReadsThem) {
  for (const char *name :
       {"rgb.png", "rgba.png", "grey.png", "grey_alpha.png", "bits.png", "palette.png"}) {
    const Tensor wanted = load_npy(stored_file(std::string(name) + ".npy"));
    const Tensor image = read_png(stored_file(name), {.channels = 4, .dtype = i32});
    EXPECT_EQ(image.shape(), wanted.shape()) << name;
    EXPECT_EQ(image.to_vector<std::int32_t>(), wanted.to_vector<std::int32_t>()) << name;
    const Tensor scaled = read_image(stored_file(name), {.channels = 4});
    EXPECT_EQ(scaled.to_vector<float>(), (wanted.astype(f32) / 255.f).to_vector<float>()) << name;
  }
  const Tensor deep = read_png(stored_file("grey16.png"), {.dtype = i32});
  EXPECT_EQ(deep.to_vector<std::int32_t>(),
            load_npy(stored_file("grey16.png.npy")).to_vector<std::int32_t>());
}

TEST(Images, ChannelsAreThoseOfTheFileOrThoseAskedFor) {
  EXPECT_EQ(read_png(stored_file("rgb.png")).shape(), Shape({5, 7, 3}));
  EXPECT_EQ(read_png(stored_file("grey.png")).shape(), Shape({3, 5, 1}));
  EXPECT_EQ(read_png(stored_file("grey_alpha.png")).shape(), Shape({3, 5, 4}));
  EXPECT_EQ(read_png(stored_file("grey.png"), {.channels = 3}).shape(), Shape({3, 5, 3}));
  const Tensor colour = read_png(stored_file("rgb.png"), {.dtype = i32});
  const Tensor grey = read_png(stored_file("rgb.png"), {.channels = 1, .dtype = i32});
  const Integers from = colour.to_vector<std::int32_t>(), to = grey.to_vector<std::int32_t>();
  for (std::size_t i = 0; i < to.size(); ++i)
    EXPECT_NEAR(to[i], 0.299 * from[3 * i] + 0.587 * from[3 * i + 1] + 0.114 * from[3 * i + 2],
                0.51);
  EXPECT_THROW(read_png(stored_file("rgb.png"), {.channels = 2}), ValueError);
  EXPECT_THROW(read_png(stored_file("rgb.png"), {.dtype = DType::boolean}), DTypeError);
}

TEST(Images, JpegAsPillowReadsIt) {
  for (const char *name : {"baseline.jpg", "progressive.jpg", "grey.jpg"}) {
    const Integers wanted =
        load_npy(stored_file(std::string(name) + ".npy")).to_vector<std::int32_t>();
    const Integers read = read_jpeg(stored_file(name), {.dtype = i32}).to_vector<std::int32_t>();
    ASSERT_EQ(read.size(), wanted.size()) << name;
    // Versions of libjpeg-turbo may round the last bit of colours otherwise.
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_NEAR(read[i], wanted[i], 1) << name;
  }
  EXPECT_EQ(read_image(stored_file("grey.jpg")).shape(), Shape({24, 17, 1}));
  EXPECT_THAT(failure_of<IOError>([] { read_jpeg(stored_file("cmyk.jpg")); }), HasSubstr("CMYK"));
}

TEST(Images, DamagedFilesAreRefused) {
  for (const char *name : {"rgb.png", "palette.png", "grey16.png"}) {
    const auto read = [](const std::string &path) { read_png(path); };
    check_truncations(bytes_of(stored_file(name)), read);
    check_damages(bytes_of(stored_file(name)), read);
  }
  for (const char *name : {"baseline.jpg", "progressive.jpg"}) {
    const auto read = [](const std::string &path) { read_jpeg(path); };
    check_truncations(bytes_of(stored_file(name)), read);
    check_damages(bytes_of(stored_file(name)), read);
  }
}

TEST(Images, OtherFilesAreRefused) {
  const TemporaryFile file("GIF89a");
  EXPECT_THAT(failure_of<IOError>([&] { read_png(file.path()); }), HasSubstr("is not a PNG file"));
  EXPECT_THAT(failure_of<IOError>([&] { read_jpeg(file.path()); }),
              HasSubstr("is not a JPEG file"));
  EXPECT_THAT(failure_of<IOError>([&] { read_image(file.path()); }),
              HasSubstr("neither a PNG nor a JPEG"));
  EXPECT_THROW(read_png("/nowhere/a.png"), IOError);
  // 16 million x 16 million pixels.
  std::string bytes = bytes_of(stored_file("grey.png"));
  EXPECT_THROW(decode_image(bytes.replace(16, 8, std::string("\0\xff\xff\xff\0\xff\xff\xff", 8))),
               IOError);
}

TEST(Images, WrittenOnesAreReadAgain) {
  const TemporaryFile file("", ".png");
  for (const Shape &shape : {Shape{4, 5}, Shape{4, 5, 1}, Shape{4, 5, 3}, Shape{4, 5, 4}}) {
    const std::int64_t count = shape.rank() == 2 ? 20 : 20 * shape[2];
    const Tensor image = reshape(arange(count) * 3, shape);
    write_png(file.path(), image);
    const Tensor read = read_png(file.path(), {.dtype = i32});
    EXPECT_EQ(read.to_vector<std::int32_t>(), image.to_vector<std::int32_t>());
    EXPECT_EQ(read.size(2), shape.rank() == 2 ? 1 : shape[2]);
    write_png(file.path(), image.astype(f32) / 255.f);
    EXPECT_EQ(read_png(file.path(), {.dtype = i32}).to_vector<std::int32_t>(),
              image.to_vector<std::int32_t>());
  }
  const Tensor flipped = transpose(tensor({{0, 50}, {100, 150}, {200, 250}}), {1, 0});
  EXPECT_EQ(decode_image(encode_png(flipped), {.dtype = i32}).to_vector<std::int32_t>(),
            (Integers{0, 100, 200, 50, 150, 250}));
  EXPECT_EQ(
      decode_image(encode_png(tensor({{true, false}})), {.dtype = i32}).to_vector<std::int32_t>(),
      (Integers{255, 0}));
}

TEST(Images, WhatIsNoImageIsNotWritten) {
  EXPECT_THROW(encode_png(tensor({1, 2})), ShapeError);
  EXPECT_THROW(encode_png(zeros({2, 2, 2})), ShapeError);
  EXPECT_THROW(encode_png(zeros({0, 2})), ShapeError);
  EXPECT_THAT(failure_of<ValueError>([] { encode_png(tensor({{0, 256}})); }),
              HasSubstr("encode_png: element 1 is 256 but must be from 0 to 255"));
  EXPECT_THROW(encode_png(tensor({{0.5, 1.01}})), ValueError);
  EXPECT_THROW(encode_png(tensor({{std::numeric_limits<float>::quiet_NaN()}})), ValueError);
  EXPECT_THROW(encode_png(Tensor()), StateError);
}

TEST(Images, AFolderOfThemIsADataset) {
  const std::string folder = ::testing::TempDir() + "weft_classes_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder + "/dogs");
  std::filesystem::create_directories(folder + "/cats");
  std::filesystem::copy(stored_file("rgb.png"), folder + "/dogs/b.png");
  std::filesystem::copy(stored_file("grey.jpg"), folder + "/dogs/a.JPG");
  std::filesystem::copy(stored_file("grey.png"), folder + "/cats/c.png");
  std::ofstream(folder + "/cats/notes.txt") << "not an image";
  EXPECT_THAT(image_classes(folder), ElementsAre("cats", "dogs"));

  std::vector<int> labels;
  std::vector<std::int64_t> heights;
  const Dataset images = from_image_folder(folder);
  for (auto [image, label] : images) {
    EXPECT_EQ(image.size(2), 3);
    heights.push_back(image.size(0));
    labels.push_back(label.item<std::int32_t>());
  }
  EXPECT_THAT(labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(heights, ElementsAre(3, 24, 5));
  for (auto [image, label] : from_image_folder(folder, {.size = {{4, 6}}}).batch(3))
    EXPECT_EQ(image.shape(), Shape({3, 4, 6, 3}));

  std::ofstream(folder + "/cats/d.png") << "broken";
  for (const int workers : {0, 2}) {
    const auto read = from_image_folder(folder).map(
        [](const Tensor &image, const Tensor &) { return mean(image); }, {.workers = workers});
    int seen = 0;
    EXPECT_THAT(failure_of<IOError>([&] {
                  for (const Tensor &x : read) {
                    static_cast<void>(x);
                    ++seen;
                  }
                }),
                HasSubstr(folder + "/cats/d.png: is neither a PNG nor a JPEG file"));
    EXPECT_EQ(seen, 1);
  }
  std::filesystem::remove_all(folder);
  EXPECT_THROW(from_image_folder(folder), IOError);
}

} // namespace
} // namespace weft::data
