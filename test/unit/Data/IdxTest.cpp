// The IDX reader: what it reads, and the exact words for every kind of broken file.
#include "Data/Idx.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>

namespace weft::data {
namespace {

// A file that lives as long as the test, with the bytes given.
class TemporaryFile {
public:
  TemporaryFile(std::initializer_list<int> bytes)
      : path_(::testing::TempDir() + "idx_" + std::to_string(::getpid()) + ".idx") {
    std::ofstream stream(path_, std::ios::binary);
    for (const int byte : bytes) stream.put(static_cast<char>(byte));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

// The message of the IOError that reading `path` throws, without the path.
std::string failure(const std::string &path) {
  try {
    read_idx_file(path);
  } catch (const IOError &error) {
    const std::string message = error.what(), start = "read_idx: " + path + ": ";
    EXPECT_TRUE(message.starts_with(start)) << message;
    return message.substr(std::min(start.size(), message.size()));
  }
  return "no error";
}

std::string failure(std::initializer_list<int> bytes) {
  return failure(TemporaryFile(bytes).path());
}

template <class T>
std::vector<T> elements(const IdxArray &array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

TEST(Idx, ReadsBytesInRowMajorOrder) {
  const TemporaryFile file{0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};
  const IdxArray array = read_idx_file(file.path());
  EXPECT_EQ(array.header.type, IdxType::u8);
  EXPECT_EQ(array.header.dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(elements<std::uint8_t>(array), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255}));
}

TEST(Idx, ReadsEveryTypeFromBigEndian) {
  EXPECT_EQ(
      elements<std::int8_t>(read_idx_file(TemporaryFile{0, 0, 9, 1, 0, 0, 0, 1, 0xfe}.path())),
      std::vector<std::int8_t>{-2});
  EXPECT_EQ(
      elements<std::int16_t>(read_idx_file(TemporaryFile{0, 0, 0xb, 1, 0, 0, 0, 1, 1, 2}.path())),
      std::vector<std::int16_t>{0x0102});
  EXPECT_EQ(elements<std::int32_t>(
                read_idx_file(TemporaryFile{0, 0, 0xc, 1, 0, 0, 0, 1, 1, 2, 3, 4}.path())),
            std::vector<std::int32_t>{0x01020304});
  EXPECT_EQ(elements<float>(
                read_idx_file(TemporaryFile{0, 0, 0xd, 1, 0, 0, 0, 1, 0xbf, 0x80, 0, 0}.path())),
            std::vector<float>{-1});
  EXPECT_EQ(elements<double>(read_idx_file(
                TemporaryFile{0, 0, 0xe, 1, 0, 0, 0, 1, 0x40, 0, 0, 0, 0, 0, 0, 0}.path())),
            std::vector<double>{2});
}

TEST(Idx, ReadsRankZeroAndZeroSize) {
  const IdxArray one = read_idx_file(TemporaryFile{0, 0, 8, 0, 7}.path());
  EXPECT_TRUE(one.header.dims.empty());
  EXPECT_EQ(elements<std::uint8_t>(one), std::vector<std::uint8_t>{7});

  const IdxArray none =
      read_idx_file(TemporaryFile{0,    0,    8,    4,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0}
                        .path());
  EXPECT_EQ(none.header.dims.size(), 4u);
  EXPECT_TRUE(none.bytes.empty());
}

TEST(Idx, NamesAFileThatIsNotThere) {
  EXPECT_EQ(failure("/nowhere/digits.idx"), "there is no such file");
  EXPECT_EQ(failure(::testing::TempDir()), "this is not a regular file");
  EXPECT_EQ(failure("/dev/zero"), "this is not a regular file");
}

TEST(Idx, NamesWhatIsWrongWithTheHeader) {
  EXPECT_EQ(failure({}), "the file is truncated: it has 0 bytes and the smallest IDX header has 4");
  EXPECT_EQ(
      failure({'P', 'K', 3, 4}),
      "this is not an IDX file: it starts with 50 4b 03 04 and an IDX file starts with 00 00");
  EXPECT_EQ(failure({0x1f, 0x8b, 8, 0}),
            "the file is compressed with gzip: unpack it with gunzip first");
  EXPECT_EQ(failure({0, 0, 10, 1, 0, 0, 0, 0}),
            "the type code is 0x0a; IDX has 0x08 (u8), 0x09 (i8), 0x0b (i16), 0x0c (i32), 0x0d "
            "(f32) and 0x0e (f64)");
  EXPECT_EQ(failure({0, 0, 8, 3, 0, 0, 0, 1}),
            "the file is truncated: a header of 3 dimensions has 16 bytes and the file has 8");
}

TEST(Idx, NamesALengthThatDoesNotFit) {
  EXPECT_EQ(failure({0, 0, 0xd, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0}),
            "the file is truncated: its header announces 2 x 3 elements of 4 bytes, 36 bytes with "
            "the header, and the "
            "file has 16");
  EXPECT_EQ(failure({0, 0, 8, 1, 0, 0, 0, 1, 5, 6}),
            "bytes follow the last element: its header announces 1 element of 1 byte, 9 bytes "
            "with the header, and "
            "the file has 10");
  EXPECT_EQ(failure({0, 0, 0xe, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
            "its header announces 4294967295 x 4294967295 elements of 8 bytes, more than 64 bits "
            "can address");
}

TEST(Idx, NamesAFileThatMayNotBeOpened) {
  const TemporaryFile file{0, 0, 8, 0, 7};
  ASSERT_EQ(::chmod(file.path().c_str(), 0), 0);
  // Root may open every file, so root becomes nobody for a moment.
  const uid_t me = ::geteuid();
  if (me == 0) ASSERT_EQ(::seteuid(65534), 0);
  const std::string message = failure(file.path());
  if (me == 0) ASSERT_EQ(::seteuid(me), 0);
  EXPECT_EQ(message, "it cannot be opened: Permission denied");
}

// Whatever the bytes are, the answer is a header that fits the file's length or a fault, never
// more.
TEST(Idx, AnswersAnyBytesWithAHeaderOrAFault) {
  std::mt19937 random(1);
  int headers = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> start(random() % 40);
    for (std::byte &byte : start) byte = std::byte(random() % 3);
    if (start.size() >= 4 && random() % 4 != 0) {
      start[0] = start[1] = std::byte{0};
      start[2] = std::byte(8 + random() % 7);
    }
    const std::uint64_t file_bytes = start.size() + random() % 2;
    const Result<IdxHeader> header = parse_idx_header(start, file_bytes, "x");
    if (header.ok()) {
      EXPECT_EQ(header->header_bytes + header->element_bytes, file_bytes);
      ++headers;
    } else {
      EXPECT_EQ(header.fault().kind, ErrorKind::io);
      EXPECT_TRUE(header.fault().message.starts_with("read_idx: x: "));
    }
  }
  EXPECT_GT(headers, 0);
}

TEST(Idx, ReadsTheDigitsThatWeftShips) {
  const std::string folder = WEFT_SOURCE_DIR "/examples/digits/data/";
  const IdxArray images = read_idx_file(folder + "digits-images.idx3-ubyte");
  EXPECT_EQ(images.header.dims, (std::vector<std::int64_t>{1797, 8, 8}));
  for (const std::uint8_t pixel : elements<std::uint8_t>(images)) ASSERT_LE(pixel, 16);

  const IdxArray labels = read_idx_file(folder + "digits-labels.idx1-ubyte");
  EXPECT_EQ(labels.header.dims, std::vector<std::int64_t>{1797});
  std::vector<int> count(10);
  for (const std::uint8_t label : elements<std::uint8_t>(labels)) {
    ASSERT_LT(label, 10);
    ++count[label];
  }
  EXPECT_EQ(count, (std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
}

} // namespace
} // namespace weft::data
