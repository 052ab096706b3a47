// Every reader of files against what is no file, names that are odd, and sizes that nothing stands
// behind.
#include <weft/checkpoint.h>
#include <weft/data.h>
#include <weft/events.h>
#include <weft/io.h>
#include <weft/safetensors.h>
#include <weft/train/history.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include <sys/stat.h>

#include "TestFiles.h"

namespace weft::data {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Way {
  const char *name;
  std::function<void(const std::string &path)> read;
};

/// All functions that read a file.
const std::vector<Way> &ways() {
  static const std::vector<Way> &all = *new std::vector<Way>{
      {"load_npy", [](const std::string &path) { load_npy(path); }},
      {"from_npy", [](const std::string &path) { from_npy(path); }},
      {"read_idx", [](const std::string &path) { read_idx(path); }},
      {"from_idx", [](const std::string &path) { from_idx(path); }},
      {"read_npz", [](const std::string &path) { read_npz(path); }},
      {"read_csv", [](const std::string &path) { read_csv(path); }},
      {"from_lines", [](const std::string &path) { from_lines(path); }},
      {"from_tfrecord", [](const std::string &path) { from_tfrecord(path); }},
      {"read_png", [](const std::string &path) { read_png(path); }},
      {"read_jpeg", [](const std::string &path) { read_jpeg(path); }},
      {"read_image", [](const std::string &path) { read_image(path); }},
      {"load_safetensors", [](const std::string &path) { load_safetensors(path); }},
      {"Checkpoint::restore",
       [](const std::string &path) {
         std::int64_t epoch = 0;
         Checkpoint({{"epoch", epoch}}).restore(path);
       }},
      {"events::read", [](const std::string &path) { events::read(path); }},
      {"History::load_csv", [](const std::string &path) { train::History::load_csv(path); }},
  };
  return all;
}

/// What each way says of a path; that must be an IOError which names it.
void expect_refused(const std::string &path) {
  for (const Way &way : ways())
    EXPECT_THAT(failure_of<IOError>([&] { way.read(path); }), HasSubstr(path)) << way.name;
}

/// A folder of this process's own, which goes with all that is in it.
class Folder {
public:
  Folder() : path_(testing::TempDir() + "weft_hostile_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }
  std::string file(const std::string &name, const std::string &bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }

private:
  std::string path_;
};

TEST(Hostile, WhatIsNoRegularFile) {
  const Folder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_refused(folder / "pipe"); // that nobody writes
  std::filesystem::create_directory(folder / "folder");
  expect_refused(folder / "folder");
  std::filesystem::create_symlink("/dev/zero", folder / "endless");
  expect_refused(folder / "endless");
  std::filesystem::create_symlink("circle", folder / "circle");
  expect_refused(folder / "circle");
  expect_refused("/dev/zero");
  expect_refused("/dev/null");
  expect_refused(folder / "nothing");
  expect_refused(folder / std::string(300, 'x')); // longer than a name may be
}

TEST(Hostile, EmptyFilesAreRefusedByAllThatHaveAHeader) {
  const Folder folder;
  const std::string path = folder.file("empty", "");
  for (const Way &way : ways()) {
    const std::string_view name = way.name;
    if (name == "from_lines" || name == "from_tfrecord" || name == "events::read") {
      EXPECT_NO_THROW(way.read(path)) << name;
      continue;
    }
    EXPECT_THAT(failure_of<IOError>([&] { way.read(path); }), HasSubstr(path)) << name;
  }
}

TEST(Hostile, NamesMayBeAnyBytes) {
  const Folder folder;
  for (const char *name : {"a\nb", "\xff\xfe", " ", "-", "%s%n", "\"'"}) {
    const std::string path = folder.file(name, "\x01\x02\nno,format,has,this\n");
    for (const Way &way : ways()) {
      if (std::string_view(way.name) == "from_lines") continue; // which takes any bytes
      EXPECT_THAT(failure_of<IOError>([&] { way.read(path); }), HasSubstr(path)) << way.name;
    }
    save_npy(path, tensor({1.F}));
    EXPECT_EQ(load_npy(path).item<float>(), 1);
  }
}

TEST(Hostile, FilesThatMayNotBeReadSaySo) {
  const Folder folder;
  const std::string path = folder.file("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const uid_t me = geteuid();
  if (me == 0) ASSERT_EQ(seteuid(65534), 0); // root may read all
  for (const Way &way : ways())
    EXPECT_THAT(failure_of<IOError>([&] { way.read(path); }),
                testing::AllOf(HasSubstr(path), HasSubstr("Permission denied")))
        << way.name;
  if (me == 0) ASSERT_EQ(seteuid(me), 0);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// A file that is as long as its header says, and takes no room on the disk.
std::string sparse(const Folder &folder, const std::string &name, const std::string &header,
                   std::uint64_t bytes) {
  const std::string path = folder.file(name, header);
  EXPECT_EQ(truncate(path.c_str(), static_cast<off_t>(header.size() + bytes)), 0) << name;
  return path;
}

TEST(Hostile, MoreThanThereIsMemoryIsAnErrorThatNamesTheFile) {
  constexpr std::uint64_t large = std::uint64_t{1} << 43; // 8 TiB
  const Folder folder;
  const auto expect = [](const std::string &path, const std::function<void()> &read) {
    EXPECT_THAT(failure_of<OutOfMemory>(read), HasSubstr(path));
  };
  const std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(large / 4) + ",)}";
  const std::string npy = sparse(folder, "a.npy",
                                 std::string("\x93NUMPY\1\0", 8) + static_cast<char>(dict.size()) +
                                     std::string(1, '\0') + dict,
                                 large);
  expect(npy, [&] { load_npy(npy); });
  expect(npy, [&] { from_npy(npy); });
  const std::string json = R"({"w":{"dtype":"F32","shape":[)" + std::to_string(large / 4) +
                           R"(],"data_offsets":[0,)" + std::to_string(large) + "]}}";
  std::string length(8, '\0');
  length[0] = static_cast<char>(json.size());
  const std::string tensors = sparse(folder, "a.safetensors", length + json, large);
  expect(tensors, [&] { load_safetensors(tensors); });
  expect(tensors, [&] { static_cast<void>(SafetensorsFile(tensors).load("w")); });
  const std::string idx =
      sparse(folder, "a.idx",
             std::string("\0\0\x0d\2", 4) + big_endian(1U << 21) + big_endian(1U << 20), large);
  expect(idx, [&] { read_idx(idx); });
  expect(idx, [&] { from_idx(idx); });
  const std::string text = sparse(folder, "a.txt", "a,b\n", large);
  expect(text, [&] { read_csv(text); });
  expect(text, [&] { from_lines(text); });
  expect(text, [&] { train::History::load_csv(text); });
  // No image is as long.
  EXPECT_THAT(failure_of<IOError>([&] { read_png(text); }), HasSubstr(text));
}

TEST(Hostile, PixelsThatNoBytesStandBehindTakeNoMemory) {
  // 16,384 x 16,384 pixels of 16 bits and four channels would be 2 GiB.
  std::string png = bytes_of(stored_file("rgba.png"));
  png.replace(16, 8, big_endian(1U << 14) + big_endian(1U << 14));
  png[24] = 16;
  // The checksum of the header, as zlib's crc32 has it.
  png.replace(29, 4, big_endian(0xf958ccc7));
  EXPECT_THAT(failure_of<IOError>([&] { decode_image(png); }),
              HasSubstr("16384 x 16384 pixels, for which it is too short"));
  std::string jpeg = bytes_of(stored_file("baseline.jpg"));
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, std::string("\x40\0\x40\0", 4));
  EXPECT_THAT(failure_of<IOError>([&] { decode_image(jpeg); }),
              HasSubstr("16384 x 16384 pixels, for which it is too short"));
  // A single row of sixteen million, for which libpng would take memory by itself.
  std::string row = bytes_of(stored_file("palette.png"));
  row.replace(16, 8, big_endian(1U << 24) + big_endian(5));
  row.replace(29, 4, big_endian(0x44fe2917));
  EXPECT_THAT(failure_of<IOError>([&] { decode_image(row); }),
              HasSubstr("5 x 16777216 pixels, for which it is too short"));
  // Nothing compresses better than an image of one colour.
  const Tensor white = ones({2048, 2048});
  const std::string written = encode_png(white);
  EXPECT_LT(written.size(), 2048U * 2048 / 400);
  EXPECT_EQ(decode_image(written).shape(), Shape({2048, 2048, 1}));
}

TEST(Hostile, MembersOfAnArchiveShareNoBytes) {
  // Each of a hundred entries of the directory is the one member there is.
  const std::string file = bytes_of(stored_file("half.npz"));
  const std::size_t entry = file.find("PK\1\2"), end = file.find("PK\5\6");
  ASSERT_NE(end, std::string::npos);
  std::string many = file.substr(0, entry);
  const std::string one = file.substr(entry, end - entry);
  for (int i = 0; i < 100; ++i) many += one;
  std::string last = file.substr(end);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) last[at + i] = static_cast<char>(value >> 8 * i);
  };
  put(8, 100, 2);
  put(10, 100, 2);
  put(12, one.size() * 100, 4);
  const TemporaryFile archive(many + last);
  EXPECT_THAT(failure_of<IOError>([&] { read_npz(archive.path()); }),
              HasSubstr("its members are said to take"));
}

TEST(Hostile, IdxFilesOfMoreDimensionsThanTensorsHave) {
  for (const int rank : {65, 255}) {
    std::string bytes("\0\0\x08", 3);
    bytes += static_cast<char>(rank);
    for (int i = 0; i < rank; ++i) bytes += big_endian(1);
    const TemporaryFile file(bytes + "x");
    for (const bool rows : {false, true})
      EXPECT_THAT(failure_of<IOError>([&] {
                    if (rows) from_idx(file.path());
                    else read_idx(file.path());
                  }),
                  HasSubstr(file.path() + ": its header announces " + std::to_string(rank) +
                            " dimensions, and a tensor has at most 64"));
  }
  // Sizes beside a zero, whose product no number holds.
  const TemporaryFile none(std::string("\0\0\x08\5", 4) + big_endian(2) + big_endian(~0U) +
                           big_endian(~0U) + big_endian(~0U) + big_endian(0));
  for (const Tensor &row : from_idx(none.path())) EXPECT_EQ(row.size(), 0);
}

TEST(Hostile, WrongCountsOfLabels) {
  const auto idx = [](int rows) {
    std::string bytes("\0\0\x08\1", 4);
    return bytes + big_endian(static_cast<std::uint32_t>(rows)) +
           std::string(static_cast<std::size_t>(rows), '\1');
  };
  const Folder folder;
  const std::string images = folder.file("images", idx(4)), labels = folder.file("labels", idx(3));
  EXPECT_THAT(failure_of<ShapeError>([&] { from_idx(images, labels); }),
              HasSubstr(images + " has 4 rows, and " + labels + " has 3"));
  // Columns of one table cannot differ; arrays of one archive can.
  const std::string archive = stored_file("stored.npz");
  EXPECT_THAT(failure_of<ValueError>([&] { from_npz(archive, "x", "labels"); }),
              HasSubstr(archive + " has no array 'labels'; there are f, x, y"));
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

TEST(Hostile, WideTablesTakeNoLongerThanTheirBytes) {
  // With a look at every other column for each this took minutes.
  constexpr std::size_t columns = 200'000;
  std::string header = "step", row = "1";
  for (std::size_t i = 1; i < columns; ++i) {
    header += ",c" + std::to_string(i);
    row += ",2";
  }
  const TemporaryFile file(header + "\n" + row + "\n");
  EXPECT_EQ(read_csv(file.path()).size(), columns);
  EXPECT_EQ(train::History::load_csv(file.path()).names().size(), columns - 1);
}

TEST(Hostile, ALineOfCommasIsNoHeader) {
  const TemporaryFile file(std::string((std::size_t{1} << 20) + 1, ','));
  EXPECT_THAT(failure_of<IOError>([&] { read_csv(file.path(), {.header = false}); }),
              HasSubstr(file.path() + ": line 1: there are more than 1048576 fields"));
  EXPECT_THAT(failure_of<IOError>([&] { train::History::load_csv(file.path()); }),
              HasSubstr(file.path() + ": line 1 has more than a million fields"));
  const TemporaryFile name(std::string(100'000, 'x') + "\n1\n");
  EXPECT_THAT(failure_of<IOError>([&] { read_csv(name.path()); }),
              HasSubstr("the name of column 0 has 100000 bytes, more than 65536"));
}

TEST(Hostile, QuotesAcrossLinesAndBytesThatAreNoText) {
  const auto failure = [](const std::string &text) {
    const TemporaryFile file(text);
    return failure_of<IOError>([&] { read_csv(file.path()); });
  };
  EXPECT_THAT(failure("a,b\n1,\"2\n\n3\n"), HasSubstr("line 2: a quote is opened and not closed"));
  EXPECT_THAT(failure("a\n" + std::string("1\0", 2) + "2\n"), HasSubstr("'1\\x002' is no number"));
  EXPECT_THAT(failure("a\n\x1b[31m\n"), HasSubstr("'\\x1b[31m' is no number"));
  EXPECT_THAT(failure("a\r\n1\r\nx\r\n"), HasSubstr("line 3: column 'a': 'x'"));
  EXPECT_THAT(failure("\xef\xbb\xbf"), HasSubstr("has no lines"));
  EXPECT_THAT(failure("a,a\n1,2\n"), HasSubstr("there are two columns 'a'"));
}

TEST(Hostile, MessagesQuoteNoMoreThanALineOfAFile) {
  const std::string junk = "\x1b]0;title\x07" + std::string(5000, 'x');
  std::string header = "{'" + junk + "': 1}";
  std::string npy("\x93NUMPY\1\0", 8);
  npy += static_cast<char>(header.size() & 0xff);
  npy += static_cast<char>(header.size() >> 8);
  const TemporaryFile file(npy + header);
  const std::string message = failure_of<IOError>([&] { load_npy(file.path()); });
  EXPECT_THAT(message, HasSubstr("the unknown key '\\x1b]0;title\\x07xxx"));
  EXPECT_THAT(message, HasSubstr("xxx...'"));
  EXPECT_LT(message.size(), 400U);
  EXPECT_THAT(message, Not(HasSubstr("\x1b")));
}

} // namespace
} // namespace weft::data
