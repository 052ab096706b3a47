// .npy files: round trips, files as NumPy writes them, and every way for them to be broken.
#include "IO/Npy.h"
#include "../Testing.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/data.h>
#include <weft/io.h>
#include <weft/ops.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("weft-npy-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string &name = "x.npy") const { return folder_ / name; }
  std::string write(const std::string &bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  static std::string read(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

/// A file of version `major` with that header text and elements.
std::string file(int major, const std::string &header, const std::string &elements = "") {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + elements;
}
std::string header(const std::string &descr, const std::string &shape,
                   const char *order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(T)};
}

TEST_F(Npy, RoundTrips) {
  const Tensor tensors[] = {tensor({{1.5f, -2.f}, {3.f, 4.f}}),
                            tensor(7.25),
                            tensor({true, false, true}),
                            arange(5),
                            arange(4, i64),
                            zeros({3, 0, 2}),
                            tensor({{1, 2}, {3, 4}}).mT()};
  for (const Tensor &x : tensors) {
    save_npy(path(), x);
    const Tensor y = load_npy(path());
    EXPECT_EQ(y.type(), x.type());
    EXPECT_EQ(y.to_vector<double>(), x.to_vector<double>());
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  save_npy(path(), tensor({1, 2, 3}));
  const std::string text =
      "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }" + std::string(60, ' ') + "\n";
  ASSERT_EQ((10 + text.size()) % 64, 0u);
  EXPECT_EQ(read(path()), file(1, text, bytes_of({1, 2, 3})));
}

TEST_F(Npy, ReadsAllVersionsAndOrders) {
  for (const int major : {1, 2, 3})
    EXPECT_EQ(
        load_npy(write(file(major, header("<f8", "(2,)"), bytes_of({1., 2.})))).to_vector<double>(),
        (std::vector<double>{1, 2}));
  const Tensor turned =
      load_npy(write(file(1, header("<i4", "(2, 3)", "True"), bytes_of({1, 2, 3, 4, 5, 6}))));
  EXPECT_EQ(turned.type(), spec(i32, {2, 3}));
  EXPECT_EQ(turned.to_vector<int>(), (std::vector<int>{1, 3, 5, 2, 4, 6}));
  EXPECT_TRUE(turned.is_contiguous());
  // Keys in another order, double quotes, no last comma, Python 2's integers.
  EXPECT_EQ(load_npy(write(file(1, R"({"shape":(2L,1L),"fortran_order":True,"descr":"<i4"})",
                                bytes_of({5, 6}))))
                .shape(),
            (Shape{2, 1}));
  EXPECT_EQ(load_npy(write(file(1, header("<b1", "()"), "\1"))).item<bool>(), true);
}

TEST_F(Npy, Malformed) {
  const auto broken = [&](const std::string &bytes, const std::string &what) {
    EXPECT_THROWS(load_npy(write(bytes)), IOError, path() + ": " + what);
  };
  const std::string malformed = "its header is malformed: ";
  broken("", "is truncated: it ends after 0 bytes, within its header");
  broken("\x93NUM", "is truncated: it ends after 4 bytes, within its header");
  broken("GIF89a..", "is not a .npy file: it does not start with \\x93NUMPY");
  broken("\x93NUMPY\4", "is truncated: it ends after 7 bytes, within its header");
  broken(file(4, "{}"), "has version 4.0 of the .npy format; 1.0 to 3.0 are known");
  broken(file(2, std::string(70000, ' ')), "has a header of 70000 bytes, more than 65536");
  broken(file(1, header("<i4", "(2,)")).substr(0, 30),
         "is truncated: it ends after 30 bytes, within its header");
  broken(file(1, header("<i4", "(2,)"), bytes_of({1})),
         "its header asks for 8 bytes of elements, but 4 follow");
  broken(file(1, header("<i4", "(2,)"), bytes_of({1, 2, 3})),
         "its header asks for 8 bytes of elements, but 12 follow");
  broken(file(1, header("<i4", "(1000000, 1000000)")),
         "its header asks for 4000000000000 bytes of elements, but 0 follow");
  broken(file(1, header("<i4", "(4294967296, 4294967296)")),
         "a tensor of shape (4294967296, 4294967296) has more bytes than 2^63 - 1");
  broken(file(1, header("<i4", "(99999999999999999999,)")),
         malformed + "'shape' is not a tuple of sizes");
  broken(file(1, header("<i4", "(-2,)")), malformed + "'shape' is not a tuple of sizes");
  broken(file(1, header("<i4", "2")), malformed + "'(' is missing at character 50");
  broken(file(1, header("<c32", "(2,)")),
         "its dtype '<c32' is not supported (there are |b1, <i4, "
         "<i8, <f4, <f8, |i1, <i2, |u1, <u2, <u4, <u8, <f2, <V2, <c8, "
         "<c16, float8_e4m3fn, float8_e5m2)");
  broken(file(1, header(">f4", "(2,)")),
         "its dtype '>f4' is not supported (there are |b1, <i4, "
         "<i8, <f4, <f8, |i1, <i2, |u1, <u2, <u4, <u8, <f2, <V2, <c8, "
         "<c16, float8_e4m3fn, float8_e5m2)");
  broken(file(1, "{'descr': [('a', '<i4')], "), malformed + "structured dtypes are not supported");
  broken(file(1, header("<i4", "(2,)", "Maybe")),
         malformed + "'fortran_order' is neither True nor False");
  broken(file(1, "{'descr': '<i4', }"), malformed + "it lacks the key 'fortran_order'");
  broken(file(1, "{'descr': '<i4', 'descr': '<i4'}"), malformed + "it has the key 'descr' twice");
  broken(file(1, "{'name': 1}"), malformed + "it has the unknown key 'name'");
  broken(file(1, "{'descr': '<i4"), malformed + "a quoted word is missing at character 10");
  broken(file(1, "[]"), malformed + "'{' is missing at character 0");
  broken(file(1, header("<i4", "(0,)") + "import os"),
         malformed + "something follows its dictionary");
  broken(file(1, header("|b1", "(2,)"), std::string("\1\2")), "element 1 of dtype bool is 2");
}

TEST_F(Npy, ArbitraryHeadersNeverCrash) {
  const std::string sound = header("<f4", "(2, 3)");
  for (std::size_t i = 0; i < sound.size(); ++i)
    for (const char c : {'\0', '(', ')', ',', '\'', '9', '{', '}', ' ', '\xff'}) {
      std::string text = sound;
      text[i] = c;
      static_cast<void>(parse_npy_header(text));
      static_cast<void>(parse_npy_header(text.substr(0, i)));
    }
}

TEST_F(Npy, FilesThatCannotBeOpened) {
  EXPECT_THROWS(load_npy(path("none.npy")), IOError,
                path("none.npy") + ": cannot be opened: No such file or directory");
  EXPECT_THROWS(load_npy(folder_.string()), IOError, folder_.string() + ": is a folder");
  EXPECT_THROWS(save_npy(path("no/folder.npy"), tensor(1)), IOError,
                path("no/folder.npy") + ": cannot be written: No such file or directory");
  EXPECT_THROWS(save_npy(path(), Tensor()), StateError,
                "save_npy: the tensor for " + path() + " is undefined");
}

TEST_F(Npy, WhatIsNoRegularFileIsNotRead) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string &name : {path("pipe"), std::string("/dev/zero"), std::string("/dev/null")})
    EXPECT_THROWS(load_npy(name), IOError, name + ": is no regular file, but a pipe or a device");
}

