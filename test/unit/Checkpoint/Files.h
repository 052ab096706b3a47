// What tests of checkpoints share: folders of their own, and files as bytes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <weft/log.h>
#include <weft/tensor.h>

namespace weft {

/// A new folder's name; nothing is there.
inline std::string fresh_folder(const std::string &name) {
  const std::string path = testing::TempDir() + "weft-ckpt-" + name;
  std::filesystem::remove_all(path);
  return path;
}

inline std::string bytes_of(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <class T>
std::vector<T> values_of(const Tensor &tensor) {
  const auto span = tensor.span<T>();
  return {span.begin(), span.end()};
}

/// Takes the log for as long as it lives.
class Logged {
public:
  Logged() : before_(set_log_sink([this](std::string_view line) { lines.emplace_back(line); })) {}
  ~Logged() { set_log_sink(before_); }
  Logged(const Logged &) = delete;
  Logged &operator=(const Logged &) = delete;

  std::vector<std::string> lines;

private:
  LogSink before_;
};

} // namespace weft
