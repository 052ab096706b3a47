// An open regular file that is read at any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

/// Every fault is an IOError that starts with the file's name. Reads may come from any thread.
class InputFile {
public:
  /// Opens it. Refuses folders, pipes and devices.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return path_; }
  /// In bytes, when it was opened.
  std::uint64_t size() const { return size_; }
  /// Reads exactly these bytes; `what` names the part of the file that they are.
  void read_at(std::uint64_t offset, void *bytes, std::size_t size, const char *what) const;
  [[noreturn]] void fail(const std::string &what) const;
  /// Of the open file; for as long as this lives.
  int descriptor() const { return descriptor_; }

private:
  const std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

} // namespace weft