// A file of a size that there is on paper only, with a header that agrees.
TEST_F(Npy, MoreThanThereIsMemory) {
  const std::string header = make_npy_header({f64, {std::int64_t{1} << 39}});
  write(header);
  if (truncate(path().c_str(), static_cast<off_t>(header.size() + (std::size_t{1} << 42))) != 0)
    GTEST_SKIP() << "no file of 4 TiB can be written here";
  EXPECT_THROW(load_npy(path()), OutOfMemory);
}

TEST_F(Npy, KeepsTheModeOfAFile) {
  for (const mode_t mode : {0600, 0640, 0755}) {
    write("old");
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    save_npy(path(), tensor({1, 2, 3}));
    struct stat status{};
    ASSERT_EQ(stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
    EXPECT_EQ(load_npy(path()).size(), 3);
  }
}

TEST_F(Npy, FollowsLinks) {
  fs::create_directory(folder_ / "real");
  std::ofstream(path("real/target.npy")) << "old";
  fs::create_symlink("real/target.npy", path("link.npy"));
  fs::create_symlink("link.npy", path("link to link.npy"));
  fs::create_symlink("real/none.npy", path("dangling.npy"));
  fs::create_symlink("circle.npy", path("circle.npy"));
  save_npy(path("link to link.npy"), tensor({1, 2, 3}));
  save_npy(path("dangling.npy"), tensor({4}));
  EXPECT_TRUE(fs::is_symlink(path("link to link.npy")));
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_TRUE(fs::is_symlink(path("dangling.npy")));
  EXPECT_EQ(load_npy(path("real/target.npy")).size(), 3);
  EXPECT_EQ(load_npy(path("real/none.npy")).size(), 1);
  EXPECT_THROW(save_npy(path("circle.npy"), tensor({4})), IOError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "real"), fs::directory_iterator()), 2);
}

