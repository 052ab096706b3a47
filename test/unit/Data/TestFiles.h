// Files that tests of readers make, damage and read.
#pragma once

#include <gtest/gtest.h>
#include <weft/error.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace weft::data {

/// What generate.py wrote.
inline std::string stored_file(const std::string &name) {
  return WEFT_SOURCE_DIR "/test/unit/Data/Files/" + name;
}

inline std::string bytes_of(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A file that lives as long as this does.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes, const std::string &ending = ".data")
      : path_(::testing::TempDir() + "weft_data_" + std::to_string(::getpid()) + ending) {
    write(bytes);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  void write(const std::string &bytes) const {
    std::filesystem::remove(path_); // ext4 waits for the disk where a file is cut to nothing
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// The message of the E that `run` throws.
template <class E, class Run>
std::string failure_of(const Run &run) {
  try {
    run();
  } catch (const E &error) {
    return std::string(error.message());
  }
  return "no error";
}

/// Reads a file cut off behind each of its bytes: every time that must be an IOError which names
/// it.
template <class Read>
void check_truncations(const std::string &bytes, const Read &read) {
  const TemporaryFile file("");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    file.write(bytes.substr(0, length));
    const std::string message = failure_of<IOError>([&] { read(file.path()); });
    EXPECT_NE(message.find(file.path()), std::string::npos)
        << "cut off behind " << length << " of " << bytes.size() << " bytes: " << message;
  }
}

/// Reads a file with each of its bytes changed, one at a time: it is read, or that is an IOError.
template <class Read>
void check_damages(const std::string &bytes, const Read &read) {
  const TemporaryFile file("");
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int change : {0xff, 0x01, 0x80}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      file.write(damaged);
      try {
        read(file.path());
      } catch (const IOError &) {
        ++refused;
      } catch (const OutOfMemory &) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 0);
}

} // namespace weft::data
