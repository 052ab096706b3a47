// Checksums, records and messages, against the formats' own test vectors; damage of every kind.
#include "../Testing.h"

#include <filesystem>
#include <fstream>

#include "IO/Protobuf.h"
#include "IO/Records.h"
#include "Support/Digest.h"

namespace weft {
namespace {

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, TestVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(masked_crc32c("123456789"), 0xc78ab0e5U);
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising(32, 0);
  for (int i = 0; i < 32; ++i) rising[static_cast<std::size_t>(i)] = static_cast<char>(i);
  EXPECT_EQ(crc32c(rising), 0x46dd794eU);
}

std::string scratch(const std::string &name) { return ::testing::TempDir() + "weft-" + name; }
std::string written(const std::string &name, const std::string &bytes) {
  const std::string path = scratch(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(Records, GoThereAndBack) {
  const std::vector<std::string> all = {"", "one", std::string(100'000, 'x'), std::string(3, '\0')};
  std::string bytes;
  for (const std::string &one : all) bytes += framed_record(one);
  RecordReader reader(written("records", bytes));
  for (const std::string &one : all) EXPECT_EQ(reader.next(), one);
  EXPECT_EQ(reader.next(), std::nullopt);
}

// Cut anywhere: the whole records are read, and then it is the end.
TEST(Records, CutAnywhere) {
  const std::string first = framed_record("first"), both = first + framed_record("second");
  for (std::size_t size = 0; size < both.size(); ++size) {
    RecordReader reader(written("cut", both.substr(0, size)));
    if (size >= first.size()) EXPECT_EQ(reader.next(), "first");
    EXPECT_EQ(reader.next(), std::nullopt) << size;
  }
}

// Any bit that changes is seen.
TEST(Records, Damaged) {
  const std::string good = framed_record("some bytes");
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    RecordReader reader(written("damaged", bad));
    EXPECT_THROW(static_cast<void>(reader.next()), IOError) << bit;
  }
  EXPECT_THROW(RecordReader{scratch("nothing-here")}, IOError);
  EXPECT_THROW(RecordReader{::testing::TempDir()}, IOError);
}

// The format's documentation: 150 as field 1 is 08 96 01, "testing" as field 2 is 12 07 and it.
TEST(Protobuf, TheDocumentedBytes) {
  EXPECT_EQ(protobuf::Message().integer(1, 150).text(), "\x08\x96\x01");
  EXPECT_EQ(protobuf::Message().bytes(2, "testing").text(), "\x12\x07testing");
  EXPECT_EQ(protobuf::Message().integer(1, -1).text().size(), 11U);
}

TEST(Protobuf, GoesThereAndBack) {
  const std::string text = protobuf::Message()
                               .integer(1, -7)
                               .number(2, 0.5)
                               .number(3, -2.5F)
                               .message(400, protobuf::Message().integer(1, 3))
                               .text();
  protobuf::Fields fields(text);
  protobuf::Field field;
  ASSERT_TRUE(fields.next(field));
  EXPECT_TRUE(field.is_integer(1) && field.as_integer() == -7);
  ASSERT_TRUE(fields.next(field));
  EXPECT_TRUE(field.is_fixed64(2) && field.as_double() == 0.5);
  ASSERT_TRUE(fields.next(field));
  EXPECT_TRUE(field.number == 3 && field.as_float() == -2.5F);
  ASSERT_TRUE(fields.next(field));
  EXPECT_TRUE(field.is_bytes(400) && field.bytes == "\x08\x03");
  EXPECT_FALSE(fields.next(field));
  EXPECT_FALSE(fields.damaged());
  // Cut between two fields it is a message, anywhere else none.
  for (std::size_t size = 0; size < text.size(); ++size) {
    protobuf::Fields cut(std::string_view(text).substr(0, size));
    while (cut.next(field)) {
    }
    EXPECT_EQ(cut.damaged(), size != 0 && size != 11 && size != 20 && size != 25) << size;
  }
}

} // namespace
} // namespace weft