TEST_F(Npy, RefusesFilesThatAreReadOnly) {
  write("old");
  ASSERT_EQ(chmod(path().c_str(), 0444), 0);
  EXPECT_THROWS(save_npy(path(), tensor({1, 2, 3})), IOError,
                path() + ": is read-only: Permission denied");
  EXPECT_EQ(read(path()), "old");
  EXPECT_THROWS(save_npy(folder_.string(), tensor(1)), IOError,
                folder_.string() + ": cannot be written: Is a directory");
}

// The system would end the process: with SIGXFSZ, and with SIGPIPE where nobody reads.
TEST_F(Npy, SignalsOfWritesAreErrors) {
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit{4096, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROWS(save_npy(path(), zeros({10000})), IOError,
                path() + ": cannot be written: File too large");
  setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_EQ(files(), 0u);

  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int both = open(path("pipe").c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(both, 0);
  std::thread writer([&] {
    // More than the pipe holds: the write waits, and then there is no reader any more.
    EXPECT_THROW(save_npy(path("pipe"), zeros({1000000})), IOError);
  });
  for (int waiting = 0; waiting == 0; std::this_thread::yield())
    ASSERT_EQ(ioctl(both, FIONREAD, &waiting), 0);
  close(both);
  writer.join();
  // Nothing of it is left for later.
  sigset_t pending;
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGXFSZ) || sigismember(&pending, SIGPIPE));
}

TEST_F(Npy, AFullDiskLeavesTheOldFileAndNoOther) {
  save_npy(path(), tensor({1, 2, 3}));
  // A limit on file sizes fails as a full disk does, in the middle of a write.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit{4096, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROWS(save_npy(path(), zeros({10000})), IOError,
                path() + ": cannot be written: File too large");
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(load_npy(path()).to_vector<int>(), (std::vector<int>{1, 2, 3}));
}

// The system reads a name up to its NUL, and an empty one said only that it has no place.
TEST_F(Npy, RefusesPathsThatAreNone) {
  const std::string cut = path("a") + std::string(1, '\0') + ".npy";
  const std::string problem =
      ": the path has a NUL behind '" + path("a") + "', which no file name may have";
  EXPECT_THROWS(save_npy(cut, tensor(1)), ValueError, "save_npy" + problem);
  EXPECT_THROWS(load_npy(cut), ValueError, "load_npy" + problem);
  EXPECT_THROWS(data::read_idx(cut), ValueError, "read_idx" + problem);
  EXPECT_EQ(files(), 0u);
  EXPECT_THROWS(save_npy("", tensor(1)), ValueError, "save_npy: the path is empty");
  EXPECT_THROWS(load_npy(""), ValueError, "load_npy: the path is empty");
}

// The name of the temporary was the file's and more, which the file system did not take.
TEST_F(Npy, NamesMayBeAsLongAsTheFileSystemLikes) {
  std::string wide = "x"; // whose character of UTF-8 lies across the cut
  while (wide.size() < 240) wide += "\u00e4";
  for (const std::string &name : {std::string(255, 'n'), wide}) {
    save_npy(path(name), tensor({1, 2}));
    EXPECT_EQ(load_npy(path(name)).to_vector<int>(), (std::vector<int>{1, 2}));
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(Npy, ArraysInMemoryAreThoseOfFiles) {
  const Tensor values = tensor({{1.5, -2.0, 3.0}, {4.0, 5.0, 6.0}});
  save_npy(path(), values);
  std::ifstream file(path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(encode_npy(values), bytes);
  EXPECT_EQ(encode_npy(values[{slice({}, {}, -1), all}]),
            encode_npy(values[{slice({}, {}, -1), all}].contiguous()));
  const Tensor read = decode_npy(bytes);
  EXPECT_EQ(read.type(), values.type());
  EXPECT_EQ(read.to_vector<double>(), values.to_vector<double>());
  EXPECT_THROWS(decode_npy(bytes.substr(0, bytes.size() - 1)), IOError,
                "decode_npy: the array: its header asks for 48 bytes of elements, but 47 follow");
  EXPECT_THROWS(decode_npy("{}"), IOError,
                "decode_npy: the array: is not a .npy array: it does not start with \\x93NUMPY");
  EXPECT_THROWS(decode_npy(""), IOError,
                "decode_npy: the array: is not a .npy array: it does not start with \\x93NUMPY");
  EXPECT_THROWS(decode_npy(bytes.substr(0, 40)), IOError,
                "decode_npy: the array: is truncated within its header");
  EXPECT_THROWS(encode_npy(Tensor()), StateError, "encode_npy: the tensor is undefined");
}

} // namespace
} // namespace weft
